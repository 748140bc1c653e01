"""Candidates, level by level: public, because they follow from which sets were frequent.

A set of k items is a candidate if all its parts of k - 1 items are frequent (Apriori). Sets are
rows of increasing codes, in order.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from itertools import combinations

import numpy as np

from unspoken.arrays import Bools, Ints
from unspoken.errors import explain
from unspoken.joint.joint_errors import RefusedError
from unspoken.numerics.frequent_sets import candidates

MOST = 1 << 22
"""So many candidates of one size, or rules to test, at most."""


@dataclass
class Ladder:
    """The frequent sets so far and the candidates of the next level.

    parent, last: from the second level on, which frequent set a candidate extends, and by which of
    the frequent items (its place among them).
    """

    items: int
    longest: int
    levels: list[Ints] = field(default_factory=list)
    sets: Ints = field(init=False)
    parent: Ints = field(init=False)
    last: Ints = field(init=False)

    def __post_init__(self) -> None:
        self.sets = np.arange(self.items, dtype=np.int64)[:, None]
        self.parent = self.last = np.zeros(0, np.int64)

    @property
    def going(self) -> bool:
        """Say whether there is anything to test."""
        return bool(self.sets.shape[0] > 0 and self.sets.shape[1] <= self.longest)

    def keep(self, frequent: Bools) -> None:
        """Take in which candidates are frequent, and form the next ones."""
        self.levels.append(self.sets[frequent])
        self._next()
        if self.sets.shape[0] > MOST:
            raise RefusedError(explain("Candidates of one size", f"at most {MOST:,}",
                                       self.sets.shape[0], "Ask for a higher support."))

    def _next(self) -> None:
        kept, latest = self.levels[0][:, 0], self.levels[-1]
        if len(self.levels) == 1:
            self.parent, self.last = np.triu_indices(kept.size, 1)
        else:
            ranks = np.searchsorted(kept, latest)
            keys = np.searchsorted(kept, self.levels[1]) @ np.array([kept.size, 1])
            self.parent, self.last = candidates(ranks, keys, max(kept.size, 1))
        self.sets = np.column_stack([latest[self.parent], kept[self.last]])
        if self.sets.shape[1] > 3:
            self._prune()

    def _prune(self) -> None:
        """Drop sets that have an infrequent part; the join has looked at two parts and a pair."""
        known = {row.tobytes() for row in self.levels[-1]}
        inside = np.ones(self.sets.shape[0], np.bool_)
        for place in range(self.sets.shape[1] - 2):
            part = np.ascontiguousarray(np.delete(self.sets, place, axis=1))
            inside &= np.fromiter((row.tobytes() in known for row in part), np.bool_, len(part))
        self.sets, self.parent, self.last = (
            self.sets[inside], self.parent[inside], self.last[inside])

    def frequent(self) -> tuple[tuple[int, ...], ...]:
        """Return all frequent sets, by size and in order."""
        return tuple(tuple(row) for level in self.levels for row in level.tolist())


def splits(sets: tuple[tuple[int, ...], ...]) -> Ints:
    """Return every way to part a frequent set into two: places of the whole, left and right."""
    count = sum((1 << len(one)) - 2 for one in sets)
    if count > MOST:
        raise RefusedError(explain("Rules to test", f"at most {MOST:,}", count,
                                   "Ask for a higher support, or for shorter sets ('longest')."))
    place = {one: i for i, one in enumerate(sets)}
    rows = []
    for whole, codes in enumerate(sets):
        for left, right in _ways(len(codes)):
            rows.append((whole, place[tuple([codes[i] for i in left])],
                         place[tuple([codes[i] for i in right])]))
    return np.array(rows, np.int64).reshape(-1, 3)


@cache
def _ways(size: int) -> tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]:
    """Return every way to part the places 0 to size - 1 into two."""
    return tuple((left, tuple(i for i in range(size) if i not in left))
                 for many in range(1, size) for left in combinations(range(size), many))
