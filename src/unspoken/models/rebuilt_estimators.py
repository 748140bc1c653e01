"""Fitted scikit-learn estimators out of checked arrays, without pickle.

What comes out is the library's own class, so whatever works on a fitted estimator works on
it: SHAP, partial dependence, ONNX converters. Its parameters are defaults but for those that a
model keeps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from unspoken.models.labels import Label, label_array

if TYPE_CHECKING:
    from unspoken.models.forest import Forest
    from unspoken.models.tree import Tree


def estimator_labels(classes: Sequence[Label]) -> npt.NDArray[Any]:
    """Return class labels as an estimator holds them: an array of their one type."""
    return label_array(classes)


def inner_tree(tree: Tree) -> Any:
    """Return scikit-learn's inner Tree object of a pattern's arrays."""
    from sklearn.tree._tree import NODE_DTYPE
    from sklearn.tree._tree import Tree as Inner

    classes, splits = len(tree.classes) or 1, tree.left >= 0
    nodes = np.zeros(tree.nodes, NODE_DTYPE)
    columns = {"left_child": tree.left, "right_child": tree.right,
               "feature": np.where(splits, tree.feature, -2),
               "threshold": np.where(splits, tree.threshold, -2.0), "impurity": tree.impurity,
               "n_node_samples": tree.n_samples,
               "weighted_n_node_samples": tree.weighted_n_samples,
               "missing_go_to_left": tree.missing_left.astype(np.uint8)}
    for name, column in columns.items():
        nodes[name] = column
    inner = Inner(len(tree.features), np.array([classes], np.intp), 1)
    values = np.ascontiguousarray(tree.value, np.float64).reshape(tree.nodes, 1, classes)
    inner.__setstate__({"max_depth": tree.depth, "node_count": tree.nodes, "nodes": nodes,
                        "values": values})
    return inner


def tree_estimator(tree: Tree, classes: Any = None, **params: Any) -> Any:
    """Return a DecisionTreeClassifier or DecisionTreeRegressor that predicts as this tree does."""
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    kind = DecisionTreeClassifier if tree.classes else DecisionTreeRegressor
    estimator = kind(**params)
    estimator.n_features_in_ = estimator.max_features_ = len(tree.features)
    estimator.n_outputs_ = 1
    if tree.classes:
        estimator.classes_ = estimator_labels(tree.classes) if classes is None else classes
        estimator.n_classes_ = len(tree.classes)
    estimator.tree_ = inner_tree(tree)
    return estimator


def forest_estimator(forest: Forest) -> Any:
    """Return a RandomForestClassifier or RandomForestRegressor of these trees."""
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    drawn, size = forest.bootstrap, len(forest.trees)
    kind = RandomForestClassifier if forest.classes else RandomForestRegressor
    estimator = kind(size, bootstrap=drawn is not None)
    inside = np.arange(len(forest.classes), dtype=np.float64)
    seeds: Sequence[int | None] = drawn.seeds if drawn else [None] * size
    estimator.estimators_ = [tree_estimator(tree, inside, random_state=seed)
                             for tree, seed in zip(forest.trees, seeds, strict=True)]
    estimator.n_features_in_, estimator.n_outputs_ = len(forest.features), 1
    estimator._n_samples_bootstrap = drawn.draws if drawn else None
    estimator._sample_weight = None
    if forest.classes:
        estimator.classes_ = estimator_labels(forest.classes)
        estimator.n_classes_ = len(forest.classes)
    return estimator


def with_names(estimator: Any, features: Sequence[str]) -> Any:
    """Give an estimator its column names, unless they only count the columns."""
    room = type(estimator).__module__.partition(".")[0]
    if room == "xgboost" and not any(set(name) & set("[]<") for name in features):
        estimator.get_booster().feature_names = list(features)
    elif room == "lightgbm":
        # LightGBM reads its names out of the booster; blanks are underscores there.
        estimator._fitted_with_feature_names = True
    elif room == "sklearn" and tuple(features) != tuple(f"x{n}" for n in range(len(features))):
        estimator.feature_names_in_ = np.array(features, dtype=object)
    return estimator
