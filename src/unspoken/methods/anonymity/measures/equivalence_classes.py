"""Equivalence classes and how many people, and how many sensitive values, stand in each.

Everything here works on whole-number codes from 0: a column of quasi-identifiers or of sensitive
values is an array that says for every record which of its values it holds. Missing is a value
like any other; the caller gives it a code. `classes` numbers the records that agree on several
columns, `spread` counts the sensitive values inside each class, and every measure is one array
with a number per class: the table's own number is the worst of them.

What is meant by L has many forms (fu2010 section 2; Machanavajjhala et al. 2007):

    distinct    how many different values a class holds
    entropy     exp of the entropy of the values in a class; a class of l equal parts has l
    recursive   r1 < c (r_l + ... + r_m), counts in decreasing order; `recursive` returns the
                ratio r1 / (r_l + ... + r_m), so that every c above it will do
    strong      class size over the most frequent value's count: 1 / L is the chance that a person
                who knows the class and bets on its commonest value is right (fu2010 section 4.1)

Several sensitive columns are measured one by one and the worst counts. If one sensitive value
may be known while another is asked for, add the known one to the quasi-identifiers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats, Ints

Codes = npt.NDArray[np.integer]

_DIRECT = 1 << 22
_LIMIT = 1 << 62


def dense(codes: Codes) -> Ints:
    """Number the distinct codes from 0 in increasing order and return each record's number."""
    if codes.size == 0:
        return np.zeros(0, np.int64)
    high = int(codes.max()) + 1
    if high <= max(_DIRECT, 8 * codes.size):
        present = np.zeros(high, np.bool_)
        present[codes] = True
        return (np.cumsum(present) - 1)[codes].astype(np.int64)
    return np.unique(codes, return_inverse=True)[1].reshape(-1).astype(np.int64)


def classes(columns: Sequence[Codes]) -> Ints:
    """Return for every record the number of its equivalence class, from 0 without gaps.

    Classes are numbered in the lexicographic order of the columns' codes. At least one column.
    """
    cells, size = np.asarray(columns[0], np.int64), _width(columns[0])
    for column in columns[1:]:
        width = _width(column)
        if size * width > max(_DIRECT, 8 * cells.size):
            cells = dense(cells)
            size = _width(cells)
        if size * width > _LIMIT:
            column, width = dense(column), int(column.size)
        cells, size = cells * width + column, size * width
    return dense(cells)


def sizes(owner: Codes) -> Ints:
    """Return the number of records in each class."""
    return np.bincount(owner).astype(np.int64) if owner.size else np.zeros(0, np.int64)


def k_of(owner: Codes) -> int:
    """Return K: the size of the smallest class; 0 for no records."""
    return int(sizes(owner).min(initial=owner.size))


@dataclass(frozen=True)
class Spread:
    """How often each sensitive value occurs in each class: one entry per pair that occurs.

    Entries are ordered by class, then by value; `starts` says where each class begins.
    """

    owner: Ints
    value: Ints
    count: Ints
    starts: Ints
    values: int

    @cached_property
    def sizes(self) -> Ints:
        """Return the number of records in each class."""
        return np.add.reduceat(self.count, self.starts) if self.starts.size else self.starts

    @cached_property
    def overall(self) -> Floats:
        """Return the share of each value in the whole table."""
        counts = np.bincount(self.value, self.count, self.values)
        return np.asarray(counts / max(counts.sum(), 1.0))

    @cached_property
    def share(self) -> Floats:
        """Return for every entry the share of the value in its class."""
        return np.asarray(self.count / self.sizes[self.owner])


def spread(owner: Codes, sensitive: Codes) -> Spread:
    """Count the values of one sensitive column in every class."""
    width = _width(sensitive)
    cells = _width(owner) * width
    kind = np.min_scalar_type(cells)
    cell = owner.astype(kind) * kind.type(width) + sensitive.astype(kind)
    places, count = _counted(cell, cells)
    of = places // max(width, 1)
    starts = np.append(0, np.flatnonzero(of[1:] != of[:-1]) + 1) if of.size else of
    return Spread(of, places % max(width, 1), count, starts, width)


def distinct(spread: Spread) -> Ints:
    """Return the number of different sensitive values of each class."""
    return np.diff(spread.starts, append=spread.owner.size)


def entropy(spread: Spread) -> Floats:
    """Return exp of the entropy of the sensitive values of each class."""
    terms = -spread.share * np.log(spread.share)
    return np.exp(np.add.reduceat(terms, spread.starts)) if spread.starts.size else terms


def strong(spread: Spread) -> Floats:
    """Return class size over the count of its most frequent value (fu2010 section 4.1)."""
    if not spread.starts.size:
        return np.zeros(0)
    return spread.sizes / np.maximum.reduceat(spread.count, spread.starts)


def recursive(spread: Spread, ell: int) -> Floats:
    """Return for every class r1 / (r_l + ... + r_m): it is (c, l)-diverse for every larger c.

    Infinite for a class of fewer than l values.
    """
    if not spread.starts.size:
        return np.zeros(0)
    order = np.lexsort((-spread.count, spread.owner))
    counts = spread.count[order]
    place = np.arange(counts.size) - spread.starts[spread.owner]
    tail = np.add.reduceat(np.where(place >= ell - 1, counts, 0), spread.starts)
    first = counts[spread.starts].astype(np.float64)
    out = np.full(first.size, np.inf)
    np.divide(first, tail, out=out, where=tail > 0)
    return out


def closeness(spread: Spread, ordered: bool = False, overall: Floats | None = None) -> Floats:
    """Return for every class the earth mover's distance of its values from the whole table's.

    `overall`: the shares of the values in the whole table, where only a part of it was counted.

    Li, Li and Venkatasubramanian (2007). Unordered values are all equally far apart (total
    variation). Ordered values lie one step apart in the order of their codes, the ends at
    distance 1: ranks among the values that occur, not amounts.
    """
    if not spread.starts.size:
        return np.zeros(0)
    whole = spread.overall if overall is None else overall
    if ordered:
        return _ordered(spread, whole)
    above = np.maximum(spread.share - whole[spread.value], 0.0)
    return np.asarray(np.add.reduceat(above, spread.starts))


def discernibility(sizes: Codes, suppressed: int = 0) -> int:
    """Return the sum of squared class sizes; a suppressed record costs as many as there are."""
    total = int(sizes.sum()) + suppressed
    return int((sizes.astype(object) ** 2).sum() if total > 1 << 31
               else (sizes.astype(np.int64) ** 2).sum()) + suppressed * total


def average_class_size(sizes: Codes, k: int = 1) -> float:
    """Return records per class, divided by k (LeFevre et al. 2006: 1 is the best for k)."""
    return float(sizes.sum() / max(sizes.size, 1) / k)


def _width(codes: Codes) -> int:
    return int(codes.max()) + 1 if codes.size else 0


def _counted(cell: Codes, width: int) -> tuple[Ints, Ints]:
    """Return the cells that occur, in order, and how often."""
    if width <= max(_DIRECT, 8 * cell.size):
        counts = np.bincount(cell, minlength=width)
        present = np.flatnonzero(counts)
        return present.astype(np.int64), counts[present].astype(np.int64)
    cells, counts = np.unique(cell, return_counts=True)
    return cells.astype(np.int64), counts.astype(np.int64)


def _ordered(spread: Spread, overall: Floats) -> Floats:
    """Sum |Q - P| over the values, run by run: between two values of a class Q stands still."""
    below, size = np.cumsum(overall), overall.size
    if size < 2:
        return np.zeros(spread.starts.size)
    summed = np.r_[0.0, np.cumsum(below)]
    held = _running(spread.count, spread.starts, spread.owner) / spread.sizes[spread.owner]
    last = np.r_[spread.owner[1:] != spread.owner[:-1], True]
    upto = np.where(last, size, np.r_[spread.value[1:], size])
    parts = _gap(held, spread.value, upto, below, summed)
    first = summed[spread.value[spread.starts]]
    return np.asarray((np.add.reduceat(parts, spread.starts) + first) / (size - 1))


def _running(count: Ints, starts: Ints, owner: Ints) -> Ints:
    """Return the running count within each class."""
    total = np.cumsum(count)
    return np.asarray(total - (total - count)[starts][owner])


def _gap(held: Floats, start: Ints, stop: Ints, below: Floats, summed: Floats) -> Floats:
    """Return the sum of |held - below[i]| over i from start to stop."""
    turn = np.clip(np.searchsorted(below, held, side="right"), start, stop)
    over = held * (turn - start) - (summed[turn] - summed[start])
    under = (summed[stop] - summed[turn]) - held * (stop - turn)
    return np.asarray(over + under)
