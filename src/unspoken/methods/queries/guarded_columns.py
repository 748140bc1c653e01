"""The columns behind a guard with a stated epsilon: none follows from what other rows hold.

In a text file one word among numbers makes every cell a text. Columns with declared bounds hold
numbers, and what is none is missing. Every other protected column is compared cell by cell: what
says a finite number as that number, a date in ISO form in its order, everything else as its text.
Roles follow from names and declarations.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unspoken.arrays import Bools
from unspoken.errors import InputError
from unspoken.methods.queries.guard_settings import EXACT, NOISE, Settings, guarded_schema
from unspoken.methods.queries.predicates import Constant
from unspoken.methods.queries.service.declared_frame import declared_frame
from unspoken.table.arrow_arrays import is_number
from unspoken.table.declared_types import (
    moment_in,
    moments_of,
    number_in,
    numbers_of,
    places_among,
    present_in,
    texts_of,
)
from unspoken.table.table import Table

SIGNS: dict[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le,
    ">": operator.gt, ">=": operator.ge,
}


def guarded_columns(table: Table, settings: Settings) -> tuple[Table, Any, frozenset[str]]:
    """Return a table, its columns as declared, and those that are compared cell by cell."""
    frame, bounded = table.arrow(), _bounded(settings)
    if settings.audit not in (NOISE, EXACT):
        return table, frame, frozenset()
    protected = [name for name in table.schema.names if name not in settings.public]
    written = table.as_written(protected)
    for name in protected if settings.audit == NOISE else bounded:
        if name in protected:
            frame = frame.set_column(frame.column_names.index(name), name, written[name])
    # Without an epsilon whole numbers stay whole: their steps are then known.
    frame = declared_frame(frame, {name: ends for name, ends in bounded.items()
                                   if settings.audit == NOISE or not is_number(frame[name].type)})
    known = replace(table, schema=guarded_schema(table.schema, settings))
    return known, frame, frozenset(
        name for name in protected if settings.audit == NOISE and name not in bounded
        and not pa.types.is_temporal(frame[name].type))


def compared(name: str, column: Any, sign: str, value: Constant) -> Bools:
    """Return which cells of a column compare so with a constant, each by itself."""
    if sign in ("=", "!="):
        same = _same(column, value)
        return same if sign == "=" else ~same & present_in(column)
    if not isinstance(value, str):
        return np.asarray(SIGNS[sign](numbers_of(column), _finite(value)))
    moment = moment_in(value)
    if moment is None:
        raise InputError(f"Column '{name}' can only be compared by = or != with a text. Got {sign} "
                         f"{value!r}. Compare it with a number, or with a date such as "
                         "'2024-03-31'.")
    # Numbers say no date: 20240331 is one in ISO form, and a column of them is read as numbers.
    moments = np.where(np.isnan(numbers_of(column)), moments_of(column), np.nan)
    return np.asarray(SIGNS[sign](moments, moment))


def _same(column: Any, value: Constant) -> Bools:
    number = number_in(value) if isinstance(value, str) else _finite(value)
    if number is None:
        texts = pc.equal(texts_of(column), pa.scalar(value, pa.large_string()))
        said = np.asarray(pc.fill_null(texts, False).to_numpy(zero_copy_only=False), np.bool_)
        return said & present_in(column)
    same = numbers_of(column) == number
    if isinstance(value, bool) and not is_number(column.type):
        same = same | (places_among(column, [str(value)]) == 0)
    return np.asarray(same)


def _finite(value: float) -> float:
    """Return a constant as float64: a whole number beyond them is as good as infinite."""
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _bounded(settings: Settings) -> dict[str, Mapping[str, Any]]:
    return {name: {"bounds": ends} for name, ends in (settings.bounds or {}).items()}
