"""Equivalence classes and how many people, and how many sensitive values, stand in each.

Everything here works on whole-number codes from 0: a column of quasi-identifiers or of sensitive
values is an array that says for every record which of its values it holds. A missing
quasi-identifier is a value like any other; the caller gives it a code. A missing sensitive value
protects nobody: `spread` takes its code and counts it as no value, so that {HIV, -, -, -} is a
class of one value, and a class without any value reaches no L and no t. `classes` numbers the
records that agree on several columns, `spread` counts the sensitive values inside each class, and
every measure is one array with a number per class: the table's own number is the worst of them.

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

from collections.abc import Iterable
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
        places = np.cumsum(present, dtype=np.int64)
        places -= 1
        return np.asarray(places[codes])
    return np.unique(codes, return_inverse=True)[1].reshape(-1).astype(np.int64, copy=False)


def classes(columns: Iterable[Codes]) -> Ints:
    """Return for every record the number of its equivalence class, from 0 without gaps.

    Classes are numbered in the lexicographic order of the columns' codes. At least one column;
    columns that are made one after the other need not all be held.
    """
    columns = iter(columns)
    first = next(columns)
    cells, size = np.array(first, np.int64), _width(first)
    for column in columns:
        width = _width(column)
        if size * width > max(_DIRECT, 8 * cells.size):
            cells = dense(cells)
            size = _width(cells)
        if size * width > _LIMIT:
            column, width = dense(column), int(column.size)
        # In place: a table of millions has few such arrays beside it.
        cells *= width
        cells += column
        size *= width
    return dense(cells)


def sizes(owner: Codes, weights: Codes | None = None) -> Ints:
    """Return the number of records in each class; `weights`: those that each entry stands for."""
    return np.bincount(owner, weights).astype(np.int64) if owner.size else np.zeros(0, np.int64)


def k_of(owner: Codes) -> int:
    """Return K: the size of the smallest class; 0 for no records."""
    return int(sizes(owner).min(initial=owner.size))


@dataclass(frozen=True)
class Spread:
    """How often each sensitive value occurs in each class: one entry per pair that occurs.

    Entries are ordered by class, then by value; `starts` says where each class begins. A class
    without any value has one entry that counts nothing.
    """

    owner: Ints
    value: Ints
    count: Ints
    starts: Ints
    values: int

    @cached_property
    def sizes(self) -> Ints:
        """Return the number of records with a value in each class."""
        return np.add.reduceat(self.count, self.starts) if self.starts.size else self.starts

    @cached_property
    def overall(self) -> Floats:
        """Return the share of each value in the whole table."""
        counts = np.bincount(self.value, self.count, self.values)
        return np.asarray(counts / max(counts.sum(), 1.0))

    @cached_property
    def share(self) -> Floats:
        """Return for every entry the share of the value in its class."""
        return np.asarray(self.count / np.maximum(self.sizes, 1)[self.owner])

    @cached_property
    def commonest(self) -> Ints:
        """Return how often the most frequent value of each class occurs in it."""
        return np.maximum.reduceat(self.count, self.starts) if self.starts.size else self.starts


def spread(owner: Codes, sensitive: Codes, missing: int | None = None,
           weights: Codes | None = None) -> Spread:
    """Count the values of one sensitive column in every class.

    `missing`: the code that is no value. `weights`: the records that each entry stands for.
    """
    width = max(_width(sensitive), 1)
    cells = _width(owner) * width
    kind = np.min_scalar_type(cells)
    cell = owner.astype(kind) * kind.type(width) + sensitive.astype(kind)
    places, count = _counted(cell, cells, weights)
    of, value = places // width, places % width
    if missing is not None:
        of, value, count = _without(of, value, count, missing)
    starts = np.append(0, np.flatnonzero(of[1:] != of[:-1]) + 1) if of.size else of
    return Spread(of, value, count, starts, width if missing is None else max(missing, 1))


def _without(of: Ints, value: Ints, count: Ints, missing: int) -> tuple[Ints, Ints, Ints]:
    """Drop what is missing; a class of nothing else keeps one entry that counts nothing."""
    gone = value == missing
    if not gone.any():
        return of, value, count
    known = np.zeros(int(of[-1]) + 1, np.bool_)
    known[of[~gone]] = True
    stays = ~gone | ~known[of]
    return of[stays], np.where(gone, 0, value)[stays], np.where(gone, 0, count)[stays]


def distinct(spread: Spread) -> Ints:
    """Return the number of different sensitive values of each class."""
    if not spread.starts.size:
        return np.zeros(0, np.int64)
    return np.asarray(np.add.reduceat((spread.count > 0).astype(np.int64), spread.starts))


def entropy(spread: Spread) -> Floats:
    """Return exp of the entropy of the sensitive values of each class; 0 without any value."""
    if not spread.starts.size:
        return np.zeros(0)
    terms = -spread.share * np.log(np.where(spread.count > 0, spread.share, 1.0))
    return np.where(spread.sizes > 0, np.exp(np.add.reduceat(terms, spread.starts)), 0.0)


def strong(spread: Spread) -> Floats:
    """Return class size over the count of its most frequent value (fu2010 section 4.1)."""
    return np.asarray(spread.sizes / np.maximum(spread.commonest, 1))


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
        return np.where(spread.sizes > 0, _ordered(spread, whole), 1.0)
    above = np.maximum(spread.share - whole[spread.value], 0.0)
    return np.where(spread.sizes > 0, np.add.reduceat(above, spread.starts), 1.0)


def closeness_in_tree(counted: Spread, above: Ints, overall: Floats | None = None) -> Floats:
    """Return the distance where values are as far apart as they must climb to meet.

    Li, Li and Venkatasubramanian (2007) section 4.2. `above[level, value]`: the label of every
    value on each level of its hierarchy, level 0 the value itself. On a tree the earth mover's
    distance is the sum, over all labels, of how much the shares below them differ.
    """
    if not counted.starts.size:
        return np.zeros(0)
    whole = counted.overall if overall is None else overall
    steps = above if int(above[-1].max(initial=0)) > 0 else above[:-1]
    total = np.zeros(counted.starts.size)
    for labels in steps:
        below = spread(counted.owner, labels[counted.value], weights=counted.count)
        there = np.bincount(labels, whole, int(labels.max(initial=0)) + 1)[below.value]
        apart = np.abs(below.share - there) - there
        total += np.add.reduceat(apart, below.starts) + whole.sum()
    return np.where(counted.sizes > 0, total / (2 * max(steps.shape[0], 1)), 1.0)


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


def _counted(cell: Codes, width: int, weights: Codes | None = None) -> tuple[Ints, Ints]:
    """Return the cells that occur, in order, and how often."""
    if width <= max(_DIRECT, 8 * cell.size):
        there = np.bincount(cell, minlength=width)
        present = np.flatnonzero(there)
        counts = there if weights is None else np.bincount(cell, weights, width)
        return present.astype(np.int64), counts[present].astype(np.int64)
    cells, place, counts = np.unique(cell, return_inverse=True, return_counts=True)
    if weights is not None:
        counts = np.bincount(place.reshape(-1), weights, cells.size)
    return cells.astype(np.int64), counts.astype(np.int64)


def _ordered(spread: Spread, overall: Floats) -> Floats:
    """Sum |Q - P| over the values, run by run: between two values of a class Q stands still."""
    below, size = np.cumsum(overall), overall.size
    if size < 2:
        return np.zeros(spread.starts.size)
    summed = np.r_[0.0, np.cumsum(below)]
    sizes = np.maximum(spread.sizes, 1)
    held = _running(spread.count, spread.starts, spread.owner) / sizes[spread.owner]
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
