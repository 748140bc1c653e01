"""Rows that can be read only once: held in memory while they are few, else in a private copy.

What comes out of a database or over a network is read a single time, so that counting and mapping
see the same rows. The copy is a Parquet file without a name, which ends with this process.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

import pyarrow as pa

from unspoken.table.engines.duckdb_files import literal
from unspoken.table.engines.local import LocalEngine, MemoryFrame, ScanFrame
from unspoken.table.engines.prefetch import ahead
from unspoken.table.long_passes import Step, passing
from unspoken.table.nameless_files import nameless_file

MEMORY_BYTES = 1 << 28
"""Rows of at most this many bytes stay in memory."""


def hold(batches: Iterator[Any], schema: Any, engine: LocalEngine) -> tuple[Any, int]:
    """Read all batches once; return the frame over them, and how many bytes they are."""
    first: list[Any] = []
    size = 0
    with passing("read", 0) as step:
        for batch in batches:
            first.append(batch)
            size += batch.nbytes
            if size > MEMORY_BYTES:
                return _copied(chain(first, batches), schema, engine, step)
            step(batch.num_rows)
    return MemoryFrame(pa.Table.from_batches(first, schema)), size


def _copied(batches: Iterator[Any], schema: Any, engine: LocalEngine,
            step: Step) -> tuple[ScanFrame, int]:
    import pyarrow.parquet as pq

    copy, place = nameless_file()
    rows = size = widest = 0
    # No dictionaries: the copy is read a few times and thrown away.
    with pq.ParquetWriter(copy, schema, compression="lz4", use_dictionary=False) as writer:
        for batch in ahead(batches):
            writer.write_batch(batch)
            rows, size = rows + batch.num_rows, size + batch.nbytes
            widest = max(widest, _widest(batch))
            step(batch.num_rows)
    copy.flush()
    return engine.scan(f"read_parquet({literal(place)})", rows, widest, copy, [place]), size


def _widest(batch: Any) -> int:
    """Return the most bytes of text that a row can have: the longest text of every column."""
    import pyarrow.compute as pc

    return sum(pc.max(pc.binary_length(column)).as_py() or 0 for column in batch.columns
               if pa.types.is_string(column.type) or pa.types.is_large_string(column.type))
