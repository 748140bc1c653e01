"""What the codes really stand for: the side of the audit that adversaries never see.

A column's truth is a list of pairs (value, code) with the records behind each. Where every value
has one code there is one pair a value; with codes per record there are more. Truths are built by
a function that each mechanism registers under the kind "truth".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tacit.attack.contract import ColumnView, View
from tacit.core import registry
from tacit.core.key import Key
from tacit.core.release import Release
from tacit.core.table import Table
from tacit.engines.arrow import to_numbers
from tacit.errors import DataError
from tacit.protect.piecewise.book import ColumnCode, PiecewiseBook
from tacit.protect.piecewise.draw import as_float32
from tacit.stats.lookup import Lookup
from tacit.stats.sorting import range_width

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Truth:
    """Pairs of value and code of one column, ordered by value, and the records behind each."""

    name: str
    released: str
    values: Floats
    owner: Ints
    where: Ints
    counts: Ints
    pair_of_row: npt.NDArray[np.int32] | None = field(default=None, repr=False)

    @cached_property
    def truth(self) -> Floats:
        """Return the value of each pair."""
        return self.values[self.owner]

    @cached_property
    def by_value(self) -> Ints:
        """Return how often each distinct value occurs."""
        return np.bincount(self.owner, self.counts, self.values.size).astype(np.int64)

    @cached_property
    def weight(self) -> Floats:
        """Return how much of its value each pair is; pairs of one value sum to 1."""
        return np.asarray(self.counts / self.by_value[self.owner])

    @cached_property
    def share(self) -> Floats:
        """Return the weight of each pair when distinct values count alike (Definition 1)."""
        return self.weight / max(self.values.size, 1)

    @cached_property
    def record_share(self) -> Floats:
        """Return the weight of each pair when records count alike."""
        return np.asarray(self.counts / max(int(self.counts.sum()), 1))

    @cached_property
    def width(self) -> float:
        """Return the width of the range: max - min + 1 for whole numbers, else max - min."""
        return range_width(self.values)

    @cached_property
    def one_each(self) -> bool:
        """Return whether pair i is code i, so that guesses need no rearranging."""
        return bool(np.array_equal(self.where, np.arange(self.where.size)))

    def rows(self, table: Table) -> npt.NDArray[np.int32]:
        """Return the pair of every row of the original table, -1 where the value is missing."""
        if self.pair_of_row is not None:
            return self.pair_of_row
        data = to_numbers(table.arrow([self.name])[self.name])
        lookup = Lookup(self.values, np.arange(self.values.size, dtype=np.int32))
        found, missing, _ = lookup.find(data)
        if missing is not None:
            found[missing] = -1
        return np.asarray(found, np.int32)


@dataclass(frozen=True)
class Truths:
    """The columns that can be scored, by original name, and why the others cannot."""

    columns: Mapping[str, Truth]
    unscored: Mapping[str, str]


def truths_of(table: Table, release: Release, view: View, key: Key | None) -> Truths:
    """Find out what the codes stand for, with the key or, where order is kept, without."""
    find = registry.find("truth", str(release.mechanism.get("name")))
    if find is None:
        reason = f"no scoring is known for the mechanism '{release.mechanism.get('name')}'"
        return Truths({}, dict.fromkeys(view.columns, reason))
    found: Truths = find(table, view, key)
    return found


@registry.register("truth", "piecewise")
def piecewise_truths(table: Table, view: View, key: Key | None) -> Truths:
    """Return the truths of a piecewise encoding."""
    if key is not None:
        book = PiecewiseBook.from_key(key)
        _check_columns(table, book.features)
        counted = table.counts(book.features)
        return Truths({c.name: _from_book(c, view[c.released], counted[c.name].values, table)
                       for c in book.columns}, {})
    return _by_order(table, view)


def _check_columns(table: Table, features: tuple[str, ...]) -> None:
    missing = [name for name in features if name not in table.schema.names]
    if missing:
        raise DataError(f"The table must be the one that was released. Columns {missing[:10]} are "
                        "not in it. Pass the original table.")


def _from_book(column: ColumnCode, seen: ColumnView, values: Floats, table: Table) -> Truth:
    distinct, _ = as_float32(column.name, values, np.zeros((values.size, 1), np.int64))
    if not np.array_equal(distinct, column.values):
        raise _other_table(column.name)
    if column.record.any():
        return _per_record(column, seen, table)
    where = np.searchsorted(seen.codes, column.codes)
    if seen.codes.size != column.codes.size or not np.array_equal(seen.codes[where], column.codes):
        raise _other_table(column.name)
    return Truth(column.name, seen.name, column.values, np.arange(where.size), where,
                 seen.counts[where])


def _per_record(column: ColumnCode, seen: ColumnView, table: Table) -> Truth:
    """Encode every record again: with codes per record a value has many codes."""
    data = to_numbers(table.arrow([column.name])[column.name])
    codes, missing = column.encode(data)
    known = np.ones(data.size, np.bool_) if missing is None else ~missing
    owner, _, _ = Lookup(column.values, np.arange(column.values.size, dtype=np.int32)).find(
        data[known])
    where = np.searchsorted(seen.codes, codes[known])
    where = np.minimum(where, seen.codes.size - 1)
    if not np.array_equal(seen.codes[where], codes[known]):
        raise _other_table(column.name)
    pair, inverse, counts = np.unique(owner.astype(np.int64) * seen.codes.size + where,
                                      return_inverse=True, return_counts=True)
    rows = np.full(data.size, -1, np.int32)
    rows[known] = inverse.reshape(-1)
    return Truth(column.name, seen.name, column.values, pair // seen.codes.size,
                 pair % seen.codes.size, counts, rows)


def _other_table(name: str) -> DataError:
    return DataError(f"The table must be the one that was released. Column '{name}' has other "
                     "values than the key and the release. Pass the original table.")


def _by_order(table: Table, view: View) -> Truths:
    """Align values and codes by order, column by column, where every code has a rank."""
    names = _original_names(table, view)
    counted = table.counts([n for n in names.values() if n in table.schema.names])
    found, unscored = {}, {}
    for released, name in names.items():
        seen = view[released]
        if name not in counted:
            unscored[released] = "the table has no column of this name, and there is no key"
        elif seen.cell_codes.size and seen.cell_codes.max() > 1:
            unscored[name] = "codes in monochromatic pieces have no order: scoring needs the key"
        else:
            found[name] = _aligned(name, seen, counted[name].values, counted[name].by_value)
    return Truths(found, unscored)


def _original_names(table: Table, view: View) -> dict[str, str]:
    """Return released to original names; neutral names stand in the order of the columns."""
    numeric = table.schema.of_kind("numeric", "ordinal")
    if view.mechanism.get("neutral_names") and len(numeric) == len(view.columns):
        return dict(zip(view.columns, numeric, strict=True))
    return {name: name for name in view.columns}


def _aligned(name: str, seen: ColumnView, values: Floats, counts: Ints) -> Truth:
    distinct, merged = as_float32(name, values, counts.reshape(-1, 1))
    where = np.argsort(seen.cells, kind="stable")
    if distinct.size != where.size or not np.array_equal(merged[:, 0], seen.counts[where]):
        raise _other_table(name)
    return Truth(name, seen.name, distinct, np.arange(where.size), where, merged[:, 0])


PARTIAL = ("mondrian", "generalize", "suppress-cells", "sample")
"""Mechanisms that may leave records out."""


def row_count(table: Table, release: Release) -> None:
    """Refuse a release without data, or of another number of rows."""
    if release.table.rows == 0 or not release.schema.features:
        raise DataError("The release must hold data. Got no rows or no columns. Audit a release "
                        "with its data file.")
    partial = release.mechanism.get("name") in PARTIAL and release.table.rows < table.rows
    if release.table.rows != table.rows and not partial:
        raise DataError(f"The table must be the one that was released ({release.table.rows:,} "
                        f"rows). Got {table.rows:,} rows. Pass the original table.")


__all__ = ["Truth", "Truths", "piecewise_truths", "row_count", "truths_of"]
