"""Linking: two sets of facts about a person that lead to the same released record belong together.

One half is what is known of people, the other everything else. And how likely each person is
found by the known half: among the records that fit as well (prosecutor), among everybody of the
population who fits as well (journalist).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.audit.people.comparable import Near, People
from unspoken.audit.people.facts import Attacked, telling
from unspoken.audit.people.nearest import SAME, Nearest, blocks, find_nearest
from unspoken.disclosure.people_risk import LINKED, PersonRisks, Risk

EVERYBODY = "(people)"
CLEARLY = 1.95
"""How far two distribution functions must be apart: by chance they are so once in a thousand."""
GROUPED = 0.95
"""Share of people who agree exactly with a record from which on a table was grouped."""


def halves(attacked: Attacked) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return two ways to split the columns: known and the rest, and every second of them."""
    order = telling(attacked.reading)
    rest = tuple(n for n in attacked.reading.names if n not in attacked.known)
    ways = {"known columns and the rest": (attacked.known, rest),
            "every second column": (order[::2], order[1::2])}
    return {name: way for name, way in ways.items() if all(way)}


def linking(attacked: Attacked, persons: PersonRisks) -> list[Risk]:
    """Return the risk of being linked by two halves, and of being found by what is known."""
    reading = attacked.reading
    chance, rows = 1.0 / reading.release.rows, len(persons.prosecutor)
    # A person who is found with some chance counts: a risk is never rounded down.
    found = math.ceil(float(np.sum(persons.prosecutor)) - 1e-6)
    control = (None, 0) if reading.control is None else (0, rows)
    risks = [Risk(LINKED, EVERYBODY, "nearest record", f"{len(persons.known)} facts", found, rows,
                  chance, *control)]
    for name, way in halves(attacked).items():
        counts = {key: _links(attacked, group, key, *way)
                  for key, group in attacked.groups.items()}
        risks.append(Risk(LINKED, EVERYBODY, "two halves of a record", name, *counts["people"],
                          chance, *counts.get("control", (None, 0))))
    return risks


def _links(attacked: Attacked, group: People, name: str, one: Sequence[str],
           other: Sequence[str]) -> tuple[int, int]:
    rows = attacked.drawn(group, len(one) + len(other), f"linking {name}")
    rng = attacked.rng("ties", name)
    first = find_nearest(attacked.reading, group, rows, one, rng).one(rng)
    second = find_nearest(attacked.reading, group, rows, other, rng).one(rng)
    return int((first == second).sum()), rows.size


def person_risks(attacked: Attacked, truth: Ints | None = None) -> PersonRisks:
    """Return how likely each person is found by what is known of people.

    Numbers that were released as they are may be compared by nearness, which noise and rounding
    need, or taken at their word; codes may be lined up with half of the control group or with all
    of it. The adversary who finds more people counts.
    """
    known = attacked.known or telling(attacked.reading)[:1]
    readings = (attacked.reading, *attacked.reading.wider)
    exactly = [one for reading in readings
               if any((one := reading.exactly()).scales[n].exact for n in known)]
    ways = [replace(attacked, reading=reading) for reading in (*readings, *exactly)]
    return max((_person_risks(way, known, truth) for way in ways),
               key=lambda one: float(np.sum(one.prosecutor)))


def _person_risks(attacked: Attacked, known: Sequence[str], truth: Ints | None) -> PersonRisks:
    reading, rng = attacked.reading, attacked.rng("persons")
    rows = attacked.drawn(reading.original, 2 * len(reading.names), "persons")
    found = find_nearest(reading, reading.original, rows, known, rng)
    own, weight = _own(attacked, rows, truth)
    there = np.array([np.isin(mine, near).any() for mine, near in
                      zip(own, found.records, strict=True)])
    chance = np.where(there, weight, 0.0)
    if truth is None and reading.control is not None:
        # A column that was read wrongly leads all of them together astray, and not these alone.
        chance = np.maximum(chance, _mutual(attacked, known, found))
    alike = {name: _alike(attacked, known, found, group)
             for name, group in attacked.groups.items()}
    # Nobody hides behind records that are nobody's: repeated records and decoys are no crowd.
    hidden = np.maximum(np.minimum(found.ties, alike["people"]), 1)
    return PersonRisks(tuple(known), rows, chance / hidden,
                       chance / np.maximum(sum(alike.values()), hidden))


def _own(attacked: Attacked, rows: Ints, truth: Ints | None) -> tuple[list[Ints], Floats]:
    """Return the records that are a person's own, and how likely they are.

    Without a record map it is the nearest by all columns, as likely as outsiders are not found
    that near: in a synthetic table everybody is near to some record that is nobody's. Where nearly
    everybody agrees with a record exactly, people were grouped, and their own is among these; codes
    are laid beside the original's own ranks for that.
    """
    if truth is not None:
        return [np.array([row]) for row in truth[rows]], np.ones(rows.size)
    reading, rng = attacked.reading, attacked.rng("own")
    if reading.by_owners is not None and reading.by_owners.scales:
        exact = find_nearest(reading.by_owners, reading.original, rows, reading.by_owners.names,
                             rng)
        if (exact.distance <= SAME).mean() >= GROUPED:
            return list(exact.records), np.ones(rows.size)
    mine = find_nearest(reading, reading.original, rows, reading.names, rng)
    if reading.control is None or (mine.distance <= SAME).mean() >= GROUPED:
        return list(mine.records), np.ones(rows.size)
    return list(mine.records), _convinced(mine.distance,
                                          _strangers(attacked, reading.names).distance)


def _strangers(attacked: Attacked, columns: Sequence[str]) -> Nearest:
    """Return the records that outsiders come nearest to by some columns."""
    reading = attacked.reading
    assert reading.control is not None
    outside = attacked.drawn(reading.control, 2 * len(reading.names), "strangers")
    return find_nearest(reading, reading.control, outside, columns, attacked.rng("strangers"))


def _mutual(attacked: Attacked, known: Sequence[str], found: Nearest) -> Floats:
    """Return how likely people are at their own record, the more if nobody is nearer to it.

    An outsider comes near to somebody's record as well, but then its owner is nearer.
    """
    people, strangers = attacked.reading.original, _strangers(attacked, known)
    near, away = (np.where(_alike(attacked, known, one, people, -SAME) > 0, np.inf, one.distance)
                  for one in (found, strangers))
    return np.maximum(_convinced(found.distance, strangers.distance, clearly=True),
                      _convinced(near, away, clearly=True))


def _convinced(near: Floats, away: Floats, clearly: bool = False) -> Floats:
    """Return how likely people at some distance are at their own record, given outsiders' ones.

    Where people are clearly nearer than outsiders, whoever is nearer is at least as likely. Else
    one outsider more is counted than were seen, as a few near people prove nothing; or, with
    `clearly`, nobody counts.
    """
    order, away = np.sort(near), np.sort(away)
    inside = np.searchsorted(order, order + SAME, side="right") / order.size
    nearer = np.searchsorted(away, order + SAME, side="right")
    wrong = (nearer + 1) / (away.size + 1) / inside
    held = np.isfinite(order)
    if np.max((inside - nearer / away.size)[held], initial=0.0) > CLEARLY * math.sqrt(
            1 / order.size + 1 / away.size):
        wrong = np.minimum.accumulate((nearer / away.size / inside)[::-1])[::-1]
    elif clearly:
        return np.zeros(near.size)
    likely = np.clip(1.0 - wrong, 0.0, 1.0)[np.searchsorted(order, near)]
    return np.asarray(np.where(np.isfinite(near), likely, 0.0))


def _alike(attacked: Attacked, known: Sequence[str], found: Nearest, group: People,
           margin: float = SAME) -> Ints:
    """Return how many of a group fit the found record as well as the person does.

    With a margin below zero only those count who fit better.
    """
    records = np.array([near[0] for near in found.records], np.int64)
    total = np.zeros(records.size, np.int64)
    at = 0
    for block in blocks(records, group.rows):
        near = _from_release(attacked, block, known, group)
        least = found.distance[at:at + block.size, None]
        total[at:at + block.size] = (near <= least + margin).sum(axis=1)
        at += block.size
    return total


def _from_release(attacked: Attacked, records: Ints, known: Sequence[str],
                  group: People) -> Near:
    """Return (released records, people): distances, seen from the records."""
    reading = attacked.reading
    some = reading.release.take(records)
    out = np.zeros((records.size, group.rows), np.float32)
    for name in known:
        column, scale = group.columns[name], reading.scales[name]
        out += scale.apart(column, slice(None), some.columns[name]).T
    return out


__all__ = ["halves", "linking", "person_risks"]
