"""Bits in planes: plane i of an array holds bit i of every value, 64 values a word.

Boolean operations on planes work on 64 values at once. Turning words into planes is a transpose
of 64 x 64 bits by a network of six swaps (Warren, Hacker's Delight, section 7-3), done in blocks
that stay in the cache.
"""

from __future__ import annotations

import numpy as np

from unspoken.arrays import Words
from unspoken.joint.wire.hollow_arrays import hollow, is_hollow

BLOCK = 1024
_SWAPS = [(32, 0x00000000FFFFFFFF), (16, 0x0000FFFF0000FFFF), (8, 0x00FF00FF00FF00FF),
          (4, 0x0F0F0F0F0F0F0F0F), (2, 0x3333333333333333), (1, 0x5555555555555555)]


def plane_words(n: int) -> int:
    """Return the words of one plane of n values."""
    return -(-n // 64)


def planes_of(values: Words, width: int = 64) -> Words:
    """Return the lowest `width` planes of values, shape (width, words)."""
    count = plane_words(values.size)
    if is_hollow(values):
        return np.asanyarray(hollow((width, count)))
    padded = np.zeros(count * 64, np.uint64)
    padded[:values.size] = values.ravel()
    rows = padded.reshape(count, 64)
    out = np.empty((width, count), np.uint64)
    for start in range(0, count, BLOCK):
        block = np.ascontiguousarray(rows[start:start + BLOCK].T)
        out[:, start:start + BLOCK] = _transposed(block)[:width]
    return out


def words_of(planes: Words) -> Words:
    """Return the values whose 64 planes are given, shape (64, words)."""
    count = planes.shape[1]
    if is_hollow(planes):
        return np.asanyarray(hollow(64 * count))
    out = np.empty((count, 64), np.uint64)
    for start in range(0, count, BLOCK):
        block = np.array(planes[:, start:start + BLOCK], order="C")
        out[start:start + BLOCK] = _transposed(block).T
    return out.ravel()


def _transposed(block: Words) -> Words:
    """Transpose every column of 64 words as a square of bits, in place."""
    columns = block.shape[1]
    for step, mask in _SWAPS:
        pairs = block.reshape(32 // step, 2, step, columns)
        low, high = pairs[:, 0], pairs[:, 1]
        moved = low >> np.uint64(step)
        moved ^= high
        moved &= np.uint64(mask)
        high ^= moved
        moved <<= np.uint64(step)
        low ^= moved
    return block


def bits_of(plane: Words, n: int) -> Words:
    """Return the n bits of one plane as words 0 and 1."""
    little = np.ascontiguousarray(plane, "<u8").view(np.uint8)
    return np.unpackbits(little, count=n, bitorder="little").astype(np.uint64)


def plane_of(bits: Words) -> Words:
    """Return words 0 and 1 as one plane."""
    out = np.zeros(plane_words(bits.size) * 8, np.uint8)
    packed = np.packbits(bits.ravel().astype(np.uint8), bitorder="little")
    out[:packed.size] = packed
    return out.view("<u8").astype(np.uint64, copy=False)
