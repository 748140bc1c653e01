"""People known again under other names of columns and in other units: digests of about where.

Two kinds. "unnamed": the values as they are, under no name, so that a renamed column is the same.
"ranks": of numbers only about where they stand among the others, in few bins counted from the
middle outwards, which is the same in any unit, rounded, rising or falling (age, year of birth);
texts as they are. A row more or less moves few people into another bin (locality-sensitive digests,
Indyk and Motwani 1998): most stay the same, and a share that stays is enough. Bins are taken in
several widths, and of each only digests that single out nearly everybody, as those of others of
the same population would meet else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.numerics.random import derive
from unspoken.release.original_records import ColumnDigest, Words, mixed
from unspoken.release.people_sketch import SINGLED, cell_digests, overlap, packed
from unspoken.table.arrow_arrays import is_number, to_numbers
from unspoken.table.table import Table

UNNAMED = "unnamed"
BINS = (8, 16, 32, 64, 128)
"""Bins from the middle to either end."""
RANK = "ranks"
RANKS = tuple(f"{RANK}{bins}" for bins in BINS)
MOVED = 2.0
"""People for each one who stays in all bins: the others moved when rows were left out."""
CHANCE = 0.15
"""Share of others of the same population who may meet in all bins: about one in ten by `CLEARLY`.
"""
KEPT = 256
"""Digests that are kept of each set of columns."""
CLEARLY = 0.9
"""Share of people whom a set of columns must single out where only bins are compared."""
MOST_COLUMNS = 16
FEW = 12
"""Values up to which a column of numbers has no bins, but counts its values."""
WINDOW = 6
"""Columns that have a digest together in tables of more than that."""


def rank_sketch(table: Table, secret: bytes) -> dict[str, list[Any]]:
    """Return the digests of the people of a table, as `people_sketch.overlap` compares them."""
    out: dict[str, list[Any]] = {}
    for label, words in _digests(table, derive(secret, "people")):
        values, counts = np.unique(words, return_counts=True)
        alone = values[counts == 1]
        least = SINGLED if label.startswith(UNNAMED) else CLEARLY
        if alone.size >= max(least * table.rows, 1):
            out[label] = [int(alone.size), packed(alone[:KEPT])]
    return out


def people_overlap(one: Mapping[str, Any], other: Mapping[str, Any]) -> float:
    """Return the share of the smaller group that both have, by digests of all kinds."""
    binned = overlap(*(_only(each, True) for each in (one, other)))
    return max(overlap(*(_only(each, False) for each in (one, other))),
               min(max(MOVED * (binned - CHANCE), 0.0), 1.0))


def _only(people: Mapping[str, Any], binned: bool) -> dict[str, Any]:
    return {label: part for label, part in people.items() if label.startswith(RANK) == binned}


def _digests(table: Table, secret: bytes) -> Iterator[tuple[str, Words]]:
    """Yield (label, digest of every record)."""
    identifiers = table.schema.with_role("identifier")
    names = [c.name for c in table.schema.columns
             if c.kind != "basket" and c.name not in identifiers]
    columns = {name: table.arrow([name])[name] for name in names}
    numbers = {name for name, column in columns.items() if is_number(column.type)}
    texts = {name: cell_digests(column, derive(secret, UNNAMED))
             for name, column in columns.items()}
    yield from _sets(UNNAMED, texts, numbers, table.rows)
    for kind, bins in zip(RANKS, BINS, strict=True):
        words = {name: _binned(columns[name], bins, derive(secret, kind)) if name in numbers
                 else texts[name] for name in names}
        yield from _sets(kind, words, numbers, table.rows)


def _sets(kind: str, columns: Mapping[str, Words], numbers: set[str],
          rows: int) -> Iterator[tuple[str, Words]]:
    """Yield the sums of all columns, of all but one, of the numbers, and of some side by side."""
    whole = sum(columns.values(), np.zeros(rows, np.uint64))
    yield f"{kind} all", mixed(whole)
    if 2 < len(columns) <= MOST_COLUMNS:
        for place, one in enumerate(columns.values()):
            yield f"{kind} less {place}", mixed(whole - one)
    parts = [list(columns)[at:at + WINDOW] for at in range(0, len(columns), WINDOW)][:MOST_COLUMNS]
    for place, names in enumerate([[n for n in columns if n in numbers], *parts]):
        if 1 < len(names) < len(columns):
            part = sum((columns[name] for name in names), np.zeros(rows, np.uint64))
            yield f"{kind} part {place}", mixed(part)


def _binned(column: Any, bins: int, secret: bytes) -> Words:
    """Return digests of about how far from the middle numbers stand; missing ones of their own."""
    import pyarrow as pa

    values = np.asarray(to_numbers(column), np.float64)
    held = np.unique(values[~np.isnan(values)])
    away = _counted(values, held) if held.size <= FEW else np.floor(
        bins * np.minimum(np.abs(2 * _ranks(values) - 1), 1 - 1e-9))
    return ColumnDigest(secret)(pa.array(np.where(np.isnan(values), np.nan, away),
                                         from_pandas=True))


def _counted(values: Floats, held: Floats) -> Floats:
    """Return the place of each value among the few there are, from the nearer end."""
    place = np.searchsorted(held, values)
    return np.minimum(place, held.size - 1 - place).astype(np.float64)


def _ranks(values: Floats) -> Floats:
    """Return the share of the others below each number, equal ones by half."""
    ordered = np.sort(values[~np.isnan(values)])
    ends = [np.searchsorted(ordered, values, side=side) for side in ("left", "right")]
    return np.asarray((ends[0] + ends[1]) / (2 * max(ordered.size, 1)))
