"""Codes as their places among the codes of their column: whole numbers, looked up once for a model.

What lies beside a threshold is then a largest and a smallest whole number, whatever the column, and
one look-up turns the places of all nodes into codes and into original values.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from unspoken.arrays import Floats, Ints

Places = npt.NDArray[np.int32]
"""One row a record, one column a feature; -1 where the value is missing."""


@dataclass(frozen=True)
class Ranks:
    """The place of every code among the codes of its column, and what stands at each place."""

    table: Places
    first: Ints
    """Where the codes of each column begin in `codes` and `values`."""
    size: Ints
    codes: Floats
    values: Floats

    def code_at(self, column: Ints, place: Ints) -> Floats:
        """Return the codes at places of columns; NaN where a place is below zero."""
        return _at(self.codes, self.first[column], place)

    def value_at(self, column: Ints, place: Ints) -> Floats:
        """Return the original values at places of columns; NaN where a place is below zero."""
        return _at(self.values, self.first[column], place)

    def of_columns(self, chosen: Ints) -> Ranks:
        """Return the same for some of the columns, in another order."""
        return replace(self, table=np.ascontiguousarray(self.table[:, chosen]),
                       first=self.first[chosen], size=self.size[chosen])

    def seen(self, column: int, chosen: Ints | None = None) -> tuple[Floats, Floats]:
        """Return the codes and values of one column that some rows have, all rows if None."""
        flags = np.zeros(int(self.size[column]) + 1, np.bool_)
        flags[self.table[slice(None) if chosen is None else chosen, column]] = True
        # Place -1, of missing values, is the last flag.
        at = int(self.first[column]) + np.flatnonzero(flags[:-1])
        return self.codes[at], self.values[at]


def _at(flat: Floats, first: Ints, place: Ints) -> Floats:
    if not flat.size:
        return np.full(place.shape, np.nan)
    return np.where(place >= 0, flat[first + np.maximum(place, 0)], np.nan)


def place_of(data: Floats, known: Floats) -> tuple[Places, float | None]:
    """Return the place of each value among rising ones, as float32, and one that is not there."""
    # Adding zero turns -0.0 into 0.0, which a hash would tell apart.
    wanted = pa.array(data.astype(np.float32) + np.float32(0), from_pandas=True)
    listed = pa.array(known.astype(np.float32) + np.float32(0))
    held = pc.index_in(wanted, listed, skip_nulls=True).fill_null(-1)
    places = held.to_numpy().astype(np.int32, copy=False)
    strange = np.flatnonzero((places < 0) & ~np.isnan(data))
    return places, float(data[strange[0]]) if strange.size else None


def ranks_from(places: Places, codes: list[Floats], values: Floats) -> Ranks | None:
    """Return ranks from known places; None unless each code stands for one value, in order."""
    sizes = np.array([table.size for table in codes], np.int64)
    first = np.cumsum(sizes) - sizes
    flat = np.full(int(sizes.sum()), np.nan)
    for column, start in enumerate(first.tolist()):
        table = flat[start : start + int(sizes[column])]
        if not _fill(table, codes[column], places[:, column], values[:, column]):
            return None
    return Ranks(np.ascontiguousarray(places), first, sizes,
                 np.concatenate(codes) if codes else np.zeros(0), flat)


def _fill(table: Floats, codes: Floats, place: Places, values: Floats) -> bool:
    """Write the value of every code into a table; False if a code has several, or no order."""
    if np.any(codes[1:] <= codes[:-1]) or np.any(codes.astype(np.float32) != codes):
        return False
    if place.size and int(place.min()) < 0:
        known = place >= 0
        place, values = place[known], values[known]
    table[place] = values
    present = table[~np.isnan(table)]
    return bool(np.array_equal(table[place], values) and np.all(present[1:] > present[:-1]))


def ranks_by_sorting(codes: Floats, values: Floats) -> Ranks | None:
    """Return ranks from codes alone, for books that do not tell places."""
    places = np.full(codes.shape, -1, np.int32)
    tables = []
    for column in range(codes.shape[1]):
        known = ~np.isnan(codes[:, column])
        distinct, place = np.unique(codes[known, column], return_inverse=True)
        places[known, column] = place.reshape(-1)
        tables.append(distinct)
    return ranks_from(places, tables, values)


def codes_at(places: Places, tables: list[npt.NDArray[Any]]) -> Floats:
    """Return the codes at places, one table of codes a column; NaN where nothing stands."""
    out = np.empty(places.shape, np.float64, order="F")
    for column, table in enumerate(tables):
        place = places[:, column]
        listed = np.append(table.astype(np.float64), np.nan)
        # Place -1 is the last entry, NaN.
        out[:, column] = listed[place]
    return out
