"""What runs on Spark's workers: rows in, runs mapped, packed, dealt into buckets and permuted.

Spark moves rows between its workers one by one; a packed run is a single row whose cell is an Arrow
record batch, so that millions of rows cost what thousands do. Every function here is sent to the
workers by Spark, with Spark's own serialiser (cloudpickle), which nothing that uses Python workers
can avoid; rows and payloads travel as Arrow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from unspoken.arrays import Ints
from unspoken.errors import UnspokenError
from unspoken.numerics import shuffle
from unspoken.table.engines.protocol import RowMap
from unspoken.table.engines.runs import Run, blocks, one_batch, picked

ROW = "__unspoken_row"
"""The column that holds the number of a row in the stated order."""
MAP_ROWS = 1 << 17
"""Row maps see at most this many rows at a time."""
PACKED = "bucket int, start bigint, rows bigint, payload binary"
MOST_BYTES = 1 << 28
"""No packed run is larger than about this."""

_PACKED = pa.schema([("bucket", pa.int32()), ("start", pa.int64()), ("rows", pa.int64()),
                     ("payload", pa.binary())])
Packed = tuple[int, int, int, Any]
"""(bucket, first row, number of rows it stands for, record batch)."""
Reader = Callable[[Iterable[Any]], Iterator[Run]]
"""Turns what Spark hands to a worker into runs."""


class Order(Protocol):
    """Which bucket each row goes to, and in which order the rows of a bucket stand."""

    @property
    def buckets(self) -> int:
        """Return the number of buckets."""

    def deal(self, start: int, rows: int) -> Any:
        """Return the buckets of consecutive rows."""

    def arrange(self, bucket: int, table: Any) -> Any:
        """Return the rows of one bucket, which come in row order, in their final order."""

    def first(self, bucket: int) -> int:
        """Return how many rows stand in the buckets before."""


@dataclass(frozen=True)
class InOrder:
    """Rows keep their order; a bucket is a stretch of rows."""

    buckets: int
    stretch: int

    def deal(self, start: int, rows: int) -> Any:
        """Return the stretch of each row."""
        return np.arange(start, start + rows, dtype=np.int64) // self.stretch

    def arrange(self, bucket: int, table: Any) -> Any:
        """Return the rows as they are."""
        return table

    def first(self, bucket: int) -> int:
        """Return the first row of a stretch."""
        return bucket * self.stretch


@dataclass(frozen=True)
class Shuffled:
    """Rows stand in the order of `shuffle.permutation(seed, rows)`."""

    seed: bytes
    sizes: tuple[int, ...]

    @property
    def buckets(self) -> int:
        """Return the number of buckets."""
        return len(self.sizes)

    def deal(self, start: int, rows: int) -> Any:
        """Return the bucket that each row draws."""
        return shuffle.BucketStream(self.seed, sum(self.sizes), start, self.buckets).deal(rows)

    def arrange(self, bucket: int, table: Any) -> Any:
        """Return the rows of a bucket in the order that was drawn for it."""
        if table.num_rows != self.sizes[bucket]:
            raise UnspokenError(f"Spark must deliver {self.sizes[bucket]:,} rows of bucket "
                                f"{bucket}. Got {table.num_rows:,}. The source changed meanwhile: "
                                "nothing was released.")
        return table.take(pa.array(shuffle.inside(self.seed, bucket, table.num_rows)))

    def first(self, bucket: int) -> int:
        """Return how many rows stand in the buckets before."""
        return sum(self.sizes[:bucket])


@dataclass(frozen=True)
class SourceRows:
    """Reads numbered rows: rows that follow each other become one run."""

    columns: tuple[str, ...]

    def __call__(self, batches: Iterable[Any]) -> Iterator[Run]:
        """Yield the runs of the batches of one task."""
        return blocks(self._runs(batches), MAP_ROWS)

    def _runs(self, batches: Iterable[Any]) -> Iterator[Run]:
        for batch in batches:
            numbers = batch.column(ROW).to_numpy()
            rows = batch.select(list(self.columns))
            edges = [0, *(np.flatnonzero(np.diff(numbers) != 1) + 1).tolist(), batch.num_rows]
            for low, high in pairwise(edges):
                if high > low:
                    yield int(numbers[low]), rows.slice(low, high - low)


@dataclass(frozen=True)
class MappedRows:
    """Reads runs and maps them."""

    source: Reader
    fn: RowMap

    def __call__(self, batches: Iterable[Any]) -> Iterator[Run]:
        """Yield the mapped runs."""
        for start, batch in self.source(batches):
            yield start, self.fn(batch, start)


@dataclass(frozen=True)
class BucketRows:
    """Reads what was dealt: the packed runs of one bucket after the other."""

    order: Order
    schema: Any

    def __call__(self, batches: Iterable[Any]) -> Iterator[Run]:
        """Yield every bucket as one run."""
        for bucket, parts in groupby(_unpacked(batches, self.schema), lambda part: part[0]):
            table = pa.Table.from_batches([batch for _, batch in parts], self.schema)
            yield self.order.first(bucket), one_batch(self.order.arrange(bucket, table))


@dataclass(frozen=True)
class Dealing:
    """Packs the rows of every run by bucket."""

    read: Reader
    order: Order

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield packed runs, one for every bucket that a run has rows in."""
        for start, batch in self.read(batches):
            dealt = np.asarray(self.order.deal(start, batch.num_rows))
            grouped = batch.take(pa.array(np.argsort(dealt, kind="stable")))
            sizes = np.bincount(dealt, minlength=self.order.buckets)
            ends = np.cumsum(sizes)
            chosen = np.flatnonzero(sizes).tolist()
            yield _packed([(bucket, start, int(sizes[bucket]),
                            grouped.slice(int(ends[bucket] - sizes[bucket]), int(sizes[bucket])))
                           for bucket in chosen])


@dataclass(frozen=True)
class Packing:
    """Packs runs as they are, for the driver."""

    read: Reader

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield packed runs of bounded size."""
        for start, batch in self.read(batches):
            step = max(1, batch.num_rows // (1 + batch.nbytes // MOST_BYTES))
            for low in range(0, batch.num_rows, step):
                part = batch.slice(low, step)
                yield _packed([(0, start + low, part.num_rows, part)])


@dataclass(frozen=True)
class Summing:
    """Works a summary out of every block; parts of blocks go to the driver as they are.

    What is a summary comes as bucket 0, rows as bucket 1.
    """

    read: Reader
    fn: RowMap
    block: int | None
    rows: int

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield packed summaries and packed rows."""
        runs = self.read(batches)
        for start, batch in runs if self.block is None else blocks(runs, self.block):
            whole = self.block is None or (
                start % self.block == 0
                and batch.num_rows == min(self.block, self.rows - start))
            yield _packed([(0, start, batch.num_rows, self.fn(batch, start)) if whole
                           else (1, start, batch.num_rows, batch)])


@dataclass(frozen=True)
class Picking:
    """Packs some rows of every run."""

    read: Reader
    rows: Ints

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield the chosen rows, packed."""
        for start, batch in picked(self.read(batches), self.rows):
            yield _packed([(0, start, batch.num_rows, batch)])


@dataclass(frozen=True)
class PlainRows:
    """Hands mapped rows back to Spark as rows, for counting by SQL."""

    read: Reader

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield record batches."""
        for _, batch in self.read(batches):
            yield batch


def _packed(parts: list[Packed]) -> Any:
    columns = list(zip(*parts, strict=True))
    columns[3] = tuple(batch.serialize().to_pybytes() for batch in columns[3])
    return pa.RecordBatch.from_arrays(
        [pa.array(column, kind) for column, kind in zip(columns, _PACKED.types, strict=True)],
        schema=_PACKED)


def _unpacked(batches: Iterable[Any], schema: Any) -> Iterator[tuple[int, Any]]:
    for packed in batches:
        for bucket, cell in zip(packed.column(0).to_pylist(), packed.column(3), strict=True):
            yield bucket, unpack(cell.as_buffer(), schema)


def unpack(payload: Any, schema: Any) -> Any:
    """Return the record batch of a packed run."""
    return pa.ipc.read_record_batch(pa.py_buffer(payload), schema)
