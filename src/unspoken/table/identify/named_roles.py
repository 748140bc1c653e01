"""Roles that follow from declarations and from names alone, whatever the values are.

Which columns a result with a stated epsilon is about must not follow from the data: one cell more
or less can make a column look as if it named people. There a role that was guessed counts for
nothing, and a column names people if its header says so.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace

from unspoken.table.identify.column_sample import header_words
from unspoken.table.identify.detector import named
from unspoken.table.identify.detectors import DETECTORS
from unspoken.table.identify.finding import WITHHELD
from unspoken.table.identify.uniqueness import INDEX_HEADERS
from unspoken.table.schema import Column, Schema

ID_NAME = re.compile(r"(^|[_\W])(id|ids|uuid|guid|ssn|email|e_mail|phone|name|rowid)($|[_\W])|"
                     r"[a-z]I[dD]$", re.IGNORECASE)


def names_people(name: str) -> bool:
    """Return True if a header says that its column names people or numbers rows."""
    header = header_words(name)
    return bool(ID_NAME.search(name)) or named(header, INDEX_HEADERS) or any(
        named(header, detector.headers) for detector in DETECTORS if detector.role in WITHHELD)


def named_roles(schema: Schema, declared: Collection[str] = ()) -> Schema:
    """Return a schema without guesses; columns with `declared` values are no identifiers."""
    return Schema(tuple(_by_name(column, declared) for column in schema.columns))


def looks_like_people(column: Column) -> bool:
    """Return True if a column was taken for an identifier because of its values."""
    return column.guessed and column.role == "identifier"


def _by_name(column: Column, declared: Collection[str]) -> Column:
    if not column.guessed:
        return column
    withheld = column.name not in declared and names_people(column.name)
    return replace(column, role="identifier" if withheld else "plain")
