"""Row maps that tests send to the workers of an engine, and tables that they are sent over."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

NUMBERS = pa.schema([("n", pa.int64())])


def number(batch, start):
    """Replace rows by their numbers."""
    return pa.record_batch([pa.array(range(start, start + batch.num_rows), pa.int64())],
                           schema=NUMBERS)


@dataclass(frozen=True)
class Beside:
    """Put the number of a row in its place behind what it was."""

    schema = pa.schema([("n", pa.int64()), ("place", pa.int64())])

    def __call__(self, batch, start):
        places = pa.array(range(start, start + batch.num_rows), pa.int64())
        return pa.RecordBatch.from_arrays([batch.column("n"), places], schema=self.schema)


SUMS = pa.schema([("start", pa.int64()), ("rows", pa.int64()), ("sum", pa.float64())])


def unchanged(batch, start):
    """Return the rows as they are."""
    return batch


def add_up(batch, start):
    """Add up the first column of a block."""
    total = float(np.sum(batch.column(0).to_numpy(zero_copy_only=False)))
    return pa.RecordBatch.from_pylist([{"start": start, "rows": batch.num_rows, "sum": total}],
                                      SUMS)


@dataclass(frozen=True)
class Killing:
    """End the process that maps the first rows, as many times as there may be marks."""

    marks: str
    times: int

    def __call__(self, batch, start):
        if start == 0 and len(list(Path(self.marks).iterdir())) < self.times:
            Path(self.marks, str(os.getpid())).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return batch


def mixed_table(rows=5000, seed=3):
    """Return numbers, gaps, text and classes."""
    rng = np.random.default_rng(seed)
    return pa.table({
        "x": rng.integers(-50, 50, rows),
        "z": np.where(rng.random(rows) < 0.05, np.nan, rng.normal(size=rows).round(2)),
        "w": pa.array(rng.normal(size=rows).round(1), mask=rng.random(rows) < 0.1),
        "c": rng.choice(["u", "v", None], rows),
        "day": pa.array(rng.integers(0, 400, rows).astype(np.int32)).cast(pa.date32()),
        "at": pa.array(rng.integers(0, 10**15, rows), pa.timestamp("us")),
        "y": rng.integers(0, 3, rows),
    })


def in_files(table, folder, sizes=(1300, 0, 2500)):
    """Write a table as several Parquet files, one of them empty, in uneven row groups."""
    folder.mkdir(parents=True)
    start = 0
    for number, size in enumerate((*sizes, None)):
        part = table.slice(start, size)
        pq.write_table(part, folder / f"part {number}.parquet", row_group_size=400 + 77 * number)
        start += part.num_rows
    return folder
