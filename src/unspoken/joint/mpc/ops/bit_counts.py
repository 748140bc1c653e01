"""How many rows have several shared bits set: ANDs of packed columns, then counting.

Support counts of vcz2006 section 6.2.2 on shared bitmaps, for any number of owners. Words are added
bit by bit as in a Wallace tree: three words of one weight become one of the same weight (an
exclusive or, which is local) and one of the next (a majority, which is one AND). What is left, at
most two words of each weight, becomes numbers. So a row costs one AND and not a number of its own.
  discloses: nothing; the dealer learns sizes.
  safe against: as `both` and `to_numbers`.
  cost for each count over n rows of t columns: t n / 4 bytes each way and t n / 8 from the dealer;
    log2 t rounds and about 2 for each doubling of n. Two holders without a dealer: 10.5 t n.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Words
from unspoken.joint.mpc.ops.shared_bits import SharedBits, both, to_numbers, words_from
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.sets.set_bits import all_of
from unspoken.joint.mpc.shared import Shared, concatenate

BLOCK = 1 << 26
"""So many bits are counted at a time."""


async def share_columns_of_bits(party: Party, words: Words | None, counts: Mapping[str, int],
                                width: int) -> Words:
    """Return this party's shares of all owners' packed columns, one row each, owner by owner."""
    party.begin("share columns")
    parts = await asyncio.gather(*(
        words_from(party, words if owner == party.name else None, owner, count * width)
        for owner, count in counts.items()))
    return np.concatenate(parts).reshape(-1, width)


async def bit_counts(party: Party, columns: Words, chosen: npt.NDArray[np.int64],
                     rows: int) -> Shared:
    """Return in how many rows all columns of each row of `chosen` are set."""
    step = max(1, BLOCK // max(64 * columns.shape[1], 1))
    parts = [await _block(party, columns, chosen[a:a + step], rows)
             for a in range(0, max(len(chosen), 1), step)]
    return concatenate(parts)


async def _block(party: Party, columns: Words, chosen: npt.NDArray[np.int64],
                 rows: int) -> Shared:
    count, width = len(chosen), columns.shape[1]
    taken = [SharedBits(party, columns[chosen[:, i]].ravel(), (64 * count * width,))
             for i in range(chosen.shape[1])]
    held = (await all_of(party, taken)).share.reshape(count, width)
    heaps = await _added(party, held)
    flat = np.concatenate(heaps, axis=1)
    numbers = await to_numbers(party, SharedBits(party, flat.ravel(), (64 * flat.size,)))
    weights = np.repeat(np.arange(len(heaps)), [64 * heap.shape[1] for heap in heaps])
    share = numbers.share.reshape(count, -1) << weights.astype(np.uint64)
    return Shared(party, share.sum(axis=1, dtype=np.uint64), 0, rows)


async def _added(party: Party, words: Words) -> list[Words]:
    """Return at most two words of each weight 2^k whose bits add up to those of a row of words."""
    heaps = [words]
    while max(heap.shape[1] for heap in heaps) > 2:
        parts = [_thirds(heap) for heap in heaps]
        one, other = (np.concatenate([(part[i] ^ part[2]).ravel() for part in parts])
                      for i in range(2))
        shape = (64 * one.size,)
        joined = await both(party, SharedBits(party, one, shape), SharedBits(party, other, shape))
        ends = np.cumsum([part[2].size for part in parts])
        carries = [piece.reshape(part[2].shape) ^ part[2] for piece, part in zip(
            np.split(joined.share, ends[:-1]), parts, strict=True)]
        kept = [np.concatenate([a ^ b ^ c, rest], axis=1) for a, b, c, rest in parts]
        heaps = [np.concatenate(pair, axis=1) for pair in zip(
            [*kept, words[:, :0]], [words[:, :0], *carries], strict=True)]
    return heaps


def _thirds(heap: Words) -> tuple[Words, Words, Words, Words]:
    """Return three parts of one length, and what is left."""
    third = heap.shape[1] // 3
    return (heap[:, :third], heap[:, third:2 * third], heap[:, 2 * third:3 * third],
            heap[:, 3 * third:])
