"""Comparing shared values (vcz2006 sections 3.3.1 and 7.3.5; edaBits, Rabbit).

The holders open c = (x - y) + r modulo 2^l for a random r of which they also have shared bits,
and find the borrow of c - r with a tree of ANDs over bit planes: its top bit is [x < y]. l is the
least width that the interval of x - y allows, which is public. `equal` asks whether c = r.
The result stays shared. (The book's "v > 0" modulo m is wrong; the top bit is meant.)
  discloses: nothing; the dealer learns the number of comparisons and l.
  safe against: all holders but one; never the dealer with a holder.
  cost for l = 64: 7 rounds; 62.5 bytes a comparison between two holders, 23.5 from the dealer.
    l = 18: 6 rounds, about 16.5 and 6.3 bytes.
Two holders without a dealer compare directly instead: see `millionaires`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unspoken.arrays import Words
from unspoken.joint.mpc.bit_planes import plane_of, plane_words, planes_of
from unspoken.joint.mpc.correlated.kinds import Need
from unspoken.joint.mpc.ops import millionaires
from unspoken.joint.mpc.ops.opening import open_sum, open_xor
from unspoken.joint.mpc.ops.shared_bits import SharedBits, and_words, blank_bits
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared, width_of

BLOCK = 1 << 22


def plain_less_than(one: Any, other: Any) -> Any:
    """Return the reference."""
    return np.less(one, other)


def plain_equal(one: Any, other: Any) -> Any:
    """Return the reference."""
    return np.equal(one, other)


async def less_than(party: Party, one: Shared, other: Shared | int) -> SharedBits:
    """Return shared bits: where one is less than the other."""
    return await _by_blocks(party, one - other, _below_zero, millionaires.below_zero)


async def equal(party: Party, one: Shared, other: Shared | int) -> SharedBits:
    """Return shared bits: where one equals the other."""
    return await _by_blocks(party, one - other, _is_zero, millionaires.is_zero)


async def _by_blocks(party: Party, value: Shared, test: Any, test_of_two: Any) -> SharedBits:
    """Compare so many at a time that planes fit into memory."""
    flat, block = value.reshape(-1), BLOCK
    if party.roles.by_transfer:
        test, block = test_of_two, millionaires.BLOCK
    parts = [await test(party, flat[start:start + block])
             for start in range(0, max(1, flat.size), block)]
    share = parts[0] if len(parts) == 1 else np.concatenate(parts)
    return SharedBits(party, share, value.shape)


def below_zero_needs(size: int, width: int) -> list[Need]:
    """Return what comparing so many values of a width draws, in one step."""
    words = plane_words(size)
    return [Need("edabits", (width, size)),
            *(Need("pairs", (k * words,)) for k in tree(width - 1))]


async def _below_zero(party: Party, value: Shared) -> Words:
    """Return this party's plane of top bits."""
    party.begin("less than")
    if party.engine is not None:
        return plane_of(await party.engine.below_zero(value.share.ravel()))
    width = width_of(value.low, value.high)
    drawn = await party.draw(below_zero_needs(value.size, width))
    if drawn is None:
        return blank_bits(party, value.shape).share
    (r, planes), *pairs = drawn
    c, bits = await _opened_bits(party, value, r, planes, width)
    top = (c[-1] ^ bits[-1]) if party.adds_public else bits[-1]
    if width == 1:
        return np.asarray(top)
    # Borrow: generated where c has 0 and r has 1, passed on where they are the same.
    generate = bits[:-1] & ~c[:-1]
    passes = ~(bits[:-1] ^ c[:-1]) if party.adds_public else bits[:-1]
    return np.asarray(top ^ await _borrow(party, generate, passes, pairs))


async def _opened_bits(party: Party, value: Shared, r: Words, planes: Words,
                       width: int) -> tuple[Words, Words]:
    """Open value + r; return its public planes and this holder's planes of r."""
    opened = await open_sum(party, "compare.open", value.share.ravel() + r, width)
    return planes_of(opened, width), planes.reshape(width, plane_words(value.size))


def tree(count: int) -> list[int]:
    """Return how many nodes each level has that joins neighbours until one is left."""
    levels = []
    while count > 1:
        levels.append(count // 2)
        count -= count // 2
    return levels


async def _borrow(party: Party, generate: Words, passes: Words, pairs: list[Any]) -> Words:
    """Join neighbours (low, high): g = g_h xor p_h g_l, p = p_h p_l; two ANDs, three openings."""
    g, p = generate, passes
    for level, (a, b1, b2, c1, c2) in enumerate(pairs):
        k = g.shape[0] // 2
        shape = k, g.shape[1]
        high = p[1:2 * k:2].ravel()
        masked = np.concatenate([high ^ a, g[0:2 * k:2].ravel() ^ b1, p[0:2 * k:2].ravel() ^ b2])
        d, e1, e2 = (await open_xor(party, f"compare.level{level}", masked)).reshape(3, -1)
        first, second = c1 ^ (d & b1) ^ (e1 & a), c2 ^ (d & b2) ^ (e2 & a)
        if party.adds_public:
            first ^= d & e1
            second ^= d & e2
        g = np.concatenate([g[1:2 * k:2] ^ first.reshape(shape), g[2 * k:]])
        p = np.concatenate([second.reshape(shape), p[2 * k:]])
    return np.asarray(g[0])


async def _is_zero(party: Party, value: Shared) -> Words:
    """Return this party's plane of [value = 0]: all bits of c and r are the same."""
    party.begin("equal")
    if party.engine is not None:
        return plane_of(await party.engine.is_zero(value.share.ravel()))
    width, words = width_of(value.low, value.high), plane_words(value.size)
    levels = tree(width)
    needs = [Need("edabits", (width, value.size)), *(Need("ands", (k * words,)) for k in levels)]
    drawn = await party.draw(needs)
    if drawn is None:
        return blank_bits(party, value.shape).share
    (r, planes), *triples = drawn
    c, bits = await _opened_bits(party, value, r, planes, width)
    same = ~(bits ^ c) if party.adds_public else bits
    for level, triple in enumerate(triples):
        k = same.shape[0] // 2
        joined = await and_words(party, f"compare.level{level}", same[0:2 * k:2],
                                 same[1:2 * k:2], triple)
        same = np.concatenate([joined, same[2 * k:]])
    return np.asarray(same[0])
