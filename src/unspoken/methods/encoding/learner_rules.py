"""What each learner looks at besides the order of values, and with which parameters.

Every rule returns why a learner is not covered, or an empty text.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from unspoken.methods.encoding.conditioning import SAMPLED_ROWS, SURE
from unspoken.methods.encoding.learner_parameters import outside
from unspoken.methods.encoding.threshold_facts import ThresholdFacts

Params = Mapping[str, Any]


@dataclass(frozen=True)
class Known:
    """What is known of the release: facts of its columns, and its number of rows."""

    columns: ThresholdFacts
    rows: float
    names: tuple[str, ...] = ()
    """The features that the learner is given, in their order."""
    labelled: frozenset[str] = frozenset()
    """Those of them that are categories."""
    least: int = 1
    """How many rows share the rarest value of a column."""
    target: str = ""
    """How a numeric target was encoded, "affine" or "scaled"."""

    @property
    def only_categories(self) -> bool:
        """Return True if every feature is categories: their numbers are those of the original."""
        return bool(self.names) and self.labelled.issuperset(self.names)

    def sampled(self, sample: float) -> bool:
        """Return True if bins are placed by a sample that may lack a value."""
        if self.rows <= sample:
            return False
        return self.least * -math.log1p(-sample / self.rows) < SURE if self.rows < math.inf \
            else True


Rule = Callable[[Params, Known], str]
"""Returns why a learner is not covered, or an empty text."""

MOST_ROUNDS = 2000
"""Rounds up to which decoding goes on where the original stops later."""
_GAP = ("a column has float32 values within 1e-7 of each other, which scikit-learn's splitter "
        "takes for equal; multiply the column by a power of two before reading it")
_FLOAT32 = ("a column has values that differ only beyond float32, which this learner distinguishes "
            "and the codes do not; round the column to float32 before reading it")


def _declared(name: str, value: Any, known: Known) -> str:
    """Return why a list of categories is not covered: codes of numbers would be among them."""
    if value is None or (isinstance(value, str) and value in ("", "auto", "from_dtype")):
        return ""
    if not isinstance(value, Iterable) or isinstance(value, str):
        return f"{name} must list columns"
    listed = list(value)
    flags = all(isinstance(each, bool | np.bool_) for each in listed)
    if flags and len(listed) != len(known.names):
        return f"{name} must have one entry per column"
    chosen = [place for place, flag in enumerate(listed) if flag] if flags else listed
    columns = [_column(each, known.names) for each in chosen]
    if any(column not in known.labelled for column in columns):
        return f"{name}: codes of numbers are not categories; name columns of labels only"
    return ""


def _column(each: Any, names: tuple[str, ...]) -> str | None:
    if isinstance(each, str):
        return each
    whole = isinstance(each, numbers.Integral) and 0 <= int(each) < len(names)
    return names[int(each)] if whole else None


def tree(params: Params, known: Known) -> str:
    """scikit-learn's trees and forests: the best threshold, half-way between two values."""
    if params.get("splitter", "best") != "best":
        return "splitter='random' draws thresholds between values, not between ranks"
    if params.get("monotonic_cst") is not None and params.get("criterion") == "absolute_error":
        return "leaves that are medians are not checked under monotonic_cst"
    return "" if known.columns.gaps_above_1e7 else _GAP


def c45(params: Params, known: Known) -> str:
    """C4.5: counts alone, unless a cut is placed by the middle of two values."""
    if params.get("threshold") != "value":
        return ("threshold='middle' places cuts by distances between values, and a raised branch "
                "then gets other records; use threshold='value'")
    return ""


def gradient_boosting(params: Params, known: Known) -> str:
    """GradientBoosting: rows outside a tree's draw are predicted while it is trained."""
    if params.get("init") not in (None, "zero"):
        return "init is an estimator that may look at values, not only at their order"
    drawn = outside_rows(params)
    if drawn and not isinstance(params.get("random_state"), numbers.Integral):
        return f"{drawn}: rows are drawn again from random_state, which must be a number"
    if drawn and not _few(params.get("n_estimators", 100)):
        return f"{drawn}: with at most {MOST_ROUNDS:,} stages only"
    return tree(params, known)


def outside_rows(params: Params) -> str:
    """Return which parameter keeps rows away from single trees."""
    if params.get("subsample", 1.0) != 1.0:
        return "subsample below 1"
    return "n_iter_no_change" if params.get("n_iter_no_change") is not None else ""


def _few(rounds: Any) -> bool:
    return isinstance(rounds, numbers.Integral) and int(rounds) <= MOST_ROUNDS


def histogram(params: Params, known: Known) -> str:
    """HistGradientBoosting: bins by rank, and early stopping that is replayed."""
    why = _declared("categorical_features", params.get("categorical_features"), known)
    if why:
        return why
    weights = params.get("class_weight")
    if isinstance(weights, Mapping) and any(weight == 0 for weight in weights.values()):
        return ("class_weight has a class of weight zero, and values that only its rows have get "
                "no bin of their own; leave those rows out instead")
    why = _not_replayed(params) if stops_early(params, known) else ""
    if why:
        return why
    if known.sampled(SAMPLED_ROWS):
        return (f"above {SAMPLED_ROWS:,} rows it places bins by a sample of the rows, which may "
                "lack rare values; encode with conditioning='auto'")
    return "" if known.columns.float32_exact else _FLOAT32


def _not_replayed(params: Params) -> str:
    """Return why early stopping cannot be replayed: rounds may have to be grown on the original."""
    if params.get("scoring", "loss") != "loss":
        return "early stopping is replayed with scoring='loss' only"
    if params.get("monotonic_cst") is not None or params.get("interaction_cst") is not None:
        return "early stopping is replayed without constraints only"
    if not _few(params.get("max_iter", 100)):
        return f"early stopping is replayed for at most {MOST_ROUNDS:,} rounds"
    seeded = isinstance(params.get("random_state"), numbers.Integral)
    if not seeded and params.get("max_features", 1.0) != 1.0:
        return "early stopping with max_features needs a whole number as random_state"
    return ""


def stops_early(params: Params, known: Known) -> bool:
    """Return True if held-out rows decide where training ends."""
    stops = params.get("early_stopping")
    wanted = stops is True or (stops == "auto" and known.rows > 10_000)
    return wanted and params.get("validation_fraction", 0.1) is not None


def xgboost(params: Params, known: Known) -> str:
    """XGBoost: cuts at values (hist, approx) or half-way between values of the node (exact)."""
    if params.get("booster") not in (None, "gbtree", "dart"):
        return f"booster={params['booster']!r} is not made of threshold trees"
    if params.get("device") not in (None, "cpu"):
        return "sums on an accelerator are not measured here"
    if params.get("multi_strategy") == "multi_output_tree":
        return "trees with several outputs are not decoded"
    types = params.get("feature_types")
    listed = [kind == "c" for kind in types] if isinstance(types, list | tuple) else types
    why = _declared("feature_types", listed, known)
    if why:
        return why
    method = params.get("tree_method")
    if method not in (None, "auto", "hist", "approx", "exact"):
        return f"tree_method={method!r} is not measured here"
    if not known.columns.float32_doubles:
        return "a column has values above half of what float32 holds; rescale it"
    return _xgboost_exact(method, params, known)


def sketches_draws(params: Params) -> bool:
    """Return True if XGBoost places its outermost cuts by the rows that a tree drew."""
    return params.get("tree_method") == "approx" and params.get("subsample") not in (None, 1, 1.0)


def _xgboost_exact(method: Any, params: Params, known: Known) -> str:
    part = params.get("subsample") not in (None, 1, 1.0)
    if method == "exact" and part and not known.only_categories:
        return "tree_method='exact' with subsample below 1: the rows of a tree are not known"
    if method == "exact" and not known.columns.float32_midpoints:
        return "a column has neighbouring float32 values with no midpoint between them"
    return ""


def lightgbm(params: Params, known: Known) -> str:
    """LightGBM: bins half-way between sampled values, zero apart."""
    for name in ("linear_tree", "forcedsplits_filename", "forcedbins_filename"):
        if params.get(name):
            return f"{name} looks at values, not only at their order"
    why = _declared("categorical_feature", params.get("categorical_feature"), known)
    if why:
        return why
    sample = params.get("bin_construct_sample_cnt", params.get("subsample_for_bin", 200_000))
    if not isinstance(sample, numbers.Real) or known.sampled(float(sample)):
        return (f"it places bins by a sample of {sample} rows, which may lack rare values; set "
                "subsample_for_bin to at least the number of rows, or encode with "
                "conditioning='auto'")
    facts = known.columns
    if not facts.zero_kept:
        return "LightGBM gives zero a bin of its own; encode with keep_zero=True"
    if not facts.lightgbm_values:
        return "a column has values that LightGBM takes for zero or for equal"
    return "" if facts.float32_exact else _FLOAT32


def votes(params: Params, known: Known) -> str:
    """AdaBoost and Bagging are covered over the trees that they would be decoded over."""
    inner = params.get("estimator")
    if params.get("bootstrap_features", False) is not False:
        return "bootstrap_features=True gives a tree a column twice, which is not decoded"
    if inner is None:
        return tree({}, known)
    if type(inner).__name__ not in ("DecisionTreeClassifier", "DecisionTreeRegressor"):
        return f"it is decoded over decision trees only, not over {type(inner).__name__}"
    inside = inner.get_params(deep=False)
    return tree(inside, known) or outside(type(inner).__name__, inside)


def without_leaf_minima(params: Params, known: Known) -> str:
    """Trees on codes that are permuted inside pieces of one class."""
    least = params.get("min_samples_leaf", 1)
    if not isinstance(least, numbers.Integral) or int(least) > 1:
        return (f"min_samples_leaf={least!r}: a leaf minimum can put the best split inside a "
                "permuted piece; use mode='strict'")
    if params.get("min_weight_fraction_leaf", 0.0) != 0.0:
        return "min_weight_fraction_leaf is a leaf minimum; use mode='strict'"
    if params.get("monotonic_cst") is not None:
        return "monotonic_cst can put the best split inside a permuted piece; use mode='strict'"
    if params.get("criterion", "gini") not in ("gini", "entropy", "log_loss"):
        return f"criterion={params['criterion']!r} is not measured here"
    return _whole_weights(params.get("class_weight")) or tree(params, known)


def _whole_weights(weights: Any) -> str:
    if weights is None:
        return ""
    if isinstance(weights, Mapping) and all(_dyadic(w) for w in weights.values()):
        return ""
    return ("class_weight must be whole or dyadic: sums of other weights are rounded in another "
            "order inside permuted pieces; use mode='strict'")


def _dyadic(weight: Any) -> bool:
    """A weight whose sums float64 holds exactly: a whole number of 1/1024 parts."""
    real = isinstance(weight, numbers.Real) and not isinstance(weight, bool)
    return real and (Fraction(float(weight)) * 1024).denominator == 1 and abs(weight) <= 2**20
