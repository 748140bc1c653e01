"""Tables in Parquet and Arrow files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from unspoken.errors import DataError, reason
from unspoken.table.engines.duckdb_files import file_literal
from unspoken.table.engines.local import LocalEngine, MemoryFrame
from unspoken.table.formats.expansion import arrow_rows, parquet_metadata, parquet_size
from unspoken.table.formats.header_names import check_names
from unspoken.table.formats.opened_file import OpenedFile
from unspoken.table.formats.parquet_meanings import meant
from unspoken.table.formats.read_options import ReadOptions


def open_parquet(path: Path, options: ReadOptions, engine: LocalEngine,
                 as_text: Sequence[str] = ()) -> OpenedFile:
    """Open a Parquet file; names are checked before a reader can change them."""
    metadata = parquet_metadata(path)
    schema = metadata.schema.to_arrow_schema()
    check_names(schema.names)
    stored = f"read_parquet({file_literal(str(path))}, hive_partitioning = false)"
    size, widest = parquet_size(path, metadata, stored, engine)
    sql, notes = meant(stored, schema)
    return OpenedFile(engine.scan(sql, metadata.num_rows, widest, files=[str(path)]), size,
                      notes)


def open_arrow(path: Path, options: ReadOptions, engine: LocalEngine,
               as_text: Sequence[str] = ()) -> OpenedFile:
    """Open an Arrow file or stream; what is not compressed in it stays on disk."""
    try:
        rows = arrow_rows(path)
    except (pa.ArrowException, OSError, MemoryError) as error:
        raise DataError(f"'{path.name}' must be an Arrow file. {reason(error)}") from None
    return OpenedFile(MemoryFrame(rows), rows.nbytes)


def write_parquet_table(table: Any, options: ReadOptions) -> bytes:
    """Return a table as a Parquet file."""
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    return bytes(sink.getvalue())


def write_arrow(table: Any, options: ReadOptions) -> bytes:
    """Return a table as an Arrow file."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())
