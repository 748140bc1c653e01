"""The released records nearest to what is known of people, block by block; ties stay ties."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.audit.people.comparable import Near, People
from unspoken.audit.people.read_columns import Reading

CELLS = 400_000
"""Distances that are held at once, about as many as a cache holds."""
SAME = 1e-5
MOST_TIES = 50


@dataclass(frozen=True)
class Nearest:
    """For every person the records at the least distance, that distance, and how many there are."""

    records: tuple[Ints, ...]
    distance: Floats
    ties: Ints

    def one(self, rng: np.random.Generator) -> Ints:
        """Return one of the nearest records of every person at random."""
        return np.array([found[rng.integers(found.size)] for found in self.records], np.int64)


def blocks(rows: Ints, others: int) -> Iterator[Ints]:
    """Yield the people in blocks whose distances fit into memory."""
    size = max(1, CELLS // max(others, 1))
    yield from (rows[at:at + size] for at in range(0, rows.size, size))


def distances(reading: Reading, people: People, rows: Ints, columns: Sequence[str],
              others: People | None = None) -> Near:
    """Return (people, released records): the sum over columns of how far apart they are."""
    there = reading.release if others is None else others
    total = np.zeros((rows.size, there.rows), np.float32)
    for name in columns:
        total += reading.scales[name].apart(people.columns[name], rows, there.columns[name])
    return total


def nearest_of(near: Near, rng: np.random.Generator) -> tuple[list[Ints], Floats, Ints]:
    """Return the nearest records, at most fifty of those that are equally near."""
    least = near.min(axis=1)
    records, ties = [], []
    for row, low in zip(near, least, strict=True):
        found = np.flatnonzero(row <= low + SAME)
        ties.append(found.size)
        records.append(found if found.size <= MOST_TIES else rng.choice(found, MOST_TIES, False))
    return records, least.astype(np.float64), np.array(ties, np.int64)


def find_nearest(reading: Reading, people: People, rows: Ints, columns: Sequence[str],
                 rng: np.random.Generator) -> Nearest:
    """Return the released records nearest to people by some columns."""
    records: list[Ints] = []
    least, ties = [np.empty(0)], [np.empty(0, np.int64)]
    for block in blocks(rows, reading.release.rows):
        found, low, count = nearest_of(distances(reading, people, block, columns), rng)
        records += found
        least.append(low)
        ties.append(count)
    return Nearest(tuple(records), np.concatenate(least), np.concatenate(ties))
