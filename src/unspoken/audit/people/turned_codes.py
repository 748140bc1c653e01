"""Which codes fall as values rise, by trying both: the right way brings people near to a record.

An adversary who knows a few people in full turns the finest columns round in every combination,
then one column after the other, and keeps what leads these people nearest to some released record.
That decides where frequencies and correlations do not: codes of a column that is symmetric, or goes
together with no other.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats, Ints

CELLS = 1_600_000
MOST, FEWEST = 200, 8
"""People who are known in full."""
AT_ONCE = 3
"""Columns that are tried in every combination."""
NEARER = 0.98
"""By how much nearer people must come before a first guess is given up."""

Ranks = npt.NDArray[np.float32]
Sides = Mapping[str, tuple[Ranks, Ranks]]
"""By column the ranks of people who are known, and those of the released records."""


def settled(down: Collection[str], coded: Collection[str], shown: Mapping[str, Floats],
            original: Mapping[str, Floats]) -> set[str]:
    """Return the columns that fall, once every coded one was tried both ways.

    `shown` holds released numbers and `original` those of the people behind them; `down` is what
    is taken to fall at first.
    """
    turned, names = set(down), list(shown)
    if not coded or len(names) < 2:
        return turned
    people = _some(len(original[names[0]]), len(shown[names[0]]))
    sides = {n: (_ranks(original[n])[people], _ranks(shown[n])) for n in names}
    fine = sorted(coded, key=lambda n: -np.unique(sides[n][1]).size)
    total: Ranks = np.zeros((people.size, len(shown[names[0]])), np.float32)
    for name in names:
        if name not in coded:
            total += _apart(*sides[name], name in turned)
    for some in (fine[:AT_ONCE], *([name] for name in fine[AT_ONCE:])):
        total = _tried(some, turned, sides, total)
    return turned


def _tried(some: Sequence[str], turned: set[str], sides: Sides, total: Ranks) -> Ranks:
    """Turn columns so that people come nearest; return the distances with them."""
    ways = [{n for n, falls in zip(some, chosen, strict=True) if falls}
            for chosen in itertools.product((False, True), repeat=len(some))]
    ways.sort(key=lambda one: one != turned & set(some))
    best, least = total, np.inf
    chosen: set[str] = set()
    for way in ways:
        with_them = total + sum(_apart(*sides[n], n in way) for n in some)
        near = float(with_them.min(axis=1).mean())
        if near < NEARER * least:
            best, least, chosen = with_them, near, way
    turned.difference_update(set(some) - chosen)
    turned.update(chosen)
    return best


def _apart(known: Ranks, there: Ranks, falls: bool) -> Ranks:
    """Return how far apart ranks are, (people, records); missing ones are in the middle."""
    ranks = 1 - there if falls else there
    return np.asarray(np.abs(known[:, None] - ranks[None, :]))


def _ranks(values: Floats) -> Ranks:
    return np.nan_to_num(ranks_of(values), nan=0.5).astype(np.float32)


def ranks_of(values: Floats) -> Floats:
    """Return the place of every number among all, between 0 and 1; missing stays missing."""
    there = np.isfinite(values)
    distinct, counts = np.unique(values[there], return_counts=True)
    ends = np.cumsum(counts)
    ranks = np.full(values.shape, np.nan)
    # Looked up among distinct values, which are often few: a cache holds them.
    places = (2 * ends - counts) / (2 * max(int(there.sum()), 1))
    ranks[there] = places[np.searchsorted(distinct, values[there])]
    return ranks


def _some(people: int, records: int) -> Ints:
    """Return whom the adversary knows, fewer where comparing costs more."""
    count = min(people, MOST, max(FEWEST, CELLS // max(records, 1)))
    return np.linspace(0, people - 1, count).astype(np.int64)
