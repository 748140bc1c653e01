"""Columns of plain numbers out of Parquet files by Arrow, which decodes them in half the time.

DuckDB reads everything else: it checks that texts are UTF-8, and knows nested types.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from unspoken.errors import DataError, reason

_BUFFER = 1 << 20
"""Column chunks are read in pieces of this many bytes, however large a row group is."""


def plain_columns(files: Sequence[str], schema: Any) -> frozenset[str]:
    """Return the columns that Arrow reads from the first file with the types of a schema.

    The files must be of one schema.
    """
    if not files:
        return frozenset()
    import pyarrow.parquet as pq

    with _plain_errors():
        stored = pq.read_schema(files[0])
    return frozenset(name for name in schema.names if "." not in name
                     and stored.get_field_index(name) >= 0 and _is_plain(schema.field(name).type)
                     and stored.field(name).type == schema.field(name).type)


def _is_plain(kind: Any) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_boolean(kind)
                or kind in (pa.float32(), pa.float64()))


def number_batches(files: Sequence[str], schema: Any, size: int, rows: int) -> Iterator[Any]:
    """Yield the columns of a schema in row order; files with other than `rows` rows are refused."""
    seen = 0
    with _plain_errors():
        for file in files:
            for batch in _of_file(file, schema, size):
                seen += batch.num_rows
                yield batch
    if seen != rows:
        raise DataError(f"The files must hold the {rows:,} rows that they were opened with. They "
                        f"hold {seen:,}: they were changed meanwhile, or are damaged. Read them "
                        "again.")


def _of_file(file: str, schema: Any, size: int) -> Iterator[Any]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(file, buffer_size=_BUFFER, pre_buffer=False) as source:
        for batch in source.iter_batches(size, columns=schema.names):
            yield pa.RecordBatch.from_arrays([batch.column(name) for name in schema.names],
                                             schema=schema)


@contextmanager
def _plain_errors() -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError, KeyError) as error:
        raise DataError("The file must be a table that can be read. Arrow says: "
                        f"{reason(error)}") from None
