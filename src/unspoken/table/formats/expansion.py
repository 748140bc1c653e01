"""How large the rows of a small file are in memory, estimated before they are read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa

from unspoken.errors import DataError, reason
from unspoken.table.engines.duckdb_files import quote
from unspoken.table.engines.local import LocalEngine
from unspoken.table.formats.compressed_files import FACTOR, FREE_BYTES, bound_of, too_much

_CELL = 8


def parquet_metadata(path: Path) -> Any:
    """Return the metadata of a Parquet file; what is no such file is refused."""
    import pyarrow.parquet as pq

    try:
        found = pq.read_metadata(path)
        _ = found.schema.to_arrow_schema().names  # Types and names may be none that Arrow knows.
        return found
    except UnicodeDecodeError:
        raise DataError(f"'{path.name}' must be a Parquet file. Its description is not UTF-8.") \
            from None
    except (pa.ArrowException, OSError, MemoryError) as error:
        raise DataError(f"'{path.name}' must be a Parquet file. {reason(error)}") from None


def parquet_size(path: Path, metadata: Any, sql: str, engine: LocalEngine) -> tuple[int, int]:
    """Return how many bytes all rows need in memory, and the most text that a row can have."""
    size = fixed_size(path, metadata)
    text = [entry.name for entry in metadata.schema.to_arrow_schema() if is_text(entry.type)]
    if not text or size > bound_of(path) or text_bound(metadata) <= FREE_BYTES:
        return size, 0
    parts = ", ".join(f"sum(strlen({quote(name)})), max(strlen({quote(name)}))" for name in text)
    row = engine.first_row(f"SELECT {parts} FROM {sql}")
    return size + sum(int(n or 0) for n in row[::2]), sum(int(n or 0) for n in row[1::2])


def fixed_size(path: Path, metadata: Any) -> int:
    """Return the size of rows without their text; pages that expand beyond bounds are refused."""
    values = 0
    for chunk in _chunks(metadata):
        values += chunk.num_values
        packed, whole = chunk.total_compressed_size, chunk.total_uncompressed_size
        if whole > FREE_BYTES and whole > FACTOR * max(packed, 1):
            raise too_much(path, whole)
    return int(_CELL * max(values, metadata.num_rows * metadata.num_columns))


def refuse_bomb(path: Path, size: int) -> None:
    """Refuse a file whose rows are larger than its bytes can account for."""
    if size > bound_of(path):
        raise too_much(path, size)


def _chunks(metadata: Any) -> Any:
    for group in range(metadata.num_row_groups):
        part = metadata.row_group(group)
        yield from (part.column(at) for at in range(part.num_columns))


def text_bound(metadata: Any) -> int:
    """Return the most that all text could need: every value as long as all its column's pages."""
    return sum(chunk.num_values * chunk.total_uncompressed_size for chunk in _chunks(metadata)
               if chunk.physical_type in ("BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"))


def is_text(kind: Any) -> bool:
    """Return True if an Arrow type is text, in whatever form."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind)
                or pa.types.is_string_view(kind)
                or (pa.types.is_dictionary(kind) and is_text(kind.value_type)))


def arrow_rows(path: Path) -> Any:
    """Read an Arrow file or stream batch by batch, so far as it does not expand beyond bounds."""
    source = pa.memory_map(str(path))
    try:
        reader: Any = pa.ipc.open_file(source)
        batches = (reader.get_batch(at) for at in range(reader.num_record_batches))
    except pa.ArrowInvalid:
        source.seek(0)
        reader = pa.ipc.open_stream(source)
        batches = iter(reader)
    chunks, size = [], 0
    for batch in batches:
        size += batch.nbytes
        refuse_bomb(path, size)
        chunks.append(batch)
    return pa.Table.from_batches(chunks, reader.schema)
