"""The first place of the greatest of a few values, in few rounds.

All pairs are compared at once, and the place that loses to no other wins: 9 rounds, where a
tournament needs 9 for each halving. It costs more comparisons, so it is for few nodes or few
candidates; otherwise the tournament serves. Both take the first among equals, and
which one is used follows from public sizes.
  discloses: nothing. Safe against whom comparisons are.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tacit.joint.correlations import Need
from tacit.joint.party import Party
from tacit.joint.primitives.comparison import below_zero_needs
from tacit.joint.primitives.lookup import is_zero, zero_needs
from tacit.joint.ring import Shared, concatenate, stack, times, width_of

MOST_PAIRS = 1 << 16


async def first_greatest(party: Party, values: Shared, size: Shared | None = None,
                         least: int = 1) -> Shared:
    """Return the first place of the greatest along the last of two axes.

    With sizes, 0 where a size is less than `least`, and nobody learns which of the two it was.
    """
    if by_tournament(values.shape):
        return await _unless_small(party, (await party.argmax(values))[0], size, least)
    hot = await _winners(party, values, size, least)
    columns = values.shape[1]
    place = concatenate([hot[:, j:j + 1] * j for j in range(columns)], 1).sum(axis=1)
    return place.within(0, columns - 1)


async def hot_greatest(party: Party, values: Shared, size: Shared | None = None,
                       least: int = 1) -> Shared:
    """Return the same as numbers for all places but the first: 1 at that place, 0 at others."""
    if not by_tournament(values.shape):
        return (await _winners(party, values, size, least))[:, 1:].within(0, 1)
    place = await _unless_small(party, (await party.argmax(values))[0], size, least)
    rows, columns = values.shape
    every = np.broadcast_to(np.arange(1, columns), (rows, columns - 1))
    found = await party.equal(stack([place] * (columns - 1)).T, party.public(every))
    return await party.to_numbers(found)


def by_tournament(shape: tuple[int, ...]) -> bool:
    """Say whether there are too many pairs, or none."""
    rows, columns = shape
    return columns < 2 or rows * columns * (columns - 1) // 2 > MOST_PAIRS


async def _winners(party: Party, values: Shared, size: Shared | None, least: int) -> Shared:
    """Return 1 at the place that beats all others; nowhere if the first wins as rows are small."""
    later = await party.less_than(_gaps(values, size, least), 0)
    numbers = await party.to_numbers(later)
    if numbers.shape[1] == 1:
        return concatenate([1 - numbers, numbers], 1)
    return await is_zero(party, _losses(numbers, values.shape[1]))


def _losses(later: Shared, columns: int) -> Shared:
    """Return how many others each place loses to, from whether the later of two is greater.

    One number more a row says that no place but the first may win: a loss more to the others.
    """
    left, right = np.triu_indices(columns, 1)
    signs = np.zeros((later.shape[1], columns), np.int64)
    signs[np.arange(left.size), left] = 1
    signs[np.arange(left.size), right] = -1
    signs[left.size:, 1:] = 1
    share = times(later.share, signs.view(np.uint64))
    if later.party.adds_public:
        # The later of two loses unless it is greater.
        share = np.add(share, np.arange(columns).astype(np.uint64))
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


def steps_of(values: Shared, size: Shared | None, least: int) -> list[list[Need]]:
    """Return what each step of finding the greatest draws; nothing if it goes by tournament."""
    rows, columns = values.shape
    if by_tournament(values.shape):
        return []
    few = None if size is None else size[:1]
    gaps = _gaps(values[:1], few, least)
    found = [below_zero_needs(rows * gaps.shape[1], width_of(gaps.low, gaps.high)),
             [Need("dabits", (rows * gaps.shape[1],))]]
    return found if gaps.shape[1] == 1 else [*found, zero_needs(rows * columns, columns)]


async def _unless_small(party: Party, place: Shared, size: Shared | None, least: int) -> Shared:
    """Return 0 where a node has fewer records than asked for."""
    if size is None or least <= 1:
        return place
    [kept] = await party.keep(~await party.less_than(size, least), [place])
    return kept.within(place.low, place.high)
