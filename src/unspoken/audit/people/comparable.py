"""Two tables in the same terms: numbers as intervals, categories as codes of the original's.

A plain number is an interval of no width. A released label may stand for several categories
("a|b", "*"), so what agrees with what is a small table of original by released labels.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Bools, Floats, Ints
from unspoken.audit.people.spelt_numbers import EVERYTHING, intervals
from unspoken.table.arrow_arrays import is_number, to_numbers
from unspoken.table.category_codes import Coded, coded
from unspoken.table.table import Table

Near = npt.NDArray[np.float32]
LONG = 4096
"""Values of a column from which on it is worth while to keep what was made of them."""
MOST_KEPT = 6
STRETCH = 10.0
"""A range is at most this many times as wide as what holds all values but the outermost 2%."""


@dataclass(frozen=True)
class Numbers:
    """A column of numbers: what each value may stand for, NaN where it is missing."""

    low: Floats
    high: Floats

    @property
    def plain(self) -> bool:
        """Return True if every value stands for itself."""
        return self.low is self.high

    @cached_property
    def middle(self) -> Floats:
        """Return one number for each value; the end that is known where the other is open."""
        if self.plain:
            return self.low
        with np.errstate(invalid="ignore"):
            middle = (self.low + self.high) / 2
        return np.where(np.isfinite(middle), middle,
                        np.where(np.isfinite(self.low), self.low,
                                 np.where(np.isfinite(self.high), self.high, np.nan)))

    def take(self, rows: Any) -> Numbers:
        """Return some of the values."""
        low = self.low[rows]
        return Numbers(low, low if self.plain else self.high[rows])


@dataclass(frozen=True)
class Labels:
    """A column of categories: codes into `names`, -1 where it is missing."""

    codes: Ints
    names: tuple[str, ...]

    def take(self, rows: Any) -> Labels:
        """Return some of the values."""
        return Labels(self.codes[rows], self.names)


Values = Numbers | Labels


@dataclass(frozen=True)
class People:
    """Some columns of a table, all of one length."""

    columns: Mapping[str, Values]
    rows: int

    @property
    def blank(self) -> bool:
        """Return True if no column has a value."""
        return all(np.isnan(one.middle).all() if isinstance(one, Numbers) else (one.codes < 0).all()
                   for one in self.columns.values())

    def take(self, rows: Any) -> People:
        """Return some of the people."""
        return People({n: c.take(rows) for n, c in self.columns.items()}, len(rows))


def values_of(column: Any, as_numbers: bool) -> Values:
    """Return an Arrow column as numbers or as labels."""
    if as_numbers and is_number(column.type):
        numbers = np.asarray(to_numbers(column), np.float64)
        return Numbers(numbers, numbers)
    found = coded(column)
    if as_numbers:
        low, high, known = intervals([str(v) for v in found.values()])
        low, high = np.where(known, low, np.nan), np.where(known, high, np.nan)
        return Numbers(np.r_[low, np.nan][found.codes], np.r_[high, np.nan][found.codes])
    return labels_of(found)


def labels_of(found: Coded) -> Labels:
    """Return coded values as labels."""
    codes = np.where(found.codes == found.missing, -1, found.codes)
    return Labels(codes, tuple(_text(v) for v in found.values()))


def _text(value: Any) -> str:
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def people_of(table: Table, names: Sequence[str]) -> People:
    """Return columns of a table by kind: numeric and ordinal ones as numbers."""
    rows = table.arrow(list(names))
    return People({n: _by_kind(rows[n], table.schema[n].kind in ("numeric", "ordinal"))
                   for n in names}, rows.num_rows)


def _by_kind(column: Any, as_numbers: bool) -> Values:
    """Return words that have an order as labels: nothing here says which."""
    values = values_of(column, as_numbers)
    words = isinstance(values, Numbers) and not is_number(column.type) \
        and np.isnan(values.low).sum() > column.null_count
    return values_of(column, False) if words else values


def standing_for(original: Sequence[str], released: Sequence[str]) -> list[list[int]]:
    """Return for every released label the categories that it may stand for."""
    place = {name: i for i, name in enumerate(original)}
    return [[place[label]] if label in place
            else list(range(len(original))) if label.strip().lower() in EVERYTHING
            else [place[part] for part in parts_of(label) if part in place] for label in released]


def agreeing(held: Sequence[Sequence[int]], originals: int) -> Bools:
    """Return (originals, released): which released label may stand for which category."""
    out = np.zeros((originals, len(held)), np.bool_)
    for at, some in enumerate(held):
        out[list(some), at] = True
    return out


def parts_of(label: str) -> list[str]:
    """Return the categories that a label joins: "a|b", "{a, b}"."""
    inside = label.strip().strip("{}[]()")
    return [part.strip().strip("'\"") for part in re.split(r"[|,;]", inside)]


def scale_of(values: Floats) -> Scale:
    """Return how numbers are compared: by the range of the original's own values.

    Released values have no say: one of them far away would bring all others together. Nor have a
    few of the original that lie far from all others.
    """
    held = values[np.isfinite(values)]
    if not held.size:
        return Scale()
    low, inner, outer = (float(one) for one in np.percentile(held, (0, 1, 99), method="nearest"))
    whole, most = (2 * (high / 2 - at / 2) for high, at in ((float(held.max()), low),
                                                            (outer, inner)))
    if 0 < STRETCH * most < whole:
        return Scale(STRETCH * most, inner)
    return Scale(min(whole, np.finfo(np.float64).max) or 1.0, low)


@dataclass(frozen=True)
class Scale:
    """How far apart two values of a column are, between 0 and 1."""

    width: float = 1.0
    zero: float = 0.0
    """Numbers are compared as they lie from here: a large number in common costs no digits."""
    agree: Bools | None = field(default=None, repr=False)
    reads: Ints | None = field(default=None, repr=False)
    """The category that each released label is taken for, where it may stand for several."""
    known: Floats | None = field(default=None, repr=False)
    """Sorted values of similar people, where codes were read by rank: ranks are compared then."""
    ranked: bool = False
    """Released numbers are ranks already, between 0 and 1."""
    exact: bool = False
    """Numbers agree or do not: they were released as they are."""
    _once: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def apart(self, one: Values, rows: Ints | slice, other: Values) -> Near:
        """Return (rows, all of the other): the distance of every pair."""
        if isinstance(one, Numbers) and isinstance(other, Numbers):
            if self.exact:
                return self._equal(one.middle[rows], other.low)
            if self.known is not None and other.plain:
                there = other.low if self.ranked else self._ranks(other.low)
                return Scale()._numbers(self._ranks(one.middle[rows]), Numbers(there, there))
            mine = one.middle[rows]
            return self._numbers(self._short(mine) if isinstance(rows, slice)
                                 else self._shortened(mine), other)
        assert isinstance(one, Labels)
        assert isinstance(other, Labels)
        return self._labels(one.codes[rows], other.codes)

    def _ranks(self, values: Floats) -> Any:
        """Return the places of numbers among similar people, between 0 and 1; missing stays."""
        return self._kept("ranks", values, self._ranked)

    def _kept(self, what: str, values: Floats, make: Callable[[Floats], Near]) -> Near:
        """Return what is made of a long column, once for all blocks of people."""
        if values.size < LONG:
            return make(values)
        # The same memory is the same column: it is kept beside what was made of it.
        place = (what, values.__array_interface__["data"][0], values.size, values.strides)
        kept: tuple[Floats, Near] | None = self._once.get(place)
        if kept is None:
            kept = (values, make(values))
            if len(self._once) >= MOST_KEPT:
                self._once.clear()
            self._once[place] = kept
        return kept[1]

    def _ranked(self, values: Floats) -> Near:
        assert self.known is not None
        ends = [np.searchsorted(self.known, values, side=side) for side in ("left", "right")]
        places = (ends[0] + ends[1]) / (2 * max(self.known.size, 1))
        return np.where(np.isnan(values), np.nan, places).astype(np.float32)

    def _equal(self, mine: Floats, theirs: Floats) -> Near:
        off = np.asarray(mine[:, None] != theirs[None, :], np.float32)
        return _missing(off, np.isnan(mine), np.isnan(theirs))

    def _numbers(self, mine: Near, other: Numbers) -> Near:
        with np.errstate(invalid="ignore"):
            off = self._off(mine, other)
        if np.isinf(mine).any():
            # Infinities on the same side are no number apart; what is missing is set below.
            off[np.isnan(off)] = 0.0
        np.minimum(off, 1.0, out=off)
        return _missing(off, np.isnan(mine), np.isnan(other.low))

    def _off(self, mine: Near, other: Numbers) -> Near:
        if other.plain:
            off = np.subtract(mine[:, None], self._short(other.low)[None, :])
            return np.asarray(np.abs(off, out=off))
        low, high = self._short(other.low), self._short(other.high)
        return np.asarray(np.maximum(
            np.maximum(low[None] - mine[:, None], mine[:, None] - high[None]), 0))

    def _short(self, values: Any) -> Near:
        return values if values.dtype == np.float32 else self._kept(
            "short", values, self._shortened)

    def _shortened(self, values: Floats) -> Near:
        """Return values as shares of the width: only then does single precision hold them."""
        with np.errstate(over="ignore"):
            return self.shares(values).astype(np.float32)

    def shares(self, values: Floats) -> Floats:
        """Return where values lie from zero on, as shares of the width."""
        # Halves first: the difference of two of the largest numbers is beyond all of them.
        with np.errstate(over="ignore"):
            return np.asarray(2 * ((values / 2 - self.zero / 2) / self.width))

    def _labels(self, mine: Ints, theirs: Ints) -> Near:
        if self.agree is None:
            return np.asarray(mine[:, None] != theirs[None, :], np.float32)
        size = self.agree.shape
        table = np.ones((size[0] + 1, size[1] + 1), np.float32)
        table[:-1, :-1] = ~self.agree
        table[-1, -1] = 0.0
        # The shorter side first: what is taken from is then as small as a cache.
        if mine.size <= theirs.size:
            return np.asarray(table[mine].take(theirs, axis=1))
        return np.asarray(table[:, theirs].take(mine, axis=0))


def _missing(off: Near, mine: Bools, theirs: Bools) -> Near:
    """Set what is missing on one side apart, on both sides together."""
    if mine.any() or theirs.any():
        off[:, theirs] = 1.0
        off[mine] = np.where(theirs, 0.0, 1.0).astype(np.float32)
    return off
