"""What is known of people, whom to look for, and what to infer: the setting of all attacks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unspoken.arrays import Bools, Ints
from unspoken.audit.people.comparable import Labels, Numbers, People, Values, scale_of
from unspoken.audit.people.read_columns import Reading
from unspoken.errors import SchemaError
from unspoken.numerics.random import replayed
from unspoken.table.schema import Schema
from unspoken.table.table import Table

PEOPLE = 500
FACTS = 6
WORK = 600_000_000
"""Comparisons of two values that one attack may cost; fewer people are drawn where it is more."""
LEAST = 60
PART = 0.9
"""Share of the original's rows below which a release is taken for one of a part of the people."""
BLOCK = 10_000
LEARNED = 10
"""Secrets that a learner is trained for."""


@dataclass(frozen=True)
class Attacked:
    """A release as it is read, what is known of people, what is inferred, and the seed."""

    reading: Reading
    known: tuple[str, ...]
    secrets: tuple[str, ...]
    radius: float
    seed: bytes
    most: int = PEOPLE
    learned: int = LEARNED
    inside: Ints | None = None
    """Who of the original is behind the release, where a record map tells."""

    def rng(self, *purpose: str) -> np.random.Generator:
        """Return the generator of one purpose."""
        return replayed(self.seed, "people", *purpose)

    def drawn(self, group: People, passes: int, purpose: str) -> Ints:
        """Draw people to attack, fewer where each costs more."""
        cost = max(self.reading.release.rows * passes, 1)
        pool = self.behind["control" if group is self.reading.control else "people"]
        size = min(self.most, pool.size, max(LEAST, WORK // cost))
        rng = self.rng("draw", purpose)
        return np.sort(rng.choice(pool, size, replace=False)).astype(np.int64)

    @cached_property
    def behind(self) -> dict[str, Ints]:
        """Return the people who may be behind the release, by group.

        A release of a part of the people says nothing about the others, who would make every risk
        look smaller: of a small one those are taken who are nearest to some of its records, and of
        a control group of the same size as well.
        """
        everybody = {name: np.arange(group.rows) for name, group in self.groups.items()}
        if self.inside is not None:
            return {**everybody, "people": self.inside}
        if self.reading.release.rows >= PART * self.reading.original.rows:
            return everybody
        size = min(group.rows for group in self.groups.values())
        return {name: self._nearest(group, size) for name, group in self.groups.items()}

    def _nearest(self, group: People, size: int) -> Ints:
        """Return those of some people who are nearest to records of the release."""
        reading, rng = self.reading, self.rng("behind")
        some = np.sort(rng.choice(group.rows, size, replace=False)).astype(np.int64)
        count = max(LEAST, WORK // (2 * size * len(reading.names)))
        records = rng.choice(reading.release.rows, min(self.most, count, reading.release.rows),
                             replace=False)
        shown, owners = reading.release.take(records), np.zeros(records.size, np.int64)
        least = np.full(records.size, np.inf, np.float32)
        for start in range(0, size, BLOCK):
            rows = some[start:start + BLOCK]
            near = np.zeros((rows.size, records.size), np.float32)
            for name, scale in reading.scales.items():
                near += scale.apart(group.columns[name], rows, shown.columns[name])
            nearer = near.min(axis=0) < least
            owners[nearer] = rows[near.argmin(axis=0)[nearer]]
            least = np.minimum(least, near.min(axis=0))
        return np.unique(owners)

    @cached_property
    def groups(self) -> dict[str, People]:
        """Return the people in the release and, where there are some, the control group."""
        control = self.reading.control
        return {"people": self.reading.original,
                **({} if control is None else {"control": control})}


def telling(reading: Reading) -> tuple[str, ...]:
    """Return the columns, those that distinguish people best first."""
    return tuple(sorted(reading.names, key=lambda n: -entropy(reading.original.columns[n])))


def entropy(column: Values) -> float:
    """Return the entropy of a column; numbers in a hundred bins."""
    if isinstance(column, Labels):
        place = column.codes + 1
    else:
        scale = scale_of(column.middle)
        held = np.isfinite(column.middle)
        share = scale.shares(np.where(held, column.middle, scale.zero)).clip(-1, 1)
        place = np.where(held, (100 * share).astype(np.int64) + 101, 0)
    share = np.bincount(place) / max(place.size, 1)
    share = share[share > 0]
    return float(-(share * np.log(share)).sum())


def known_columns(reading: Reading, schema: Schema, chosen: Sequence[str] | None) -> \
        tuple[str, ...]:
    """Return what is known of people: as chosen, the quasi-identifiers, or what tells most."""
    if chosen is not None:
        return _there(reading, chosen, "known to attackers")
    quasi = tuple(n for n in schema.with_role("quasi") if n in reading.names)
    hidden = {*schema.with_role("sensitive"), schema.target}
    most = min(FACTS, (len(reading.names) + 1) // 2)
    return quasi or tuple(n for n in telling(reading) if n not in hidden)[:most]


def secret_columns(reading: Reading, table: Table, chosen: Sequence[str] | None,
                   limited: Callable[[str], bool]) -> tuple[str, ...]:
    """Return what is inferred: as chosen, or sensitive columns, target and what has a limit.

    Where nothing is declared to be sensitive, every column is.
    """
    if chosen is not None:
        return _there(reading, chosen, "secret")
    schema = table.schema
    first = [n for n in (*schema.with_role("sensitive"), schema.target) if n in reading.names]
    rest = [n for n in reading.names if not schema.with_role("sensitive") or limited(n)]
    return tuple(n for n in dict.fromkeys((*first, *rest)) if n is not None)


def _there(reading: Reading, names: Sequence[str], what: str) -> tuple[str, ...]:
    strange = [n for n in names if n not in reading.names]
    if strange:
        raise SchemaError(f"'{strange[0]}' is named as {what}, and no column of the release could "
                          "be matched with it. These could be matched: "
                          f"{', '.join(reading.names[:20])}.")
    return tuple(names)


def right(guess: Values, truth: Values, reach: float) -> Bools:
    """Return which guesses hit; numbers within the reach, missing only as missing."""
    if isinstance(guess, Labels) and isinstance(truth, Labels):
        return np.asarray(guess.codes == truth.codes)
    assert isinstance(guess, Numbers)
    assert isinstance(truth, Numbers)
    off = np.abs(guess.middle - truth.middle) <= reach
    return np.asarray(off | (np.isnan(guess.middle) & np.isnan(truth.middle)))
