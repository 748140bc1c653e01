"""Columns of Parquet files whose stored numbers mean something else than numbers.

Arrow's own types stand in the file beside the stored ones, which are all that DuckDB reads. Without
a look at them a duration would be a count of microseconds, and a period the number of its month.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from unspoken.errors import DataError
from unspoken.table.arrow_arrays import UNITS
from unspoken.table.engines.duckdb_files import quote

_EXTENSION = b"ARROW:extension:name"
_READ_AS_WRITTEN = ("arrow.uuid", "arrow.json", "arrow.bool8")


def meant(sql: str, schema: Any) -> tuple[str, tuple[str, ...]]:
    """Return the SQL in which durations are seconds, and notes; refuse what stays unclear."""
    cells = []
    for entry in schema:
        _refuse_extension(entry)
        if pa.types.is_duration(entry.type):
            name = quote(entry.name)
            cells.append(f"{name} / {UNITS[entry.type.unit]:.1f} AS {name}")
    if not cells:
        return sql, ()
    names = [entry.name for entry in schema if pa.types.is_duration(entry.type)]
    return (f"(SELECT * REPLACE ({', '.join(cells)}) FROM {sql})",
            (f"durations are read as seconds: {', '.join(names)}",))


def _refuse_extension(entry: Any) -> None:
    """Refuse an extension type whose stored values a reader would take for others."""
    known = getattr(entry.type, "extension_name", None) or (
        (entry.metadata or {}).get(_EXTENSION, b"").decode(errors="replace"))
    if known and known not in _READ_AS_WRITTEN:
        raise DataError(f"Column '{entry.name}' must hold numbers, texts, dates, times or "
                        f"booleans. Got the extension type {known}. Write it to the file as text "
                        "or as dates, or leave the column out.")
