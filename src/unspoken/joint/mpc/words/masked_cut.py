"""Shared words divided by a power of two, by a mask whose parts are shared too.

The holders open x + 2^62 + r for a random r, of which they have shares of r >> f and of the top
bit, and correct the wrap-around with that bit (Dalskov, Escudero and Keller 2020).
"""

from __future__ import annotations

import numpy as np

from unspoken.arrays import Words
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.words.opening import open_sum

OFFSET = 1 << 62


async def cut_words(party: Party, words: Words, bits: int, cut: list[Words]) -> Words:
    """Return shares of shared words, shifted."""
    r, shifted, top = cut
    public_words = party.engine.public_words
    moved = words.ravel() + r + public_words(np.asarray(np.uint64(OFFSET)))
    c = await open_sum(party, "truncate.open", moved)
    wrapped = top * (np.uint64(1) - (c >> np.uint64(63)))
    result = (wrapped << np.uint64(64 - bits)) - shifted
    rest = public_words((c >> np.uint64(bits)) - np.uint64(OFFSET >> bits))
    return np.asanyarray(result + rest)
