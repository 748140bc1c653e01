"""Taking over fitted scikit-learn trees and forests that are already objects in memory.

scikit-learn has no file format but pickle, which runs whatever it is told to; a model from
outside therefore comes as tacit's JSON, and only an object in memory comes through here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.core.forest import Bootstrap, ClassWeight, Forest
from tacit.core.tree import Label, Task, Tree
from tacit.errors import ModelError, explain


def tree_from(estimator: Any) -> Tree:
    """Return the Tree of a fitted DecisionTreeClassifier or DecisionTreeRegressor."""
    _check(estimator, "tree_", "a fitted scikit-learn decision tree")
    return flat_tree(estimator.tree_, _task(estimator), feature_names(estimator),
                     class_labels(estimator))


def forest_from(estimator: Any) -> Forest:
    """Return the Forest of a fitted RandomForestClassifier or RandomForestRegressor."""
    _check(estimator, "estimators_", "a fitted scikit-learn random forest")
    task, features, classes = (_task(estimator), feature_names(estimator),
                               class_labels(estimator))
    trees = tuple(flat_tree(e.tree_, task, features, classes) for e in estimator.estimators_)
    return Forest(task, features, classes, trees, _bootstrap(estimator))


def flat_tree(
    tree: Any, task: Task, features: tuple[str, ...], classes: tuple[Label, ...]
) -> Tree:
    """Return scikit-learn's inner Tree object as ours, leaf fields set to -1, 0 and False."""
    inner = tree.children_left >= 0
    return Tree(
        task, features, classes,
        feature=np.where(inner, tree.feature, -1).astype(np.int64),
        threshold=np.where(inner, tree.threshold, 0.0),
        left=tree.children_left.astype(np.int64),
        right=tree.children_right.astype(np.int64),
        missing_left=np.asarray(inner & (tree.missing_go_to_left != 0)),
        value=tree.value[:, 0, :].copy(),
        n_samples=tree.n_node_samples.astype(np.int64),
        weighted_n_samples=tree.weighted_n_node_samples.copy(),
        impurity=tree.impurity.copy(),
    )


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


def _bootstrap(estimator: Any) -> Bootstrap | None:
    if not estimator.bootstrap:
        return None
    seeds = tuple(int(tree.random_state) for tree in estimator.estimators_)
    weighted = getattr(estimator, "_sample_weight", None) is not None
    return Bootstrap(seeds, int(estimator._n_samples_bootstrap), weighted,
                     _class_weight(getattr(estimator, "class_weight", None)))


def _class_weight(weight: Any) -> ClassWeight:
    if weight is None or weight == "balanced_subsample":
        # balanced_subsample weighs after the draw: it changes no in-bag row.
        return None
    if isinstance(weight, str):
        return weight
    return tuple((_plain(label), float(number)) for label, number in weight.items())


def _plain(label: Any) -> Label:
    plain: Label = label.item() if isinstance(label, np.generic) else label
    return plain


def _task(estimator: Any) -> Task:
    return "classification" if hasattr(estimator, "classes_") else "regression"


def _check(estimator: Any, attribute: str, wanted: str) -> None:
    if not hasattr(estimator, attribute):
        raise ModelError(explain("the model", wanted, type(estimator).__name__, "Fit it first."))
    if getattr(estimator, "n_outputs_", 1) != 1:
        raise ModelError(explain("the model's number of outputs", "1",
                                 str(estimator.n_outputs_), "Fit one model an output."))
