"""A proof that dealt tags are right, by random sums of values.

A wrong tag would let whoever dealt it learn something from whether the run ends: an error in the
tag of the top bit of a truncation's mask counts only where the opened word has no such bit. So all
tags are tested, and a run in which one is wrong ends whatever anybody's values are. To every sum
one value is added that was dealt for nothing else, and the prover opens the sums; tags of sums are
sums of tags. **Numbers**: 40 sums of about half of them each. Whatever the other errors are, each
sum misses a wrong tag with probability 1/2 (random factors would not do with fewer: an error of
2^127 survives every even one). **Bits**: words of them are thrown into 32 groups, 8 times over; a
wrong tag goes unnoticed in at most one of the groups that it may fall into, with probability
32^-8. Both are 2^-40.
  discloses: nothing. cost: 40 numbers or 256 words of bits with tags per proof.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Words
from unspoken.joint.mpc.authentic import ring128
from unspoken.joint.mpc.authentic.ring128 import Long
from unspoken.joint.mpc.randomness import Stream

HALVES = 40
"""How many sums of numbers are opened; as many numbers hide them, and follow the values."""
GROUPS, THROWS = 32, 8
VEILS = GROUPS * THROWS
"""How many words of bits are dealt to hide sums of groups; they follow the others."""
BLOCK = 1 << 14
PIECE = 1 << 11
"""How many rows are grouped at a time, so that they stay near the processor."""


def number_sums(parts: Sequence[Long], coin: bytes) -> list[Long]:
    """Return random sums of numbers, of several arrays of which the same numbers are taken."""
    stream = Stream(coin)
    sums = [(low[-HALVES:], high[-HALVES:]) for low, high in parts]
    for start in range(0, parts[0][0].size - HALVES, BLOCK):
        piece = [(low[:-HALVES][start:start + BLOCK], high[:-HALVES][start:start + BLOCK])
                 for low, high in parts]
        taken = stream.words(piece[0][0].size).view(np.uint8).reshape(-1, 8)[:, :HALVES // 8]
        halves = ring128.chosen_sums(piece, np.unpackbits(taken, axis=1))
        sums = [ring128.add(one, other) for one, other in zip(sums, halves, strict=True)]
    return sums


def bit_sums(rows: Words, coin: bytes) -> Words:
    """Return the sums of every group of rows of bits."""
    return grouped(rows[:-VEILS], coin, np.bitwise_xor) ^ rows[-VEILS:]


def grouped(rows: npt.NDArray[Any], coin: bytes, join: np.ufunc) -> Words:
    """Throw rows into groups, and return every group's sum; one row of zeros is in each."""
    count = len(rows)
    drawn = Stream(coin).words(-(-count * THROWS // 8)).view(np.uint8)[:count * THROWS]
    thrown = (drawn % np.uint8(GROUPS)).reshape(THROWS, count)
    each = np.arange(GROUPS, dtype=np.uint8)
    sums = np.zeros((THROWS, GROUPS, rows.shape[1]), np.uint64)
    for start in range(0, count, PIECE):
        piece = np.concatenate([rows[start:start + PIECE], np.zeros_like(rows, shape=(
            GROUPS, rows.shape[1]))])
        for throw, groups in enumerate(thrown[:, start:start + PIECE]):
            group = np.concatenate([groups, each])
            order = np.argsort(group, kind="stable")
            part = join.reduceat(piece[order], np.searchsorted(group[order], each), axis=0,
                                 dtype=np.uint64)
            sums[throw] = join(sums[throw], part)
    return sums.reshape(VEILS, -1)
