"""Answers and joint results beside a released table: sums over people whom the table shows too.

Whoever holds both looks a person up in the table, does the same with everybody else in the sets
that were asked about, and lays the disclosed sums on top. Both are scored alone and together, as
two releases are (`linked_releases`): the adversary learns on one half of the people what released
values stand for, and which way of putting together serves best.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from unspoken.arrays import Bools, Floats, Ints
from unspoken.audit.linked_releases import OTHERS, Joined, put_together
from unspoken.audit.people.comparable import Values, people_of
from unspoken.audit.people.facts import LEAST, WORK, Attacked, known_columns
from unspoken.audit.people.nearest import SAME, Nearest, find_nearest
from unspoken.audit.people.read_columns import read_tables
from unspoken.audit.people.value_beliefs import Domain, Records, beliefs, domain_of
from unspoken.audit.small_sums import tried_out
from unspoken.audit.sums_about_people import (
    Equations,
    equations,
    likelihoods,
    told_most,
    usable,
)
from unspoken.errors import UnspokenError
from unspoken.methods.queries.disclosed_sums import DisclosedSum
from unspoken.methods.queries.guarded_records import Rows
from unspoken.methods.queries.service.logged_answers import logged_sums
from unspoken.release.register import Entry
from unspoken.table.table import Table

PEOPLE = 1000
CERTAIN, DOUBTFUL = 0.99, 0.9
TAUGHT = 6
"""Known people from whom the worth of a kind of record is learned."""


def entered_sums(entry: Entry, table: Table) -> list[DisclosedSum] | None:
    """Return what an entered query log disclosed; None if the log is not at its place."""
    _, slash, place = entry.what.partition(" /")
    if entry.kind != "query" or not slash:
        return None
    try:
        return logged_sums(Path(f"/{place}"), table)
    except (UnspokenError, OSError, ValueError, KeyError, TypeError):
        return None


@dataclass(frozen=True)
class Laid:
    """What was measured column by column, and of which columns sums could not be laid on."""

    joined: tuple[Joined, ...]
    left_out: Mapping[str, int]


def lay_sums(sums: Sequence[DisclosedSum], table: Table, released: Table, radius: float,
             seed: bytes) -> Laid:
    """Return for every column that sums are about what they and a table tell together."""
    rows = Rows(table)
    kept = usable(rows, sums)
    left_out = {n: sum(n in one.touches for one in sums) - sum(n in one.touches for one in kept)
                for n in sorted({n for one in sums for n in one.touches})}
    side = _side(table, released, radius, seed)
    joined = []
    for name in sorted({n for one in kept for n in one.touches if n in table.schema.names}):
        domain = domain_of(_truth(table, name), radius)
        system = equations(rows, kept, name, domain)
        if system is None or system.functions.std() == 0:
            left_out[name] += sum(name in one.touches for one in kept) if system is None else 0
            continue
        left_out[name] += system.left_out
        joined.append(_Column(name, side, domain, system, _drawn(side, system, domain)).best())
    return Laid(tuple(joined), {n: count for n, count in left_out.items() if count})


def _truth(table: Table, name: str) -> Values:
    return people_of(table, [name]).columns[name]


def _side(table: Table, released: Table, radius: float, seed: bytes) -> Attacked:
    reading = read_tables(table, released, None)
    return Attacked(reading, known_columns(reading, table.schema, None), reading.names, radius,
                    seed, PEOPLE)


def _drawn(side: Attacked, system: Equations, domain: Domain) -> Ints:
    """Return whom the sums tell most about, in any order, fewer where each costs more."""
    cost = max(side.reading.release.rows * 3 * len(side.reading.names), 1)
    most = min(side.most, max(LEAST, WORK // cost))
    rng = side.rng("answers")
    return rng.permutation(told_most(system, domain, most, rng))


@dataclass(frozen=True)
class _Column:
    """One column, the table, the sums, and the people who are attacked."""

    name: str
    side: Attacked
    domain: Domain
    system: Equations
    people: Ints

    @property
    def scored(self) -> Bools:
        return np.arange(self.people.size) >= self.people.size // 2

    def best(self) -> Joined:
        """Return what both tell, at the level of knowledge that gains most."""
        usual = np.broadcast_to(self.domain.prior, (self.people.size, self.domain.prior.size))
        alone = self._better(self._summed(usual))
        levels = {OTHERS: self._found(self.side.reading.names),
                  "facts": self._found(self.side.known)}
        joined = [self._joined(level, alone, found) for level, found in levels.items()]
        return max(joined, key=lambda one: one.gain)

    def _joined(self, level: str, alone: Floats, near: Nearest | None) -> Joined:
        arms = {"first": alone}
        if near is not None:
            table = self._shown(near)
            helped = self._summed(table)
            arms |= {"second": table, **{f"both, {way}": one for way, one in helped.items()}}
        joined = put_together(self.name, level, self.domain, arms, self.people, self.scored)
        better = max(joined.first, joined.second)
        certain = min(1.0, better + self._pinned(arms))
        return replace(joined, together=max(joined.together, certain))

    def _pinned(self, arms: Mapping[str, Floats]) -> float:
        """Return the share of people whose value is certain from both, and from neither alone.

        One person is disclosed even where no share of guesses moves. Who is certain must be right.
        """
        sure = {way: self.domain.sureness(one) for way, one in arms.items()}
        alone = np.maximum.reduce([sure[way] for way in ("first", "second") if way in sure])
        shares = [0.0]
        for way in arms.keys() - {"first", "second"}:
            new = (sure[way] > CERTAIN) & (alone < DOUBTFUL)
            right = self.domain.hits(arms[way], self.people)[new]
            shares.append(float(new.mean()) if right.size and right.mean() >= DOUBTFUL else 0.0)
        return max(shares)

    def _summed(self, believed: Floats) -> dict[str, Floats]:
        """Return beliefs with the sums taken in: all of them at once, and the small ones exactly.
        """
        fits = likelihoods(self.system, self.domain, self.people, believed)
        whole = {"at once": _normal(believed * (fits + 1e-12))}
        small = tried_out(self.system, self.domain, self.people, believed)
        return whole if small is None else {**whole, "tried out": small}

    def _better(self, ways: Mapping[str, Floats]) -> Floats:
        """Return the way that serves best on people who are known."""
        known = ~self.scored
        return max(ways.values(),
                   key=lambda one: float(self.domain.hits(one, self.people)[known].mean()))

    def _shown(self, near: Nearest) -> Floats:
        """Return what the found records say, as records found of known people teach.

        Records that fit exactly are worth more than others: each kind is learned by itself, and one
        of which hardly anybody is known says nothing.
        """
        out = np.tile(self.domain.prior, (self.people.size, 1))
        exact, known = near.distance <= SAME, ~self.scored
        kinds = [kind for kind in (exact, ~exact) if (known & kind).sum() >= TAUGHT]
        for kind in kinds or [np.ones_like(known)]:
            taught = known & kind
            out[kind] = beliefs(self.side, self.name, self.domain, _some(near, kind),
                                (self.people[taught], _some(near, taught)))
        return out

    def _found(self, names: Sequence[str]) -> Nearest | None:
        """Return the records that some columns lead to; None where the table says nothing."""
        known = [n for n in names if n != self.name]
        if self.name not in self.side.reading.names or not known:
            return None
        return find_nearest(self.side.reading, self.side.reading.original, self.people, known,
                            self.side.rng(*known))


def _some(near: Nearest, people: Bools) -> Records:
    return [near.records[i] for i in np.flatnonzero(people)]


def _normal(weights: Floats) -> Floats:
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))
