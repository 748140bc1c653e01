"""Inferring from one to three columns: what the rest of a record says may be made up.

In a table that is true in a few columns only, whoever compares all of them, or the six that tell
most, finds nobody: the invented ones drown the true ones. This adversary knows some of the people
and sees by which columns they are found; it then looks for the others by these alone. The columns
are chosen on every second person and tried on the rest, and only where they serve beyond chance,
as hundreds of choices are made.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations

import numpy as np

from unspoken.arrays import Bools, Ints
from unspoken.audit.people.comparable import People, Values
from unspoken.audit.people.facts import Attacked, right, telling
from unspoken.audit.people.nearest import blocks
from unspoken.disclosure.people_risk import INFERRED, Risk

ADVERSARY = "few columns"
MOST, SERVING = 6, 3
"""Columns that are combined, and how many of them are those that served best alone."""
PASSES = 120
"""What the combinations cost, in comparisons of one column."""
CLEARLY = 4.5
"""Standard errors beyond control, or beyond a guess, from which on columns serve."""

Columns = tuple[str, ...]
Group = tuple[People, Ints]


def few_columns(attacked: Attacked, guesses: Mapping[str, Values],
                blind: Mapping[str, float]) -> Iterator[Risk]:
    """Yield the risk of every secret that few columns tell."""
    names = attacked.reading.names
    if len(names) < 2:
        return
    drawn = {key: (group, attacked.drawn(group, len(names) + PASSES, f"few {key}"))
             for key, group in attacked.groups.items()}
    tried = _Tried(attacked, guesses, blind, drawn)
    found = tried.by([(name,) for name in names])
    found |= tried.by(_combined(_serving(tried, found), telling(attacked.reading)))
    for name in attacked.secrets:
        risk = _risk(tried, found, name)
        if risk is not None:
            yield risk


Found = Mapping[Columns, Mapping[str, Ints]]
"""The released records that people of every group lead to, by columns."""


@dataclass(frozen=True)
class _Tried:
    """Whom the adversary looks for, what records say, and what is guessed without them."""

    attacked: Attacked
    guesses: Mapping[str, Values]
    blind: Mapping[str, float]
    drawn: Mapping[str, Group]

    def by(self, chosen: Sequence[Columns]) -> dict[Columns, dict[str, Ints]]:
        """Return the nearest record by some columns; any one of those that are equally near."""
        release = self.attacked.reading.release
        order = self.attacked.rng("few columns").permutation(release.rows)
        shown = release.take(order)
        out: dict[Columns, dict[str, Ints]] = {columns: {} for columns in chosen}
        for key, group in self.drawn.items():
            parts = [self._nearest(group[0], block, shown, chosen)
                     for block in blocks(group[1], release.rows)]
            for columns, place in zip(chosen, np.concatenate(parts, axis=1), strict=True):
                out[columns][key] = order[place]
        return out

    def _nearest(self, group: People, rows: Ints, shown: People,
                 chosen: Sequence[Columns]) -> Ints:
        """Return (choices, people): the place of the nearest of the shown records."""
        scales = self.attacked.reading.scales
        near = {name: scales[name].apart(group.columns[name], rows, shown.columns[name])
                for name in dict.fromkeys(name for columns in chosen for name in columns)}
        return np.array([reduce(np.add, [near[name] for name in columns]).argmin(axis=1)
                         for columns in chosen], np.int64)

    def hits(self, name: str, records: Mapping[str, Ints], part: slice) -> dict[str, Bools]:
        """Return who of one half is guessed rightly."""
        scale = self.attacked.reading.scales[name]
        return {key: right(self.guesses[name].take(records[key][part]),
                           group.columns[name].take(rows[part]),
                           self.attacked.radius * scale.width)
                for key, (group, rows) in self.drawn.items()}

    def beyond(self, name: str, records: Mapping[str, Ints]) -> float:
        """Return by how many standard errors those who are known are guessed beyond chance."""
        hits = self.hits(name, records, slice(None, None, 2))
        people, control = hits["people"], hits.get("control")
        if control is None:
            least = max(self.blind[name], 1 / (people.size + 1))
            return float(people.mean() - least) / math.sqrt(
                least * max(1 - least, 1e-9) / people.size)
        both = (people.sum() + control.sum() + 1) / (people.size + control.size + 2)
        return float(people.mean() - control.mean()) / math.sqrt(
            both * (1 - both) * (1 / people.size + 1 / max(control.size, 1)))


def _serving(tried: _Tried, found: Found) -> list[str]:
    """Return the columns, those first that tell most of another one."""
    most = {columns[0]: max((tried.beyond(name, records) for name in tried.guesses
                             if name not in columns), default=-math.inf)
            for columns, records in found.items()}
    return sorted(most, key=lambda name: -most[name])


def _combined(serving: Sequence[str], telling_most: Sequence[str]) -> list[Columns]:
    best = tuple(dict.fromkeys((*serving[:SERVING], *telling_most)))[:MOST]
    return [columns for size in (2, 3) for columns in combinations(best, size)]


def _risk(tried: _Tried, found: Found, name: str) -> Risk | None:
    """Return the risk by the columns that served best on one half, on the other half."""
    apart = {columns: tried.beyond(name, records) for columns, records in found.items()
             if name not in columns}
    best = max(apart, key=lambda columns: apart[columns])
    if apart[best] < CLEARLY:
        return None
    hits = tried.hits(name, found[best], slice(1, None, 2))
    people, control = hits["people"], hits.get("control")
    return Risk(INFERRED, name, ADVERSARY, ", ".join(best), int(people.sum()), people.size,
                tried.blind[name], *((None, 0) if control is None else
                                     (int(control.sum()), control.size)))
