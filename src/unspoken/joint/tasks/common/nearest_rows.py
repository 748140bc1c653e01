"""The k nearest of some rows, on shares: k tournaments, each without those that won before.

  discloses: nothing: neither which rows are near nor how near.
  safe against: whom comparisons are.
  cost: k (n - 1) comparisons as wide as the distances for every record, and k n narrow ones that
    say who won; 9 rounds for each halving of the rows, k times.
"""

from __future__ import annotations

import numpy as np

from unspoken.joint.mpc.ops.argmin import argmin
from unspoken.joint.mpc.ops.less_than import equal
from unspoken.joint.mpc.ops.shared_bits import to_numbers
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared, public


async def nearest_rows(party: Party, distances: Shared, k: int) -> tuple[Shared, Shared]:
    """Return 1 for the k least of every row, the first among equals, else 0; and the k-th least."""
    beyond, places = distances.high + 1, public(party, np.arange(distances.shape[1]))
    near = public(party, np.zeros(distances.shape, np.int64))
    for _ in range(k):
        place, least = await argmin(party, distances)
        won = await to_numbers(party, await equal(party, place.reshape(-1, 1) - places, 0))
        near = (near + won).within(0, 1)
        # Who won once is beyond all others from now on.
        distances = (distances + won * beyond).within(0, 2 * beyond)
    return near, least.within(0, beyond - 1)
