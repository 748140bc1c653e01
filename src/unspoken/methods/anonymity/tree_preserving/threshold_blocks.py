"""Blocks of a numeric column that keep thresholds (fu2010 section 3.3, with its errors mended).

A tree asks about a column between two values of a node: the largest that goes left, v1, and the
smallest that goes right, v2. A release that replaces values block by block keeps the tree if the
order stays, v1 and v2 stay apart, and their representatives still have the sum v1 + v2.

    safe       every such value owns a block and stands for it; values in between go to the nearest
    min-block  neighbouring blocks are merged as long as representatives that increase strictly and
               keep every sum can be found, exactly, in float32

Figure 2 of the paper cuts by counts, through equal values, and lets two nodes set one block.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.methods.anonymity.tree_preserving.octagon_solver import Octagon

Pair = tuple[int, int]


@dataclass(frozen=True)
class Blocks:
    """The block of every code, and what each block is released as."""

    owner: Ints
    representatives: Floats

    @property
    def count(self) -> int:
        """Return the number of blocks."""
        return int(self.representatives.size)


def one_block(values: Floats, weights: Ints) -> Blocks:
    """Return one block for all values: their mean, whole where the values are."""
    total = max(int(weights.sum()), 1)
    mean = float((values * weights).sum() / total) if values.size else 0.0
    if np.array_equal(values, np.rint(values)):
        mean = float(np.rint(mean))
    return Blocks(np.zeros(values.size, np.int64), np.array([mean], np.float32).astype(float))


def safe(values: Floats, pairs: Sequence[Pair], weights: Ints) -> Blocks:
    """Return a block for each value that a threshold lies beside, and it stands for itself."""
    if not pairs:
        return one_block(values, weights)
    anchors = np.unique(np.array(pairs, np.int64))
    return Blocks(_nearest(values, anchors), values[anchors])


def _nearest(values: Floats, anchors: Ints) -> Ints:
    middle = values[anchors[:-1]] / 2 + values[anchors[1:]] / 2
    return np.searchsorted(middle, values, side="left").astype(np.int64)


def min_block(values: Floats, pairs: Sequence[Pair], weights: Ints) -> Blocks:
    """Return few blocks: those of `safe`, merged smallest first while all sums can be kept."""
    start = safe(values, pairs, weights)
    if start.count <= 2:
        return start
    anchors = np.unique(np.array(pairs, np.int64))
    places = [(int(np.searchsorted(anchors, a)), int(np.searchsorted(anchors, b)))
              for a, b in pairs]
    system = _System(values[anchors], places, (float(values[0]), float(values[-1])))
    held = np.bincount(start.owner, weights, start.count)
    apart = [True] * (start.count - 1)
    representatives = start.representatives
    for cut in np.argsort(np.minimum(held[:-1], held[1:]), kind="stable").tolist():
        apart[cut] = False
        solved = system.solve(apart)
        apart[cut] = solved is None
        representatives = representatives if solved is None else solved
    group = np.concatenate([[0], np.cumsum(apart)]).astype(np.int64)
    return Blocks(group[start.owner], representatives)


def refined(values: Floats, pairs: Sequence[Pair], owner: Ints) -> Floats | None:
    """Return values for blocks that keep every threshold; None if these blocks cannot.

    `owner` is the block of every value, from 0 without gaps and never decreasing.
    """
    starts = np.flatnonzero(np.diff(owner, prepend=-1))
    beside = np.unique(np.array(pairs, np.int64).reshape(-1))
    lacking = starts[~np.isin(np.arange(starts.size), owner[beside])]
    anchors = np.unique(np.concatenate([beside, lacking])).astype(np.int64)
    places = [(int(np.searchsorted(anchors, a)), int(np.searchsorted(anchors, b)))
              for a, b in pairs]
    system = _System(values[anchors], places, (float(values[0]), float(values[-1])))
    return system.solve(np.diff(owner[anchors]).astype(np.bool_).tolist())


class _System:
    """Representatives r[a] + r[b] = v[a] + v[b] for every pair, in whole multiples of a step.

    The step is half of the finest that the values need: a sum of two of them may be odd. No
    representative leaves the range of the column.
    """

    def __init__(self, values: Floats, pairs: Sequence[Pair], ends: tuple[float, float]) -> None:
        exact = [Fraction(float(v)) for v in values]
        low, high = Fraction(ends[0]), Fraction(ends[1])
        self.unit = Fraction(1, 2 * max(f.denominator for f in (*exact, low, high)))
        self.low, self.high = int(low / self.unit), int(high / self.unit)
        self.values = [int(f / self.unit) for f in exact]
        self.even = 2 if all(f.denominator == 1 for f in exact) else 1
        self.original = values
        self.pairs = sorted(set(pairs))

    def solve(self, apart: Sequence[bool]) -> Floats | None:
        """Return the representative of every block when some neighbours share one."""
        group = [0]
        for cut in apart:
            group.append(group[-1] + cut)
        links: dict[Pair, int] = {}
        for a, b in self.pairs:
            key, total = (group[a], group[b]), self.values[a] + self.values[b]
            if key[0] == key[1] or links.setdefault(key, total) != total:
                return None
        first = [group.index(g) for g in range(group[-1] + 1)]
        representatives = self._represent(links, [self.values[i] for i in first])
        return None if representatives is None else self._checked(representatives, group)

    def _represent(self, links: dict[Pair, int], wanted: list[int]) -> list[int] | None:
        """Solve for blocks: r = base + sign * x, one free x for each set of linked blocks."""
        form = _forms(links, wanted)
        if form is None:
            return None
        base, sign, part, fixed = form
        system = Octagon(max(part) + 1)
        for x, value in fixed.items():
            system.fix(x, value)
        for k in range(len(base) - 1):
            # r[k] - r[k + 1] <= -1
            system.bound([(sign[k], part[k]), (-sign[k + 1], part[k + 1])],
                         base[k + 1] - base[k] - 1)
        system.bound([(-sign[0], part[0])], base[0] - self.low)
        system.bound([(sign[-1], part[-1])], self.high - base[-1])
        point = system.point([0] * (max(part) + 1), self.even)
        return None if point is None else [b + s * point[p] for b, s, p in
                                           zip(base, sign, part, strict=True)]

    def _checked(self, representatives: list[int], group: list[int]) -> Floats | None:
        """Return float32 values if nothing is lost and every threshold is the same."""
        numbers = np.array([float(r * self.unit) for r in representatives])
        with np.errstate(over="ignore"):
            narrow = numbers.astype(np.float32).astype(np.float64)
        if not np.array_equal(narrow, numbers) or np.any(np.diff(numbers) <= 0):
            return None
        for a, b in self.pairs:
            sides = numbers[group[a]], numbers[group[b]]
            if sides[0] / 2 + sides[1] / 2 != self.original[a] / 2 + self.original[b] / 2:
                return None
        return numbers


def _forms(links: dict[Pair, int], wanted: list[int]
           ) -> tuple[list[int], list[int], list[int], dict[int, int]] | None:
    """Write every representative as base + sign * x; x = 0 gives the first block its own value.

    A cycle of an odd number of sums fixes x; two that disagree have no solution.
    """
    near: dict[int, list[Pair]] = {}
    for (a, b), total in links.items():
        near.setdefault(a, []).append((b, total))
        near.setdefault(b, []).append((a, total))
    size = len(wanted)
    base, sign, part = [0] * size, [0] * size, [-1] * size
    fixed: dict[int, int] = {}
    for root in range(size):
        if part[root] >= 0:
            continue
        base[root], sign[root], part[root] = wanted[root], 1, max(part) + 1
        if not _spread(root, near, base, sign, part, fixed):
            return None
    return base, sign, part, fixed


def _spread(root: int, near: dict[int, list[Pair]], base: list[int], sign: list[int],
            part: list[int], fixed: dict[int, int]) -> bool:
    waiting = [root]
    while waiting:
        a = waiting.pop()
        for b, total in near.get(a, ()):
            if part[b] < 0:
                base[b], sign[b], part[b] = total - base[a], -sign[a], part[a]
                waiting.append(b)
                continue
            rest, slope = total - base[a] - base[b], sign[a] + sign[b]
            if slope == 0:
                if rest:
                    return False
            elif rest % slope or fixed.setdefault(part[a], rest // slope) != rest // slope:
                return False
    return True
