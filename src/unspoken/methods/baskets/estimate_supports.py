"""Supports in the original baskets, estimated from randomised ones (vcz2006 section 6.1.2).

Baskets are grouped by what is publicly known of their size; each group has its own transition
matrix. With l' items of a set in a randomised basket of group m, the estimate is the mean over
baskets of w[m, l'], the last row of the inverse, and its variance (over the randomisation, the
originals being what they are) is estimated without bias by the mean of w^2 - w, over n. Both are
sums over subsets of the set, so that only joint counts are needed, and those of smaller sets are
used again for larger ones.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats, Ints, Words
from unspoken.errors import DataError
from unspoken.methods.baskets.select_a_size import (
    Operator,
    deviation,
    in_subsets,
    spread_weights,
    weights,
)
from unspoken.numerics.frequent_sets import candidates, partners
from unspoken.numerics.packed_bits import bit_counts, packed

WORDS = 1 << 19
"""Words intersected at a time."""

TOLD_APART = 1.96
"""Standard deviations above zero at which a support is distinguished from zero."""

JOINS = 10
"""Joins of smaller sets tried for each candidate that is allowed."""


@dataclass(frozen=True)
class Grouped:
    """Bits of randomised baskets, those of one group side by side in words of their own."""

    words: Words
    starts: Ints
    sizes: Ints
    baskets: Ints

    @classmethod
    def of(cls, columns: tuple[Ints, npt.NDArray[np.int32]], wanted: Ints,
           group: Ints, sizes: Ints) -> Grouped:
        """Pack the wanted items; `group` numbers the baskets' groups, `sizes` are the groups'."""
        baskets = np.bincount(group, minlength=sizes.size)
        width = (baskets + 63) // 64
        starts = np.r_[0, np.cumsum(width)]
        order = np.argsort(group, kind="stable")
        place = np.empty(group.size, np.int64)
        inside = np.arange(group.size) - np.repeat(np.cumsum(baskets) - baskets, baskets)
        place[order] = np.repeat(starts[:-1] * 64, baskets) + inside
        first, rows = columns
        moved = place[rows]
        if sizes.size > 1:
            owner = np.repeat(np.arange(first.size - 1), np.diff(first))
            moved = np.sort(owner * (int(starts[-1]) * 64) + moved) - owner * int(starts[-1]) * 64
        return cls(packed(first, moved, wanted, int(starts[-1]) * 64), starts, sizes, baskets)

    def counts(self, words: Words) -> Ints:
        """Count the bits of every row in every group."""
        if self.sizes.size == 1:
            return bit_counts(words)[:, None]
        return np.stack([bit_counts(words[:, a:b])
                         for a, b in itertools.pairwise(self.starts.tolist())], axis=1)

    def joint(self, sets: Ints) -> Ints:
        """Count in every group the baskets that hold all items of each set."""
        step = max(WORDS // max(self.words.shape[1], 1), 1)
        out = np.zeros((sets.shape[0], self.sizes.size), np.int64)
        for at in range(0, sets.shape[0], step):
            block = sets[at:at + step]
            both = self.words[block[:, 0]]
            for column in range(1, sets.shape[1]):
                both &= self.words[block[:, column]]
            out[at:at + step] = self.counts(both)
        return out


@dataclass(frozen=True)
class Scores:
    """What a joint count of r items adds to the estimate and to its variance, by group."""

    value: Floats
    spread: Floats

    @classmethod
    def of(cls, operator: Operator, k: int, sizes: Ints) -> Scores:
        """Return the scores of sets of k items: arrays of (groups, k + 1)."""
        rows = [weights(operator, k, int(m)) for m in sizes]
        return cls(np.array([in_subsets(w) for w in rows]),
                   np.array([in_subsets(spread_weights(w)) for w in rows]))

    def apply(self, sums: Sequence[Ints], baskets: int) -> tuple[Floats, Floats]:
        """Return estimates and deviations from joint counts summed over subsets of each size."""
        value = sum(np.asarray(s @ self.value[:, r]) for r, s in enumerate(sums))
        spread = sum(np.asarray(s @ self.spread[:, r]) for r, s in enumerate(sums))
        return (np.asarray(value) / baskets,
                np.sqrt(np.maximum(np.asarray(spread), 0.0)) / baskets)


@dataclass(frozen=True)
class Supports:
    """Sets of one size with estimates, deviations and joint counts by group."""

    sets: Ints
    values: Floats
    deviations: Floats
    joint: Ints

    def only(self, kept: npt.NDArray[np.bool_]) -> Supports:
        """Return some of them."""
        return Supports(self.sets[kept], self.values[kept], self.deviations[kept], self.joint[kept])


@dataclass
class Estimating:
    """Level by level: estimate candidates, keep what may reach the threshold."""

    grouped: Grouped
    operator: Operator
    least: float
    slack: float
    most: int
    levels: list[Supports] = field(default_factory=list)
    scores: dict[int, Scores] = field(default_factory=dict)
    floors: dict[int, float] = field(default_factory=dict)
    tested: int = 0

    @property
    def baskets(self) -> int:
        """Return the number of baskets."""
        return int(self.grouped.baskets.sum())

    def run(self, longest: int) -> list[Supports]:
        """Return the sets kept, by size; those that only may reach the threshold are among them.

        Sizes of which no support can be distinguished from zero are not tried.
        """
        self.levels = [self._singles()]
        while len(self.levels) < longest and self.levels[-1].sets.shape[0] > 1:
            if not self.estimable(len(self.levels) + 1):
                break
            level = self._pairs() if len(self.levels) == 1 else self._larger()
            if level.sets.shape[0] == 0:
                break
            self.levels.append(level)
        return self.levels

    def estimable(self, k: int) -> bool:
        """Return whether even a set that everybody has stands out of the noise of its size."""
        return TOLD_APART * self.floor(k) < 1.0

    def floor(self, k: int) -> float:
        """Return the least standard deviation of a set of k items: nobody has any of them.

        An item that is there is seen as it is more often, and adds more variance.
        """
        if k not in self.floors:
            sizes, counts = self.grouped.sizes.tolist(), self.grouped.baskets.tolist()
            self.floors[k] = math.sqrt(sum(
                n * deviation(self.operator, k, m, 1) ** 2
                for m, n in zip(sizes, counts, strict=True)
                if m >= k or self.operator.size_free)) / max(self.baskets, 1)
        return self.floors[k]

    def _keep(self, level: Supports) -> Supports:
        self.tested += level.values.size
        return level.only(level.values >= self.least - self.slack * level.deviations)

    def _estimate(self, sets: Ints, joint: Ints, smaller: list[Ints]) -> Supports:
        k = sets.shape[1]
        nothing = np.broadcast_to(self.grouped.baskets, joint.shape)
        if k not in self.scores:
            self.scores[k] = Scores.of(self.operator, k, self.grouped.sizes)
        values, spread = self.scores[k].apply([nothing, *smaller, joint], self.baskets)
        return Supports(sets, values, np.maximum(spread, self.floor(k)), joint)

    def _singles(self) -> Supports:
        sets = np.arange(self.grouped.words.shape[0])[:, None]
        return self._keep(self._estimate(sets, self.grouped.counts(self.grouped.words), []))

    def _pairs(self) -> Supports:
        items, singles = self.levels[0].sets[:, 0], self.levels[0].joint
        words = np.ascontiguousarray(self.grouped.words[items])
        step = max(WORDS // max(words.shape[1], 1), 1)
        parts, total = [], 0
        for first in range(items.size - 1):
            joint = np.concatenate([self.grouped.counts(words[first] & words[at:at + step])
                                    for at in range(first + 1, items.size, step)])
            later = items[first + 1:]
            sets = np.stack([np.full(later.size, items[first]), later], axis=1)
            parts.append(self._keep(self._estimate(sets, joint,
                                                   [singles[first] + singles[first + 1:]])))
            total += parts[-1].sets.shape[0]
            self._check(total, 2)
        return _joined(parts)

    def _larger(self) -> Supports:
        last, width = self.levels[-1].sets, self.grouped.words.shape[0]
        pairs = self.levels[1].sets
        # Most joins are no candidates, but all of them are written out first.
        self._check(int(partners(last).sum()) // JOINS, last.shape[1] + 1)
        parent, item = candidates(last, pairs[:, 0] * width + pairs[:, 1], width)
        self._check(parent.size, last.shape[1] + 1)
        sets = np.column_stack([last[parent], item])
        places, known = self._subsets(sets)
        sets = sets[known]
        smaller = [sum((self.levels[r].joint[one[known]] for one in level),
                       np.zeros((sets.shape[0], self.grouped.sizes.size), np.int64))
                   for r, level in enumerate(places)]
        return self._keep(self._estimate(sets, self.grouped.joint(sets), smaller))

    def _subsets(self, sets: Ints) -> tuple[list[list[Ints]], npt.NDArray[np.bool_]]:
        """Return where all smaller subsets stand in their levels, and which sets have them all."""
        known, places = np.ones(sets.shape[0], np.bool_), []
        for r, level in enumerate(self.levels, 1):
            subsets = []
            for chosen in itertools.combinations(range(sets.shape[1]), r):
                place, there = find_rows(level.sets, sets[:, list(chosen)],
                                         self.grouped.words.shape[0])
                known &= there
                subsets.append(place)
            places.append(subsets)
        return places, known

    def _check(self, count: int, k: int) -> None:
        if count > self.most:
            raise DataError(f"There are {count:,} or more candidates of {k} items; at most "
                            f"{self.most:,} are allowed. Supports this small cannot be "
                            "distinguished from noise: raise min_support, lower slack, or "
                            "protect less.")


def _joined(parts: list[Supports]) -> Supports:
    return Supports(*(np.concatenate([getattr(part, name) for part in parts])
                      for name in ("sets", "values", "deviations", "joint")))


def find_rows(known: Ints, wanted: Ints, base: int) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """Return where rows of small numbers stand among known rows in order, and whether they do."""
    if known.shape[0] == 0:
        return np.zeros(wanted.shape[0], np.int64), np.zeros(wanted.shape[0], np.bool_)
    if float(base) ** known.shape[1] >= 2.0**62:
        raise DataError(f"Itemsets of {known.shape[1]} items are too long to be estimated over "
                        f"{base} items. Lower 'longest' or raise min_support.")
    powers = np.array([base ** i for i in range(known.shape[1])][::-1], np.int64)
    keys, asked = known @ powers, wanted @ powers
    place = np.minimum(np.searchsorted(keys, asked), keys.size - 1)
    return place, keys[place] == asked
