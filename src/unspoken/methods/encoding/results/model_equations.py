"""The equations of a shown model: at every node a threshold in codes and the same one in values.

Whoever mined a release keeps the encoded model; the decoded one has the same nodes. LightGBM's
text also states the smallest and the largest value of every column, and a file of histogram
boosting the edges of all bins.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.errors import InputError
from unspoken.methods.encoding.decode.sklearn_replay import inner_trees
from unspoken.models.bagged_trees import BaggedTrees
from unspoken.models.estimator_trees import EstimatorTrees
from unspoken.models.forest import Forest
from unspoken.models.histogram_nodes import HistogramTree
from unspoken.models.histogram_trees import HistogramTrees
from unspoken.models.readers import LightGBMModel, XGBoostModel
from unspoken.models.readers.xgboost_tree import BoostedTree
from unspoken.models.tree import Tree

Splits = tuple[Ints, Floats]
"""Features and thresholds, node by node."""


@dataclass(frozen=True)
class Equations:
    """Thresholds of one column in codes, and beside each the same one in values."""

    codes: Floats
    values: Floats


def equations(mined: Any, shown: Any) -> dict[int, Equations]:
    """Return what a shown model says about each feature; both models have the same nodes."""
    feature, codes = splits_of(mined)
    again, values = splits_of(shown)
    if not np.array_equal(feature, again):
        raise InputError("The shown model does not have the nodes of the mined one. Pass the model "
                         "that was mined from this release.")
    known = np.isfinite(codes) & np.isfinite(values)
    return {place: Equations(codes[known & (feature == place)], values[known & (feature == place)])
            for place in np.unique(feature[known]).tolist()}


def splits_of(model: Any) -> Splits:
    """Return features and thresholds of all nodes that split on numbers, tree after tree."""
    if isinstance(model, Tree):
        return _joined([_of_tree(model)])
    if isinstance(model, Forest):
        return _joined([_of_tree(tree) for tree in model.trees])
    if isinstance(model, XGBoostModel):
        return _joined([_of_boosted(tree) for tree in model.trees])
    if isinstance(model, LightGBMModel):
        return _of_lightgbm(model)
    if isinstance(model, EstimatorTrees):
        edges = model.bins.edges if isinstance(model, HistogramTrees) else ()
        return _joined([*(_of_member(model, tree) for tree in model.trees),
                        *((np.full(edge.size, place), edge) for place, edge in enumerate(edges))])
    if hasattr(model, "_predictors"):
        return _joined([_of_nodes(each.nodes) for stage in model._predictors for each in stage])
    return _joined([(tree.feature[tree.children_left >= 0],
                     tree.threshold[tree.children_left >= 0]) for tree in inner_trees(model)])


def _joined(parts: list[tuple[Any, Any]]) -> Splits:
    features = [np.zeros(0, np.int64), *(np.asarray(part[0], np.int64) for part in parts)]
    thresholds = [np.zeros(0), *(np.asarray(part[1], np.float64) for part in parts)]
    return np.concatenate(features), np.concatenate(thresholds)


def _of_boosted(tree: BoostedTree) -> Splits:
    inner = tree.inner & ~tree.categorical
    return tree.feature[inner], tree.condition[inner]


def _of_tree(tree: Tree) -> Splits:
    inner = ~tree.shape.leaves
    return tree.feature[inner], tree.threshold[inner]


def _of_member(model: EstimatorTrees, tree: Any) -> Splits:
    """Return the splits of one tree of a file, its columns numbered as those of the model."""
    if isinstance(tree, HistogramTree):
        inner = ~tree.shape.leaves & ~np.isin(np.arange(tree.nodes), list(tree.sets))
        return tree.feature[inner], tree.threshold[inner]
    feature, threshold = _of_tree(tree)
    return (model.places(tree)[feature] if isinstance(model, BaggedTrees) else feature), threshold


def _of_nodes(nodes: Any) -> Splits:
    inner = (nodes["is_leaf"] == 0) & (nodes["is_categorical"] == 0)
    return nodes["feature_idx"][inner], nodes["num_threshold"][inner]


def _of_lightgbm(model: LightGBMModel) -> Splits:
    parts = [(tree.feature[(tree.decision & 1) == 0], tree.threshold[(tree.decision & 1) == 0])
             for tree in model.trees]
    return _joined([*parts, *(_ends(place, info)
                              for place, info in enumerate(model.feature_infos))])


def _ends(place: int, info: str) -> Splits:
    """Return the smallest and the largest value of a column as the text states them."""
    if not (info.startswith("[") and info.endswith("]")):
        return np.zeros(0, np.int64), np.zeros(0)
    low, _, high = info[1:-1].partition(":")
    try:
        ends = [float(low), float(high)]
    except ValueError:
        ends = [math.nan, math.nan]
    return np.full(2, place), np.array(ends)
