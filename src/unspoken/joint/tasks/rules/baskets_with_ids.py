"""Baskets whose first entry is an id, for owners whose files are not in the same order."""

from __future__ import annotations

from pathlib import Path

from unspoken.errors import DataError, explain
from unspoken.joint.tasks.common.party_files import party_options
from unspoken.table.basket_files import separator_of
from unspoken.table.baskets import Baskets
from unspoken.table.formats.file_formats import existing_file, format_of
from unspoken.table.formats.text_files import read_text, split_lines

MAX_BYTES = 1 << 31


def read_with_ids(path: Path, name: str) -> tuple[Baskets, list[str]]:
    """Read lines of an id and items; return baskets of the items that occur, and the ids.

    The first line says what the ids are: it begins with their name.
    """
    kind, options = format_of(existing_file(path)), party_options()
    if not kind.text:
        raise DataError(explain(f"'{path.name}'", "a text file (.csv, .txt, .tsv or .dat, also "
                                "compressed) whose lines begin with an id", kind.name))
    text = read_text(path, options, MAX_BYTES).removesuffix("\n")
    separator = separator_of(text.encode(), kind, options)
    lines = [[word for word in line if word] for line in split_lines(text.split("\n"), separator)]
    if not lines or not all(lines):
        raise DataError(f"Every line of '{path.name}' must begin with an id. Some are empty.")
    if lines[0][0] != name:
        raise DataError(f"The first line of '{path.name}' must begin with '{name}', which names "
                        "the ids that all other lines begin with. It begins with something else.")
    return Baskets.of([line[1:] for line in lines[1:]]), [line[0] for line in lines[1:]]


def basket_ids(path: Path, name: str) -> list[str]:
    """Return the ids of baskets."""
    return read_with_ids(path, name)[1]
