"""What the codes of a piecewise encoding stand for, with the key or by their order."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats, Ints
from unspoken.disclosure.adversary import ColumnView, View
from unspoken.disclosure.ground_truth import Truth, Truths
from unspoken.errors import DataError
from unspoken.methods.encoding.code_book import ColumnCode, PiecewiseBook
from unspoken.methods.encoding.draw_column import as_float32
from unspoken.numerics.value_lookup import Lookup
from unspoken.release.key import Key
from unspoken.table.arrow_arrays import to_numbers
from unspoken.table.table import Table


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
    values = np.unique(column.rounded(np.asarray(values, np.float64)))
    distinct, _ = as_float32(column.name, values, np.zeros((values.size, 1), np.int64))
    if not np.array_equal(distinct, column.values):
        raise _other_table(column.name)
    if column.record.any():
        return _per_record(column, seen, table)
    where = np.searchsorted(seen.codes, column.codes)
    if seen.codes.size != column.codes.size or not np.array_equal(seen.codes[where], column.codes):
        raise _other_table(column.name)
    return Truth(column.name, seen.name, column.values, np.arange(where.size), where,
                 seen.counts[where], _rounded_rows(column, table))


def _rounded_rows(column: ColumnCode, table: Table) -> npt.NDArray[np.int32] | None:
    """Return the value of every row where values were rounded, -1 where it is missing."""
    if not (column.merged or column.floor.size):
        return None
    data = column.rounded(np.asarray(to_numbers(table.arrow([column.name])[column.name]),
                                     np.float64))
    places = np.searchsorted(column.values, data).astype(np.int32)
    return np.where(np.isnan(data), np.int32(-1), places)


def _per_record(column: ColumnCode, seen: ColumnView, table: Table) -> Truth:
    """Encode every record again: with codes per record a value has many codes."""
    data = to_numbers(table.arrow([column.name])[column.name])
    codes, missing = column.encode(data)
    known = np.ones(data.size, np.bool_) if missing is None else ~missing
    owner, _, _ = Lookup(column.values, np.arange(column.values.size, dtype=np.int32)).find(
        column.rounded(np.asarray(data[known], np.float64)))
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
    truths, unscored = {}, {}
    for released, name in names.items():
        seen = view[released]
        if name not in counted:
            unscored[released] = "the table has no column of this name, and there is no key"
        elif seen.cell_codes.size and seen.cell_codes.max() > 1:
            unscored[name] = "codes in monochromatic pieces have no order: scoring needs the key"
        else:
            truths[name] = _aligned(name, seen, counted[name].values, counted[name].by_value)
    return Truths(truths, unscored)


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
