"""Fitting each library's learner to a matrix: names, classes and categories as it wants them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Ints
from unspoken.errors import InputError
from unspoken.methods.encoding.learners.training_matrix import Matrix


def declare_categories(estimator: Any, matrix: Matrix) -> None:
    """Tell a learner which columns are categories, if it has categories of its own.

    XGBoost's exact method has none, and scikit-learn's histograms hold 255 of them at most; those
    get numbers.
    """
    kind = type(estimator).__name__
    if not matrix.groups:
        return
    if kind.startswith("XGB") and estimator.tree_method != "exact":
        estimator.set_params(enable_categorical=True, feature_types=[
            "c" if flag else "q" for flag in matrix.flags])
    elif kind.startswith("C45"):
        estimator.set_params(categories=[len(matrix.groups[name]) if flag else 0 for name, flag
                                         in zip(matrix.columns, matrix.flags, strict=True)])
    elif kind.startswith("HistGradientBoosting"):
        few = [flag and len(matrix.groups[name]) <= estimator.max_bins
               for name, flag in zip(matrix.columns, matrix.flags, strict=True)]
        estimator.set_params(categorical_features=few)


def chosen_rows(rows: npt.ArrayLike, count: int) -> Ints:
    """Return rows to learn from, checked."""
    chosen = np.asarray(rows)
    if chosen.dtype == np.bool_ and chosen.shape == (count,):
        return np.flatnonzero(chosen)
    whole = chosen.ndim == 1 and chosen.dtype.kind in "iu" and chosen.size > 0
    if not whole or chosen.min() < 0 or chosen.max() >= count:
        raise InputError(f"'rows' must be places of rows, 0 to {count - 1}, or a mask of {count}. "
                         "Got something else.")
    return chosen.astype(np.int64)


def train(estimator: Any, matrix: Matrix, labels: npt.NDArray[Any], rows: Ints | None,
          more: Mapping[str, Any] | None = None) -> None:
    """Fit, and set the column names where that is safe; `more` goes to the library's `fit`."""
    data = matrix.data if rows is None else matrix.data[rows]
    wanted = labels if rows is None else labels[rows]
    try:
        _fit(estimator, matrix, data, wanted, more or {})
    except MemoryError:
        raise
    except Exception as error:  # Each library has errors of its own.
        raise InputError(
            f"{type(estimator).__name__} could not be fitted to this data with these parameters: "
            f"{error}"
        ) from error


def _fit(estimator: Any, matrix: Matrix, data: Any, labels: Any,
         more: Mapping[str, Any]) -> None:
    room = type(estimator).__module__.partition(".")[0]
    if room == "xgboost":
        _fit_xgboost(estimator, matrix, data, labels, more)
    elif room == "lightgbm":
        _fit_lightgbm(estimator, matrix, data, labels, more)
    else:
        estimator.fit(data, labels, **more)
        if not hasattr(estimator, "_preprocessor"):
            estimator.feature_names_in_ = np.array(matrix.columns, dtype=object)


def _fit_lightgbm(estimator: Any, matrix: Matrix, data: Any, labels: Any,
                  more: Mapping[str, Any]) -> None:
    """LightGBM rewrites names with blanks and refuses others; then its models count columns."""
    places = [place for place, flag in enumerate(matrix.flags) if flag]
    estimator.fit(data, labels, feature_name=matrix.plain_names or "auto",
                  categorical_feature=places or "auto", **more)


def _fit_xgboost(estimator: Any, matrix: Matrix, data: Any, labels: Any,
                 more: Mapping[str, Any]) -> None:
    """XGBoost wants classes 0, 1, ...: their sorted order is kept, as everywhere."""
    if type(estimator).__name__.endswith("Classifier"):
        labels = np.unique(labels, return_inverse=True)[1]
    estimator.fit(data, labels, **more)
    estimator.get_booster().feature_names = list(matrix.columns)
