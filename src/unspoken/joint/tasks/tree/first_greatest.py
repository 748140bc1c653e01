"""The first place of the greatest of a few values, in few rounds.

All pairs are compared at once, and the place that loses to no other wins: 9 rounds. Where that
would be too many pairs, groups of about the root of the number of places play first, and then
their winners: 20 rounds, where a tournament needs 9 for each halving. Both take the first among
equals, and which one is used follows from public sizes.
  discloses: nothing. Safe against whom comparisons are.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from unspoken.joint.mpc.ops.less_than import less_than
from unspoken.joint.mpc.ops.products import multiply
from unspoken.joint.mpc.ops.shared_bits import to_numbers
from unspoken.joint.mpc.ops.zero_test import is_zero
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared, concatenate, public, times

MOST_PAIRS = 1 << 14


async def first_greatest(party: Party, values: Shared, size: Shared | None = None,
                         least: int = 1) -> Shared:
    """Return the first place of the greatest along the last of two axes.

    With sizes, 0 where a size is less than `least`, and nobody learns which of the two it was.
    """
    columns = values.shape[1]
    hot = await hot_greatest(party, values, size, least)
    places = np.arange(1, columns).astype(np.uint64)
    share = np.asanyarray((hot.share * places).sum(axis=1, dtype=np.uint64))
    return Shared(party, share, 0, columns - 1)


async def hot_greatest(party: Party, values: Shared, size: Shared | None = None,
                       least: int = 1) -> Shared:
    """Return the same as numbers for all places but the first: 1 at that place, 0 at others."""
    rows, columns = values.shape
    if columns == 1:
        return Shared(party, np.zeros((rows, 0), np.uint64), 0, 1)
    if in_groups(values.shape):
        return (await _by_groups(party, values, size, least))[:, 1:columns]
    return (await _winners(party, values, size, least))[:, 1:]


def in_groups(shape: tuple[int, ...]) -> bool:
    """Return True if there are too many pairs, and groups play first, then their winners."""
    rows, columns = shape
    return columns > 3 and rows * columns * (columns - 1) // 2 > MOST_PAIRS


def groups_of(columns: int) -> tuple[int, int]:
    """Return how many groups there are, and how many places each has; the last is filled up."""
    each = math.isqrt(columns - 1) + 1
    return -(-columns // each), each


async def _by_groups(party: Party, values: Shared, size: Shared | None, least: int) -> Shared:
    """Return 1 at the place that wins its group, whose winner beats those of the others."""
    grouped = _grouped(party, values)
    rows, (groups, each) = values.shape[0], groups_of(values.shape[1])
    first = await _winners(party, grouped, None, 1)
    kept = await multiply(party, first, grouped)
    # One of each group is kept, and so is the interval.
    winning = np.asanyarray(kept.share.sum(axis=1, dtype=np.uint64))
    best = replace(grouped, share=winning).reshape(rows, groups)
    second = await _winners(party, best, size, least)
    winners = await multiply(party, first.reshape(rows, groups, each),
                             second.reshape(rows, groups, 1))
    return winners.reshape(rows, groups * each)


def _grouped(party: Party, values: Shared) -> Shared:
    """Return one row a group; what fills up the last one loses to all."""
    rows, columns = values.shape
    groups, each = groups_of(columns)
    filling = public(party, np.full((rows, groups * each - columns), values.low - 1), values.scale)
    return concatenate([values, filling], 1).reshape(rows * groups, each)


async def _winners(party: Party, values: Shared, size: Shared | None, least: int) -> Shared:
    """Return 1 at the place that beats all others; nowhere if a size is less than the least."""
    later = await less_than(party, _gaps(values, size, least), 0)
    numbers = await to_numbers(party, later)
    if numbers.shape[1] == 1:
        return concatenate([1 - numbers, numbers], 1)
    return await is_zero(party, _losses(numbers, values.shape[1]))


def _losses(later: Shared, columns: int) -> Shared:
    """Return how many others each place loses to, from whether the later of two is greater.

    One number more a row says that no place may win: a loss more to all.
    """
    left, right = np.triu_indices(columns, 1)
    signs = np.zeros((later.shape[1], columns), np.int64)
    signs[np.arange(left.size), left] = 1
    signs[np.arange(left.size), right] = -1
    signs[left.size:] = 1
    share = times(later.share, signs.view(np.uint64))
    # The later of two loses unless it is greater.
    earlier = later.party.engine.public_words(np.arange(columns).astype(np.uint64))
    share = np.add(share, earlier)
    return replace(later, share=share, low=0, high=columns)


def _gaps(values: Shared, size: Shared | None, least: int) -> Shared:
    """Return all differences of two, the earlier first, and what a size is above the least."""
    rows, columns = values.shape
    left, right = np.triu_indices(columns, 1)
    gaps = values[:, left] - values[:, right]
    if size is None or least <= 1:
        return gaps
    # The one comparison more travels with the others.
    return concatenate([gaps, replace(size - least, scale=gaps.scale).reshape(rows, 1)], 1)
