"""Runs: record batches that know the number of their first row; cutting, joining and picking them.

An engine may meet its rows in pieces of any size. What is worked out per piece must not depend on
that where it adds up floating-point numbers: `blocks` cuts and joins runs so that every piece
begins at a multiple of a fixed number of rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from unspoken.arrays import Ints
from unspoken.table.arrow_arrays import arrow_of

Run = tuple[int, Any]
"""(number of the first row, record batch)."""


def numbered(batches: Iterable[Any], first: int = 0) -> Iterator[Run]:
    """Number batches that follow each other."""
    for batch in batches:
        yield first, batch
        first += batch.num_rows


def cut(runs: Iterable[Run], size: int) -> Iterator[Run]:
    """Cut runs at the multiples of a number of rows."""
    for start, batch in runs:
        done = 0
        while done < batch.num_rows:
            step = min(size - (start + done) % size, batch.num_rows - done)
            yield start + done, batch.slice(done, step)
            done += step


def blocks(runs: Iterable[Run], size: int) -> Iterator[Run]:
    """Cut runs at the multiples of a number of rows; pieces between two of them are joined."""
    held: list[Run] = []
    for start, batch in cut(runs, size):
        if held and not _follows(held, start, size):
            yield _joined(held)
            held = []
        held.append((start, batch))
        if (start + batch.num_rows) % size == 0:
            yield _joined(held)
            held = []
    if held:
        yield _joined(held)


def _follows(held: list[Run], start: int, size: int) -> bool:
    before, batch = held[-1]
    return before + batch.num_rows == start and before // size == start // size


def _joined(held: list[Run]) -> Run:
    return held[0][0], one_batch(pa.Table.from_batches([batch for _, batch in held]))


def one_batch(table: Any) -> Any:
    """Return the rows of a table as one record batch."""
    batches = table.combine_chunks().to_batches()
    return batches[0] if batches else pa.RecordBatch.from_pylist([], schema=table.schema)


def picked(runs: Iterable[Run], rows: Ints) -> Iterator[Run]:
    """Yield those of some rows, in increasing order, that lie in each run; none are left out."""
    for start, batch in runs:
        low, high = np.searchsorted(rows, (start, start + batch.num_rows))
        if high > low:
            yield start, batch.take(arrow_of(rows[low:high] - start))
