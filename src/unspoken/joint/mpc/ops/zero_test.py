"""Whether small shared numbers are zero, as shared numbers, in one round where a dealer serves.

The holders open c = x + r modulo a power of two above the greatest x, and take the c-th entry of a
table that is 1 at r: the dealer, who knows r, has shared all of it (one-time truth tables: Ishai
and others 2013).
  discloses: nothing; the dealer learns the number of values and their bound.
  safe against: all holders but one; never the dealer with a holder.
  cost: 1 round; 1 or 2 bytes per value between holders, 8 for each possible value from the dealer.
Without a dealer it is a test for equality, and daBits.
"""

from __future__ import annotations

import numpy as np

from unspoken.joint.mpc.correlated.kinds import Need
from unspoken.joint.mpc.ops.less_than import equal
from unspoken.joint.mpc.ops.shared_bits import to_numbers
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared
from unspoken.joint.mpc.words.opening import open_sum

MOST = 1 << 10


def zero_needs(size: int, most: int) -> list[Need]:
    """Return what `is_zero` of `size` values from 0 to `most` draws, in one step."""
    return [Need("zeros", (size, most.bit_length()))]


async def is_zero(party: Party, x: Shared) -> Shared:
    """Return 1 where a number from 0 to its bound is 0, and 0 elsewhere."""
    if not party.engine.has_tables or not 0 <= x.low <= x.high < MOST:
        return await to_numbers(party, await equal(party, x, 0))
    party.begin("is zero")
    drawn = await party.draw(zero_needs(x.size, x.high))
    blank = Shared(party, np.zeros(x.shape, np.uint64), 0, 1)
    if drawn is None:
        return blank
    [[r, table]] = drawn
    width = x.high.bit_length()
    opened = await open_sum(party, "zero.open", x.share.ravel() + r, width)
    chosen = table.reshape(-1, x.size)[opened.astype(np.int64), np.arange(x.size)]
    return blank.with_share(chosen.reshape(x.shape))
