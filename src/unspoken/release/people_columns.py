"""Whether two tables can be told apart: what columns hold, where no row singles anybody out.

A table of categories, a few columns of a table, or every row twice has no digests of people. Then
columns are compared, under whatever name and in whatever order: of each the keyed digests of its
values with how often each occurs (the k-th "F" has a digest of its own), the smallest of them. Two
samples of one population hold much the same, so that a likeness of columns proves nothing. It only
says that nothing tells these people from those, which is the careful side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unspoken.numerics.random import derive
from unspoken.release.original_records import ColumnDigest, Words, mixed
from unspoken.release.people_file import RECORDS, Everybody, shared_share
from unspoken.release.people_sketch import (
    SAME,
    cell_digests,
    comparable_share,
    packed,
    sketch,
    spelt,
)
from unspoken.table.table import Table

COLUMNS, NAMES, IDS = "columns", "names", "ids"
MOST_COLUMNS = 64
_SIZE = 128
_PARTS = 4
_ODD = np.uint64(0x9E3779B97F4A7C15)


def column_marks(table: Table, secret: bytes) -> dict[str, Any]:
    """Return digests of what the columns hold and of how they are called, as plain data."""
    marks = [mark for name in table.schema.names if (mark := _mark(table, name, secret))]
    kept = sorted(marks, key=lambda mark: int(mark[-1]))[:MOST_COLUMNS]
    identifiers = table.schema.with_role("identifier")
    names = names_in(table, secret)
    return {COLUMNS: [mark[:-1] for mark in kept],
            NAMES: sorted(word for word, name in names.items() if name not in identifiers),
            IDS: sorted(word for word, name in names.items() if name in identifiers)}


def not_told_apart(table: Table, secret: bytes, people: Mapping[str, Any],
                   known: Everybody) -> bool:
    """Return True if nothing says that a table is about others than a budget's people."""
    if COLUMNS not in people or _other_rows(table, secret, people, known):
        return COLUMNS not in people
    mine, theirs = column_marks(table, secret)[COLUMNS], people[COLUMNS]
    return max(_matching(mine, theirs), _matching(theirs, mine)) > 0.5


def _other_rows(table: Table, secret: bytes, people: Mapping[str, Any],
                known: Everybody) -> bool:
    """Return True if the budget's columns single its people out, and these are others."""
    names = names_in(table, secret)
    if not set(people[NAMES]) <= set(names):
        return False
    own = [names[word] for word in people[NAMES]]
    if RECORDS in known:
        return not shared_share(table, secret, {RECORDS: known[RECORDS]}, own)
    # A budget of an earlier version keeps 1,024 digests: what they cannot tell is not told.
    mine = sketch(table, secret, ("values",), own).get("values all")
    share = comparable_share(mine, people["values all"]) \
        if mine is not None and "values all" in people else None
    return share is not None and share < SAME


def _matching(some: Sequence[Any], others: Sequence[Any]) -> float:
    """Return the share of columns that hold what one of the others holds."""
    alike = [any(_alike(one, other) for other in others) for one in some]
    return sum(alike) / len(alike) if alike else 0.0


def _alike(one: Sequence[Any], other: Sequence[Any]) -> bool:
    """Return True if two columns hold the same values as often.

    Of a few rows beside many the kept digests do not say that: then the values themselves count.
    """
    share = comparable_share(one, other)
    if share is None and len(one) == len(other) == _PARTS:
        share = comparable_share(one[2:], other[2:])
    return share is not None and share >= SAME


def names_in(table: Table, secret: bytes) -> dict[str, str]:
    """Return the columns by a digest of their names."""
    return {derive(secret, "name", spelt(name))[:8].hex(): name for name in table.schema.names}


def _mark(table: Table, name: str, secret: bytes) -> list[Any] | None:
    """Return digests of a column's values with how often each occurs, and of the values alone."""
    column = table.arrow([name])[name]
    if table.schema[name].kind == "basket":
        words = ColumnDigest(derive(secret, "held"))(column.combine_chunks())
    else:
        words = cell_digests(column, derive(secret, "held"))
    if words.size < 1 or (words == words[0]).all():
        return None
    numbered, values = np.sort(_numbered(words)), np.unique(words)
    return [int(numbered.size), packed(numbered[:_SIZE]), int(values.size),
            packed(values[:_SIZE]), int(numbered[0])]


def _numbered(words: Words) -> Words:
    """Give the first, second, ... of equal digests one of its own."""
    order = np.argsort(words, kind="stable")
    ordered = words[order]
    nth = np.arange(words.size) - np.searchsorted(ordered, ordered, side="left")
    return mixed(ordered + (nth.astype(np.uint64) + np.uint64(1)) * _ODD)
