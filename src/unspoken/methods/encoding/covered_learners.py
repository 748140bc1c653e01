"""Which learners see nothing but the order of values, with which parameters.

Measured with scikit-learn 1.9, XGBoost 3.2 and LightGBM 4.7: a learner is listed here only if
models on codes decoded to the original bit for bit over many random tables, and a parameter is
refused where they did not. What is not listed is not covered, and neither is a parameter that
`learner_parameters` does not list.
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
from unspoken.methods.encoding.target_units import KINDS
from unspoken.methods.encoding.threshold_facts import ThresholdFacts
from unspoken.methods.encoding.unit_rules import other_units
from unspoken.release.guarantee import Verdict

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

    def sampled(self, sample: float) -> bool:
        """Return True if bins are placed by a sample that may lack a value."""
        if self.rows <= sample:
            return False
        return self.least * -math.log1p(-sample / self.rows) < SURE if self.rows < math.inf \
            else True


Rule = Callable[[Params, Known], str]
"""Returns why a learner is not covered, or an empty text."""

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


def _tree(params: Params, known: Known) -> str:
    if params.get("splitter", "best") != "best":
        return "splitter='random' draws thresholds between values, not between ranks"
    return "" if known.columns.gaps_above_1e7 else _GAP


def _gradient_boosting(params: Params, known: Known) -> str:
    if params.get("subsample", 1.0) != 1.0:
        return "subsample below 1: the rows behind each tree are not known when decoding"
    if params.get("init") not in (None, "zero"):
        return "init is an estimator that may look at values, not only at their order"
    if params.get("n_iter_no_change") is not None:
        return "n_iter_no_change holds rows out: the rows behind each tree are not known"
    return _tree(params, known)


def _histogram(params: Params, known: Known) -> str:
    why = _declared("categorical_features", params.get("categorical_features"), known)
    if why:
        return why
    if _stops_early(params, known) and params.get("scoring", "loss") != "loss":
        return "early stopping is replayed with scoring='loss' only"
    if known.sampled(SAMPLED_ROWS):
        return (f"above {SAMPLED_ROWS:,} rows it places bins by a sample of the rows, which may "
                "lack rare values; encode with conditioning='auto'")
    return "" if known.columns.float32_exact else _FLOAT32


def _stops_early(params: Params, known: Known) -> bool:
    """Return True if held-out rows decide where training ends."""
    stops = params.get("early_stopping")
    wanted = stops is True or (stops == "auto" and known.rows > 10_000)
    return wanted and params.get("validation_fraction", 0.1) is not None


def _xgboost(params: Params, known: Known) -> str:
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


def _xgboost_exact(method: Any, params: Params, known: Known) -> str:
    if method == "exact" and params.get("subsample") not in (None, 1, 1.0):
        return "tree_method='exact' with subsample below 1: the rows of a tree are not known"
    if method == "exact" and not known.columns.float32_midpoints:
        return "a column has neighbouring float32 values with no midpoint between them"
    return ""


def _lightgbm(params: Params, known: Known) -> str:
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


def _votes(params: Params, known: Known) -> str:
    """AdaBoost and Bagging are covered over the trees that they would be decoded over."""
    inner = params.get("estimator")
    if params.get("bootstrap_features", False) is not False:
        return "bootstrap_features=True gives a tree a column twice, which is not decoded"
    if inner is None:
        return _tree({}, known)
    if type(inner).__name__ not in ("DecisionTreeClassifier", "DecisionTreeRegressor"):
        return f"it is decoded over decision trees only, not over {type(inner).__name__}"
    inside = inner.get_params(deep=False)
    return _tree(inside, known) or outside(type(inner).__name__, inside)


_STRICT: dict[tuple[str, str], Rule] = {
    ("sklearn", "DecisionTreeClassifier"): _tree,
    ("sklearn", "DecisionTreeRegressor"): _tree,
    ("sklearn", "RandomForestClassifier"): _tree,
    ("sklearn", "RandomForestRegressor"): _tree,
    ("sklearn", "GradientBoostingClassifier"): _gradient_boosting,
    ("sklearn", "GradientBoostingRegressor"): _gradient_boosting,
    ("sklearn", "AdaBoostClassifier"): _votes,
    ("sklearn", "BaggingClassifier"): _votes,
    ("sklearn", "BaggingRegressor"): _votes,
    ("sklearn", "HistGradientBoostingClassifier"): _histogram,
    ("sklearn", "HistGradientBoostingRegressor"): _histogram,
    ("xgboost", "XGBClassifier"): _xgboost,
    ("xgboost", "XGBRegressor"): _xgboost,
    ("xgboost", "XGBRFClassifier"): _xgboost,
    ("xgboost", "XGBRFRegressor"): _xgboost,
    ("lightgbm", "LGBMClassifier"): _lightgbm,
    ("lightgbm", "LGBMRegressor"): _lightgbm,
}


def _without_leaf_minima(params: Params, known: Known) -> str:
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
    return _whole_weights(params.get("class_weight")) or _tree(params, known)


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


_MAX_MONO: dict[tuple[str, str], Rule] = {
    ("sklearn", "DecisionTreeClassifier"): _without_leaf_minima,
    ("sklearn", "RandomForestClassifier"): _without_leaf_minima,
}


def judge(miner: Any, mode: str, known: Known) -> Verdict:
    """Return whether a learner finds the same model on codes of that mode."""
    if isinstance(miner, type) or not hasattr(miner, "get_params"):
        return Verdict(False, "Pass an estimator object with its parameters.")
    if mode == "anti":
        return Verdict(False, "Mode 'anti' reverses the order, so ties are broken the other way: "
                       "only an equally good tree is promised.")
    kind = type(miner)
    name = (kind.__module__.split(".")[0], kind.__name__)
    rules = {"strict": _STRICT, "max-mono": _MAX_MONO}.get(mode, {})
    if name not in rules:
        return Verdict(False, _unlisted(kind.__name__, mode, name in _STRICT))
    params = miner.get_params(deep=False)
    why = (rules[name](params, known) or outside(kind.__name__, params)
           or other_units(kind.__name__, params, known.target, known.rows))
    if why:
        return Verdict(False, f"{kind.__name__}: {why}.")
    stopping = _STOPPING * (rules[name] is _histogram and _stops_early(params, known))
    return Verdict(True, _yes(params, mode) + _NUMBERED * bool(known.labelled)
                   + _UNITS * (known.target in KINDS) + stopping)


_STOPPING = (" Where early stopping ends is replayed on the original; if training would have gone "
             "on there, decoding says so instead of returning a model: set early_stopping=False to "
             "be sure.")
_NUMBERED = (" Number categories in the sorted order of their labels: identity is with the "
             "original numbered in the same order.")


_NEVER = {
    "ExtraTree": "draws its thresholds evenly between two values, not between two ranks: codes and "
                 "originals would give other splits. Use RandomForest.",
    "AdaBoostRegressor": "draws rows by how far predictions lie from the target, also of rows "
                         "between two values. Use GradientBoosting.",
    "IsolationForest": "draws its thresholds evenly between two values, not between two ranks.",
}
_UNITS = (" The target is in secret units: identity is with the original's target in the same "
          "units, and leaf values are turned back when decoding.")


def _unlisted(name: str, mode: str, strict: bool) -> str:
    for kind, why in _NEVER.items():
        if name.startswith(kind):
            return f"{name} {why}"
    if strict:
        return (f"{name} is covered in mode 'strict' only: permuted pieces change its sums or "
                "its leaf values.")
    return (f"{name} is not a learner that was shown to see only the order of values "
            f"(mode '{mode}').")


def _yes(params: Params, mode: str) -> str:
    weights = " Sample weights must be whole or dyadic numbers." if mode == "max-mono" else ""
    if "learning_rate" in params:
        weights = " No record may have the sample weight zero."
    seed = ""
    if "random_state" in params and params["random_state"] is None:
        seed = " random_state is not set: two runs may differ by themselves, so pin it to compare."
    return "The decoded model equals the model of the original data." + weights + seed
