"""Is a control group made of outsiders? People of the original in it would hide every risk.

What an attack gets of the control group counts as told by the population. A control group that is
the original itself, or holds some of its people, edited or not, yields as much as the people do,
and nothing seems to be left (Giomi et al. 2023, section 3, take it from people who are not behind
the release). So its people are compared with the original: by equal records, and by how much the
likest person agrees in, rare values the more (Fellegi and Sunter 1969). What two people of one
population agree in by chance, two people of the original do as well; whoever agrees in more is
left out.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from unspoken.arrays import Bools, Floats, Ints
from unspoken.audit.people.comparable import (
    Labels,
    Near,
    Numbers,
    Values,
    people_of,
    values_of,
)
from unspoken.errors import DataError
from unspoken.numerics.random import replayed
from unspoken.release.people_sketch import spelt
from unspoken.table.category_codes import coded
from unspoken.table.engines.local import LocalEngine, MemoryFrame
from unspoken.table.table import Table

FEWEST = 20
"""The least people of a control group."""
MOST = 500
"""People of each side whose likest ones are looked for."""
WORK = 100_000_000
"""Comparisons of two values that looking for them may cost."""
LEAST = 60
CELLS = 1_000_000
RARE = 0.01
"""Share of the original with a twin in it up to which an equal record means the same person."""
LEVELS = (0.9, 0.99)
"""Shares of the people of the original to whom nobody else of it is so like."""
CLEARLY = 5.0
"""Standard errors by which more people must be so like than by chance."""
MIXED = 1 / 3
"""Share of a control group that must be left where edited people were in it: else all are."""
RUNNING = 1.05
"""Width of whole numbers beside their count up to which they only count rows."""


def outsiders(original: Table, control: Table | None,
              release: Table | None = None) -> tuple[Table | None, tuple[str, ...]]:
    """Return a control group without people of the original, and what to say of those.

    Nor may it be people of a release that somebody else made: whoever puts the control group into
    the release hides as much. Where too few are left the control group is refused.
    """
    if control is None:
        return None, ()
    _check(control.rows, "")
    shared = _shared_columns(original, control)
    kept = np.arange(control.rows)
    if shared:
        kept = _not_equal(shared, _not_repeated(original, control, shared))
        kept = _not_alike(shared, kept)
    control, notes = _only(control, kept, "original")
    if release is None:
        return control, notes
    control, more = _only(control, _not_released(original, control, release), "release")
    return control, (*notes, *more)


def _only(control: Table, kept: Ints, where: str) -> tuple[Table, tuple[str, ...]]:
    """Return some of a control group, and why the others do not count."""
    if kept.size == control.rows:
        return control, ()
    _check(kept.size, f" of {control.rows:,}; the others are in the {where} or repeat each other, "
                      "which hides what a release tells. Leave the control group out if there is "
                      "no other")
    note = (f"only {kept.size:,} of the {control.rows:,} people of the control group count: the "
            f"others agree with people of the {where} as only the same people do, or repeat each "
            "other")
    rows = MemoryFrame(control.take(kept))
    return replace(control, frame=rows, engine=LocalEngine(), written=None), (note,)


def _not_released(original: Table, control: Table, release: Table) -> Ints:
    """Return those of a control group who are no more like a release than people are like others.

    Others are those of the original, and those of the release. For likeness as many released
    records are looked at as the original has: more of them are nearer by chance. The rest of the
    release is not looked at, so where some are alike nobody counts.
    """
    names = set(release.schema.names)
    usual = _shared_columns(original, control, names)
    shared = _shared_columns(release, control, set(original.schema.names))
    if not shared or not usual:
        return np.arange(control.rows)
    kept = _not_equal(shared, np.arange(control.rows), usual)
    some = shared
    if release.rows > original.rows:
        rows = replayed(b"outsiders", "release").permutation(release.rows)[:original.rows]
        taken = MemoryFrame(release.take(np.sort(rows)))
        some = _shared_columns(replace(release, frame=taken, engine=LocalEngine(), written=None),
                               control, set(original.schema.names))
    # Noise alone makes all values rare, and a release of few values all people alike.
    alike = all(_not_alike(some, kept, reference).size < kept.size for reference in (usual, None))
    return kept[:0] if alike else kept


def _check(people: int, why: str) -> None:
    if people < FEWEST:
        raise DataError(f"A control group must be at least {FEWEST} people who are not in the "
                        f"release. Got {people}{why}.")


@dataclass(frozen=True)
class SharedColumn:
    """One column of both tables: the place of every value among the original's, -1 if missing.

    Equal values have equal places. Numbers lie in order, so that near ones agree in much.
    """

    here: Floats
    there: Floats
    ordered: bool
    often: Near
    """How many of the original have the value of each person, of both tables one after the other.
    """

    def agreement(self, people: Ints) -> Near:
        """Return (people, original): the information in how much they agree, in nats.

        People are counted over the original first, then over the control group.
        """
        size = np.float32(self.here.size)
        # A person of the original does not count beside itself.
        own = (people < self.here.size).astype(np.float32)[:, None]
        mine, here = self.everybody[people][:, None], self.everybody[None, :self.here.size]
        near = np.abs(mine - here)
        same = near == 0
        near = 2 * near + 1 - own if self.ordered else np.full(near.shape, size, np.float32)
        near[(mine < 0) | (here < 0)] = size
        np.copyto(near, self.often[people][:, None] - own, where=same)
        np.clip(near / size, 1 / size, 1.0, out=near)
        return -np.log(near, out=near)

    @cached_property
    def everybody(self) -> Near:
        """Return the places of both tables, one after the other."""
        return np.concatenate([self.here, self.there]).astype(np.float32)


def _shared_columns(original: Table, control: Table,
                    among: Collection[str] | None = None) -> list[SharedColumn]:
    """Return what both tables have by name; columns that only count rows say nothing."""
    there = set(control.schema.names) & set(control.schema.names if among is None else among)
    names = [c.name for c in original.schema.columns if c.kind != "basket" and c.name in there]
    mine, rows = people_of(original, names), control.arrow(names)
    pairs = [(mine.columns[n], values_of(rows[n], isinstance(mine.columns[n], Numbers)))
             for n in names]
    return [_places(one, other) for one, other in pairs
            if not (_counts_rows(one) and _counts_rows(other))]


def _counts_rows(column: Values) -> bool:
    if not isinstance(column, Numbers) or not column.plain or np.isnan(column.low).any():
        return False
    return bool(np.unique(column.low).size == column.low.size
                and np.ptp(column.low) < RUNNING * column.low.size)


def _places(one: Values, other: Values) -> SharedColumn:
    """Return the places of both columns; texts without case, spaces and marks."""
    here, there = (_plain(part) for part in (one, other))
    missing = np.concatenate([here[1], there[1]])
    _, codes = np.unique(np.concatenate([here[0], there[0]]), return_inverse=True)
    codes = np.where(missing, -1, codes)
    counts = np.bincount(codes[:here[0].size] + 1, minlength=int(codes.max()) + 2)
    places = np.cumsum(counts) - counts[0] - counts / 2 if isinstance(one, Numbers) else \
        np.arange(-1.0, counts.size - 1)
    places[0] = -1
    both = places[codes + 1]
    return SharedColumn(both[:here[0].size], both[here[0].size:], isinstance(one, Numbers),
                        counts[codes + 1].astype(np.float32))


def _plain(column: Values) -> tuple[Floats | Ints, Bools]:
    if isinstance(column, Labels):
        names = np.array([spelt(name) or name for name in column.names] + [""])
        return names[column.codes], column.codes < 0
    return np.nan_to_num(column.middle), np.isnan(column.middle)


def _not_equal(shared: list[SharedColumn], people: Ints,
               usual: list[SharedColumn] | None = None) -> Ints:
    """Return those of some of the control group who have no equal record in a table.

    In a table of few categories other people have equal records, too: those of a control group
    only count as the same if they are clearly more than those of the original with a twin.
    `usual` has the columns of the original where another table is looked at.
    """
    size, often = _often(shared)
    equal = often[size + people] > 0
    rows, more = size, 1.0
    if usual is not None:
        rows, often = _often(usual)
        more = size / rows
    twins = 1 - (1 - float((often[:rows] > 1).mean())) ** more
    by_chance = twins > RARE and not _more(equal, twins, size)
    return people if by_chance else people[~equal]


def _often(shared: list[SharedColumn]) -> tuple[int, Ints]:
    """Return how many a table has, and how often it has the record of everybody of both tables."""
    size = shared[0].here.size
    codes = _records([np.concatenate([one.here, one.there]) for one in shared])
    return size, np.bincount(codes[:size], minlength=int(codes.max()) + 1)[codes]


def _not_repeated(original: Table, control: Table, shared: list[SharedColumn]) -> Ints:
    """Return the control group without repeated records, if clearly more are than of the original.
    """
    size, often = _often(shared)
    names = [c.name for c in original.schema.columns
             if c.kind != "basket" and c.name in control.schema.names]
    rows = control.arrow(names)
    records = _records([coded(rows[name]).codes.astype(np.float64) for name in names])
    first = np.unique(records, return_index=True)[1]
    again = np.bincount(records)[records] > 1
    twins = max(float((often[:size] > 1).mean()), RARE)
    return np.sort(first) if _more(again, twins, size) else np.arange(control.rows)


def _records(columns: Sequence[Floats]) -> Ints:
    """Return a number for every record, the same for equal ones, without sorting whole records."""
    total = np.zeros(columns[0].size, np.uint64)
    for column, odd in zip(columns, np.random.default_rng(0).integers(
            0, 2**63, len(columns), np.uint64) * np.uint64(2) + np.uint64(1), strict=True):
        bits = (column + 0.0).view(np.uint64)
        total += (bits ^ (bits >> np.uint64(32))) * odd
    return np.asarray(np.unique(total, return_inverse=True)[1].ravel(), np.int64)


def _more(hits: Bools, share: float, size: int) -> bool:
    """Return True if clearly more people are hit than a share that was seen of `size` people."""
    error = np.sqrt(share * (1 - share) * (1 / max(hits.size, 1) + 1 / max(size, 1)))
    return bool(hits.size and hits.mean() > min(3 * share, (1 + share) / 2)
                and hits.mean() > share + CLEARLY * error)


def _not_alike(shared: list[SharedColumn], rows: Ints,
               reference: list[SharedColumn] | None = None) -> Ints:
    """Return those of some of the control group who are no more like a table than others are.

    Where edited people of it are among them, only those who were compared are kept. `reference`
    has the columns of the original where another table is looked at.
    """
    first = shared if reference is None else reference
    size, own = shared[0].here.size, first[0].here.size
    most = int(min(MOST, max(LEAST, WORK // (2 * max(size, own) * len(shared)))))
    rng = replayed(b"outsiders", str(size))
    some, others = (np.sort(rng.choice(part, min(most, part.size), replace=False)).astype(np.int64)
                    for part in (np.arange(own), rows))
    usual, like = _likest(first, some), _likest(shared, others + size)
    for level in LEVELS:
        cut = float(np.quantile(usual, level))
        # Two people are each other's likest: there are half as many pairs.
        if _more(like > cut, max(1 - level, float((usual > cut).mean())), usual.size // 2):
            kept = others[like <= cut]
            return kept if kept.size >= MIXED * others.size else kept[:0]
    return rows


def _likest(shared: list[SharedColumn], people: Ints) -> Floats:
    """Return for each of some people what the likest other person of the original agrees in."""
    size = shared[0].here.size
    out = [np.empty(0)]
    step = max(1, CELLS // size)
    for block in (people[at:at + step] for at in range(0, people.size, step)):
        total = np.zeros((block.size, size), np.float32)
        for one in shared:
            total += one.agreement(block)
        inside = np.flatnonzero(block < size)
        total[inside, block[inside]] = -1.0
        out.append(total.max(axis=1).astype(np.float64))
    return np.concatenate(out)
