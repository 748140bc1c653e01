"""When a rule is shown, and how many changes away from it that is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unspoken.arrays import Bools, Ints
from unspoken.methods.baskets.rule_counts import least_count, most_below
from unspoken.numerics.record_bitsets import unpack
from unspoken.table.baskets import Baskets


@dataclass(frozen=True)
class Thresholds:
    """A rule is shown if its support and its confidence both reach these."""

    min_support: float
    min_confidence: float

    def less(self, margin: float) -> Thresholds:
        """Return thresholds that a hidden rule must stay below, by a safety margin lower."""
        return Thresholds(self.min_support * (1 - margin), self.min_confidence * (1 - margin))

    def shows(self, both: int, left: int, count: int) -> bool:
        """Return True if a rule with these counts is shown."""
        return both >= least_count(self.min_support, count) and \
            both / max(left, 1) >= self.min_confidence

    def by_support(self, both: int, count: int) -> int:
        """Return how many baskets must lose both sides until the support is too small."""
        return max(both - least_count(self.min_support, count) + 1, 0)

    def by_confidence(self, both: int, left: int) -> int:
        """Return how many baskets must lose the right side until the confidence is too small."""
        return max(both - most_below(self.min_confidence, left), 0)

    def by_dilution(self, both: int, left: int) -> int:
        """Return how many baskets must gain the left side until the confidence is too small."""
        more = max(int(both / self.min_confidence) - left - 1, 0)
        while both / max(left + more, 1) >= self.min_confidence:
            more += 1
        return more


def holding(baskets: Baskets, codes: tuple[int, ...]) -> Bools:
    """Return which baskets hold all of these items."""
    if not codes:
        return np.ones(len(baskets), np.bool_)
    return unpack(np.bitwise_and.reduce(baskets.bitmaps(codes), axis=0), len(baskets))


def dense(baskets: Baskets, rows: Ints, items: Ints) -> Bools:
    """Return a table of some baskets and some items."""
    part = baskets.take(rows)
    place = np.full(len(baskets.items), -1, np.int64)
    place[items] = np.arange(items.size)
    where = place[part.codes]
    table = np.zeros((rows.size, items.size), np.bool_)
    table[part.rows[where >= 0], where[where >= 0]] = True
    return table


def keys(baskets: Baskets) -> Ints:
    """Return every cell that is there as one number, in order."""
    return np.asarray(baskets.rows * max(len(baskets.items), 1) + baskets.codes)


def among(some: Ints, ordered: Ints) -> Bools:
    """Return which of some numbers are in a list that is in order."""
    if ordered.size == 0:
        return np.zeros(some.size, np.bool_)
    place = np.minimum(np.searchsorted(ordered, some), ordered.size - 1)
    return np.asarray(ordered[place] == some)


def without_cells(baskets: Baskets, rows: Ints, codes: Ints) -> Baskets:
    """Return the baskets without these items in these rows."""
    gone = np.sort(rows * max(len(baskets.items), 1) + codes)
    kept = ~among(keys(baskets), gone)
    return Baskets.from_rows(baskets.rows[kept], baskets.codes[kept], len(baskets), baskets.items)


def with_cells(baskets: Baskets, rows: Ints, codes: Ints) -> Baskets:
    """Return the baskets with these items in these rows as well."""
    return Baskets.from_rows(np.concatenate([baskets.rows, rows]),
                             np.concatenate([baskets.codes, codes]), len(baskets), baskets.items,
                             repeats="drop")
