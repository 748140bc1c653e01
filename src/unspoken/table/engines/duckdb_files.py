"""What DuckDB needs to hear and what it says about files: quoting, its own files, its errors."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from unspoken.errors import DataError
from unspoken.table.engines.silent_queries import watched

_BATCH = 1 << 17
_SEALED = {"enable_external_access": False, "autoinstall_known_extensions": False,
           "autoload_known_extensions": False, "lock_configuration": True}
"""How a database file is opened: a view inside it must not read other files or addresses."""


def quote(name: str) -> str:
    """Quote a column name for SQL."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Quote a text for SQL."""
    return "'" + text.replace("'", "''") + "'"


def file_literal(path: str) -> str:
    """Quote the name of a file for SQL: DuckDB would take `*`, `?` and `[` in it for a pattern."""
    return literal(re.sub(r"([*?\[])", r"[\1]", path))


def without_bar(connection: Any) -> None:
    """Turn DuckDB's progress bar off: the command line shows progress itself, on stderr.

    In a notebook without ipywidgets DuckDB has no bar, and refuses to turn it off.
    """
    import duckdb

    with suppress(duckdb.InvalidInputException):
        connection.execute("SET enable_progress_bar = false")


def _sealed(path: Path) -> Any:
    """Open a database file for reading; what it holds reaches nothing beside it."""
    import duckdb

    return duckdb.connect(str(path), read_only=True, config=_SEALED)


@contextmanager
def duckdb_batches(path: Path, table: str, schema: str | None = None,
                   order: Sequence[str] = ()) -> Iterator[tuple[Any, Iterator[Any]]]:
    """Yield the schema and the batches of one table of a DuckDB file, which stays unchanged."""
    name = ".".join(quote(part) for part in (schema, table) if part is not None)
    keys = ", ".join(map(quote, order))
    with plain_errors(), _sealed(path) as connection, \
            watched(connection.interrupt, table) as watch:
        if keys:
            _refuse_ties(connection, name, order)
        rows = connection.sql(f"SELECT * FROM {name}" + (f" ORDER BY {keys}" if keys else ""))
        reader = rows.to_arrow_reader(_BATCH)
        yield reader.schema, watch.passed(reader)


def _refuse_ties(connection: Any, table: str, order: Sequence[str]) -> None:
    """Refuse an order in which two rows could change places."""
    keys = ", ".join(map(quote, order))
    if connection.execute(f"SELECT 1 FROM {table} GROUP BY {keys} HAVING count(*) > 1 LIMIT 1"
                          ).fetchall():
        raise DataError(f"The columns of 'order' ({', '.join(order)}) must differ in every row. "
                        "Some rows have the same. Name a key of the table.")


def write_duckdb(path: Path, tables: Sequence[tuple[str, Any]], schema: str | None,
                 replace: bool, before: Callable[[], object]) -> None:
    """Write new tables in one transaction, the last step of which is what `before` does."""
    import duckdb

    with plain_errors(), duckdb.connect(str(path)) as connection:
        without_bar(connection)
        connection.execute("BEGIN")
        for table, reader in tables:
            name = ".".join(quote(part) for part in (schema, table) if part is not None)
            if replace:
                connection.execute(f"DROP TABLE IF EXISTS {name}")
            connection.register("unspoken_rows", reader)
            connection.execute(f"CREATE TABLE {name} AS SELECT * FROM unspoken_rows")
            connection.unregister("unspoken_rows")
        before()
        connection.execute("COMMIT")


def duckdb_tables(path: Path, schema: str | None = None) -> list[str]:
    """Return the names of all tables and views of a DuckDB file."""
    with plain_errors(), _sealed(path) as connection:
        rows = connection.execute("SELECT table_name FROM information_schema.tables WHERE "
                                  "table_schema = ?", [schema or "main"]).fetchall()
    return [str(row[0]) for row in rows]


@contextmanager
def plain_errors() -> Iterator[None]:
    """Turn DuckDB's errors into sentences; its own quote lines of the data, these do not."""
    import duckdb

    try:
        yield
    except (duckdb.Error, OSError) as error:
        # Inside an Arrow stream DuckDB's errors arrive as OSError.
        if isinstance(error, OSError) and not re.match(r"[\w ]+ Error: ", str(error)):
            raise
        raise DataError(_sentence(error, str(error))) from None


def _sentence(error: Any, text: str) -> str:
    import duckdb

    if isinstance(error, duckdb.PermissionException) or text.startswith("Permission Error"):
        return ("A table of a database file must lie in that file. This one is a view of something "
                "outside it, which is not read. Read that file itself, or copy it into the "
                "database.")
    line = re.search(r"CSV Error on Line: (\d+)", text)
    place = f"Line {line[1]} cannot be read." if line else "It cannot be read."
    if "not utf-8 encoded" in text or "nvalid unicode" in text:
        return (f"The file must be text in UTF-8. {place} Name its encoding, such as "
                "encoding='windows-1252', 'latin-1' or 'utf-16'.")
    if isinstance(error, duckdb.ConversionException) or text.startswith("Conversion Error"):
        return (f"Every column must hold values of one type. {place} A value does not fit the "
                "type that the lines before it show. Correct it, or name the word as missing.")
    if isinstance(error, duckdb.OutOfMemoryException) or text.startswith("Out of Memory"):
        return "The file needs more memory than it may have. Leave columns out, or split it."
    if line or "sniffing" in text:
        return (f"Every line of the file must have as many entries as its header. {place} Check "
                "its quotes, and its delimiter (delimiter=).")
    first = text.splitlines()[0] if text else type(error).__name__
    return f"The file must be a table that can be read. DuckDB says: {first[:200]}"
