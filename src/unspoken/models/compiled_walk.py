"""Sending many rows down checked trees in compiled code: scikit-learn's own walk of its trees.

A walk in numpy reads every row once a level; the library's walk is one loop, many times as fast.
It knows thresholds only. A node that asks whether a category is in a set gets a column of its own,
which holds 0 for rows that go left and 1 for those that go right.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Bools, Floats, Ints
from unspoken.numerics.treewalk import Shape

Narrow = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Questions:
    """What one tree asks: x[feature] <= threshold, or a set of categories."""

    shape: Shape
    feature: Ints
    threshold: Floats
    missing_left: Bools
    sets: Mapping[int, Narrow] = field(default_factory=dict)
    """By node: 0, 1 or NaN for a missing category first, then for category 0, 1, ...; the last
    entry stands for all further ones."""


def set_flags(members: Ints, known: int, inside: float, missing: float) -> Narrow:
    """Return the flags of a set among the known categories, for members and for missing.

    A file may list any numbers; those that no row can have are left out.
    """
    flags = np.full(known + 2, 1.0 - inside, np.float32)
    flags[0] = missing
    flags[members[members < known] + 1] = inside
    return flags


class CompiledTrees:
    """Trees that send rows of float32 to their leaves; None stands for a single leaf."""

    def __init__(self, trees: Sequence[Questions | None], width: int) -> None:
        self.trees = trees
        self.width = width
        self.room = max((len(tree.sets) for tree in trees if tree is not None), default=0)
        self._inner = [None if tree is None else _inner(tree, width, width + self.room)
                       for tree in trees]

    def leaves(self, data: Narrow) -> Iterator[Ints]:
        """Yield, tree by tree, the node that each row ends in."""
        wide = data
        if self.room:
            wide = np.empty((data.shape[0], self.width + self.room), np.float32)
            wide[:, : self.width] = data
        numbers: dict[int, Ints] = {}
        for tree, inner in zip(self.trees, self._inner, strict=True):
            if tree is None or inner is None:
                yield np.zeros(data.shape[0], np.int64)
                continue
            for place, (node, flags) in enumerate(tree.sets.items()):
                column = int(tree.feature[node])
                if column not in numbers:
                    numbers[column] = _category(data[:, column])
                wide[:, self.width + place] = flags.take(numbers[column], mode="clip")
            yield inner.apply(wide)


def _category(column: Narrow) -> Ints:
    """Return one more than the number of each category, 0 where it is missing."""
    return np.where(np.isnan(column), 0.0, column + 1.0).astype(np.int64)


def _inner(tree: Questions, width: int, room: int) -> Any:
    """Return scikit-learn's inner Tree object; every array was checked by who read it."""
    from sklearn.tree._tree import NODE_DTYPE
    from sklearn.tree._tree import Tree as Inner

    size, splits = tree.shape.left.size, ~tree.shape.leaves
    nodes = np.zeros(size, NODE_DTYPE)
    nodes["left_child"], nodes["right_child"] = tree.shape.left, tree.shape.right
    nodes["feature"] = np.where(splits, _padded(tree.feature, size), -2)
    nodes["threshold"] = np.where(splits, _padded(tree.threshold, size), -2.0)
    nodes["missing_go_to_left"] = _padded(tree.missing_left, size)
    for place, node in enumerate(tree.sets):
        nodes["feature"][node], nodes["threshold"][node] = width + place, 0.5
    inner = Inner(room, np.array([1], np.intp), 1)
    inner.__setstate__({"max_depth": int(tree.shape.depth.max()), "node_count": size,
                        "nodes": nodes, "values": np.zeros((size, 1, 1))})
    return inner


def _padded(array: npt.NDArray[Any], size: int) -> npt.NDArray[Any]:
    """Return an array of inner nodes with zeros for the leaves that stand behind them."""
    return np.concatenate([array, np.zeros(size - array.size, array.dtype)])
