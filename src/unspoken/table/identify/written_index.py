"""Columns that programs write beside those of a table: the numbers or names of its rows.

They are known by how they came to be, not by their values: the index of a filtered or joined frame
has gaps and repetitions, and still points to the rows of its source.
"""

from __future__ import annotations

import re
from dataclasses import replace

from unspoken.table.schema import Column, Schema

_NAMES = re.compile(r"__index_level_\d+__|Unnamed: 0")
"""What an index is called that pandas wrote to Parquet, or read back from a text file."""
_NOTE = "index that a program wrote beside the table: not released unless kept by name"


def with_index(schema: Schema, unnamed: str = "") -> Schema:
    """Return a schema whose written index, also the column `unnamed`, is an identifier."""
    return Schema(tuple(_withheld(column) if column.name == unnamed
                        or _NAMES.fullmatch(column.name) else column
                        for column in schema.columns))


def unnamed_in(schema: Schema) -> str:
    """Return the name that was given to a column without one, which a table carries on."""
    return next((column.name for column in schema.columns if column.note.startswith(_NOTE)), "")


def index_notes(schema: Schema) -> tuple[str, ...]:
    """Return a note on every index that pandas wrote into a file."""
    return tuple(f"'{column.name}' is the index of a frame: it counts as row numbers, and is not "
                 f"released unless it is kept by name (keep='{column.name}')"
                 for column in schema.columns if _NAMES.fullmatch(column.name))


def _withheld(column: Column) -> Column:
    return replace(column, role="identifier", note=_NOTE)
