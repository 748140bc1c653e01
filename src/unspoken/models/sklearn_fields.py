"""The fields of fitted scikit-learn estimators as plain data.

scikit-learn has no file format but pickle, which can run any code; a model from
outside therefore comes as unspoken's JSON, and only an object in memory comes through here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.errors import ModelError, explain
from unspoken.models.labels import Label, Task


def node_arrays(tree: Any) -> dict[str, Any]:
    """Return scikit-learn's inner Tree object as arrays, leaf fields set to -1, 0 and False."""
    inner = tree.children_left >= 0
    return {
        "feature": np.where(inner, tree.feature, -1).astype(np.int64),
        "threshold": np.where(inner, tree.threshold, 0.0),
        "left": tree.children_left.astype(np.int64),
        "right": tree.children_right.astype(np.int64),
        "missing_left": np.asarray(inner & (tree.missing_go_to_left != 0)),
        "value": tree.value[:, 0, :].copy(),
        "n_samples": tree.n_node_samples.astype(np.int64),
        "weighted_n_samples": tree.weighted_n_node_samples.copy(),
        "impurity": tree.impurity.copy(),
    }


def feature_names(estimator: Any) -> tuple[str, ...]:
    """Return the names the estimator was fitted with, or x0, x1, ..."""
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        return tuple(f"x{i}" for i in range(int(estimator.n_features_in_)))
    return tuple(str(name) for name in names)


def class_labels(estimator: Any) -> tuple[Label, ...]:
    """Return class labels as plain JSON scalars, in the estimator's order."""
    classes: npt.NDArray[Any] | None = getattr(estimator, "classes_", None)
    return () if classes is None else tuple(np.asarray(classes).tolist())


def task_of(estimator: Any) -> Task:
    """Return "classification" or "regression"."""
    return "classification" if hasattr(estimator, "classes_") else "regression"


def check_fitted(estimator: Any, attribute: str, wanted: str) -> None:
    """Refuse what is not fitted, or has several outputs."""
    if not hasattr(estimator, attribute):
        raise ModelError(explain("the model", wanted, type(estimator).__name__, "Fit it first."))
    if getattr(estimator, "n_outputs_", 1) != 1:
        raise ModelError(explain("the model's number of outputs", "1",
                                 str(estimator.n_outputs_), "Fit one model per output."))
