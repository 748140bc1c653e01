"""Which bins of a column come out as zeros: small ones, and what would give them away.

A bin with fewer than a stated number of values is hidden. The bins of a column add up to all
records, whose number another column may show: where the hidden bins of a column have some values,
but fewer than that number together, the smallest of the others is hidden too (complementary
suppression, Cox 1980). All of it is decided on shares.
  discloses: nothing; the zeros that are opened afterwards show which bins are hidden.
  safe against: as comparisons, choices and products in the mode.
  cost: three comparisons, and one for each halving of the bins of the widest column.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from unspoken.arrays import Bools, Ints
from unspoken.joint.mpc.ops.argmin import argmin
from unspoken.joint.mpc.ops.less_than import equal, less_than
from unspoken.joint.mpc.ops.products import multiply
from unspoken.joint.mpc.ops.selection import keep
from unspoken.joint.mpc.ops.shared_bits import SharedBits, to_numbers
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared, concatenate, public, stack
from unspoken.joint.tasks.common.quantile_search import MOST_VALUES


def plain_shown(totals: Ints, least: int) -> Bools:
    """Return the reference: which bins of one column are shown."""
    few = totals < least
    if 0 < totals[few].sum() < least and not few.all():
        few[np.where(few, totals.max() + 1, totals).argmin()] = True
    return np.asarray(~few)


async def hide_small(party: Party, counts: Shared, sizes: Sequence[int], least: int) -> Shared:
    """Return counts (bins of all columns, classes) with zeros in hidden bins."""
    each = counts.sum(axis=1).within(0, MOST_VALUES)
    few = await less_than(party, each, least)
    kept = stack(await keep(party, ~few, [counts[:, place] for place in range(counts.shape[1])]))
    also = await _smallest_too(party, each, few, sizes, least)
    gone = await multiply(party, also.reshape(1, -1), kept, (0, MOST_VALUES))
    return (kept - gone).within(0, MOST_VALUES).T


async def _smallest_too(party: Party, each: Shared, few: SharedBits, sizes: Sequence[int],
                        least: int) -> Shared:
    """Return 1 for the smallest shown bin of every column whose hidden ones are too few together.

    It is the first of equals; where a column shows none, it is one of the hidden ones.
    """
    lacking = await _lacking(party, each, few, sizes, least)
    far = each + await to_numbers(party, few) * MOST_VALUES
    width = max(sizes)
    place, _ = await argmin(party, stack([_padded(party, part, width)
                                          for part in _columns(far, sizes)]))
    here = await equal(party, stack([place - at for at in range(width)]).T, 0)
    chosen = await multiply(party, await to_numbers(party, here), lacking.reshape(-1, 1), (0, 1))
    return concatenate([chosen[at, :size] for at, size in enumerate(sizes)])


async def _lacking(party: Party, each: Shared, few: SharedBits, sizes: Sequence[int],
                   least: int) -> Shared:
    """Return 1 for columns whose hidden bins have some values, but fewer than `least`."""
    [small] = await keep(party, few, [each])
    sums = stack([part.sum() for part in _columns(small, sizes)]).within(0, MOST_VALUES)
    below = await to_numbers(party, await less_than(party, stack([sums - least, sums - 1]), 0))
    return (below[0] - below[1]).within(0, 1)


def _columns(values: Shared, sizes: Sequence[int]) -> list[Shared]:
    return [values[end - size:end] for size, end in zip(sizes, accumulate(sizes), strict=True)]


def _padded(party: Party, values: Shared, width: int) -> Shared:
    """Return values with as many more that are never the least."""
    more: Any = np.full(width - values.size, 4 * MOST_VALUES)
    return concatenate([values, public(party, more)]) if more.size else values
