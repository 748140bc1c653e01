"""Decoding a mined model into the model of the original data, bit for bit.

bu2007 Theorem 2 decodes a tree by applying the inverse encoding to each threshold. That is never
exact, because a learner puts the threshold between two values of the *node*. What is exact:

- exact splitters (scikit-learn trees, forests and gradient boosting, XGBoost exact): replay the
  training rows through the mined tree (`nodes`);
- histogram learners (HistGradientBoosting, XGBoost hist and approx, LightGBM): their thresholds
  lie between values of the whole column, so the code table alone is enough, unless the learner
  sampled rows to place them;
- C4.5: its cuts are codes, so the code table alone is enough (`c45_decode`).

Identity is with the same learner, parameters, seed and threads, fitted on the original rows in
the released order. A reversed encoding (`book.increasing` False) promises an equally good tree
only: true ties are broken the other way.
"""

from __future__ import annotations

import math
import warnings
from typing import Any, NoReturn

import numpy.typing as npt

from unspoken.errors import DecodeError, UnpromisedModelWarning, explain
from unspoken.methods.encoding.decode import sklearn_replay as exact
from unspoken.methods.encoding.decode.c45_decode import decode_c45
from unspoken.methods.encoding.decode.decoder_protocol import Codebook
from unspoken.methods.encoding.decode.ensemble_files import decode_file
from unspoken.methods.encoding.decode.feature_design import Design
from unspoken.methods.encoding.decode.gradient_boosting_replay import decode_boosting
from unspoken.methods.encoding.decode.histogram_replay import decode_histogram
from unspoken.methods.encoding.decode.lightgbm_replay import decode_lightgbm
from unspoken.methods.encoding.decode.own_tree_replay import (
    decode_forest_pattern,
    decode_tree_pattern,
)
from unspoken.methods.encoding.decode.training_rows import Rows, check_classes, training_rows
from unspoken.methods.encoding.decode.voting_replay import decode_bagging, decode_votes
from unspoken.methods.encoding.decode.xgboost_replay import decode_xgboost
from unspoken.models.categorical_tree import CategoricalTree
from unspoken.models.estimator_trees import EstimatorTrees
from unspoken.models.forest import Forest
from unspoken.models.readers import LightGBMModel, XGBoostModel, as_model
from unspoken.models.tree import Tree

LEARNERS = ("hist", "approx", "exact")


def decode_with(
    model: Any,
    book: Codebook,
    X: npt.ArrayLike | None,
    y: npt.ArrayLike | None = None,
    sample_weight: npt.ArrayLike | None = None,
    learner: str | None = None,
    trust_leaves: bool = False,
    rows: npt.ArrayLike | None = None,
) -> Any:
    """Decode a model that was mined on codes.

    `X`, `y` and `sample_weight` are the original training rows in their original order; the
    book knows the released order. `X` None asks for key-only decoding, which is refused where
    it is not exact. `learner` says how an XGBoost model was trained ("hist", "approx" or
    "exact") where its thresholds do not show it. `trust_leaves` takes leaf values as they
    are instead of comparing them with the labels (see `leaf_values`). `rows` are the released
    rows that the model was fitted on, in its order, if it was not all of them.

    Returns the matching decoded model: a new scikit-learn estimator, `Tree`, `Forest`,
    `XGBoostModel` or `LightGBMModel`. The given model is left as it is.
    """
    read_model, learner = taken_over(model, learner)
    if not book.increasing:
        warnings.warn("Mode 'anti' reverses the order of values, so ties were broken the other "
                      "way: the decoded model is equally good, split by split, and may be another "
                      "one than the original's.", UnpromisedModelWarning, stacklevel=3)
    known = None if X is None else training_rows(book, X, y, sample_weight, trust_leaves, rows)
    if isinstance(read_model, Tree | Forest | EstimatorTrees):
        check_classes(read_model.classes, None if known is None else known.y)
    if isinstance(read_model, EstimatorTrees):
        return decode_file(read_model, book, known, _decode_estimator)
    if isinstance(read_model, CategoricalTree) and isinstance(book, Design):
        return decode_c45(read_model, book, known)
    if isinstance(read_model, XGBoostModel):
        return decode_xgboost(read_model, book, known, learner)
    if isinstance(read_model, LightGBMModel):
        return decode_lightgbm(read_model, book, known)
    return _decode_estimator(read_model, book, known)


def taken_over(model: Any, learner: str | None) -> tuple[Any, str | None]:
    """Return a model as it is decoded, and how it was trained, if that is known or was passed."""
    if learner is not None and learner not in LEARNERS:
        raise DecodeError(explain("'learner'", f"None or one of {', '.join(LEARNERS)}", learner))
    _check_live(model)
    return as_model(model), learner or _tree_method(model)


def _decode_estimator(model: Any, book: Codebook, rows: Rows | None) -> Any:
    if type(model).__name__.startswith("HistGradientBoosting"):
        return decode_histogram(model, book, rows)
    return _decode_exact(model, rows if rows is not None else _needs_rows(model))


def _check_live(model: Any) -> None:
    """Refuse an estimator whose parameters make it another model than the original's.

    A model file does not say these; there the thresholds or the leaves give it away, or nothing.
    """
    if not hasattr(model, "get_params") or isinstance(model, type):
        return
    outputs = getattr(model, "n_outputs_", 1)
    if outputs != 1:
        raise DecodeError(explain("The number of outputs of the model", "1", str(outputs),
                                  "Mine one model per output."))
    params = model.get_params(deep=False)
    if params.get("splitter", "best") != "best":
        raise DecodeError("splitter='random' draws thresholds between values, not between ranks: "
                          "the original data would have given another tree. Mine with "
                          "splitter='best'.")
    _check_not_stopped(model)
    missing = params.get("missing", math.nan)
    if type(model).__module__.startswith("xgboost") and not (
            missing is None or math.isnan(float(missing))):
        raise DecodeError(f"The XGBoost model was fitted with 'missing' set to {missing!r}. Only "
                          "NaN can be decoded: codes hold that value under another number.")


def _check_not_stopped(model: Any) -> None:
    """Refuse a booster that an evaluation set stopped: the original may stop elsewhere."""
    library = type(model).__module__.partition(".")[0]
    rounds = model.get_params(deep=False).get("early_stopping_rounds") if library == "xgboost" \
        else getattr(model, "_best_iteration", 0) if library == "lightgbm" else 0
    if rounds and rounds > 0:
        raise DecodeError(
            f"{type(model).__name__}: an evaluation set decided where training stopped (early "
            "stopping), and on the original it may stop elsewhere. Let mining stop it, which "
            "records those rows in the recipe, or use HistGradientBoosting, whose early stopping "
            "is replayed.")


def _tree_method(model: Any) -> str | None:
    """Return how a live XGBoost estimator was trained; its saved form does not say."""
    if type(model).__module__.split(".")[0] != "xgboost" or not hasattr(model, "get_params"):
        return None
    method = model.get_params().get("tree_method")
    return "hist" if method in (None, "auto") else method if method in LEARNERS else None


def _decode_exact(model: Any, rows: Rows) -> Any:
    if isinstance(model, Tree):
        return decode_tree_pattern(model, rows)
    if isinstance(model, Forest):
        return decode_forest_pattern(model, rows)
    name = type(model).__name__
    if name.startswith("DecisionTree"):
        return exact.decode_tree(model, rows)
    if name.startswith("RandomForest"):
        return exact.decode_forest(model, rows)
    if name.startswith("AdaBoost"):
        return decode_votes(model, rows)
    if name.startswith("Bagging"):
        return decode_bagging(model, rows)
    return decode_boosting(model, rows)


def _needs_rows(model: Any) -> NoReturn:
    raise DecodeError(
        f"{type(model).__name__}: the training data is needed to decode this model. Its "
        "thresholds lie between values of single nodes, which the key alone does not know. "
        "Pass the original training data (data=)."
    )
