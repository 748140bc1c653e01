"""Writing Parquet in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow.parquet as pq

from unspoken.table.engines.prefetch import ahead
from unspoken.table.engines.protocol import Progress

ROW_GROUP = 1 << 20


def write_parquet(
    batches: Iterator[Any], schema: Any, path: str, progress: Progress | None = None
) -> None:
    """Write batches to one Parquet file, a row group at a time."""
    with pq.ParquetWriter(path, schema, compression="snappy") as writer:
        for batch in ahead(batches):
            writer.write_batch(batch, row_group_size=ROW_GROUP)
            if progress is not None:
                progress(batch.num_rows)
