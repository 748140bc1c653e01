"""Tables in databases: one address in, one frame out, read once in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from unspoken.errors import DataError, InputError, SchemaError
from unspoken.table.engines.duckdb_files import duckdb_batches, duckdb_tables, write_duckdb
from unspoken.table.engines.held_rows import hold
from unspoken.table.engines.local import LocalEngine
from unspoken.table.engines.postgres_tables import (
    ServerTable,
    postgres_batches,
    tables_there,
    write_postgres,
)
from unspoken.table.engines.sqlite_tables import sqlite_batches, sqlite_tables, write_sqlite
from unspoken.table.formats.compressed_files import bound_of
from unspoken.table.formats.data_urls import DataUrl
from unspoken.table.formats.header_names import check_names
from unspoken.table.formats.opened_file import OpenedFile
from unspoken.table.formats.read_options import ReadOptions

_SQLITE = b"SQLite format 3\0"


def open_database(path: Path, options: ReadOptions, engine: LocalEngine,
                  as_text: Sequence[str] = ()) -> OpenedFile:
    """Open one table of a database file, DuckDB's or SQLite's, whichever its first bytes say."""
    scheme = "sqlite" if _is_sqlite(path) else "duckdb"
    return open_table(DataUrl(str(path), scheme, f"{scheme}:///{path.absolute()}"), options, engine)


def _is_sqlite(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_SQLITE)) == _SQLITE


def tables_in(path: Path) -> list[str]:
    """Return the names of all tables and views of a database file."""
    return sorted(sqlite_tables(path) if _is_sqlite(path) else duckdb_tables(path))


def open_table(url: DataUrl, options: ReadOptions, engine: LocalEngine) -> OpenedFile:
    """Open the table that an address or `table=` names."""
    url = with_table(url, options.table)
    with _batches(url) as (schema, batches):
        check_names(schema.names)
        frame, size = hold(_in_proportion(url, iter(batches)), schema, engine)
    return OpenedFile(frame, size, _notes(url))


def _in_proportion(url: DataUrl, batches: Iterator[Any]) -> Iterator[Any]:
    """Pass the rows of a database file on while its bytes can account for them.

    A view can make any number of rows of nothing. On a server they are the owner's own matter.
    """
    most = None if url.scheme == "postgresql" else bound_of(Path(url.path))
    size = 0
    for batch in batches:
        size += batch.nbytes
        if most is not None and size > most:
            raise DataError(f"'{url.table}' must yield at most {most:,} bytes, which its file can "
                            "account for. It yields more. If that is right, store it as a Parquet "
                            "file (COPY ... TO) and read that.")
        yield batch


def with_table(url: DataUrl, table: str | None) -> DataUrl:
    """Return the address with the table in it that it, or the option, names."""
    if url.table is not None and table is not None and url.table != table:
        raise InputError(f"The table must be named once. The address names '{url.table}', and "
                         f"'table' is '{table}'. Leave one out.")
    if url.table is None and table is None:
        raise SchemaError(f"A database needs table=, the name of the table to read. '{url}' names "
                          "none. Behind an address it is ?table=NAME.")
    return replace(url, settings={**url.settings, "table": (str(url.table or table),)})


def _notes(url: DataUrl) -> tuple[str, ...]:
    if url.scheme != "postgresql" or url.order:
        return ()
    return (f"rows of '{url.table}' are numbered in the order in which the server sent them; "
            "&order=COLUMN in the address, a key of the table, gives the same numbers every time",)


def _batches(url: DataUrl) -> AbstractContextManager[tuple[Any, Any]]:
    table = str(url.table)
    if url.scheme == "postgresql":
        return postgres_batches(_server_table(url))
    file = _existing(url)
    if url.scheme == "sqlite":
        return sqlite_batches(file, table, url.order)
    return duckdb_batches(file, table, url.schema, url.order)


def _server_table(url: DataUrl) -> ServerTable:
    return ServerTable(url.server, str(url.table), url.schema, url.order)


def _existing(url: DataUrl) -> Path:
    file = Path(url.path)
    if url.scheme == "sqlite" and url.schema is not None:
        raise InputError("'schema=' is for PostgreSQL and DuckDB. SQLite has none. Leave it out.")
    if not file.is_file():
        raise DataError(f"'{file}' must be an existing database file. There is none. A relative "
                        f"path stands behind three slashes ({url.scheme}:///file.db), an absolute "
                        "one behind four.")
    return file


def existing_tables(url: DataUrl, names: Sequence[str]) -> list[str]:
    """Return which of these tables exist in a database."""
    if url.scheme == "postgresql":
        return tables_there(_server_table(url), names)
    file = Path(url.path)
    if not file.exists():
        return []
    there = sqlite_tables(file) if url.scheme == "sqlite" else duckdb_tables(file, url.schema)
    return [name for name in names if name in there]


def write_tables(url: DataUrl, tables: Sequence[tuple[str, Any]], overwrite: bool,
                 before: Callable[[], object]) -> None:
    """Write Arrow readers as new tables of a database, all at once or none.

    What `before` does comes last: if it fails, nothing was written.
    """
    if url.scheme == "postgresql":
        (_, rows), *more = tables
        write_postgres(_server_table(url), rows, more, overwrite, before)
        return
    path = Path(url.path)
    if not path.absolute().parent.is_dir():
        raise InputError(f"'{path}' must lie in an existing folder. There is none.")
    new = not path.exists()
    try:
        if url.scheme == "sqlite":
            write_sqlite(path, tables, overwrite, before)
        else:
            write_duckdb(path, tables, url.schema, overwrite, before)
    except BaseException:
        for ending in ("", "-journal", ".wal") if new else ():
            path.with_name(path.name + ending).unlink(missing_ok=True)
        raise


def one_cell(name: str, text: str) -> Any:
    """Return a reader of one row with one text."""
    return pa.table({name: [text]}).to_reader()
