"""verify: are two models identical, and if not, where do they differ first?"""

from __future__ import annotations

from typing import Any

import numpy as np

from unspoken.models.comparison import (
    Comparison,
    compare_arrays,
    compare_scalars,
    compare_sequences,
    first_difference,
)
from unspoken.models.readers import as_model, is_sklearn
from unspoken.models.sklearn_fields import class_labels, feature_names

__all__ = ["Comparison", "verify"]

TREE_ARRAYS = {
    "left child": "children_left", "right child": "children_right", "feature": "feature",
    "threshold": "threshold", "missing_left": "missing_go_to_left", "value": "value",
    "n_samples": "n_node_samples", "weighted_n_samples": "weighted_n_node_samples",
    "impurity": "impurity",
}
HISTOGRAM_FIELDS = {
    "left child": "left", "right child": "right", "feature": "feature_idx",
    "threshold": "num_threshold", "missing_left": "missing_go_to_left", "value": "value",
    "count": "count", "gain": "gain", "leaf": "is_leaf", "bin": "bin_threshold",
}


def verify(original_model: Any, decoded_model: Any) -> Comparison:
    """Compare two models bit for bit.

    Parameters
    ----------
    original_model, decoded_model : model
        Whatever `decode` takes: unspoken's patterns, scikit-learn trees, forests, gradient boosting
        and histogram boosting, XGBoost and LightGBM models as objects, JSON or text.

    Returns
    -------
    Comparison
        True if identical, otherwise false with the first difference in `.difference`.

    Examples
    --------
    >>> assert verify(direct, decoded)  # doctest: +SKIP
    """
    first, second = as_model(original_model), as_model(decoded_model)
    if type(first) is not type(second):
        return Comparison(f"kind: {type(first).__name__} and {type(second).__name__}")
    if is_sklearn(first):
        return _compare_estimators(first, second)
    comparison: Comparison = first.same_as(second)
    return comparison


def _compare_estimators(first: Any, second: Any) -> Comparison:
    header = first_difference(
        lambda: compare_scalars("number of features", first.n_features_in_,
                                second.n_features_in_),
        lambda: compare_sequences("class", class_labels(first), class_labels(second)),
    )
    names = first_difference(
        lambda: compare_sequences("feature name", feature_names(first), feature_names(second)))
    if hasattr(first, "_predictors"):
        return header and _compare_histogram(first, second) and names
    return header and _compare_trees(first, second) and names


def _inner_trees(model: Any) -> list[Any]:
    if hasattr(model, "tree_"):
        return [model.tree_]
    return [each.tree_ for each in np.asarray(model.estimators_, dtype=object).ravel()]


def _compare_trees(first: Any, second: Any) -> Comparison:
    mine, theirs = _inner_trees(first), _inner_trees(second)
    if len(mine) != len(theirs):
        return Comparison(f"number of trees: {len(mine)} and {len(theirs)}")
    one = len(mine) == 1 and hasattr(first, "tree_")
    trees = first_difference(*(
        lambda n=n, a=a, b=b: _compare_tree(a, b).inside("tree" if one else f"tree {n}")
        for n, (a, b) in enumerate(zip(mine, theirs, strict=True))
    ))
    return trees and _compare_starts(first, second)


def _compare_tree(first: Any, second: Any) -> Comparison:
    return first_difference(
        lambda: compare_scalars("number of nodes", int(first.node_count),
                                int(second.node_count)),
        *(lambda n=n, a=a: compare_arrays("node", n, getattr(first, a), getattr(second, a))
          for n, a in TREE_ARRAYS.items()),
    )


def _compare_starts(first: Any, second: Any) -> Comparison:
    """Compare what stands beside the trees: votes, or the constant that boosting starts from."""
    wanted = ("constant_", "class_prior_")
    votes = [getattr(model, "estimator_weights_", None) for model in (first, second)]
    if votes[0] is not None and votes[1] is not None:
        return compare_arrays("tree", "vote", votes[0], votes[1])
    starts = [getattr(model, "init_", None) for model in (first, second)]
    pairs = [
        [np.atleast_1d(getattr(start, name)).ravel() for start in starts]
        for name in wanted if all(hasattr(start, name) for start in starts)
    ]
    return first_difference(*(
        lambda a=a, b=b: compare_arrays("output", "start", a, b) for a, b in pairs
    ))


def _compare_histogram(first: Any, second: Any) -> Comparison:
    mine, theirs = ([p for stage in m._predictors for p in stage] for m in (first, second))
    if len(mine) != len(theirs):
        return Comparison(f"number of trees: {len(mine)} and {len(theirs)}")
    return first_difference(
        lambda: compare_arrays("output", "start", first._baseline_prediction.ravel(),
                               second._baseline_prediction.ravel()),
        *(lambda n=n, a=a, b=b: _compare_nodes(a.nodes, b.nodes).inside(f"tree {n}")
          for n, (a, b) in enumerate(zip(mine, theirs, strict=True))),
        lambda: _compare_bins(first._bin_mapper, second._bin_mapper),
    )


def _compare_nodes(first: Any, second: Any) -> Comparison:
    return first_difference(
        lambda: compare_scalars("number of nodes", len(first), len(second)),
        *(lambda n=n, f=f: compare_arrays("node", n, first[f], second[f], f != "num_threshold")
          for n, f in HISTOGRAM_FIELDS.items()),
    )


def _compare_bins(first: Any, second: Any) -> Comparison:
    pairs = zip(first.bin_thresholds_, second.bin_thresholds_, strict=True)
    return first_difference(*(
        lambda n=n, a=a, b=b: compare_arrays("bin", "edge", a, b, False).inside(f"feature {n}")
        for n, (a, b) in enumerate(pairs)
    ))
