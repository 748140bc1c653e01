"""Writing Parquet in bounded memory: plain columns by DuckDB on all cores, others by Arrow.

The file depends on the rows alone, not on how they are cut or on how many cores there are.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import pyarrow as pa

from unspoken.table.engines.duckdb_files import literal
from unspoken.table.engines.prefetch import ahead
from unspoken.table.engines.protocol import Progress
from unspoken.table.engines.runs import blocks, numbered

ROW_GROUP = 1 << 20
BLOCK = 4 * 122_880
"""Rows that DuckDB gets at a time: whole row groups of its usual size."""
_FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)


def write_parquet(
    batches: Iterator[Any], schema: Any, path: str, progress: Progress | None = None
) -> None:
    """Write batches to one Parquet file, some row groups at a time."""
    write = _on_all_cores if _is_plain(schema) else _by_arrow
    write(batches, schema, path, progress)


def _is_plain(schema: Any) -> bool:
    """Return True if DuckDB keeps the names and the types of all columns."""
    names = {name.lower() for name in schema.names}
    return "" not in names and len(names) == len(schema) and all(
        pa.types.is_integer(kind) or pa.types.is_boolean(kind) or pa.types.is_string(kind)
        or kind in (pa.float32(), pa.float64()) for kind in schema.types)


def _by_arrow(batches: Iterator[Any], schema: Any, path: str, progress: Progress | None) -> None:
    import pyarrow.parquet as pq

    with pq.ParquetWriter(path, schema, compression="snappy") as writer:
        for batch in ahead(batches):
            writer.write_batch(batch, row_group_size=ROW_GROUP)
            if progress is not None:
                progress(batch.num_rows)


def _on_all_cores(batches: Iterator[Any], schema: Any, path: str,
                  progress: Progress | None) -> None:
    import duckdb

    from unspoken.table.engines.duckdb_files import without_bar

    failed: list[BaseException] = []
    with closing(_carried(batches, schema, progress, failed)) as rows, \
            duckdb.connect() as connection, ThreadPoolExecutor(1) as pool:
        without_bar(connection)
        connection.register("released", pa.RecordBatchReader.from_batches(schema, rows))
        # In a thread of its own, as signals reach only the first one, and that must not be inside
        # DuckDB to take them.
        writing = pool.submit(connection.execute,
                              f"COPY (FROM released) TO {literal(path)} (FORMAT parquet)")
        try:
            writing.result()
        except duckdb.Error as error:
            raise failed[0] if failed else _refused(error, path) from None
        except BaseException:
            connection.interrupt()
            raise


def _carried(batches: Iterator[Any], schema: Any, progress: Progress | None,
             failed: list[BaseException]) -> Generator[Any, None, None]:
    """Yield rows in blocks; DuckDB would make a text of an error, so it is put aside."""
    try:
        for _, batch in blocks(numbered(batches), BLOCK):
            yield pa.RecordBatch.from_arrays(batch.columns, schema=schema)
            if progress is not None:
                progress(batch.num_rows)
    except GeneratorExit:
        raise
    except BaseException as error:
        failed.append(error)
        raise


def _refused(error: Exception, path: str) -> OSError:
    """Return the system's error that DuckDB met while it wrote."""
    for number in _FULL:
        if os.strerror(number) in str(error):
            return OSError(number, os.strerror(number), path)
    return OSError(errno.EIO, str(error).splitlines()[0][:200], path)
