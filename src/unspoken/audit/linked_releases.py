"""Two releases of the same people, whatever made them: both are searched for the same person.

The adversary knows facts about people, and some records in full. It looks for a person in each
release; what the first shows of columns that it did not know it takes along into the second, and
the other way round (records are linked by what both releases show). What the found records of both
say about a column is put together (`value_beliefs`): two noises average, an interval cuts a noisy
value off, two groups are intersected. People are split: on one half the adversary learns what
released values stand for and which way of putting together serves best, on the other it is scored,
beside the same adversary with one release and a guess with none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from unspoken.arrays import Bools, Floats, Ints
from unspoken.audit.people.comparable import People, Values
from unspoken.audit.people.facts import Attacked, known_columns
from unspoken.audit.people.inferring import in_terms, said
from unspoken.audit.people.nearest import blocks, distances, find_nearest, nearest_of
from unspoken.audit.people.read_columns import read_tables
from unspoken.audit.people.value_beliefs import Domain, Records, beliefs, combined, domain_of
from unspoken.table.table import Table

PEOPLE = 2000
SIGMAS = 2.6
"""How many standard errors a gain must be worth before it counts as one."""
OTHERS = "all other columns"


@dataclass(frozen=True)
class Joined:
    """What two releases tell about one column: shares of people guessed correctly."""

    column: str
    knowledge: str
    first: float
    second: float
    together: float
    blind: float

    @property
    def gain(self) -> float:
        """Return what both together tell beyond the better of them."""
        return self.together - max(self.first, self.second)


@dataclass(frozen=True)
class Sides:
    """Both releases as they are read, the people who are attacked, and who of them is known."""

    sides: tuple[Attacked, Attacked]
    rows: Ints
    learned: tuple[tuple[Ints, Records], tuple[Ints, Records]]
    scored: Bools

    @property
    def names(self) -> tuple[str, ...]:
        """Return the columns that one of both has."""
        return tuple(dict.fromkeys(n for one in self.sides for n in one.reading.names))

    def truth(self, name: str) -> Values:
        """Return a column of the original."""
        return next(one.reading.original.columns[name] for one in self.sides
                    if name in one.reading.names)


def read_sides(table: Table, first: Table, second: Table, radius: float, seed: bytes) -> Sides:
    """Read two releases beside their original, and draw the people."""
    readings = [read_tables(table, one, None) for one in (first, second)]
    sides = [Attacked(one, (), one.names, radius, seed, PEOPLE) for one in readings]
    known = table.schema.with_role("quasi") or tuple(
        n for one in readings for n in known_columns(one, table.schema, None))
    one, two = (replace(side, known=tuple(n for n in known if n in side.reading.names))
                for side in sides)
    passes = 6 * max(len(side.reading.names) for side in sides)
    larger = max((one, two), key=lambda side: side.reading.release.rows)
    rows = larger.rng("both").permutation(larger.drawn(larger.reading.original, passes, "both"))
    half = rows[:rows.size // 2]
    return Sides((one, two), rows, (_own(one, half), _own(two, half)),
                 np.arange(rows.size) >= half.size)


def _own(side: Attacked, people: Ints) -> tuple[Ints, Records]:
    """Return the records of people that are known in full, found by everything."""
    reading = side.reading
    near = find_nearest(reading, reading.original, people, reading.names, side.rng("own"))
    return people, near.records


def join(sides: Sides) -> list[Joined]:
    """Return for every column what both releases tell, at the level that gains most."""
    best: dict[str, Joined] = {}
    for knowledge, ways in (("facts", _by_facts(sides)), (OTHERS, _by_others(sides))):
        for name, found in ways.items():
            one = _scored(sides, name, knowledge, found)
            if name not in best or one.gain > best[name].gain:
                best[name] = one
    return list(best.values())


Ways = Mapping[str, Records | None]
"""The records found in the first and second release, and those found with the other's help."""


def _by_facts(sides: Sides) -> dict[str, Ways]:
    """Return the records that the known columns lead to, in each release and from one to the other.
    """
    one, two = sides.sides
    alone = [found_by_facts(side, sides.rows, side.known) for side in sides.sides]
    helped = [_helped(two, one, sides.rows, alone[1]), _helped(one, two, sides.rows, alone[0])]
    ways = {"first": alone[0], "second": alone[1], "first helped": helped[0],
            "second helped": helped[1]}
    facts = {*one.known, *two.known}
    return {name: ways for name in sides.names if name not in facts}


def found_by_facts(side: Attacked, rows: Ints, known: Sequence[str]) -> Records | None:
    """Return the records that the known columns of people lead to; None if nothing is known."""
    if not known:
        return None
    return find_nearest(side.reading, side.reading.original, rows, known, side.rng("facts")).records


def _helped(source: Attacked, side: Attacked, rows: Ints,
            found: Records | None) -> Records | None:
    """Return the records of one release that fit the facts and what the other one shows."""
    shown = [n for n in side.reading.names
             if n in source.reading.names and n not in side.known]
    if found is None or not shown:
        return None
    original = side.reading.original
    columns = {n: original.columns[n].take(rows) for n in side.known}
    columns |= {n: said(in_terms(source, n), found) for n in shown}
    people = People(columns, rows.size)
    return find_nearest(side.reading, people, np.arange(rows.size), list(columns),
                        side.rng("helped")).records


def _by_others(sides: Sides) -> dict[str, Ways]:
    """Return for every column the records that all other columns lead to."""
    found = [less_one(side, sides.rows) for side in sides.sides]
    return {name: {"first": found[0].get(name), "second": found[1].get(name)}
            for name in sides.names}


def less_one(side: Attacked, rows: Ints) -> dict[str, Records]:
    """Return the nearest records without each column: all distances once, less its own."""
    reading, rng = side.reading, side.rng("less one")
    if len(reading.names) < 2:
        return {}
    out: dict[str, list[Ints]] = {name: [] for name in reading.names}
    for block in blocks(rows, reading.release.rows):
        total = distances(reading, reading.original, block, reading.names)
        for name in reading.names:
            own = reading.scales[name].apart(reading.original.columns[name], block,
                                             reading.release.columns[name])
            out[name] += nearest_of(total - own, rng)[0]
    return {name: tuple(records) for name, records in out.items()}


def _scored(sides: Sides, name: str, knowledge: str, ways: Ways) -> Joined:
    """Score every way on the half that is not known; choose among the joint ones on the other."""
    domain = domain_of(sides.truth(name), sides.sides[0].radius)
    told = {way: belief for way, found in ways.items()
            if (belief := _belief(sides, name, domain, way, found)) is not None}
    return put_together(name, knowledge, domain, told, sides.rows, sides.scored)


def put_together(name: str, knowledge: str, domain: Domain,
                 told: Mapping[str, Floats], rows: Ints, scored: Bools) -> Joined:
    """Return what beliefs of two releases, alone and together, are worth."""
    arms = {**told, **_pairs(told, domain)}
    hits = {way: domain.hits(belief, rows) for way, belief in arms.items()}
    without = np.broadcast_to(domain.prior, (rows.size, domain.prior.size))
    blind = float(domain.hits(without, rows)[scored].mean())
    first, second = (_share(hits.get(way), scored, blind) for way in ("first", "second"))
    # Who holds a release may still guess without it.
    first, second = max(first, blind), max(second, blind)
    return Joined(name, knowledge, first, second, _together(hits, scored, first, second), blind)


def _belief(sides: Sides, name: str, domain: Domain, way: str,
            found: Records | None) -> Floats | None:
    place = 0 if way.startswith("first") else 1
    side = sides.sides[place]
    if found is None or name not in side.reading.names:
        return None
    return beliefs(side, name, domain, found, sides.learned[place])


def _pairs(told: Mapping[str, Floats], domain: Domain) -> dict[str, Floats]:
    pairs = (("first", "second"), ("first helped", "second helped"), ("first", "second helped"),
             ("first helped", "second"))
    return {f"{a} and {b}": combined(told[a], told[b], domain)
            for a, b in pairs if a in told and b in told}


def _share(hits: Bools | None, scored: Bools, blind: float) -> float:
    return blind if hits is None else float(hits[scored].mean())


def _together(hits: Mapping[str, Bools], scored: Bools, first: float, second: float) -> float:
    """Return the share of the best joint way; what may be chance is no gain."""
    alone = max(first, second)
    joint = {way: some for way, some in hits.items() if way not in ("first", "second")}
    if not joint:
        return alone
    best = max(joint, key=lambda way: float(joint[way][~scored].mean()))
    better = hits.get("first" if first >= second else "second")
    mine = joint[best][scored]
    if better is None or better[scored].mean() < alone:
        error = np.sqrt(max(alone * (1 - alone), 1e-9) / max(mine.size, 1))
        gained = float(mine.mean()) - alone > SIGMAS * error
    else:
        fixed, broken = (mine & ~better[scored]).sum(), (~mine & better[scored]).sum()
        gained = bool(fixed - broken > SIGMAS * np.sqrt(max(fixed + broken, 1)))
    return float(mine.mean()) if gained else alone
