"""A release of another tool with its values written as the original writes them.

Values that are hashed or turned round are looked up (`turned_values`), numbers with units and
dates in another form are read. What can be read by anybody must not count as hidden.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from unspoken.arrays import Floats
from unspoken.audit.people.match_columns import loose_name
from unspoken.audit.people.spelt_dates import days_of, days_of_numbers, in_century
from unspoken.audit.people.spelt_numbers import intervals, is_everything
from unspoken.audit.turned_values import TurnedColumns, turned_columns
from unspoken.table.arrow_arrays import from_numbers, is_number, to_numbers
from unspoken.table.category_codes import Coded, coded
from unspoken.table.engines.local import LocalEngine, MemoryFrame
from unspoken.table.schema import Schema
from unspoken.table.table import Table

DAY = 86400.0
YEAR = 365.2425
_ENDS = re.compile(r"\s*(?:\.\.\.?|,|;|–|—| - | to | bis )\s*")


def plain_release(original: Table, release: Table,
                  turned: TurnedColumns | None = None) -> Table:
    """Return the release with every column that can be read in the terms of the original.

    `turned` is what `turned_columns` says of both tables, where it is known already.
    """
    kinds = {c.name: original.engine.schema(original.frame).field(c.name).type
             for c in original.schema.columns if c.kind != "basket"}
    turned = turned_columns(original, release) if turned is None else turned
    rows, columns = release.arrow(), []
    for place, column in enumerate(release.schema.columns):
        read = turned[column.name].values if column.name in turned else None
        if column.kind != "basket" and read is None:
            read = _read(rows[column.name], _same_name(column.name, kinds), original, kinds)
        if read is not None:
            rows = rows.set_column(rows.column_names.index(column.name), column.name, read)
        numeric = read is not None and is_number(read.type)
        columns.append(replace(release.schema.columns[place],
                               kind="numeric" if numeric else column.kind))
    return Table(Schema(tuple(columns)), MemoryFrame(rows), LocalEngine())


def _same_name(name: str, kinds: dict[str, Any]) -> str | None:
    spelt = {loose_name(one): one for one in kinds}
    return name if name in kinds else spelt.get(loose_name(name))


def _read(column: Any, name: str | None, original: Table, kinds: dict[str, Any]) -> Any:
    """Return a column as numbers or dates, or None where it stays as it is."""
    if name is not None and not is_number(kinds[name]):
        return None
    days = [one for one in ([name] if name is not None and pa.types.is_temporal(kinds[name])
                            else kinds) if pa.types.is_temporal(kinds[one])
            and not pa.types.is_time(kinds[one])]
    if pa.types.is_temporal(column.type):
        return _as_kind(column, _known(original, name, kinds), kinds[name]) \
            if name in days and name is not None else None
    if is_number(column.type):
        return _counted_days(column, original, name, kinds) if name in days else None
    values = coded(column)
    dated = _dates(values, original, days[0], kinds) if days else None
    return dated if dated is not None else _numbers(values)


def _as_kind(column: Any, known: Floats, kind: Any) -> Any:
    """Return dates or times like the original's, in its century where years had two digits."""
    if pa.types.is_time(column.type):
        return None
    numbers = np.asarray(to_numbers(column), np.float64)
    days = numbers if pa.types.is_date(column.type) else numbers / DAY
    moved = in_century(days, known)
    if pa.types.is_date(column.type) == pa.types.is_date(kind) and np.array_equal(
            moved, days, equal_nan=True):
        return None
    return from_numbers(np.floor(moved) if pa.types.is_date(kind) else moved * DAY, kind)


def _in_unit(days: Floats, kind: Any) -> Floats:
    return days if pa.types.is_date(kind) else days * DAY


def _known(original: Table, name: str, kinds: dict[str, Any]) -> Floats:
    """Return the different days of a column of the original."""
    numbers = np.asarray(to_numbers(original.arrow([name])[name]), np.float64)
    numbers = numbers if pa.types.is_date(kinds[name]) else np.floor(numbers / DAY)
    return np.unique(numbers[np.isfinite(numbers)])


def _counted_days(column: Any, original: Table, name: str | None, kinds: dict[str, Any]) -> Any:
    assert name is not None
    values, known = np.asarray(to_numbers(column), np.float64), _known(original, name, kinds)
    days = _years(values)
    days = days_of_numbers(values, known) if days is None else days
    return None if days is None else from_numbers(_in_unit(days, kinds[name]), kinds[name])


def _years(values: Floats) -> Floats | None:
    """Return the middle days of years, or None if numbers are no years."""
    held = values[np.isfinite(values)]
    if not held.size or not np.all((held == np.rint(held)) & (held > 1800) & (held < 2200)):
        return None
    return np.rint((values - 1970 + 0.5) * YEAR)


def _dates(values: Coded, original: Table, name: str, kinds: dict[str, Any]) -> Any:
    """Return texts that are dates as dates, and spans of dates as spans of numbers."""
    known, texts = _known(original, name, kinds), [str(one) for one in values.values()]
    there = np.array([not is_everything(text) for text in texts], np.bool_)
    shown = [text for text, held in zip(texts, there, strict=True) if held]
    days = np.full(len(texts), np.nan)
    read = days_of(shown, known) if shown else None
    if read is not None:
        days[there] = read
        return from_numbers(_in_unit(np.append(days, np.nan)[values.codes], kinds[name]),
                            kinds[name])
    spans = _spans(shown, known, kinds[name])
    return None if spans is None else _spelt(values, there, spans)


def _spans(texts: Sequence[str], known: Floats, kind: Any) -> list[str] | None:
    """Return spans of dates or years as spans of numbers, None if they are no such thing."""
    low, high, read = intervals(texts)
    if texts and read.all() and np.all((low > 1800) & (high < 2200)):
        ends = [(low - 1970) * YEAR, (high - 1969) * YEAR]
    else:
        parts = [_ENDS.split(text.strip().strip("[](){}")) for text in texts]
        if not texts or any(len(part) > 2 for part in parts):
            return None
        found = [days_of([part[side] for part in parts], known) for side in (0, -1)]
        ends = [days for days in found if days is not None]
    if len(ends) < 2:
        return None
    first, last = (_in_unit(days, kind) for days in ends)
    return [f"{a:.0f} to {b:.0f}" for a, b in zip(first, last, strict=True)]


def _spelt(values: Coded, there: Any, spans: Sequence[str]) -> Any:
    """Return a column of texts with spans where something was written, and "*" elsewhere."""
    names = np.full(there.size + 1, "*", dtype=object)
    names[:-1][there] = list(spans)
    names[-1] = None
    return pa.array(names[values.codes].tolist(), pa.string())


def _numbers(values: Coded) -> Any:
    """Return texts as numbers where each stands for one; None if some are unread or wider."""
    low, high, known = intervals([str(one) for one in values.values()])
    one = known & (low == high)
    wide = known & ~one & np.isfinite(low) & np.isfinite(high)
    if not known.all() or not one.any() or wide.any() or np.any(np.isinf(low) != np.isinf(high)):
        return None
    gone = np.isinf(low)
    if np.bincount(values.codes, minlength=gone.size + 1)[:-1][gone].sum() > 0:
        return None
    return pa.array(np.append(low, np.nan)[values.codes], from_pandas=True)
