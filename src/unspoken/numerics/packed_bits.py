"""Packed bits: which baskets hold an item, 64 to a word."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Ints, Words

_TABLE = np.array([bin(i).count("1") for i in range(1 << 16)], np.uint8)


def packed(starts: Ints, rows: npt.NDArray[Any], wanted: Ints, count: int) -> Words:
    """Return a row of bits for each wanted item of a column-wise list of `count` baskets."""
    width = (count + 63) // 64
    sizes = (starts[1:] - starts[:-1])[wanted]
    out = np.zeros(wanted.size * width, np.uint64)
    if sizes.sum() == 0:
        return out.reshape(wanted.size, width)
    ends = np.cumsum(sizes)
    where = np.arange(int(ends[-1])) + np.repeat(starts[wanted] - ends + sizes, sizes)
    row = rows[where].astype(np.int64)
    word = np.repeat(np.arange(wanted.size) * width, sizes) + (row >> 6)
    bit = np.left_shift(np.uint64(1), (row & 63).astype(np.uint64))
    first = np.flatnonzero(np.r_[True, word[1:] != word[:-1]])
    # Bits of one word are distinct, so that their sum is their union.
    out[word[first]] = np.add.reduceat(bit, first)
    return out.reshape(wanted.size, width)


def _by_table(words: Words) -> Ints:
    halves = np.ascontiguousarray(words).view(np.uint16)
    return np.asarray(_TABLE[halves].sum(axis=-1, dtype=np.int64))


def _by_instruction(words: Words) -> Ints:
    return np.asarray(np.bitwise_count(words).sum(axis=-1, dtype=np.int64))


bit_counts: Callable[[Words], Ints] = _by_instruction if hasattr(np, "bitwise_count") \
    else _by_table
"""Count the bits of every row."""
