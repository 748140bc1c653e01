"""The leaf of every training row in every tree of a boosted model, in parts of the rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.methods.encoding.decode.boosted_leaves import Leaves
from unspoken.methods.encoding.decode.training_rows import Rows
from unspoken.models.compiled_walk import CompiledTrees, Questions, set_flags
from unspoken.models.histogram_nodes import HistogramTree
from unspoken.models.readers.lightgbm_tree import LeafwiseTree
from unspoken.models.readers.xgboost_tree import BoostedTree

MOST_SETS = 512
"""Sets of one tree that are walked in compiled code; each takes a column of memory."""

Ask = Callable[[Any, Rows], Questions | None]


class SlowTreeError(Exception):
    """A tree that asks for more than thresholds and sets; never shown."""


def leaves_in(trees: Sequence[Any], rows: Rows, ask: Ask,
              number: Callable[[Any, Ints], Ints] | None = None) -> Leaves:
    """Return where rows end; trees with a question that is not compiled walk level by level."""
    try:
        questions = [ask(tree, rows) for tree in trees]
    except SlowTreeError:
        return _slowly(trees, rows)
    if any(each is not None and len(each.sets) > MOST_SETS for each in questions):
        return _slowly(trees, rows)
    compiled = CompiledTrees(questions, rows.codes.shape[1])

    def leaves(first: int, last: int) -> Any:
        reached = compiled.leaves(rows.narrow[first:last])
        if number is None:
            return reached
        return (number(tree, leaf) for tree, leaf in zip(trees, reached, strict=True))

    return leaves


def _slowly(trees: Sequence[Any], rows: Rows) -> Leaves:
    return lambda first, last: (tree.leaf_of(rows.codes[first:last]) for tree in trees)


def _known(rows: Rows, column: int) -> int:
    return int(rows.book.column(column)[0].size)


def ask_xgboost(tree: BoostedTree, rows: Rows) -> Questions:
    """XGBoost: x < condition in float32; members of a set go right."""
    below = np.nextafter(tree.condition.astype(np.float32), np.float32(-np.inf))
    sets = {node: set_flags(tree.right_set(node), _known(rows, int(tree.feature[node])), 1.0,
                            0.0 if tree.default_left[node] else 1.0)
            for node in np.flatnonzero(tree.categorical & tree.inner).tolist()}
    return Questions(tree.shape, tree.feature, below.astype(np.float64), tree.default_left, sets)


def ask_lightgbm(tree: LeafwiseTree, rows: Rows) -> Questions | None:
    """LightGBM: x <= threshold; members of a set go left; what is missing differs by node."""
    if tree.shape is None:
        return None
    in_set, kind = (tree.decision & 1) != 0, (tree.decision >> 2) & 3
    if np.any(~in_set & (kind == 1)):
        raise SlowTreeError
    left = np.where(kind == 2, (tree.decision & 2) != 0, tree.threshold >= 0.0)
    sets = {node: set_flags(tree.left_set(node), _known(rows, int(tree.feature[node])), 0.0, 1.0)
            for node in np.flatnonzero(in_set).tolist()}
    return Questions(tree.shape, tree.feature, tree.threshold, left, sets)


def lightgbm_leaf(tree: LeafwiseTree, node: Ints) -> Ints:
    """Return the number of a leaf; leaves stand behind the inner nodes."""
    return node - tree.feature.size if tree.shape is not None else node


def ask_histogram(tree: HistogramTree, rows: Rows) -> Questions:
    """HistGradientBoosting: x <= threshold; members of a set go left."""
    sets = {node: set_flags(np.array(members, np.int64), _known(rows, int(tree.feature[node])),
                            0.0, 0.0 if tree.missing_left[node] else 1.0)
            for node, members in tree.sets.items()}
    threshold: Floats = tree.threshold
    return Questions(tree.shape, tree.feature, threshold, tree.missing_left, sets)
