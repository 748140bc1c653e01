"""Hierarchy: what the values of a column may be generalised to, level by level.

A text file in the form that ARX uses: one line per value, the value first, then its label on level
1, level 2 and so on, without a header. A file of another format of tables holds the same in its
columns, whatever they are called. Every label belongs to one label above it. On the last level
there is usually one label for all, `*`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from unspoken.arrays import Ints
from unspoken.errors import DataError, UnseenValueError
from unspoken.table.atomic_files import named_path, write_file
from unspoken.table.formats.compressed_files import compressed
from unspoken.table.formats.file_formats import existing_file, format_of, read_rows, write_rows
from unspoken.table.formats.read_options import take_options
from unspoken.table.formats.text_files import delimiter_of, read_text, split_lines

ALL = "*"
MAX_BYTES = 1 << 26
MAX_LEVELS = 64


@dataclass(frozen=True)
class Hierarchy:
    """One row per value: the value as text, and its label on every level above."""

    rows: tuple[tuple[str, ...], ...]

    def __post_init__(self) -> None:
        if not self.rows or not self.rows[0]:
            raise DataError("The hierarchy is empty. It needs one line per value.")
        width = len(self.rows[0])
        for number, row in enumerate(self.rows, 1):
            if len(row) != width or width > MAX_LEVELS:
                raise DataError(f"Line {number} of the hierarchy has {len(row)} entries. Every "
                                f"line must have as many as the first ({width}), and at most "
                                f"{MAX_LEVELS}.")
        _refuse_twice([row[0] for row in self.rows])
        for level in range(1, width - 1):
            _refuse_two_parents(self.rows, level)

    @classmethod
    def from_csv(cls, path: str | os.PathLike[str], **options: Any) -> Hierarchy:
        """Read a file of any format of tables, by its ending.

        Delimiter and encoding of a text file are detected, or set by the options of `read`.
        """
        file, chosen = existing_file(path), take_options(options)
        kind = format_of(file)
        if not kind.text or kind.open is None:
            return cls.of(_known(file, read_rows(file, chosen)))
        lines = read_text(file, chosen, MAX_BYTES).split("\n")
        return cls.of(_labelled(split_lines(lines, delimiter_of(lines, chosen, kind.between))))

    @classmethod
    def of(cls, rows: Iterable[Sequence[Any]]) -> Hierarchy:
        """Take rows of values and labels; empty rows are passed over."""
        return cls(tuple(tuple(str(part).strip() for part in row) for row in rows if row))

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any] | Sequence[Any]) -> Hierarchy:
        """Take nested mappings from label to children, the leaves in lists; all below `*`."""
        paths = [path[::-1] for path in _paths(tree, (ALL,))]
        depth = max((len(path) for path in paths), default=0)
        # A shallow leaf repeats itself, so that every line is of one length.
        return cls(tuple((path[0],) * (depth - len(path)) + path for path in paths))

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Save it as a file that `from_csv` reads; a text file has semicolons and no header.

        It lists all values of a column, those of single people too: nobody else may read it.
        """
        file = named_path(path)
        if not format_of(file).text or format_of(file).open is None:
            columns = ["value", *(f"level {n}" for n in range(1, self.levels + 1))]
            parts = [list(column) for column in zip(*self.rows, strict=True)]
            return write_rows(pa.table(dict(zip(columns, parts, strict=True))), file, mode=0o600)
        if any(";" in part or '"' in part or "\n" in part for row in self.rows for part in row):
            raise DataError("A label with a semicolon, a quote or a line break cannot be saved. "
                            "Rename it.")
        if len({row[0].strip() for row in self.rows}) < len(self.rows):
            raise DataError("Values that differ only by blanks at their ends cannot be saved: the "
                            "file is read without such blanks. Write these values alike in the "
                            "table.")
        text = "".join(";".join(row) + "\n" for row in self.rows)
        write_file(file, compressed(file, text.encode()), mode=0o600)

    def summary(self, most: int = 8) -> str:
        """Return every level with some of its labels, to be looked at before it is used."""
        lines = []
        for level in range(self.levels + 1):
            labels = list(dict.fromkeys(row[level] for row in self.rows))
            more = f", ... ({len(labels)} in all)" if len(labels) > most else ""
            lines.append(f"level {level}: {', '.join(labels[:most])}{more}")
        return "\n".join(lines)

    @property
    def levels(self) -> int:
        """Return how many levels stand above the values."""
        return len(self.rows[0]) - 1

    @cached_property
    def ordered(self) -> tuple[tuple[str, ...], ...]:
        """Return the rows so that what shares a label stands together, on every level."""
        return tuple(sorted(self.rows, key=lambda row: row[::-1]))

    @cached_property
    def place(self) -> dict[str, int]:
        """Return the place of every value in that order."""
        return {row[0]: at for at, row in enumerate(self.ordered)}

    @cached_property
    def ancestors(self) -> Ints:
        """Return (levels + 1, values): the number of each value's label on each level."""
        out = np.zeros((self.levels + 1, len(self.rows)), np.int64)
        for level in range(self.levels + 1):
            labels = [row[level:] for row in self.ordered]
            new = [at > 0 and labels[at] != labels[at - 1] for at in range(len(labels))]
            out[level] = np.cumsum(new)
        return out

    def places(self, name: str, values: Iterable[Any]) -> Ints:
        """Return the place of each value; one that is not in the hierarchy is refused.

        A value stands on its own line, or on that of the same text without blanks at its ends.
        """
        places = [self.place.get(str(value), self.place.get(str(value).strip(), -1))
                  for value in values]
        if -1 in places:
            unseen = str(list(values)[places.index(-1)])
            raise UnseenValueError(f"Value '{unseen}' of '{name}' is not in its hierarchy. Add a "
                                   "line for it.")
        return np.array(places, np.int64)

    def label(self, at: int, level: int) -> str:
        """Return the label of the value at a place on a level; level 0 is the value."""
        return self.ordered[at][level]

    def leaves(self, level: int) -> dict[str, list[str]]:
        """Return for every label of a level the values below it."""
        out: dict[str, list[str]] = {}
        for row in self.ordered:
            out.setdefault(row[level], []).append(row[0])
        return out


def _known(file: Path, rows: Any) -> list[tuple[Any, ...]]:
    """Return the rows of a table, none of which may miss a label."""
    if any(column.null_count for column in rows.columns):
        raise DataError(f"Every row of the hierarchy '{file.name}' must have all labels. Some are "
                        "missing. Fill them in.")
    return list(zip(*(column.to_pylist() for column in rows.columns), strict=True))


def _labelled(lines: Iterable[Sequence[str]]) -> Iterator[Sequence[str]]:
    """Pass lines on, none of which may lack a label; the value of no text may be called so."""
    for number, row in enumerate(lines, 1):
        if row and row[0].strip() and not all(part.strip() for part in row):
            raise DataError(f"Line {number} of the hierarchy lacks a label. Fill it in.")
        yield row


def _paths(tree: Any, above: tuple[str, ...]) -> Iterable[tuple[str, ...]]:
    if isinstance(tree, Mapping):
        for label, below in tree.items():
            yield from _paths(below, (*above, str(label)))
    else:
        yield from ((*above, str(leaf)) for leaf in tree)


def _refuse_twice(values: Sequence[str]) -> None:
    if len(set(values)) < len(values):
        twice = next(value for at, value in enumerate(values) if value in values[:at])
        raise DataError(f"Value '{twice}' is on two lines of the hierarchy. Keep one of them.")


def _refuse_two_parents(rows: Sequence[Sequence[str]], level: int) -> None:
    above: dict[str, str] = {}
    for row in rows:
        if above.setdefault(row[level], row[level + 1]) != row[level + 1]:
            raise DataError(
                f"Label '{row[level]}' of level {level} belongs to two labels of the next level, "
                f"'{above[row[level]]}' and '{row[level + 1]}'. It must belong to one.")
