"""Walking binary trees held as arrays: checking their shape, sending rows down, node ranges.

A tree is five parallel arrays. `left` and `right` hold child numbers and -1 at leaves; node 0 is
the root. Nothing here trusts the arrays: `check_shape` runs in bounded time on any input.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unspoken.arrays import Bools, Floats, Ints

MAX_DEPTH = 4096


class ShapeError(ValueError):
    """The arrays do not form one binary tree."""


@dataclass(frozen=True)
class Shape:
    """A checked tree: children, parents and the depth of every node."""

    left: Ints
    right: Ints
    parent: Ints
    depth: Ints

    @property
    def leaves(self) -> Bools:
        """Return which nodes are leaves."""
        return self.left < 0


def check_shape(left: Ints, right: Ints, max_depth: int = MAX_DEPTH) -> Shape:
    """Check that children form one tree below node 0, in time nodes x log(nodes)."""
    size = left.size
    if size == 0 or right.size != size:
        raise ShapeError(f"{size} left and {right.size} right children")
    inner = left >= 0
    if np.any(inner != (right >= 0)):
        raise ShapeError("a node with only one child")
    children = np.r_[left[inner], right[inner]]
    if children.size and (children.max() >= size or children.min() < 1):
        raise ShapeError("a child that is not a node, or is the root")
    if np.any(np.bincount(children, minlength=size)[1:] != 1):
        raise ShapeError("a node with no parent or with several")
    parent = np.zeros(size, np.int64)
    parent[left[inner]] = np.flatnonzero(inner)
    parent[right[inner]] = np.flatnonzero(inner)
    return Shape(left, right, parent, _depths(parent, max_depth))


def _depths(parent: Ints, max_depth: int) -> Ints:
    """Depths by pointer doubling; a cycle never reaches the root and is found in log steps."""
    depth = np.ones(parent.size, np.int64)
    depth[0] = 0
    up = parent.copy()
    for _ in range(int(parent.size).bit_length() + 1):
        depth = depth + depth[up]
        up = up[up]
    if np.any(up != 0):
        raise ShapeError("a cycle")
    if depth.max() > max_depth:
        raise ShapeError(f"depth {int(depth.max())}, more than {max_depth}")
    return depth


@dataclass(frozen=True)
class Splits:
    """What each inner node asks: x[feature] <= threshold (or <), and where missing goes."""

    feature: Ints
    threshold: Floats
    missing_left: Bools
    strict: bool = False


def apply(shape: Shape, splits: Splits, data: Floats) -> Ints:
    """Return the leaf that each row of `data` (float64) reaches."""
    node = np.zeros(data.shape[0], np.int64)
    if shape.left[0] < 0:
        return node
    active = np.arange(data.shape[0])
    here = node[active]
    while active.size:
        goes_left = _ask(splits, here, data[active, splits.feature[here]])
        here = np.where(goes_left, shape.left[here], shape.right[here])
        settled = shape.left[here] < 0
        node[active[settled]] = here[settled]
        active, here = active[~settled], here[~settled]
    return node


def _ask(splits: Splits, here: Ints, value: Floats) -> Bools:
    limit = splits.threshold[here]
    below = value < limit if splits.strict else value <= limit
    missing = np.isnan(value)
    if missing.any():
        below = np.where(missing, splits.missing_left[here], below)
    return np.asarray(below)


@dataclass(frozen=True)
class NodeRanges:
    """Smallest and largest value of one column among the rows below each node (NaN: none)."""

    low: Floats
    high: Floats


class LeafGroups:
    """Rows grouped by leaf, so that per-node ranges of any column cost one pass each."""

    def __init__(self, shape: Shape, leaf_of_row: Ints) -> None:
        self.shape = shape
        self.order = np.argsort(leaf_of_row, kind="stable")
        grouped = leaf_of_row[self.order]
        new = np.r_[True, grouped[1:] != grouped[:-1]] if grouped.size else np.zeros(0, bool)
        self.starts = np.flatnonzero(new)
        self.leaf = grouped[self.starts]
        deepest = int(shape.depth.max())
        by_depth = np.argsort(shape.depth, kind="stable")
        ends = np.searchsorted(shape.depth[by_depth], np.arange(deepest + 2))
        self._levels = [by_depth[ends[d] : ends[d + 1]] for d in range(deepest, 0, -1)]

    def ranges(self, column: Floats) -> NodeRanges:
        """Return the range of one column below every node, leaves first, then upwards."""
        low = np.full(self.shape.left.size, np.nan)
        high = np.full(self.shape.left.size, np.nan)
        if self.starts.size:
            values = column[self.order]
            low[self.leaf] = np.fmin.reduceat(values, self.starts)
            high[self.leaf] = np.fmax.reduceat(values, self.starts)
        for level in self._levels:
            up = self.shape.parent[level]
            np.fmin.at(low, up, low[level])
            np.fmax.at(high, up, high[level])
        return NodeRanges(low, high)

    def counts(self) -> Ints:
        """Return how many rows are below every node."""
        rows = np.zeros(self.shape.left.size, np.int64)
        rows[self.leaf] = np.diff(np.r_[self.starts, self.order.size])
        for level in self._levels:
            np.add.at(rows, self.shape.parent[level], rows[level])
        return rows
