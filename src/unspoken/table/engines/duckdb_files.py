"""What DuckDB needs to hear and what it says about files: quoting, its own files, its errors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from unspoken.errors import DataError


def quote(name: str) -> str:
    """Quote a column name for SQL."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Quote a text for SQL."""
    return "'" + text.replace("'", "''") + "'"


def read_database(path: Path, table: str) -> Any:
    """Read one table of a DuckDB file."""
    import duckdb

    with plain_errors(), duckdb.connect(str(path), read_only=True) as connection:
        return connection.sql(f"SELECT * FROM {quote(table)}").to_arrow_table()


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
