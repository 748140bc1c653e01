"""A bounded look at the columns of a table: a few thousand values each, the same every time."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from unspoken.arrays import Ints
from unspoken.table.long_passes import passing
from unspoken.table.table import Table

SAMPLE = 10_000
"""At most this many values of a column are looked at."""
FLOATS = 1000
"""About how many values of a column of floating-point numbers are looked at."""


@dataclass(frozen=True)
class ColumnSample:
    """Some values of one column as texts, and what is known of all of them."""

    table: Table
    name: str
    kind: str
    values: tuple[str, ...]
    positions: Ints
    """The row of each value in the table."""

    @cached_property
    def header(self) -> str:
        """Return the name in lower case words, without accents, between two spaces."""
        return header_words(self.name)

    @cached_property
    def counted(self) -> tuple[tuple[str, int], ...]:
        """Return the distinct values looked at, with how often each occurs."""
        return tuple(Counter(self.values).items())

    @cached_property
    def distinct_share(self) -> float:
        """Return how many of the values are different: of all rows where the sample is of many."""
        if not self.values:
            return 0.0
        share = len(self.counted) / len(self.values)
        if share < 0.5 or len(self.values) == self.table.rows:
            return share
        engine, frame = self.table.engine, self.table.frame
        present = self.table.rows - engine.count_missing(frame, self.name)
        return engine.count_distinct(frame, self.name) / max(present, 1)


def header_words(name: str) -> str:
    """Return a header as lower case words without accents, with a space before and after."""
    apart = re.sub(r"([a-z])([A-Z])", r"\1 \2", name)
    plain = unicodedata.normalize("NFKD", apart.replace("ß", "ss"))
    letters = "".join(c for c in plain if not unicodedata.combining(c)).lower()
    return f" {' '.join(re.findall('[a-z]+|[0-9]+', letters))} "


def samples(table: Table, columns: Sequence[str]) -> list[ColumnSample]:
    """Return what is looked at of some columns, in one pass over the table."""
    if not columns:
        return []
    rows = chosen_rows(table.rows)
    with passing("look at columns", table.rows) as step:
        whole = table.engine.take(table.frame, rows, list(columns))
        step(table.rows)
    return [_sample(table, name, whole[name], rows) for name in columns]


def chosen_rows(rows: int) -> Ints:
    """Return the rows that are looked at: one of each of `SAMPLE` stretches, jittered."""
    if rows <= SAMPLE:
        return np.arange(rows, dtype=np.int64)
    edges = np.linspace(0, rows, SAMPLE + 1).astype(np.int64)
    # A fixed step would meet a table with a period always at the same place.
    jitter = np.random.default_rng(0).random(SAMPLE)
    return np.asarray(edges[:-1] + (jitter * np.diff(edges)).astype(np.int64))


def _sample(table: Table, name: str, column: Any, rows: Ints) -> ColumnSample:
    if pa.types.is_floating(column.type):
        return _of_floats(table, name, column, rows)
    if column.null_count:
        rows = rows[column.is_valid().to_numpy(zero_copy_only=False)]
        column = column.drop_null()
    return ColumnSample(table, name, _kind(column.type), _texts(column), rows)


def _texts(column: Any) -> tuple[str, ...]:
    """Return values as texts; Arrow writes whole numbers as Python does, and much faster."""
    if pa.types.is_integer(column.type):
        return tuple(column.cast(pa.string()).to_pylist())
    return tuple([str(value).strip() for value in column.to_pylist()])


def _of_floats(table: Table, name: str, column: Any, rows: Ints) -> ColumnSample:
    """Look at fewer measurements: hardly anything but their header shows what they are."""
    numbers = column.cast(pa.float64()).fill_null(float("nan")).to_numpy(zero_copy_only=False)
    step = max(1, numbers.size // FLOATS)
    numbers, rows = numbers[::step], rows[::step]
    known = np.isfinite(numbers)
    numbers, rows = numbers[known], rows[known]
    # Whole numbers with gaps arrive as floats from many readers.
    if numbers.size and np.all((np.abs(numbers) < 2.0**53) & (numbers == np.floor(numbers))):
        return ColumnSample(table, name, "whole float", tuple(f"{v:.0f}" for v in numbers), rows)
    return ColumnSample(table, name, "float", tuple(map(str, numbers.tolist())), rows)


def _kind(kind: Any) -> str:
    if pa.types.is_boolean(kind):
        return "boolean"
    if pa.types.is_integer(kind):
        return "integer"
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "float"
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return "date"
    if pa.types.is_temporal(kind) or pa.types.is_null(kind):
        return "other"
    return "text"
