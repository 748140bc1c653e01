"""The objects whose k-th nearest neighbour is farthest, on shares (named in vcz2006 section 7.3.1).

Every object meets all others: a block of objects at a time, k tournaments give the distance to the
k-th neighbour of each. `top` more tournaments among these distances give the farthest objects; of
equally far ones the earlier counts.
  discloses: nothing. Safe against whom comparisons are.
  cost: k comparisons for every ordered pair of objects.
"""

from __future__ import annotations

from collections.abc import Iterator

from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared
from unspoken.joint.tasks.common.nearest_rows import nearest_rows
from unspoken.joint.tasks.outliers.params import OutlierParams


def in_blocks(rows: slice, others: int, block: int) -> Iterator[slice]:
    """Yield objects, with at most `block` distances together unless one has more."""
    step = max(1, block // max(1, others))
    for start in range(rows.start, rows.stop, step):
        yield slice(start, min(rows.stop, start + step))


async def kth_distances(party: Party, distances: Shared, rules: OutlierParams) -> Shared:
    """Return the distance to the k-th neighbour of every row of distances."""
    return (await nearest_rows(party, distances, rules.neighbours or 0))[1]


async def farthest(party: Party, distances: Shared, rules: OutlierParams) -> Shared:
    """Return 1 for the greatest of some distances, the first among equals, 0 elsewhere."""
    gaps = (-distances + distances.high).within(0, distances.high - distances.low)
    flags, _ = await nearest_rows(party, gaps.reshape(1, gaps.size), rules.top or 0)
    return flags.reshape(flags.size)
