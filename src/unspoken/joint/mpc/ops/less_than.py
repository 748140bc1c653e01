"""Comparing shared values (vcz2006 sections 3.3.1 and 7.3.5; edaBits, Rabbit).

The holders open c = (x - y) + r modulo 2^l for a random r of which they also have shared bits,
and find the borrow of c - r with a tree of ANDs over bit planes: its top bit is [x < y]. l is the
least width that the interval of x - y allows, which is public. `equal` asks whether c = r.
The result stays shared. (The book's "v > 0" modulo m is wrong; the top bit is meant.)
  discloses: nothing; the dealer learns the number of comparisons and l.
  safe against: all holders but one; never the dealer with a holder.
  cost for l = 64: 7 rounds; 62.5 bytes per comparison between two holders, 23.5 from the dealer.
    l = 18: 6 rounds, about 16.5 and 6.3 bytes.
Two holders without a dealer compare directly instead: see `millionaires`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import numpy as np

from unspoken.arrays import Words
from unspoken.joint.mpc.ops.shared_bits import SharedBits
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared, width_of


def plain_less_than(one: Any, other: Any) -> Any:
    """Return the reference."""
    return np.less(one, other)


def plain_equal(one: Any, other: Any) -> Any:
    """Return the reference."""
    return np.equal(one, other)


async def less_than(party: Party, one: Shared, other: Shared | int) -> SharedBits:
    """Return shared bits: where one value is less than the other.

    Exact (vcz2006 sections 3.3.1 and 7.3.5; edaBits). 7 rounds or fewer. Discloses nothing; a
    dealer learns the number of comparisons and their width.

    Parameters
    ----------
    party : Party
        This party, as the program receives it.
    one : Shared
        The left side.
    other : Shared or int
        The right side: of the same scale, or a public number in units of it.

    Returns
    -------
    SharedBits
        Set where `one` is less.

    Examples
    --------
    >>> below = await less_than(party, x, 100)  # doctest: +SKIP
    """
    return await _by_blocks(party, one - other, "less than", party.engine.below_zero)


async def equal(party: Party, one: Shared, other: Shared | int) -> SharedBits:
    """Return shared bits: where one value equals the other.

    Exact. Discloses nothing; a dealer learns the number of comparisons and their width.

    Parameters
    ----------
    party : Party
        This party, as the program receives it.
    one : Shared
        The left side.
    other : Shared or int
        The right side: of the same scale, or a public number in units of it.

    Returns
    -------
    SharedBits
        Set where both are equal.

    Examples
    --------
    >>> same = await equal(party, x, y)  # doctest: +SKIP
    """
    return await _by_blocks(party, one - other, "equal", party.engine.is_zero)


async def _by_blocks(party: Party, value: Shared, label: str,
                     test: Callable[[Words, int], Awaitable[Words]]) -> SharedBits:
    """Compare block by block, so that planes fit into memory."""
    flat, width, parts = value.share.ravel(), width_of(value.low, value.high), []
    starts, block = range(0, max(1, flat.size), party.engine.block), party.engine.block
    await party.engine.announce(label, [min(block, flat.size - start) for start in starts], width)
    for start in starts:
        party.begin(label)
        parts.append(await test(flat[start:start + block], width))
    share = parts[0] if len(parts) == 1 else np.concatenate(parts)
    return SharedBits(party, share, value.shape)
