"""People who stand in a release as they are: a few of them are averaged away by every other share.

A synthetic table may hold some records of the original word by word. Of the people attacked they
are few, but whoever is among them is named. So records that only one person of the original has
are looked for in the release, over all columns that were released as they are, and over all of
these but one: a single changed value hides nobody. How many fresh people of the population would
meet them by chance, the original tells: as many as it has pairs of equal records (Good 1953: a new
record is one of those seen once with chance 2 pairs / rows).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Ints
from unspoken.audit.people.comparable import Labels, Numbers, People
from unspoken.audit.people.read_columns import AS_IS, Reading
from unspoken.disclosure.people_risk import SINGLED, Risk

EVERYBODY = "(people)"
ADVERSARY = "exact copies"
LEAST_COLUMNS = 2
FEWEST = 5
CLEARLY = 4.0
Marks = npt.NDArray[np.uint64]
"""A number for every record, the same for equal ones."""


def exact_copies(reading: Reading) -> list[Risk]:
    """Return the risk of those who stand in a release as in the original, if clearly some do.

    Hits are those beyond chance, of all who were met.
    """
    names = [n for n in reading.names if _as_it_is(reading, n)]
    if len(names) < LEAST_COLUMNS:
        return []
    groups = [reading.original, reading.release,
              *([] if reading.control is None else [reading.control])]
    ends = np.cumsum([group.rows for group in groups])[:-1]
    found = [risk for columns, marks in _records(groups, names)
             if (risk := _copied(columns, *np.split(marks, ends))) is not None]
    return [max(found, key=lambda one: one.hits)] if found else []


def _copied(columns: int, here: Marks, there: Marks, *outside: Marks) -> Risk | None:
    copies = _met(here, there)
    chance = _by_chance(here, there.size)
    if copies <= max(FEWEST, chance + CLEARLY * math.sqrt(chance)):
        return None
    control = (_met(outside[0], there), outside[0].size) if outside else (None, 0)
    return Risk(SINGLED, EVERYBODY, ADVERSARY, f"{columns} columns", copies - round(chance),
                copies, chance / copies, *control)


def _as_it_is(reading: Reading, name: str) -> bool:
    here, there = reading.original.columns[name], reading.release.columns[name]
    same = isinstance(here, Numbers) and isinstance(there, Numbers) and there.plain
    labels = isinstance(there, Labels) and reading.scales[name].agree is None
    return reading.how[name].startswith(AS_IS) and (same or labels)


def _records(groups: Sequence[People], names: Sequence[str]) -> Iterator[tuple[int, Marks]]:
    """Yield the marks of all records, by all columns and by all but one, and how many those are.

    Every value has a random number, and a record the sum of them: two of them are equal by chance
    once in 2^64.
    """
    rng = np.random.default_rng(0)
    parts = [_marks(groups, name, rng) for name in names]
    total: Marks = np.asarray(np.sum(parts, axis=0, dtype=np.uint64))
    yield len(names), total
    for part in parts if len(names) > LEAST_COLUMNS else ():
        yield len(names) - 1, np.asarray(total - part)


def _marks(groups: Sequence[People], name: str, rng: np.random.Generator) -> Marks:
    columns = [group.columns[name] for group in groups]
    values = np.concatenate([c.codes.astype(np.float64) if isinstance(c, Labels)
                             else np.nan_to_num(c.middle, nan=np.inf) for c in columns])
    codes: Ints = np.unique(values, return_inverse=True)[1].ravel()
    return rng.integers(0, 2**64, int(codes.max(initial=0)) + 1, np.uint64)[codes]


def _met(group: Marks, release: Marks) -> int:
    """Return how many have a record of their own alone that is in the release."""
    records, counts = np.unique(group, return_counts=True)
    return int(np.isin(records[counts == 1], release).sum())


def _by_chance(original: Marks, released: int) -> float:
    """Return how many as many fresh people would meet, on the high side."""
    pairs = int((np.unique(original, return_counts=True)[1] == 2).sum())
    return released * 2 * (pairs + 1.5 * math.sqrt(pairs) + 1) / original.size
