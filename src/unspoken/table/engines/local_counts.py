"""Counting here: in numpy what is in memory, by one aggregation in DuckDB what is in a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from unspoken.arrays import Ints
from unspoken.errors import DataError
from unspoken.numerics.tally import tally
from unspoken.table.arrow_arrays import is_number, to_labels, to_numbers
from unspoken.table.engines.address_counts import address_counts
from unspoken.table.engines.counted_groups import pivot, split_groups
from unspoken.table.engines.duckdb_files import quote
from unspoken.table.engines.protocol import Counts
from unspoken.table.long_passes import passing

_MERGED = 1 << 20
"""Groups of several batches are merged when they are more than this."""


def memory_counts(table: Any, columns: Sequence[str], by: str | None) -> dict[str, Counts]:
    """Count the values of columns in memory by the classes of `by`."""
    classes, labels = to_labels(table[by]) if by else ((None,), None)
    out = {}
    for name in columns:
        values = to_numbers(table[name])
        missing = np.isnan(values) if np.issubdtype(values.dtype, np.floating) else None
        codes = labels
        if missing is not None and missing.any():
            values = values[~missing]
            codes = labels[~missing] if labels is not None else None
        distinct, counts = tally(values, codes, len(classes))
        out[name] = Counts(distinct, counts, classes, table.num_rows - values.size)
    return out


def _as_double(name: str, kind: Any) -> str:
    column = quote(name)
    if pa.types.is_date(kind):
        return f"CAST(({column} - DATE '1970-01-01') AS DOUBLE)"
    if pa.types.is_timestamp(kind):
        return f"(epoch_us(CAST({column} AS TIMESTAMP)) / 1e6)"
    return f"CAST({column} AS DOUBLE)"


def scan_counts(connection: Any, frame: Any, columns: Sequence[str], by: str | None,
                batches: Callable[[Sequence[str]], Iterable[Any]]) -> dict[str, Counts]:
    """Count the columns of a scan: small whole numbers in one reading, others by DuckDB.

    `batches` reads columns of the frame in batches.
    """
    classes: tuple[Any, ...] = (None,)
    if by:
        name = quote(by)
        rows = connection.sql(f"SELECT DISTINCT {name} FROM {frame.sql} ORDER BY 1").fetchall()
        classes = tuple(row[0] for row in rows)
    for column in columns:
        if not is_number(frame.schema.field(column).type):
            raise DataError(f"Column '{column}' must be numeric to be counted.")
    with passing("count values", frame.rows * len(columns)) as step:
        out = {}
        whole = _whole_columns(frame, columns, by) if None not in classes or not by else []
        if whole:
            read = batches([*whole, *([by] if by and by not in whole else [])])
            out = address_counts(read, whole, by, classes, step)
        for column in columns:
            if column not in out:
                out[column] = _aggregated(connection, frame, column, by, classes)
                step(0 if column in whole else frame.rows)
    return {column: out[column] for column in columns}


def _whole_columns(frame: Any, columns: Sequence[str], by: str | None) -> list[str]:
    """Return the columns of whole numbers that are quick to read; none unless the class is one."""
    whole = [name for name in columns if _is_whole(frame, name)]
    return whole if by is None or _is_whole(frame, by) else []


def _is_whole(frame: Any, name: str) -> bool:
    return name in frame.plain and bool(pa.types.is_signed_integer(frame.schema.field(name).type))


def _aggregated(connection: Any, frame: Any, column: str, by: str | None,
                classes: tuple[Any, ...]) -> Counts:
    """Count one column by one aggregation of DuckDB."""
    label, shown = (f", {quote(by)} AS y", "y") if by else ("", "NULL AS y")
    kind = frame.schema.field(column).type
    # Small whole numbers are counted by address, which numbers of other types are not.
    value = quote(column) if pa.types.is_integer(kind) else _as_double(column, kind)
    counted = connection.sql(
        f"SELECT CAST(v AS DOUBLE) AS v, {shown}, n FROM (SELECT {value} AS v{label}, "
        f"count(*) AS n FROM {frame.sql} GROUP BY ALL)"
    ).to_arrow_table()
    return pivot(counted, classes, by is not None)


def scan_groups(connection: Any, sql: str, columns: Sequence[str]) -> tuple[Any, Ints]:
    """Return the combinations of values that occur behind FROM, and how often each does."""
    names = ", ".join(map(quote, columns))
    return split_groups(connection.sql(
        f"SELECT {names}, count(*) FROM {sql} GROUP BY ALL").to_arrow_table(), columns)


def batch_groups(batches: Iterable[Any]) -> tuple[Any, Ints]:
    """Return the same of rows that pass once; no more is held than different combinations."""
    held: list[Any] = []
    names: list[str] = []
    for batch in batches:
        names = batch.schema.names
        held.append(_grouped(_renamed(batch), "count_all"))
        if sum(part.num_rows for part in held) > _MERGED:
            held = [_grouped(pa.concat_tables(held), "sum")]
    return split_groups(_grouped(pa.concat_tables(held), "sum"), names)


def _renamed(batch: Any) -> Any:
    """Return a batch with numbered columns: any name may be taken; categories as their texts."""
    table = pa.Table.from_batches([batch])
    plain = [column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
             for column in table.columns]
    return pa.table(plain, [str(at) for at in range(len(plain))])


def _grouped(table: Any, how: str) -> Any:
    keys = [name for name in table.column_names if name != "n"]
    wanted: Any = ([], "count_all") if how == "count_all" else ("n", "sum")
    counted = table.group_by(keys, use_threads=False).aggregate([wanted])
    rows = counted.column("count_all" if how == "count_all" else "n_sum")
    return counted.select(keys).append_column("n", rows.cast(pa.int64()))
