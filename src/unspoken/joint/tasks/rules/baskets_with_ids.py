"""Baskets whose first entry is an id, for owners whose files are not in the same order."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path

from unspoken.errors import DataError, explain
from unspoken.table.baskets import Baskets

MAX_BYTES = 1 << 31
_BETWEEN = {".csv": ",", ".txt": ",", ".dat": " ", ".tsv": "\t"}


def read_with_ids(path: Path) -> tuple[Baskets, list[str]]:
    """Read lines of an id and items; return baskets of the items that occur, and the ids."""
    suffix = Path(path.name.lower().removesuffix(".gz")).suffix
    if suffix not in _BETWEEN:
        raise DataError(explain(f"'{path.name}'", "a .csv, .txt, .tsv or .dat file (also .gz) "
                                "whose lines begin with an id", suffix or "no ending"))
    lines = [[word for word in line if word] for line in csv.reader(
        io.StringIO(_text(path)), delimiter=_BETWEEN[suffix])]
    if not lines or not all(lines):
        raise DataError(f"Every line of '{path.name}' must begin with an id. Some are empty.")
    return Baskets.of([line[1:] for line in lines]), [line[0] for line in lines]


def _text(path: Path) -> str:
    opener = gzip.open if path.suffix.lower() == ".gz" else open
    try:
        with opener(path, "rb") as file:
            content: bytes = file.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise DataError(explain(f"'{path.name}'", f"at most {MAX_BYTES} bytes", "more"))
        return content.decode("utf-8")
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise DataError(f"'{path.name}' must be a text file of baskets. {error}") from None
