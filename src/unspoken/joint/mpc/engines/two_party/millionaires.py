"""Comparing between two holders without a dealer (CrypTFlow2, Rathee and others 2020, section 3).

x + y < 0, for the shares x and y of the two, is the exclusive or of their top bits and the carry
of the bits below. That carry is a comparison of what one has with what the other has: cut into
digits of four bits, each digit is one transfer of one in sixteen entries (less, same), and a tree
joins neighbours, each node one transfer of one in eight. Equality joins four at a time.
  discloses: nothing but the number of comparisons and the width l that the bounds allow. Safe
    against either holder, with any other owners.
  cost, l = 63: 5 rounds there and back, 31 transfers, 588.5 bytes a comparison. l = 18: 4 rounds,
    9 transfers, 170 bytes. Equality, l = 64: 3 rounds, 21 transfers, 378 bytes.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from unspoken.arrays import Words
from unspoken.joint.mpc.bit_planes import planes_of
from unspoken.joint.mpc.correlated.transfers import Transfer
from unspoken.joint.mpc.randomness import fresh_words

BLOCK = 1 << 17
DIGIT = 4
ENTRIES = 1 << DIGIT


async def below_zero(transfer: Transfer, share: Words, width: int) -> Words:
    """Return this holder's plane of [value < 0]."""
    planes = planes_of(share, width)
    low = ~planes[:-1] if transfer.offers else planes[:-1]
    if width == 1:
        return np.asarray(planes[0])
    less, same = await _digits(transfer, low, _less_and_same, 2)
    return np.asarray(planes[-1] ^ await _joined(transfer, less, same))


async def is_zero(transfer: Transfer, share: Words, width: int) -> Words:
    """Return this holder's plane of [value = 0]."""
    own = np.negative(share) if transfer.offers else share
    [same] = await _digits(transfer, planes_of(own, width), _same, 1)
    while len(same) > 1:
        same = await _all_of_four(transfer, same)
    return np.asarray(same[0])


async def _digits(transfer: Transfer, planes: Words, table: Callable[[Words], Words],
                  width: int) -> Words:
    """Compare digit by digit; return shares (width, digits, words)."""
    count, words = -(-len(planes) // DIGIT), planes.shape[1]
    padded = np.zeros((count * DIGIT, words), np.uint64)
    padded[:len(planes)] = planes
    digits = padded.reshape(count, DIGIT, words).transpose(1, 0, 2).reshape(DIGIT, -1)
    entries = table(digits) if transfer.offers else None
    return (await _looked_up(transfer, "compare.digit", entries, digits, ENTRIES, width)
            ).reshape(width, count, words)


async def _looked_up(transfer: Transfer, label: str, table: Words | None, choices: Words,
                     entries: int, width: int) -> Words:
    """Return shares of the entries: the offerer's are fresh, and masked into its table."""
    if table is None:
        return await transfer.pick(label, choices, entries, width)
    own = fresh_words(table[0].size).reshape(table[0].shape)
    await transfer.pick(label, table ^ own, entries, width)
    return own


def _one_hot(digits: Words) -> Words:
    """Return planes (16, words) that say which value each digit has."""
    hot = np.full((1, digits.shape[1]), ~np.uint64(0))
    for plane in digits:
        hot = np.concatenate([hot & ~plane, hot & plane])
    return hot


def _same(digits: Words) -> Words:
    return _one_hot(digits)[:, None]


def _less_and_same(digits: Words) -> Words:
    """Return for every digit j of the other: whether ours is less than j, and whether it is j."""
    same = _one_hot(digits)
    less = np.bitwise_xor.accumulate(same, axis=0) ^ same
    return np.stack([less, same], axis=1)


async def _joined(transfer: Transfer, less: Words, same: Words) -> Words:
    """Join neighbours (low, high): less = less_h xor same_h less_l, same = same_h same_l."""
    while len(less) > 1:
        k, words = len(less) // 2, less.shape[1]
        parts = [same[1:2 * k:2], less[0:2 * k:2], same[0:2 * k:2]][:3 if len(less) > 2 else 2]
        bits = np.stack([part.reshape(-1) for part in parts])
        table = _products(bits) if transfer.offers else None
        looked_up = await _looked_up(transfer, "compare.join", table, bits, 1 << len(bits),
                                     len(bits) - 1)
        looked_up = looked_up.reshape(len(bits) - 1, k, words)
        less = np.concatenate([less[1:2 * k:2] ^ looked_up[0], less[2 * k:]])
        same = np.concatenate([looked_up[-1], same[2 * k:]])
    return np.asarray(less[0])


def _products(bits: Words) -> Words:
    """Return for all bits of the other: the first of both together and each of the rest."""
    flipped = [[plane, ~plane] for plane in bits]
    return np.stack([np.stack([flipped[0][j & 1] & flipped[i][j >> i & 1]
                               for i in range(1, len(bits))]) for j in range(1 << len(bits))])


async def _all_of_four(transfer: Transfer, same: Words) -> Words:
    """Return whether all of four are set, four by four; what is missing counts as set."""
    count, words = -(-len(same) // DIGIT), same.shape[1]
    padded = np.full((count * DIGIT, words), ~np.uint64(0) if transfer.offers else np.uint64(0))
    padded[:len(same)] = same
    bits = padded.reshape(count, DIGIT, words).transpose(1, 0, 2).reshape(DIGIT, -1)
    # Entry j is set where the offerer's bits are the complement of j's.
    table = _one_hot(~bits)[:, None] if transfer.offers else None
    looked_up = await _looked_up(transfer, "compare.all", table, bits, ENTRIES, 1)
    return looked_up.reshape(count, words)
