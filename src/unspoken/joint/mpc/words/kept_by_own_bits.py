"""Shared values times bits that one holder has in the clear: half a product, and one bit.

To keep x where b is 1, every other holder sends its share of x under a mask s to the holder of b,
which sends b under a mask bit r. With c = b xor r, b s = c s + (1 - 2 c) r s, and of r s the
holders have shares. What is sent is uniform to whom it is sent. Cost: 1 round; 8 bytes a value from
every other holder, 1 bit a value from the one, 8 bytes a value from the dealer.
"""

from __future__ import annotations

import asyncio

import numpy as np

from unspoken.arrays import Words
from unspoken.joint.mpc.bit_planes import bits_of, plane_of
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import total
from unspoken.joint.wire.frames import Purpose

VALUES, BITS = "choose.values", "choose.bits"


async def kept_words(party: Party, owner: str, bits: Words | None, rows: Words,
                     dealt: list[Words]) -> Words:
    """Return a share of rows (count, size), kept where the owner's bits (size) are 1."""
    plane, masks, joined = dealt[0], dealt[1].reshape(rows.shape), dealt[2].reshape(rows.shape)
    if bits is None:
        masked = (rows + masks).ravel()
        _, hidden = await asyncio.gather(
            party.send(owner, VALUES, masked, Purpose.MASKED),
            party.receive(owner, BITS, "<u8", plane.shape, Purpose.MASKED))
        seen = bits_of(hidden, rows.shape[1])
        return np.asanyarray(-(seen * masks) - (1 - 2 * seen) * joined)
    hidden = plane_of(bits) ^ plane
    whole = rows + (await _others(party, hidden, rows.size)).reshape(rows.shape)
    seen = bits_of(hidden, rows.shape[1])
    return np.asanyarray(bits * whole - (1 - 2 * seen) * joined)


async def _others(party: Party, hidden: Words, size: int) -> Words:
    """Send the masked bits to the other holders, and return the sum of what they send."""
    others = [name for name in party.holders if name != party.name]
    sends = [party.send(name, BITS, hidden, Purpose.MASKED) for name in others]
    takes = [party.receive(name, VALUES, "<u8", (size,), Purpose.MASKED) for name in others]
    got = await asyncio.gather(*takes, *sends)
    return total([np.zeros(size, np.uint64), *got[:len(takes)]])
