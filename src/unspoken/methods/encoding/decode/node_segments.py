"""Rows in the order of their leaves, so that the rows of every node lie side by side.

A threshold needs the largest value on its left and the smallest on its right, of one column, among
the rows of one node. Level by level that is one pass over the rows, as a prediction is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats, Ints
from unspoken.numerics.treewalk import Shape

Wanted = Mapping[str, tuple[Floats, int, Any]]
"""By name: a table of all rows, the side of the node (0 left, 1 right), and fmin or fmax."""


Beside = tuple[Floats, Floats]


class Segments:
    """Where the rows of each node begin, and how many they are, when ordered by leaf."""

    def __init__(self, shape: Shape, leaf_of_row: Ints) -> None:
        self.shape = shape
        deepest = int(shape.depth.max())
        by_depth = np.argsort(shape.depth, kind="stable")
        ends = np.searchsorted(shape.depth[by_depth], np.arange(deepest + 2))
        self._levels = [by_depth[ends[d] : ends[d + 1]] for d in range(deepest + 1)]
        self.count = np.bincount(leaf_of_row, minlength=shape.left.size).astype(np.int64)
        for level in self._levels[:0:-1]:
            np.add.at(self.count, shape.parent[level], self.count[level])
        self.start = np.zeros(shape.left.size, np.int64)
        for inner in self._inner():
            left, right = shape.left[inner], shape.right[inner]
            self.start[left] = self.start[inner]
            self.start[right] = self.start[inner] + self.count[left]
        self.order = np.argsort(self.start[leaf_of_row], kind="stable")

    def _inner(self) -> Iterator[Ints]:
        """Yield the nodes that split, level by level."""
        for level in self._levels:
            inner = level[self.shape.left[level] >= 0]
            if inner.size:
                yield inner

    def extremes(self, feature: Ints, bag: Ints, wanted: Wanted) -> dict[str, Floats]:
        """Return, for every node that splits, extremes of its column on its sides (NaN: none)."""
        size = self.shape.left.size
        out = {name: np.full(size, np.nan) for name in wanted}
        rows = bag[self.order]
        for inner in self._inner():
            for side, child in enumerate((self.shape.left[inner], self.shape.right[inner])):
                full = self.count[child] > 0
                node, count = inner[full], self.count[child][full]
                if not node.size:
                    continue
                first = np.cumsum(count) - count
                within = np.arange(int(count.sum())) - np.repeat(first, count)
                place = rows[np.repeat(self.start[child][full], count) + within]
                column = np.repeat(feature[node], count)
                for name, (table, wanted_side, extreme) in wanted.items():
                    if wanted_side == side:
                        out[name][node] = extreme.reduceat(table[place, column], first)
        return out

    def beside(self, feature: Ints, table: npt.NDArray[np.float32], bag: Ints) -> Beside:
        """Return, for every node that splits, the largest code left and the smallest right of it.

        Rows are laid out in the order of their leaves first, so that each level reads them once
        and in order; NaN where a side has no value.
        """
        low, high = (np.full(self.shape.left.size, np.nan) for _ in range(2))
        width = table.shape[1]
        flat = np.ascontiguousarray(table[bag[self.order]]).ravel()
        for inner in self._inner():
            count, below = self.count[inner], self.count[self.shape.left[inner]]
            first = np.cumsum(count) - count
            shift = (self.start[inner] - first) * width + feature[inner]
            place = np.repeat(shift, count) + np.arange(int(count.sum())) * width
            codes = np.append(flat.take(place), np.float32(np.nan))
            bounds = np.column_stack([first, first + below]).ravel()
            low[inner] = np.where(below > 0, np.fmax.reduceat(codes, bounds)[::2], np.nan)
            high[inner] = np.where(count > below, np.fmin.reduceat(codes, bounds)[1::2], np.nan)
        return low, high
