"""Sets of records as packed bits: how many two sets share, in a few passes over bytes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Bools, Words
from unspoken.numerics.packed_bits import bit_counts

_ROWS = 32
"""Sets at a time, so that they stay in the cache."""


def pack(members: Bools) -> Words:
    """Return a set of records as 64-bit words; the last word is filled with zeros."""
    octets = np.packbits(members, bitorder="little")
    padded = np.zeros(-(-octets.size // 8) * 8, np.uint8)
    padded[: octets.size] = octets
    return padded.view(np.uint64)


def unpack(words: Words, size: int) -> Bools:
    """Return the flags of a packed set of `size` records."""
    return np.unpackbits(words.view(np.uint8), count=size, bitorder="little").astype(np.bool_)


def shared(stack: Words, words: Words) -> npt.NDArray[np.int64]:
    """Return how many records each set of a stack (one a row) shares with another set."""
    counts = np.empty(len(stack), np.int64)
    for start in range(0, len(stack), _ROWS):
        both = stack[start : start + _ROWS] & words
        counts[start : start + _ROWS] = bit_counts(both)
    return counts
