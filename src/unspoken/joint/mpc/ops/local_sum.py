"""The sum of owners' values as shares, where an owner that holds shares keeps its own part.

A holder's values are its share as they are: they never leave it but under a mask, and `reveal`
adds a fresh sharing of zero. So nothing is expanded or sent for them. Owners that hold no shares
give theirs to the holders as usual.
  discloses: nothing. As safe as sums by `share_sum`.
  cost: one message of 8 bytes per value for each owner that holds no shares.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from unspoken.joint.joint_errors import RingError
from unspoken.joint.mpc.ops.sharing import share
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared, to_ring


async def sum_kept(party: Party, values: Any, owners: Collection[str], shape: tuple[int, ...],
                   low: int, high: int) -> Shared:
    """Return the sum of whole numbers of all owners, each and in sum between the bounds."""
    if party.engine.sums_on_shares:
        return await _sum_of_inputs(party, values, owners, shape, (low, high))
    mine = None
    if party.name in owners:
        mine = to_ring(values, low, high, 0, "Values to share")
        if mine.shape != tuple(shape):
            raise RingError(f"Values to share must be of shape {tuple(shape)}. "
                            f"They are of shape {mine.shape}.")
    kept = mine is not None and party.is_holder
    total = mine if kept and mine is not None else np.zeros(shape, np.uint64)
    for owner in owners:
        if owner not in party.holders:
            part = await share(party, values if owner == party.name else None, owner, shape, low,
                               high)
            total = total + part.share
    return Shared(party, total, low, high)


async def _sum_of_inputs(party: Party, values: Any, owners: Collection[str],
                         shape: tuple[int, ...], bounds: tuple[int, int]) -> Shared:
    """Let every owner share: where shares have tags, nobody's values are its share."""
    parts = [await share(party, values if owner == party.name else None, owner, shape, *bounds)
             for owner in owners]
    whole = parts[0]
    for part in parts[1:]:
        whole = whole + part
    return whole.within(*bounds)
