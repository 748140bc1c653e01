"""Tables in SQLite files, by the standard library: every value has a type of its own there.

A column is read as what all its values are: whole numbers, numbers, or text. One that mixes numbers
with text is refused by name, because any choice would change some of its values.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote as quoted

import pyarrow as pa

from unspoken.errors import DataError, SchemaError, reason
from unspoken.table.engines.duckdb_files import quote
from unspoken.table.engines.silent_queries import watched
from unspoken.table.formats.header_names import unknown_name

_ROWS = 1 << 16
_KINDS = {frozenset(): pa.null(), frozenset({"integer"}): pa.int64(),
          frozenset({"real"}): pa.float64(), frozenset({"integer", "real"}): pa.float64(),
          frozenset({"text"}): pa.string()}


@contextmanager
def sqlite_batches(path: Path, table: str,
                   order: Sequence[str]) -> Iterator[tuple[Any, Iterator[Any]]]:
    """Yield the schema and the batches of a table, in one transaction."""
    with _opened(path, "ro") as connection, watched(connection.interrupt, table) as watch:
        connection.execute("BEGIN")
        schema = _schema(connection, table)
        keys = _order(connection, table, schema.names, order)
        names = ", ".join(map(quote, schema.names))
        cursor = connection.execute(f"SELECT {names} FROM {quote(table)}{keys}")
        yield schema, watch.passed(_batches(cursor, schema))


def write_sqlite(path: Path, tables: Sequence[tuple[str, Any]], replace: bool,
                 before: Callable[[], object]) -> None:
    """Write new tables in one transaction, the last step of which is what `before` does."""
    with _opened(path, "rwc") as connection:
        connection.execute("BEGIN IMMEDIATE")
        for name, reader in tables:
            if replace:
                connection.execute(f"DROP TABLE IF EXISTS {quote(name)}")
            _create(connection, name, reader)
        before()
        connection.execute("COMMIT")


def sqlite_tables(path: Path) -> list[str]:
    """Return the names of all tables and views of a file."""
    with _opened(path, "ro") as connection:
        return _names(connection)


def _names(connection: Any) -> list[str]:
    listed = connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")
    return [str(row[0]) for row in listed]


@contextmanager
def _opened(path: Path, mode: str) -> Iterator[Any]:
    """Yield a connection whose transactions are begun and ended by hand."""
    place = f"file:{quoted(str(path.absolute()))}?mode={mode}"
    try:
        with closing(_connect(place)) as connection:
            yield connection
    except (sqlite3.Error, OverflowError) as error:
        raise DataError(f"'{path.name}' must be an SQLite file that can be used. SQLite says: "
                        f"{_without_cells(reason(error))}") from None


def _without_cells(words: str) -> str:
    """Return what SQLite says without the cell that it quotes where text is not UTF-8."""
    before, quotes_it, _ = words.partition(" with text '")
    return f"{before}." if quotes_it else words


def _connect(place: str) -> sqlite3.Connection:
    # Rows are fetched ahead in another thread, and only there.
    return sqlite3.connect(place, uri=True, isolation_level=None, check_same_thread=False)


def _schema(connection: Any, table: str) -> Any:
    if table not in _names(connection):
        raise DataError(f"Table '{table}' must be in the file. The file has "
                        f"{sorted(_names(connection))[:20]}.")
    names = [str(row[1]) for row in connection.execute(f"PRAGMA table_info({quote(table)})")]
    kinds: dict[str, set[str]] = {name: set() for name in names}
    for name in names:
        rows = connection.execute(f"SELECT DISTINCT typeof({quote(name)}) FROM {quote(table)}")
        kinds[name] = {str(row[0]) for row in rows} - {"null"}
    return pa.schema([pa.field(name, _kind(name, kinds[name])) for name in names])


def _kind(name: str, kinds: set[str]) -> Any:
    chosen = _KINDS.get(frozenset(kinds))
    if chosen is None:
        raise DataError(f"Column '{name}' must hold values of one type. It holds "
                        f"{' and '.join(sorted(kinds))}. Use a view that casts it.")
    return chosen


def _order(connection: Any, table: str, names: Sequence[str], order: Sequence[str]) -> str:
    """Return the order of rows; one in which two rows could change places is refused."""
    for name in order:
        if name not in names:
            raise SchemaError(unknown_name(name, names))
    if not order:
        return ""
    keys = ", ".join(map(quote, order))
    twice = connection.execute(f"SELECT 1 FROM {quote(table)} GROUP BY {keys} "
                               "HAVING count(*) > 1 LIMIT 1").fetchone()
    if twice is not None:
        raise DataError(f"The columns of 'order' ({', '.join(order)}) must differ in every row. "
                        "Some rows have the same. Name a key of the table.")
    return f" ORDER BY {keys}"


def _batches(cursor: Any, schema: Any) -> Iterator[Any]:
    while rows := cursor.fetchmany(_ROWS):
        columns = zip(*rows, strict=True)
        yield pa.RecordBatch.from_arrays(
            [_array(values, entry.type) for values, entry in zip(columns, schema, strict=True)],
            schema=schema)


def _array(values: Sequence[Any], kind: Any) -> Any:
    """Return values as Arrow holds them; whole numbers among fractions are rounded to 53 bits.

    Arrow refuses whole numbers that must be rounded, and shows them: one row would stop a table.
    """
    if pa.types.is_floating(kind):
        values = [None if value is None else float(value) for value in values]
    return pa.array(values, kind, from_pandas=False)


def _create(connection: Any, name: str, reader: Any) -> None:
    columns = ", ".join(f"{quote(entry.name)} {_sql_type(entry)}" for entry in reader.schema)
    connection.execute(f"CREATE TABLE {quote(name)} ({columns})")
    marks = ", ".join("?" * len(reader.schema))
    for batch in reader:
        rows = zip(*(_values(column) for column in batch.columns), strict=True)
        connection.executemany(f"INSERT INTO {quote(name)} VALUES ({marks})", rows)


def _sql_type(entry: Any) -> str:
    if pa.types.is_integer(entry.type) or pa.types.is_boolean(entry.type):
        return "INTEGER"
    floating = pa.types.is_floating(entry.type) or pa.types.is_decimal(entry.type)
    return "REAL" if floating else "TEXT"


def _values(column: Any) -> list[Any]:
    """Return the values as SQLite holds them: it has no dates, which become text."""
    kind = column.type
    if pa.types.is_decimal(kind):
        column = column.cast(pa.float64())
    elif pa.types.is_temporal(kind):
        column = column.cast(pa.string())
    values: list[Any] = column.to_pylist()
    return values
