"""Tables in PostgreSQL, in Arrow batches by ADBC: read in one snapshot, written in one transaction.

Names are quoted, and values never stand in a statement. The password comes from where libpq looks
for it (PGPASSWORD, ~/.pgpass, a service file); no message repeats more of the server's than its
first line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from unspoken.errors import DataError, MissingExtraError, SchemaError
from unspoken.table.engines.duckdb_files import quote
from unspoken.table.formats.header_names import unknown_name

_AS_THEY_ARE = {"bool", "int2", "int4", "int8", "float4", "float8", "text", "varchar", "date",
                "time", "timestamp", "timestamptz"}
_CASTS = {"numeric": "{}::float8", "money": "{}::numeric::float8", "oid": "{}::int8",
          "interval": "extract(epoch FROM {})::float8"}
_TEXT = {"text", "varchar", "bpchar", "name"}
_COLUMNS = """SELECT a.attname::text, coalesce(b.typname, t.typname)::text, t.typcategory::text
FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
LEFT JOIN pg_catalog.pg_type b ON t.typtype = 'd' AND b.oid = t.typbasetype
WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum"""


@dataclass(frozen=True)
class ServerTable:
    """One table of a server: how to reach it, and the columns that give its rows their order."""

    server: str
    table: str
    schema: str | None = None
    order: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Return the name as it stands in a statement."""
        return ".".join(quote(part) for part in (self.schema, self.table) if part is not None)


@contextmanager
def postgres_batches(table: ServerTable) -> Iterator[tuple[Any, Iterator[Any]]]:
    """Yield the schema and the batches of a table, in one snapshot that nobody can change."""
    with _transaction(table, "REPEATABLE READ READ ONLY") as cursor:
        chosen, order = _columns(cursor, table)
        cursor.execute(f"SELECT {', '.join(chosen)} FROM {table.name}{order}")
        reader = cursor.fetch_record_batch()
        # The driver notes the server's types beside the columns, which is nobody's affair.
        schema = pa.schema([(entry.name, entry.type) for entry in reader.schema])
        yield schema, _finite(reader, schema)


def write_postgres(table: ServerTable, rows: Any, more: Sequence[tuple[str, Any]],
                   replace: bool, before: Callable[[], object]) -> None:
    """Write new tables in one transaction, the last step of which is what `before` does.

    `rows` is a reader of Arrow batches; `more` are small tables that belong to it, by name.
    """
    with _transaction(table, "READ COMMITTED") as cursor:
        for name, data in ((table.table, rows), *more):
            if replace:
                cursor.execute(f"DROP TABLE IF EXISTS "
                               f"{ServerTable(table.server, name, table.schema).name}")
            cursor.adbc_ingest(name, data, mode="create", db_schema_name=table.schema)
        before()
        cursor.connection.commit()


def tables_there(table: ServerTable, names: Sequence[str]) -> list[str]:
    """Return which of these tables exist beside a table."""
    with _transaction(table, "READ COMMITTED READ ONLY") as cursor:
        return [name for name in names if _fields(
            cursor, ServerTable(table.server, name, table.schema))]


@contextmanager
def _transaction(table: ServerTable, kind: str) -> Iterator[Any]:
    """Yield a cursor inside a transaction, which is undone unless it is committed."""
    driver = _driver()
    with _plain_errors(driver, table), driver.connect(table.server) as connection, \
            connection.cursor() as cursor:
        cursor.execute(f"SET TRANSACTION ISOLATION LEVEL {kind}")
        yield cursor


def _driver() -> Any:
    try:
        from adbc_driver_postgresql import dbapi
    except ImportError:
        raise MissingExtraError("Tables in PostgreSQL need adbc-driver-postgresql. Type: pip "
                                "install 'unspoken[databases]'") from None
    return dbapi


def _fields(cursor: Any, table: ServerTable) -> list[tuple[str, str, str]]:
    cursor.execute(_COLUMNS, (table.name,))
    return [(str(name), str(kind), str(group)) for name, kind, group in cursor.fetchall()]


def _columns(cursor: Any, table: ServerTable) -> tuple[list[str], str]:
    """Return what to select, and in which order."""
    fields = _fields(cursor, table)
    if not fields:
        raise DataError(f"Table '{table.table}' must be in the database"
                        + (f", in the schema '{table.schema}'" if table.schema else "")
                        + ". There is none that this user may see. Check its name, its case and "
                        "its schema (schema=).")
    kinds = {name: kind for name, kind, _ in fields}
    _check_order(cursor, table, list(kinds))
    keys = [quote(name) + (' COLLATE "C"' if kinds[name] in _TEXT else "") for name in table.order]
    return ([_selected(name, kind, group) for name, kind, group in fields],
            f" ORDER BY {', '.join(keys)}" if keys else "")


def _selected(name: str, kind: str, group: str) -> str:
    column = quote(name)
    if kind in _AS_THEY_ARE or group == "A":
        return column
    return f"{_CASTS.get(kind, '{}::text').format(column)} AS {column}"


def _check_order(cursor: Any, table: ServerTable, names: Sequence[str]) -> None:
    """Refuse an order in which two rows could change places."""
    for name in table.order:
        if name not in names:
            raise SchemaError(unknown_name(name, names))
    if not table.order:
        return
    keys = ", ".join(map(quote, table.order))
    cursor.execute(f"SELECT EXISTS (SELECT 1 FROM {table.name} GROUP BY {keys} "
                   "HAVING count(*) > 1)")
    if cursor.fetchone()[0]:
        raise DataError(f"The columns of 'order' ({', '.join(table.order)}) must differ in every "
                        "row. Some rows have the same. Name a key of the table.")


def _finite(reader: Any, schema: Any) -> Iterator[Any]:
    """Yield batches; dates and times of PostgreSQL that are infinite are refused by name."""
    moments = [at for at, kind in enumerate(schema.types)
               if pa.types.is_date(kind) or pa.types.is_timestamp(kind)]
    for batch in reader:
        for at in moments:
            small = pa.types.is_date(schema.types[at])
            ends = pc.min_max(batch.column(at).cast(pa.int32() if small else pa.int64())).as_py()
            # Infinity is the last number there is; nothing that happened is half as far away.
            if ends["max"] is not None and max(-ends["min"], ends["max"]) >= 1 << (30 if small
                                                                                  else 62):
                raise DataError(f"Column '{schema.names[at]}' must hold dates that are finite. It "
                                "holds 'infinity'. Use a view that leaves it empty.")
        yield pa.RecordBatch.from_arrays(batch.columns, schema=schema)


@contextmanager
def _plain_errors(driver: Any, table: ServerTable) -> Iterator[None]:
    """Turn the driver's errors into sentences; no more than a line of the server's is repeated."""
    try:
        yield
    except (driver.Error, OSError, pa.ArrowException) as error:
        # Inside an Arrow stream the driver's errors arrive as OSError.
        if isinstance(error, OSError) and "libpq" not in str(error):
            raise
        raise DataError(_sentence(str(error), table)) from None


def _sentence(text: str, table: ServerTable) -> str:
    """Return what happened; details and hints of a server can quote rows, and are left out."""
    first = next((line.strip() for line in text.splitlines() if line.strip()), "no reason")
    lowered = text.lower()
    if "authentication failed" in lowered or "no password supplied" in lowered:
        return ("The database server must accept the user and the password. It refused them. Put "
                "the password into the environment variable PGPASSWORD or the file ~/.pgpass.")
    if any(word in lowered for word in ("terminating connection", "server closed the connection",
                                        "connection to server was lost", "no connection to the")):
        return ("The connection to the database was lost before all rows had come. Nothing was "
                "written. Try again.")
    if "already exists" in lowered:
        return (f"Table '{table.table}' must not exist in the database yet. Choose another name, "
                "or replace a release with --overwrite (overwrite=True).")
    return f"The database could not do what it was asked for. It says: {first[:200]}"
