"""Released columns under the names of others: their content tells which they are.

A name costs nothing to change. Where the values of a column are not those of the original column of
its name, but are those of another one, it is that other one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from unspoken.arrays import Floats
from unspoken.table.arrow_arrays import is_number, to_numbers
from unspoken.table.category_codes import Coded, coded
from unspoken.table.table import Table

APART = 0.5
"""Distance from which on a column does not hold what its name says."""
ALIKE, EXACT = 0.25, 0.05
"""Distance up to which values are those of another column: of many different ones, and of few."""
NEAR = 0.1
"""The same for the shape of two columns of numbers whose names are both there."""
MANY = 20
SOME = 50


def exchanged(original: Table, release: Table, named: Mapping[str, str],
              names: Sequence[str]) -> dict[str, str]:
    """Return for original columns the released ones that hold their values under other names."""
    from scipy.optimize import linear_sum_assignment

    here = {name: _Column.of(original, name) for name in names}
    there = {name: _Column.of(release, name) for name in release.schema.names}
    wrong = {name: at for name, at in named.items() if here[name].off(there[at]) > APART}
    mine = [name for name in names if name in wrong or name not in named]
    theirs = [n for n in there if n in wrong.values() or n not in named.values()]
    if not wrong or not mine:
        return {}
    cost = np.array([[_cost(here[a], there[b], wrong, a, b, here) for b in theirs] for a in mine])
    rows, columns = linear_sum_assignment(cost)
    return {mine[i]: theirs[j] for i, j in zip(rows.tolist(), columns.tolist(), strict=True)
            if cost[i, j] < APART and named.get(mine[i]) != theirs[j]}


def _cost(one: _Column, other: _Column, wrong: Mapping[str, str], name: str, there: str,
          here: Mapping[str, _Column]) -> float:
    """Return what it costs to take one for the other: a half for what only its name speaks for."""
    if wrong.get(name) == there:
        return APART
    if one.may_be(other):
        off = one.off(other)
        if off <= (ALIKE if one.many or not one.number else EXACT):
            return off
    owner = next((n for n, at in wrong.items() if at == there), None)
    if name in wrong and owner is not None and one.many and other.many \
            and here[owner].shape_off(other) > APART and one.shape_off(other) <= NEAR:
        return ALIKE + one.shape_off(other)
    return 1.0


@dataclass(frozen=True)
class _Column:
    """The values of a column, numbers as they are and all else as texts."""

    found: Coded
    kind: str

    @classmethod
    def of(cls, table: Table, name: str) -> _Column:
        column = table.arrow([name])[name]
        if pa.types.is_nested(column.type):
            return cls(coded(pa.array([None] * len(column), pa.string())), "basket")
        kind = "date" if pa.types.is_temporal(column.type) else \
            "number" if is_number(column.type) else "text"
        return cls(coded(column), kind)

    @property
    def number(self) -> bool:
        return self.kind != "text"

    @cached_property
    def _counted(self) -> tuple[Any, Floats]:
        """Return the different values and their shares; integers beyond 2^53 may fall together."""
        labels = self.found.labels
        values = np.asarray(to_numbers(labels), np.float64) if self.number else \
            np.array([str(value) for value in labels.to_pylist()], dtype=np.str_)
        counts = np.bincount(self.found.codes, minlength=len(labels) + 1)[:-1]
        different, place = np.unique(values, return_inverse=True)
        summed = np.bincount(place.ravel(), counts, minlength=different.size)
        return different, np.asarray(summed / max(summed.sum(), 1))

    @property
    def values(self) -> Any:
        return self._counted[0]

    @property
    def shares(self) -> Floats:
        return self._counted[1]

    @cached_property
    def many(self) -> bool:
        return self.shares.size >= MANY

    def may_be(self, other: _Column) -> bool:
        """Return True if some values of the other are values of this one."""
        if self.kind != other.kind or not other.shares.size:
            return False
        some = other.values[::max(1, other.shares.size // SOME)]
        return bool(np.isin(some, self.values).mean() > 0.5)

    def off(self, other: _Column) -> float:
        """Return how far values are those of the other column: total variation distance.

        Of a part of the people only the values that are shown are asked for.
        """
        if self.kind != other.kind or not other.shares.size:
            return 1.0
        _, mine, theirs = np.intersect1d(self.values, other.values, assume_unique=True,
                                         return_indices=True)
        if other.found.codes.size < 0.9 * self.found.codes.size and \
                self.shares.size > 0.2 * self.found.codes.size:
            return 1.0 - float(other.shares[theirs].sum())
        return 1.0 - float(np.minimum(self.shares[mine], other.shares[theirs]).sum())

    def shape_off(self, other: _Column) -> float:
        """Return the largest difference of two distribution functions of numbers."""
        if self.kind != other.kind or not self.number or not min(self.shares.size,
                                                                 other.shares.size):
            return 1.0
        at = np.union1d(self.values, other.values)
        low = [np.append(0.0, np.cumsum(one.shares))[np.searchsorted(one.values, at, side="right")]
               for one in (self, other)]
        return float(np.abs(low[0] - low[1]).max())
