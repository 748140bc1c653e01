"""A public binary code of 128 bits in 640, of which any two words differ in at least 128 places.

The code is linear and drawn once and for all from a fixed sentence. There are 2^128 - 1 words
other than zero, and a random one has fewer than 128 ones with probability below 2^-178, so a draw
fails with probability below 2^-50 (Gilbert and Varshamov). Whoever guesses a word of the code
that is not the right one still does not know 128 bits of a secret in these places.
"""

from __future__ import annotations

import hashlib
from functools import cache

import numpy as np

from unspoken.arrays import Words
from unspoken.joint.wire.hollow_arrays import hollow, is_hollow

MESSAGE, LENGTH = 2, 10
"""Words of a message and of a code word, 64 bits each."""
_SENTENCE = b"unspoken: a linear code of 128 bits in 640"


def encode(messages: Words) -> Words:
    """Return the code words (n, 10) of messages (n, 2)."""
    if is_hollow(messages):
        dry: Words = hollow((len(messages), LENGTH))
        return dry
    return looked_up(messages, tables())


def looked_up(selectors: Words, rows: Words) -> Words:
    """Return, for every selector, the sum of the rows whose bits are set in it.

    `rows` holds such sums for every byte of a selector, shape (bytes, 256, words).
    """
    octets = np.ascontiguousarray(selectors.astype("<u8", copy=False)).view(np.uint8)
    out = rows[0][octets[:, 0]]
    for place in range(1, octets.shape[1]):
        out ^= rows[place][octets[:, place]]
    return np.asarray(out)


def byte_sums(rows: Words) -> Words:
    """Return the sums of all subsets of each eight rows, for `looked_up`."""
    groups = rows.reshape(-1, 8, rows.shape[1])
    sums = np.zeros((len(groups), 256, rows.shape[1]), np.uint64)
    for bit in range(8):
        sums[:, 1 << bit:2 << bit] = sums[:, :1 << bit] ^ groups[:, bit:bit + 1]
    return sums


@cache
def generator() -> Words:
    """Return the 128 rows of the code."""
    # Not a stream of keys: these are blank in a dry run, and what is kept here outlives one.
    raw = hashlib.shake_256(_SENTENCE).digest(8 * 64 * MESSAGE * LENGTH)
    return np.frombuffer(raw, "<u8").astype(np.uint64).reshape(-1, LENGTH)


@cache
def tables() -> Words:
    """Return the sums of the code's rows by bytes of a message."""
    return byte_sums(generator())
