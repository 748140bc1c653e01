"""Numbers packed into others: an original column in the first or the last digits of a released one.

Which record is whose need not be known: in an invented table, too, the set of values tells. Digits
by chance are values of a column no more often than their neighbours are, one step up or down.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unspoken.arrays import Bools, Floats
from unspoken.table.arrow_arrays import is_number, to_numbers
from unspoken.table.table import Table

HELD = 0.8
"""Share of the released values whose digits must be values of the original column."""
CHANCE = 0.4
"""Share of the neighbours of these digits that may be values as well."""
FAR = 0.25
"""How far their distribution may be from that of the column: means of few have few digits, too."""
LEAST = 20
"""Different values that a column must have to be worth hiding."""
PLACES, ENDS = range(14), range(10)
"""Digits behind the point, and digits that are left out at the end, that are tried."""
FIRST, SOME = 200, 5000
"""Released values that are looked at first, and where these agree."""
_LARGEST = 1e9
_EXACT = 2.0**53

LOW, HIGH = "in its low digits", "in its first digits"


def digits_held(table: Table, release: Table) -> Iterator[tuple[str, str, str]]:
    """Yield (released column, original column, how): whose digits are whose values."""
    mine, theirs = _numbers(table), _numbers(release)
    worth = {name: known for name, column in mine.items() if (known := _Known(column)).worth}
    for there, column in theirs.items():
        for name, known in worth.items():
            how = _held(known, column, there == name)
            if how and not (there in mine and _held(known, mine[there], there == name) == how):
                yield there, name, how


def _numbers(table: Table) -> dict[str, Floats]:
    names = [c.name for c in table.schema.columns if c.kind != "basket"]
    rows = table.arrow(names)
    out = {}
    for name in names:
        if is_number(rows[name].type):
            values = np.asarray(to_numbers(rows[name]), np.float64)
            out[name] = values[np.isfinite(values)]
    return out


@dataclass(frozen=True)
class _Known:
    """The values of an original column of whole numbers."""

    column: Floats

    @cached_property
    def values(self) -> Floats:
        """Return the different values, in order."""
        return np.unique(self.column)

    @property
    def worth(self) -> bool:
        """Return True for whole numbers that could be packed, and are worth it."""
        return self.values.size >= LEAST and self.values[0] >= 0 and \
            self.values[-1] < _LARGEST and bool((self.values == np.rint(self.values)).all())

    @property
    def base(self) -> float:
        """Return the power of ten above all values."""
        return 10.0 ** len(f"{int(self.values[-1])}")

    def has(self, parts: Floats) -> Bools:
        """Return which numbers are values."""
        at = np.searchsorted(self.values, parts).clip(0, self.values.size - 1)
        return np.asarray(self.values[at] == parts)

    def off(self, parts: Floats) -> float:
        """Return the largest difference of the distribution functions of digits and values."""
        low = [np.searchsorted(np.sort(one), self.values, side="right") / one.size
               for one in (parts, self.column)]
        return float(np.abs(low[0] - low[1]).max())


def _held(known: _Known, column: Floats, same: bool) -> str:
    """Return in which digits a column holds the known values, nothing if in none."""
    few = column[np.linspace(0, column.size - 1, min(FIRST, column.size)).astype(np.int64)] \
        if column.size else column
    for how, place in [(LOW, place) for place in PLACES] + [
            (HIGH, end) for end in ENDS if not same]:
        if _says(known, few, how, place):
            step = max(1, column.size // SOME)
            if _says(known, column[::step], how, place):
                return how
    return ""


def _says(known: _Known, column: Floats, how: str, place: int) -> bool:
    parts, packed = _low(known, column, place) if how == LOW else _high(column, place)
    found = known.has(parts)
    # Some may have nothing beside them; where none has, a column is no packed one.
    if found.sum() <= HELD * column.size or packed.sum() <= CHANCE * column.size or \
            np.unique(parts[found]).size < LEAST:
        return False
    step = float(np.gcd.reduce(parts[found].astype(np.int64)))
    beside = [float(known.has(parts[found] + way).mean()) for way in (step, -step)]
    return max(beside) < CHANCE and known.off(parts[found]) < FAR


def _low(known: _Known, column: Floats, place: int) -> tuple[Floats, Bools]:
    """Return the digits up to a place behind the point, and where there are others above."""
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = np.rint(np.abs(column) * 10.0**place)
        return np.mod(scaled, known.base), (scaled >= known.base) & (scaled < _EXACT)


def _high(column: Floats, end: int) -> tuple[Floats, Bools]:
    """Return the digits but for some at the end, and where those are not all zero."""
    scaled = np.abs(column) / 10.0**end
    parts = np.floor(scaled)
    return parts, (parts != scaled) & (parts < _LARGEST)
