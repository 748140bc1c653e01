"""Counting by SQL: every aggregation runs on Spark, only distinct values come back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from unspoken.arrays import Ints
from unspoken.errors import DataError
from unspoken.table.arrow_arrays import is_number, to_labels
from unspoken.table.engines.counted_groups import pivot, split_groups
from unspoken.table.engines.protocol import Counts
from unspoken.table.engines.spark.spark_sources import quoted


def counts(rows: Any, schema: Any, columns: Sequence[str], by: str | None) -> dict[str, Counts]:
    """Count the values of numeric columns by the classes of `by`, one aggregation a column."""
    classes = (None,) if by is None else to_labels(_distinct(rows, by))[0]
    return {name: _column(rows, schema.field(name), by, classes) for name in columns}


def groups(rows: Any, schema: Any, columns: Sequence[str], most: int | None) -> tuple[Any, Ints]:
    """Return the combinations of values that occur, counted by one aggregation."""
    from pyspark.sql import functions as sf

    # Names of a result may differ by case alone, which Spark takes for one.
    keys = [sf.col(quoted(name)).alias(f"key_{at}") for at, name in enumerate(columns)]
    counted = rows.groupBy(*keys).agg(sf.count(sf.lit(1)).alias("n"))
    limit = None if most is None else most // max(len(columns), 1)
    found = (counted if limit is None else counted.limit(limit + 1)).toArrow()
    if limit is not None and found.num_rows > limit:
        raise DataError(f"These columns have more than {limit:,} different combinations, which is "
                        "more than is brought from Spark into one process. Name fewer columns, or "
                        "work on a sample of the rows.")
    groups, often = split_groups(found, columns)
    return groups.cast(pa.schema([schema.field(name) for name in columns])), often


def distinct(rows: Any, column: str) -> tuple[Any, ...]:
    """Return the distinct values of a column, sorted, missing left out."""
    return to_labels(_distinct(rows, column).drop_null())[0]


def _distinct(rows: Any, column: str) -> Any:
    return rows.select(quoted(column)).distinct().toArrow().column(0)


def count_distinct(rows: Any, column: str) -> int:
    """Return the number of distinct values, missing left out."""
    from pyspark.sql import functions as sf

    return int(rows.agg(sf.countDistinct(sf.col(quoted(column)))).first()[0])


def count_missing(rows: Any, column: str, floating: bool) -> int:
    """Return how many rows have no value (null or NaN)."""
    from pyspark.sql import functions as sf

    cell = sf.col(quoted(column))
    missing = cell.isNull() | sf.isnan(cell) if floating else cell.isNull()
    return int(rows.where(missing).count())


def _column(rows: Any, entry: Any, by: str | None, classes: tuple[Any, ...]) -> Counts:
    from pyspark.sql import functions as sf

    if not is_number(entry.type):
        raise DataError(f"Column '{entry.name}' must be numeric to be counted.")
    label = sf.lit(None).cast("string") if by is None else sf.col(quoted(by))
    counted = rows.groupBy(_as_double(entry).alias("v"), label.alias("y")).agg(
        sf.count(sf.lit(1)).alias("n")).toArrow()
    return pivot(counted, classes, by is not None)


def _as_double(entry: Any) -> Any:
    """Return a column as `to_numbers` reads it: dates as days, times as seconds."""
    from pyspark.sql import functions as sf

    cell = sf.col(quoted(entry.name))
    if pa.types.is_date(entry.type):
        return sf.unix_date(cell).cast("double")
    if pa.types.is_timestamp(entry.type) and entry.type.tz:
        return (sf.unix_micros(cell) / sf.lit(1e6)).cast("double")
    if pa.types.is_timestamp(entry.type):
        # A cast would take the time for one of the session's zone.
        since = f"{quoted(entry.name)} - timestamp_ntz'1970-01-01 00:00:00'"
        return sf.expr(f"cast(cast({since} as interval second) as decimal(20, 6))").cast("double")
    return cell.cast("double")
