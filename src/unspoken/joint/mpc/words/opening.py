"""Opening masked values among the holders: the one message that protocols on shares send.

Each holder sends its part to every other holder. What is opened must be masked by words that
nobody knows (a triple, an edaBit), so that it is uniform to everybody.
Cost: 1 round, one message from every holder to every other.
"""

from __future__ import annotations

import numpy as np

from unspoken.arrays import Words
from unspoken.joint.mpc.authentic.tagged import Tagged
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Numbers, total
from unspoken.joint.wire.frames import Purpose


async def open_sum(party: Party, label: str, words: Words, width: int = 64) -> Words:
    """Return the sum of all holders' words modulo 2^width, sent in as few bytes as that needs."""
    if width == 64 or isinstance(words, Tagged):
        return await open_numbers(party, label, words) & np.uint64((1 << width) - 1)
    own = words.astype(_narrow(width))
    own &= own.dtype.type((1 << width) - 1)
    opened = await open_numbers(party, label, own)
    return opened.astype(np.uint64) & np.uint64((1 << width) - 1)


async def open_numbers(party: Party, label: str, own: Numbers) -> Numbers:
    """Return the sum of all holders' numbers in the ring of their own type."""
    if isinstance(own, Tagged) and party.engine.guarded is not None:
        return await party.engine.guarded.open(label, own)
    others = [name for name in party.holders if name != party.name]
    return total([own, *await party.swap(others, label, own, Purpose.MASKED)])


async def open_xor(party: Party, label: str, words: Words) -> Words:
    """Return the exclusive or of all holders' words."""
    if isinstance(words, Tagged) and party.engine.guarded is not None:
        return await party.engine.guarded.open(label, words)
    others = [name for name in party.holders if name != party.name]
    got = await party.swap(others, label, words, Purpose.MASKED)
    out = words
    for part in got:
        out = out ^ part
    return out


def _narrow(width: int) -> str:
    return next(dtype for bits, dtype in ((8, "|u1"), (16, "<u2"), (32, "<u4"), (64, "<u8"))
                if width <= bits)
