"""The Spark engine: SQL counts, `mapInArrow` maps, and rows change places once, packed.

A frame is rows that Spark reads, or a description of work on another frame. Work is planned as
readers: what turns the input of a task into runs of rows. A map adds to the reader of its source; a
shuffle puts one exchange in between, which deals packed runs into buckets, as `spill` does with
files; the rows of a bucket are then put in order where they are. Buckets come to the driver one
after the other and are written there as one file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from unspoken.arrays import Ints
from unspoken.errors import DataError, UnspokenError
from unspoken.numerics import shuffle
from unspoken.table.engines.protocol import Counts, Progress, RowMap
from unspoken.table.engines.runs import blocks
from unspoken.table.engines.spark import spark_counts
from unspoken.table.engines.spark.spark_session import (
    map_in_arrow,
    plain_spark_errors,
    prepare_workers,
)
from unspoken.table.engines.spark.spark_sources import SparkFrame, quoted
from unspoken.table.engines.spark.worker_rows import (
    PACKED,
    ROW,
    BucketRows,
    Dealing,
    InOrder,
    MappedRows,
    Order,
    Packing,
    Picking,
    PlainRows,
    Reader,
    Shuffled,
    SourceRows,
    Summing,
    unpack,
)
from unspoken.table.engines.write_parquet import write_parquet

MOST_CELLS = 50_000_000
"""No more cells than this are brought to the driver as one table."""


@dataclass(frozen=True)
class SparkWork:
    """A mapped and perhaps shuffled frame, not computed yet."""

    source: Any
    fn: RowMap | None
    schema: Any = field(compare=False)
    seed: bytes | None = None


@dataclass(frozen=True)
class _Plan:
    """What a task is given, what reads it, and whether partitions follow each other in order."""

    rows: Any
    read: Reader
    ordered: bool


class SparkEngine:
    """Apache Spark: a classic session or Spark Connect."""

    name = "spark"

    def __init__(self, spark: Any, most_cells: int = MOST_CELLS) -> None:
        self.spark = spark
        self.most_cells: int | None = most_cells
        prepare_workers(spark)

    def schema(self, frame: Any) -> Any:
        """Return the Arrow schema of a frame."""
        return frame.schema

    def rows(self, frame: Any) -> int:
        """Return the number of rows."""
        return int(frame.rows) if isinstance(frame, SparkFrame) else self.rows(frame.source)

    def counts(self, frame: Any, columns: Sequence[str], by: str | None) -> dict[str, Counts]:
        """Count the values of numeric columns by the classes of `by`."""
        with plain_spark_errors():
            return spark_counts.counts(self._plain(frame), frame.schema, columns, by)

    def groups(self, frame: Any, columns: Sequence[str]) -> tuple[Any, Ints]:
        """Return combinations of values, and how many rows each stands for."""
        with plain_spark_errors():
            return spark_counts.groups(self._plain(frame), frame.schema, columns, self.most_cells)

    def distinct(self, frame: Any, column: str) -> tuple[Any, ...]:
        """Return the distinct values of a column, sorted, missing left out."""
        with plain_spark_errors():
            return spark_counts.distinct(self._plain(frame), column)

    def count_distinct(self, frame: Any, column: str) -> int:
        """Return the number of distinct values, missing left out."""
        with plain_spark_errors():
            return spark_counts.count_distinct(self._plain(frame), column)

    def count_missing(self, frame: Any, column: str) -> int:
        """Return how many rows have no value (null or NaN)."""
        floating = pa.types.is_floating(frame.schema.field(column).type)
        with plain_spark_errors():
            return spark_counts.count_missing(self._plain(frame), column, floating)

    def _plain(self, frame: Any) -> Any:
        """Return rows for SQL; their order plays no part."""
        from pyspark.sql.pandas.types import from_arrow_schema

        if isinstance(frame, SparkFrame):
            return frame.plain
        if frame.fn is None:
            return self._plain(frame.source)
        plan = self._plan(SparkWork(frame.source, frame.fn, frame.schema))
        return map_in_arrow(plan.rows, PlainRows(plan.read), from_arrow_schema(frame.schema))

    def map(self, frame: Any, fn: RowMap, schema: Any) -> SparkWork:
        """Describe a frame whose batches are mapped."""
        return SparkWork(frame, fn, schema)

    def shuffle(self, frame: Any, seed: bytes) -> SparkWork:
        """Describe a frame in the row order that the seed gives."""
        if isinstance(frame, SparkWork) and frame.seed is None:
            return SparkWork(frame.source, frame.fn, frame.schema, seed)
        return SparkWork(frame, None, frame.schema, seed)

    def _plan(self, frame: Any, columns: Sequence[str] | None = None) -> _Plan:
        if isinstance(frame, SparkFrame):
            names = list(frame.schema.names if columns is None else columns)
            rows = frame.numbered.select(*[quoted(name) for name in names], ROW)
            return _Plan(rows, SourceRows(tuple(names)), False)
        plan = self._plan(frame.source)
        if frame.fn is not None:
            plan = _Plan(plan.rows, MappedRows(plan.read, frame.fn), plan.ordered)
        if frame.seed is None:
            return plan
        sizes = shuffle.bucket_sizes(frame.seed, self.rows(frame))
        return self._dealt(plan, Shuffled(frame.seed, tuple(sizes.tolist())), frame.schema)

    @staticmethod
    def _dealt(plan: _Plan, order: Order, schema: Any) -> _Plan:
        """Put one exchange behind a plan: bucket i becomes partition i."""
        dealt = map_in_arrow(plan.rows, Dealing(plan.read, order), PACKED)
        parted = dealt.repartitionById(order.buckets, "bucket")
        return _Plan(parted.sortWithinPartitions("bucket", "start"), BucketRows(order, schema),
                     True)

    def batches(self, frame: Any, columns: Sequence[str] | None = None) -> Iterator[Any]:
        """Yield Arrow record batches in row order; fewer or more rows than counted are refused."""
        with plain_spark_errors():
            source = isinstance(frame, SparkFrame)
            plan = self._plan(frame, columns if source else None)
            schema = _selected(frame.schema, columns if source else None)
            if not plan.ordered:
                stretches = InOrder(shuffle.buckets_for(self.rows(frame)), shuffle.BUCKET_ROWS)
                plan = self._dealt(plan, stretches, schema)
            packed = map_in_arrow(plan.rows, Packing(plan.read), PACKED)
            runs = ((row["start"], unpack(row["payload"], schema))
                    for row in packed.toLocalIterator(prefetchPartitions=True))
            for batch in _complete(runs, self.rows(frame)):
                yield batch if source or columns is None else batch.select(list(columns))

    def gather(self, frame: Any, columns: Sequence[str], fn: RowMap, schema: Any,
               block: int | None = None) -> Iterator[Any]:
        """Yield in row order what `fn` makes of the rows, worked out by the workers."""
        source = isinstance(frame, SparkFrame)
        plan = self._plan(frame, columns if source else None)
        read = plan.read if source else MappedRows(plan.read, Selecting(tuple(columns)))
        here = _selected(frame.schema, columns)
        rows = self.rows(frame)
        with plain_spark_errors():
            packed = map_in_arrow(plan.rows, Summing(read, fn, block, rows), PACKED).collect()
        packed.sort(key=lambda row: row["start"])
        _refuse_gaps([(row["start"], row["rows"]) for row in packed], rows)
        ready = [(row["start"], unpack(row["payload"], schema)) for row in packed
                 if row["bucket"] == 0]
        parts = ((row["start"], unpack(row["payload"], here)) for row in packed if row["bucket"])
        joined = [(start, fn(batch, start)) for start, batch in blocks(parts, block or 1)]
        for _, batch in sorted([*ready, *joined], key=lambda run: run[0]):
            yield batch

    def take(self, frame: Any, rows: Ints, columns: Sequence[str]) -> Any:
        """Return some rows, named in increasing order, as one Arrow table."""
        schema = _selected(frame.schema, columns)
        with plain_spark_errors():
            if isinstance(frame, SparkFrame):
                return self._filtered(frame, rows, columns, schema)
            plan = self._plan(frame)
            read = MappedRows(plan.read, Selecting(tuple(columns)))
            packed = map_in_arrow(plan.rows, Picking(read, np.asarray(rows)), PACKED).collect()
        packed.sort(key=lambda row: row["start"])
        return pa.Table.from_batches([unpack(row["payload"], schema) for row in packed], schema)

    def _filtered(self, frame: SparkFrame, rows: Ints, columns: Sequence[str],
                  schema: Any) -> Any:
        """Let Spark pick the rows: the others never reach a Python worker."""
        from pyspark.sql import functions as sf

        wanted = self.spark.createDataFrame(pa.table({ROW: pa.array(rows, pa.int64())}))
        picked = frame.numbered.select(*[quoted(name) for name in columns], ROW).join(
            sf.broadcast(wanted), ROW).toArrow()
        return picked.sort_by(ROW).select(list(columns)).cast(schema)

    def collect(self, frame: Any, columns: Sequence[str] | None = None) -> Any:
        """Return the rows as one Arrow table; a table beyond what a driver holds is refused."""
        schema = _selected(frame.schema, columns)
        cells = self.rows(frame) * len(schema)
        if self.most_cells is not None and cells > self.most_cells:
            raise DataError(f"This needs {self.rows(frame):,} rows of {len(schema)} columns in the "
                            f"memory of one process. At most {self.most_cells:,} cells are brought "
                            "there from Spark. Work on a sample of the rows.")
        return pa.Table.from_batches(self.batches(frame, columns), schema)

    def write(self, frame: Any, path: str, progress: Progress | None = None) -> None:
        """Write a frame as one Parquet file in bounded memory."""
        write_parquet(self.batches(frame), frame.schema, path, progress)


@dataclass(frozen=True)
class Selecting:
    """A row map that keeps some columns."""

    columns: tuple[str, ...]

    def __call__(self, batch: Any, start: int) -> Any:
        """Keep the columns of one batch."""
        return batch.select(list(self.columns))


def _selected(schema: Any, columns: Sequence[str] | None) -> Any:
    return schema if columns is None else pa.schema([schema.field(name) for name in columns])


def _complete(runs: Iterator[tuple[int, Any]], rows: int) -> Iterator[Any]:
    """Yield batches that follow each other without a gap up to the last row."""
    done = 0
    for start, batch in runs:
        if start != done:
            break
        yield batch
        done += batch.num_rows
    _refuse_gaps([(0, done)], rows)


def _refuse_gaps(stretches: Sequence[tuple[int, int]], rows: int) -> None:
    """Refuse stretches of rows that do not follow each other from the first row to the last."""
    done = 0
    for start, count in stretches:
        if start != done:
            break
        done += count
    if done != rows:
        raise UnspokenError(f"Spark must deliver all {rows:,} rows. After {done:,} of them others "
                            "came than were counted before: the source changed meanwhile. Nothing "
                            "was released. Start again when nobody writes to it.")
