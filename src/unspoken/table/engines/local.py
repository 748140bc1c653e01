"""The local engine: DuckDB counts and scans, Arrow batches carry rows, nothing needs to fit.

Three frames: rows in memory, a source that DuckDB scans (Parquet, CSV, a database table), and a
description of work on another frame (map, then shuffle). In memory, counting runs in numpy, which
is several times faster there; over files it is one aggregation in DuckDB.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unspoken.errors import DataError
from unspoken.numerics import shuffle
from unspoken.numerics.tally import tally
from unspoken.table.arrow_arrays import is_number, to_labels, to_numbers
from unspoken.table.engines.duckdb_files import literal, plain_errors, quote
from unspoken.table.engines.protocol import Counts, Progress, RowMap
from unspoken.table.engines.spill import shuffled_batches
from unspoken.table.engines.write_parquet import write_parquet

BATCH_ROWS = 1 << 19
BATCH_BYTES = 1 << 28
"""No batch of a scan holds more text than this; what cannot be cut so small is refused."""
_VECTOR = 2048


@dataclass(frozen=True)
class MemoryFrame:
    """Rows held as one Arrow table."""

    table: Any


@dataclass(frozen=True)
class ScanFrame:
    """Something that DuckDB can stand behind FROM.

    `widest` is the most bytes of text that a row can have; `keep` lives as long as the frame.
    """

    sql: str
    schema: Any = field(compare=False)
    rows: int
    widest: int = 0
    keep: Any = field(default=None, compare=False)


@dataclass(frozen=True)
class WorkFrame:
    """A mapped and perhaps shuffled frame, not computed yet."""

    source: Any
    fn: RowMap | None
    schema: Any = field(compare=False)
    seed: bytes | None = None


class LocalEngine:
    """DuckDB and Arrow in this process."""

    name = "local"

    def __init__(self, memory: str = "1GB", batch_rows: int = BATCH_ROWS) -> None:
        self.memory = memory
        self.batch_rows = batch_rows

    def _connect(self) -> Any:
        import duckdb

        connection = duckdb.connect()
        connection.execute(f"SET memory_limit = {literal(self.memory)}")
        # Progress is shown by the command line, on stderr; DuckDB would use stdout.
        connection.execute("SET enable_progress_bar = false")
        return connection

    def scan(self, sql: str, rows: int | None = None, widest: int = 0,
             keep: Any = None) -> ScanFrame:
        """Return a frame over anything that DuckDB can stand behind FROM."""
        if widest * _VECTOR > 8 * BATCH_BYTES:
            raise DataError(f"A row must hold at most {8 * BATCH_BYTES // _VECTOR:,} bytes of "
                            f"text. One can have {widest:,}. Leave the longest column out.")
        with plain_errors():
            schema = self._connect().sql(f"SELECT * FROM {sql} LIMIT 0").to_arrow_table().schema
        counted = self.first_row(f"SELECT count(*) FROM {sql}")[0] if rows is None else rows
        return ScanFrame(sql, schema, int(counted), widest, keep)

    def column_types(self, sql: str) -> dict[str, str]:
        """Return the SQL types of the columns of anything that can stand behind FROM."""
        with plain_errors():
            rows = self._connect().execute(f"DESCRIBE SELECT * FROM {sql}").fetchall()
        return {str(row[0]): str(row[1]) for row in rows}

    def first_row(self, query: str) -> tuple[Any, ...]:
        """Return the first row of an answer."""
        with plain_errors():
            return tuple(self._connect().execute(query).fetchone())

    def _scalar(self, query: str) -> int:
        return int(self.first_row(query)[0])

    def schema(self, frame: Any) -> Any:
        """Return the Arrow schema of a frame."""
        return frame.table.schema if isinstance(frame, MemoryFrame) else frame.schema

    def rows(self, frame: Any) -> int:
        """Return the number of rows."""
        if isinstance(frame, MemoryFrame):
            return int(frame.table.num_rows)
        return frame.rows if isinstance(frame, ScanFrame) else self.rows(frame.source)

    def counts(self, frame: Any, columns: Sequence[str], by: str | None) -> dict[str, Counts]:
        """Count the values of numeric columns by the classes of `by`."""
        if isinstance(frame, ScanFrame):
            return _scan_counts(self._connect(), frame, columns, by)
        wanted = [*columns, *([by] if by else [])]
        return _memory_counts(self.collect(frame, wanted), columns, by)

    def distinct(self, frame: Any, column: str) -> tuple[Any, ...]:
        """Return the distinct values of a column, sorted, missing left out."""
        if isinstance(frame, ScanFrame):
            name = quote(column)
            result = self._connect().sql(
                f"SELECT DISTINCT {name} FROM {frame.sql} WHERE {name} IS NOT NULL ORDER BY 1"
            )
            return tuple(row[0] for row in result.fetchall())
        return to_labels(self.collect(frame, [column])[column].drop_null())[0]

    def count_distinct(self, frame: Any, column: str) -> int:
        """Return the number of distinct values, missing left out."""
        if isinstance(frame, ScanFrame):
            name = quote(column)
            query = f"SELECT count(DISTINCT {name}) FROM {frame.sql}"
            return self._scalar(query)
        return int(pc.count_distinct(self.collect(frame, [column])[column]).as_py())

    def count_missing(self, frame: Any, column: str) -> int:
        """Return how many rows have no value (null or NaN)."""
        floating = pa.types.is_floating(self.schema(frame).field(column).type)
        if isinstance(frame, ScanFrame):
            name = quote(column)
            also = f" OR isnan({name})" if floating else ""
            query = f"SELECT count(*) FROM {frame.sql} WHERE {name} IS NULL{also}"
            return self._scalar(query)
        null = pc.is_null(self.collect(frame, [column])[column], nan_is_null=floating)
        return int(pc.sum(null).as_py() or 0)

    def batches(self, frame: Any, columns: Sequence[str] | None = None) -> Iterator[Any]:
        """Yield Arrow record batches in row order."""
        if isinstance(frame, MemoryFrame):
            table = frame.table if columns is None else frame.table.select(list(columns))
            yield from table.to_batches(max_chunksize=self.batch_rows)
        elif isinstance(frame, ScanFrame):
            yield from self._scan_batches(frame, columns)
        else:
            for batch in self._work_batches(frame):
                yield batch if columns is None else batch.select(list(columns))

    def _scan_batches(self, frame: ScanFrame, columns: Sequence[str] | None) -> Iterator[Any]:
        chosen = "*" if columns is None else ", ".join(quote(c) for c in columns)
        size = min(self.batch_rows, max(_VECTOR, BATCH_BYTES // max(frame.widest, 1)))
        with plain_errors():
            result = self._connect().sql(f"SELECT {chosen} FROM {frame.sql}")
            yield from result.to_arrow_reader(size)

    def _work_batches(self, frame: WorkFrame) -> Iterator[Any]:
        mapped = self._mapped(frame)
        if frame.seed is None:
            yield from mapped
        else:
            yield from shuffled_batches(mapped, frame.schema, frame.seed, self.rows(frame))

    def _mapped(self, frame: WorkFrame) -> Iterator[Any]:
        start = 0
        for batch in self.batches(frame.source):
            yield batch if frame.fn is None else frame.fn(batch, start)
            start += batch.num_rows

    def map(self, frame: Any, fn: RowMap, schema: Any) -> Any:
        """Describe a frame whose batches are mapped; rows in memory are mapped at once."""
        if isinstance(frame, MemoryFrame):
            batch = _one_batch(frame.table)
            return MemoryFrame(pa.Table.from_batches([fn(batch, 0)], schema))
        return WorkFrame(frame, fn, schema)

    def shuffle(self, frame: Any, seed: bytes) -> Any:
        """Describe a frame in the row order that the seed gives."""
        if isinstance(frame, MemoryFrame):
            order = shuffle.permutation(seed, frame.table.num_rows)
            return MemoryFrame(frame.table.take(pa.array(order)))
        if isinstance(frame, WorkFrame) and frame.seed is None:
            return WorkFrame(frame.source, frame.fn, frame.schema, seed)
        return WorkFrame(frame, None, self.schema(frame), seed)

    def collect(self, frame: Any, columns: Sequence[str] | None = None) -> Any:
        """Return the rows as one Arrow table."""
        if isinstance(frame, MemoryFrame):
            return frame.table if columns is None else frame.table.select(list(columns))
        schema = self.schema(frame)
        if columns is not None:
            schema = pa.schema([schema.field(name) for name in columns])
        return pa.Table.from_batches(self.batches(frame, columns), schema)

    def write(self, frame: Any, path: str, progress: Progress | None = None) -> None:
        """Write a frame as Parquet in bounded memory."""
        write_parquet(self.batches(frame), self.schema(frame), path, progress)


def _one_batch(table: Any) -> Any:
    batches = table.combine_chunks().to_batches()
    return batches[0] if batches else pa.RecordBatch.from_pylist([], schema=table.schema)


def _memory_counts(table: Any, columns: Sequence[str], by: str | None) -> dict[str, Counts]:
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


def _scan_counts(
    connection: Any, frame: ScanFrame, columns: Sequence[str], by: str | None
) -> dict[str, Counts]:
    """One aggregation: every column grouped with the class, in a single pass each."""
    classes: tuple[Any, ...] = (None,)
    if by:
        name = quote(by)
        rows = connection.sql(f"SELECT DISTINCT {name} FROM {frame.sql} ORDER BY 1").fetchall()
        classes = tuple(row[0] for row in rows)
    position = {label: index for index, label in enumerate(classes)}
    out = {}
    for column in columns:
        if not is_number(frame.schema.field(column).type):
            raise DataError(f"Column '{column}' must be numeric to be counted.")
        value = _as_double(column, frame.schema.field(column).type)
        label = f", {quote(by)} AS y" if by else ", NULL AS y"
        counted = connection.sql(
            f"SELECT {value} AS v{label}, count(*) AS n FROM {frame.sql} GROUP BY ALL"
        ).to_arrow_table()
        out[column] = _pivot(counted, classes, position if by else None)
    return out


def _pivot(counted: Any, classes: tuple[Any, ...], position: dict[Any, int] | None) -> Counts:
    values = to_numbers(counted["v"].cast(pa.float64()))
    n = counted["n"].to_numpy()
    label = np.zeros(values.size, np.intp)
    if position is not None:
        label = np.array([position[y] for y in counted["y"].to_pylist()], np.intp)
    known = ~np.isnan(values)
    distinct, where = np.unique(values[known], return_inverse=True)
    table = np.zeros((distinct.size, len(classes)), np.int64)
    np.add.at(table, (where.reshape(-1), label[known]), n[known])
    return Counts(distinct, table, classes, int(n[~known].sum()))
