"""Leaves of scikit-learn's trees under monotonic constraints: clipped to bounds between branches.

A split on a constrained column bounds what lies below it by the middle of what its two branches
hold, and a leaf beyond its bound is given the bound. A file does not say which columns were
constrained, and in which direction: that is read off the leaves that are not what their rows give,
and then every leaf must be what rows and constraints give together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from unspoken.arrays import Bools, Floats, Ints
from unspoken.numerics.treewalk import Shape

MOST_TRIED = 64
"""Constraints that are tried, those first that would explain the most leaves."""


def summed_upwards(shape: Shape, leaves: Floats) -> Floats:
    """Return for every node the sum of what its leaves hold; inner nodes hold zero so far."""
    sums = leaves.copy()
    for level in reversed(list(_levels(shape))):
        if level[0]:
            np.add.at(sums, shape.parent[level], sums[level])
    return sums


def _levels(shape: Shape) -> Iterator[Ints]:
    order = np.argsort(shape.depth, kind="stable")
    ends = np.searchsorted(shape.depth[order], np.arange(int(shape.depth.max()) + 2))
    for first, last in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        yield order[first:last]


@dataclass(frozen=True)
class Constrained:
    """A tree whose leaves may be clipped: what its nodes hold by their rows, and what it states."""

    shape: Shape
    feature: Ints
    own: Floats
    stated: Floats
    near: float

    def explained(self) -> Bools:
        """Return which leaves state what their rows give under constraints that fit all of them."""
        signs = np.zeros(int(self.feature.max(initial=0)) + 1)
        wrong = self._wrong(signs)
        for column, sign in self._candidates(wrong):
            if not wrong.any():
                break
            tried = signs.copy()
            tried[column] = sign
            left = self._wrong(tried)
            # A constraint that holds mends leaves and spoils none: without it bounds are wider.
            if not np.any(left & ~wrong) and np.any(wrong & ~left):
                signs, wrong = tried, left
        return ~wrong

    def _middles(self) -> Floats:
        inner = ~self.shape.leaves
        middle = np.zeros(self.own.size)
        middle[inner] = (self.own[self.shape.left[inner]] + self.own[self.shape.right[inner]]) / 2
        return middle

    def _wrong(self, signs: Floats) -> Bools:
        low, high = self._bounds(signs)
        return self.shape.leaves & (
            np.abs(np.clip(self.own, low, high) - self.stated) > self.near)

    def _bounds(self, signs: Floats) -> tuple[Floats, Floats]:
        """Return what every node may hold at least and at most, from the root downwards."""
        size, middle = self.own.size, self._middles()
        low, high = np.full(size, -np.inf), np.full(size, np.inf)
        for level in _levels(self.shape):
            node = level[~self.shape.leaves[level]]
            sign = signs[self.feature[node]]
            for child, below in ((self.shape.left[node], 1), (self.shape.right[node], -1)):
                low[child] = np.where(sign == -below, middle[node], low[node])
                high[child] = np.where(sign == below, middle[node], high[node])
        return low, high

    def _candidates(self, wrong: Bools) -> list[tuple[int, int]]:
        """Return columns and directions whose bound a leaf states, the most frequent first."""
        middle, leaf = self._middles(), np.flatnonzero(wrong)
        node, votes = leaf, np.zeros((int(self.feature.max(initial=0)) + 1, 2), np.int64)
        for _ in range(int(self.shape.depth.max())):
            leaf, node = leaf[node > 0], node[node > 0]
            up = self.shape.parent[node]
            fits = np.abs(middle[up] - self.stated[leaf]) <= self.near
            rising = (self.shape.left[up] == node) == (self.own[leaf] > middle[up])
            np.add.at(votes, (self.feature[up[fits]], rising[fits].astype(np.int64)), 1)
            node = up
        order = np.argsort(-votes, axis=None, kind="stable")[:MOST_TRIED]
        return [(int(at // 2), 1 if at % 2 else -1) for at in order if votes.flat[at]]
