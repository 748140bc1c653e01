"""Rows in the order of their leaves, so that the rows of every node lie side by side.

A threshold needs the largest value on its left and the smallest on its right, of one column, among
the rows of one node. Level by level that is one pass over the rows, as a prediction is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats, Ints
from unspoken.methods.encoding.decode.code_ranks import Places
from unspoken.numerics.treewalk import Shape

Wanted = Mapping[str, tuple[Floats, int, Any]]
"""By name: a table of all rows, the side of the node (0 left, 1 right), and fmin or fmax."""
SHORT = 2**16
"""Up to this many leaves are numbered in 16 bits, which numpy sorts without comparing."""


@dataclass(frozen=True)
class _Child:
    """The rows on one side of some nodes: which nodes have any, where they begin, how many."""

    node: Ints
    start: Ints
    count: Ints

    @cached_property
    def first(self) -> Ints:
        """Return where each node's rows begin, if they are put one after the other."""
        return np.asarray(np.cumsum(self.count) - self.count)


class Segments:
    """Where the rows of each node begin, and how many they are, when ordered by leaf."""

    def __init__(self, shape: Shape, leaf_of_row: Ints) -> None:
        self.shape = shape
        self._leaf = leaf_of_row
        deepest = int(shape.depth.max())
        by_depth = np.argsort(shape.depth, kind="stable")
        ends = np.searchsorted(shape.depth[by_depth], np.arange(deepest + 2))
        self._levels = [by_depth[ends[d] : ends[d + 1]] for d in range(deepest + 1)]
        self.count = np.bincount(leaf_of_row, minlength=shape.left.size).astype(np.int64)
        for inner in reversed(list(self._inner())):
            self.count[inner] = self.count[shape.left[inner]] + self.count[shape.right[inner]]
        self.start = np.zeros(shape.left.size, np.int64)
        for inner in self._inner():
            left, right = shape.left[inner], shape.right[inner]
            self.start[left] = self.start[inner]
            self.start[right] = self.start[inner] + self.count[left]

    @cached_property
    def order(self) -> Ints:
        """Return the rows in the order of their leaves."""
        leaves = np.flatnonzero(self.shape.leaves)
        number = np.zeros(self.shape.left.size, np.uint16 if leaves.size <= SHORT else np.int64)
        number[leaves[np.argsort(self.start[leaves], kind="stable")]] = np.arange(leaves.size)
        return np.argsort(number[self._leaf], kind="stable")

    def _inner(self) -> Iterator[Ints]:
        """Yield the nodes that split, level by level."""
        for level in self._levels:
            inner = level[self.shape.left[level] >= 0]
            if inner.size:
                yield inner

    def _sides(self) -> Iterator[tuple[int, _Child]]:
        """Yield the sides of all nodes that have rows there, level by level."""
        for inner in self._inner():
            for side, child in enumerate((self.shape.left[inner], self.shape.right[inner])):
                full = self.count[child] > 0
                if full.any():
                    yield side, _Child(inner[full], self.start[child][full],
                                       self.count[child][full])

    def extremes(self, feature: Ints, bag: Ints, wanted: Wanted) -> dict[str, Floats]:
        """Return, for every node that splits, extremes of its column on its sides (NaN: none)."""
        out = {name: np.full(self.shape.left.size, np.nan) for name in wanted}
        rows = bag[self.order]
        for side, child in self._sides():
            place = rows[_spread(child.start - child.first, child.count, 1)]
            column = np.repeat(feature[child.node], child.count)
            for name, (table, wanted_side, extreme) in wanted.items():
                if wanted_side == side:
                    out[name][child.node] = extreme.reduceat(table[place, column], child.first)
        return out

    def beside(self, feature: Ints, table: Places, bag: Ints) -> tuple[Ints, Ints]:
        """Return, for every node that splits, the largest place left and the smallest right of it.

        Below zero where a side has no value. Rows of deep trees are laid out in the order of their
        leaves first, so that each level reads them in order.
        """
        places, width, at = self._laid_out(table, bag)
        sides = (places, places.view(np.uint32))
        # Read as unsigned, the -1 of a missing value is larger than every place.
        low, high = (np.full(self.shape.left.size, -1, np.int64) for _ in range(2))
        for side, child in self._sides():
            if at is None:
                offset = (child.start - child.first) * width + feature[child.node]
                held = sides[side].take(_spread(offset, child.count, width))
            else:
                row = at.take(_spread(child.start - child.first, child.count, 1))
                held = sides[side].take(row + np.repeat(feature[child.node], child.count))
            extreme, out = (np.minimum, high) if side else (np.maximum, low)
            out[child.node] = extreme.reduceat(held, child.first).view(np.int32)
        return low, high

    def _laid_out(self, table: Places, bag: Ints) -> tuple[Places, int, Ints | None]:
        """Return the places in one line, the width of a row, and where rows begin if not in order.

        Laying out all columns costs as much as reading them all once: too much for stumps.
        """
        rows = bag[self.order]
        width = table.shape[1]
        inner = ~self.shape.leaves
        if int(self.count[inner].sum()) * 2 >= table.size:
            return table.take(rows, axis=0).reshape(-1), width, None
        return np.ascontiguousarray(table).reshape(-1), width, rows * width


def _spread(offset: Ints, count: Ints, step: int) -> npt.NDArray[np.int64]:
    """Return positions: each offset once for every row, plus steps that go on and on."""
    steps = np.arange(0, int(count.sum()) * step, step)
    steps += np.repeat(offset, count)
    return steps
