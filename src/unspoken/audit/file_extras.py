"""What the file of a table holds besides its rows: it is published with them.

Parquet and Arrow have room for remarks, and lists of categories that no row has; a database file
has other tables and pages that were freed. Reading a table passes all of it by.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

MOST = 3
FILE = "(file)"
_DATABASES = (".duckdb", ".db", ".sqlite", ".sqlite3")
_OWN = (b"ARROW:schema", b"PARQUET:field_id")
_PANDAS = {"index_columns", "column_indexes", "columns", "creator", "pandas_version", "attributes",
           "partition_columns"}


def file_extras(path: Path) -> dict[str, str]:
    """Return why a file is not scored, nothing where its rows are all that it holds."""
    found = _extras(path)
    if not found:
        return {}
    more = f" and {len(found) - MOST} more" if len(found) > MOST else ""
    return {FILE: f"it holds {', '.join(found[:MOST])}{more} besides its rows, which can carry "
                  "anything; write the rows to a CSV file and publish that"}


def _extras(path: Path) -> list[str]:
    suffix = path.suffix.lower()
    if suffix in _DATABASES:
        return ["what else a database file keeps"]
    if suffix in (".parquet", ".pq"):
        import pyarrow.parquet as pq

        schema = pq.read_schema(path)
        listed = [field.name for field in schema if pa.types.is_dictionary(field.type)]
        return _of_rows(schema, pq.read_table(path, columns=listed, partitioning=None))
    if suffix in (".arrow", ".feather", ".ipc"):
        from unspoken.table.formats.expansion import arrow_rows

        rows = arrow_rows(path)
        return _of_rows(rows.schema, rows)
    return []


def _of_rows(schema: Any, rows: Any) -> list[str]:
    remarks = [f"the remark '{name}'" for name in _remarks(schema.metadata)]
    for field in schema:
        remarks += [f"the remark '{name}' on '{field.name}'" for name in _remarks(field.metadata)]
    return remarks + [f"categories of '{field.name}' that nobody has" for field in schema
                      if pa.types.is_dictionary(field.type) and _unused(rows[field.name])]


def _remarks(metadata: Mapping[bytes, bytes] | None) -> list[str]:
    return [name.decode(errors="replace")[:40] for name, text in (metadata or {}).items()
            if name not in _OWN and not (name == b"pandas" and _plain(text))]


def _plain(text: bytes) -> bool:
    """Return True if pandas says nothing beyond the types of its columns."""
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(said, dict) and set(said) <= _PANDAS and not said.get("attributes")


def _unused(column: Any) -> bool:
    """Return True if a column lists categories that no row has."""
    known, used = set(), set()
    for chunk in column.chunks:
        known |= set(chunk.dictionary.to_pylist())
        used |= set(pc.unique(chunk.dictionary_decode()).to_pylist())
    return bool(known - used)
