"""The local engine: DuckDB counts and scans, Arrow batches carry rows, nothing needs to fit.

Three frames: rows in memory, a source that DuckDB scans (Parquet, CSV, a database table), and a
description of work on another frame (map, then shuffle). In memory, counting runs in numpy, which
is several times faster there; over files it is one aggregation in DuckDB.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unspoken.arrays import Ints
from unspoken.errors import DataError
from unspoken.numerics import shuffle
from unspoken.table.arrow_arrays import arrow_of, to_labels
from unspoken.table.engines.duckdb_files import literal, plain_errors, quote, without_bar
from unspoken.table.engines.local_counts import (
    batch_groups,
    memory_counts,
    scan_counts,
    scan_groups,
)
from unspoken.table.engines.parquet_numbers import number_batches, plain_columns
from unspoken.table.engines.prefetch import ahead
from unspoken.table.engines.protocol import Counts, Progress, RowMap
from unspoken.table.engines.runs import blocks, numbered, one_batch, picked
from unspoken.table.engines.spill import places, shuffled_batches
from unspoken.table.engines.write_parquet import BLOCK, write_parquet

BATCH_ROWS = BLOCK
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
    `files` are the Parquet files behind it, of which Arrow reads the columns in `plain`.
    """

    sql: str
    schema: Any = field(compare=False)
    rows: int
    widest: int = 0
    keep: Any = field(default=None, compare=False)
    files: tuple[str, ...] = ()
    plain: frozenset[str] = frozenset()


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
    most_cells: int | None = None

    def __init__(self, memory: str = "1GB", batch_rows: int = BATCH_ROWS) -> None:
        self.memory = memory
        self.batch_rows = batch_rows
        self._counted: tuple[Any, Any, dict[str, Counts]] = (None, None, {})

    def _connect(self) -> Any:
        import duckdb

        connection = duckdb.connect()
        connection.execute(f"SET memory_limit = {literal(self.memory)}")
        without_bar(connection)
        return connection

    def scan(self, sql: str, rows: int | None = None, widest: int = 0,
             keep: Any = None, files: Sequence[str] = ()) -> ScanFrame:
        """Return a frame over anything that DuckDB can stand behind FROM.

        `files` are Parquet files of one schema that hold the same rows, in this order.
        """
        if widest * _VECTOR > 8 * BATCH_BYTES:
            raise DataError(f"A row must hold at most {8 * BATCH_BYTES // _VECTOR:,} bytes of "
                            f"text. One can have {widest:,}. Leave the longest column out.")
        with plain_errors():
            schema = self._connect().sql(f"SELECT * FROM {sql} LIMIT 0").to_arrow_table().schema
        counted = self.first_row(f"SELECT count(*) FROM {sql}")[0] if rows is None else rows
        return ScanFrame(sql, schema, int(counted), widest, keep, tuple(files),
                         plain_columns(files, schema))

    def column_types(self, sql: str) -> dict[str, str]:
        """Return the SQL types of the columns of anything that can stand behind FROM."""
        with plain_errors():
            rows = self._connect().execute(f"DESCRIBE SELECT * FROM {sql}").fetchall()
        return {str(row[0]): str(row[1]) for row in rows}

    def first_row(self, query: str) -> tuple[Any, ...]:
        """Return the first row of an answer."""
        with plain_errors():
            return tuple(self._connect().execute(query).fetchone())

    def all_rows(self, query: str) -> list[tuple[Any, ...]]:
        """Return all rows of an answer that is short."""
        with plain_errors():
            return [tuple(row) for row in self._connect().execute(query).fetchall()]

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
            return self._scanned_counts(frame, columns, by)
        wanted = [*columns, *([by] if by else [])]
        return memory_counts(self.collect(frame, wanted), columns, by)

    def _scanned_counts(self, frame: ScanFrame, columns: Sequence[str],
                        by: str | None) -> dict[str, Counts]:
        asked = tuple(columns), by
        # Several steps in a row ask the same about a target.
        if self._counted[0] is not frame or self._counted[1] != asked:
            found = scan_counts(self._connect(), frame, columns, by,
                                lambda names: self.batches(frame, names))
            self._counted = frame, asked, found
        return self._counted[2]

    def groups(self, frame: Any, columns: Sequence[str]) -> tuple[Any, Ints | None]:
        """Return combinations of values, and how many rows each stands for."""
        if isinstance(frame, ScanFrame):
            with plain_errors():
                return scan_groups(self._connect(), frame.sql, columns)
        if isinstance(frame, MemoryFrame):
            return frame.table.select(list(columns)), None
        return batch_groups(self.batches(frame, columns))

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
            # The statistics of Parquet leave NaN out; behind WHERE DuckDB takes them at their word.
            query = f"SELECT count(*) FILTER (WHERE {name} IS NULL{also}) FROM {frame.sql}"
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
        names = frame.schema.names if columns is None else list(columns)
        if names and frame.plain.issuperset(names):
            wanted = pa.schema([(name, frame.schema.field(name).type) for name in names])
            yield from ahead(number_batches(frame.files, wanted, self.batch_rows, frame.rows))
            return
        chosen = ", ".join(map(quote, names))
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

    def gather(self, frame: Any, columns: Sequence[str], fn: RowMap, schema: Any,
               block: int | None = None) -> Iterator[Any]:
        """Yield in row order what `fn` makes of the rows."""
        runs = numbered(self.batches(frame, columns))
        for start, batch in runs if block is None else blocks(runs, block):
            yield fn(batch, start)

    def take(self, frame: Any, rows: Ints, columns: Sequence[str]) -> Any:
        """Return some rows, whose numbers increase, as one Arrow table."""
        if isinstance(frame, MemoryFrame):
            return frame.table.select(list(columns)).take(arrow_of(np.asarray(rows)))
        chosen = picked(numbered(self.batches(frame, columns)), rows)
        schema = pa.schema([self.schema(frame).field(name) for name in columns])
        return pa.Table.from_batches([batch for _, batch in chosen], schema)

    def map(self, frame: Any, fn: RowMap, schema: Any) -> Any:
        """Describe a frame whose batches are mapped; rows in memory are mapped at once."""
        if isinstance(frame, MemoryFrame):
            batch = one_batch(frame.table)
            return MemoryFrame(pa.Table.from_batches([fn(batch, 0)], schema))
        return WorkFrame(frame, fn, schema)

    def shuffle(self, frame: Any, seed: bytes) -> Any:
        """Describe a frame in the row order that the seed gives."""
        if isinstance(frame, MemoryFrame):
            order = shuffle.permutation(seed, frame.table.num_rows)
            return MemoryFrame(frame.table.take(places(order)))
        if isinstance(frame, WorkFrame) and frame.seed is None:
            return WorkFrame(frame.source, frame.fn, frame.schema, seed)
        return WorkFrame(frame, None, self.schema(frame), seed)

    def tap(self, frame: Any, look: Callable[[Any], None]) -> WorkFrame:
        """Describe the same frame, whose batches somebody looks at while they pass."""
        def unchanged(batch: Any, _: int) -> Any:
            look(batch)
            return batch

        return WorkFrame(frame, unchanged, self.schema(frame))

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
