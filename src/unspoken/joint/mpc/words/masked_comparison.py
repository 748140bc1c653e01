"""The sign of shared words, and whether they are zero, by masks of which the bits are shared.

The holders open c = x + r modulo 2^l for a random r of which they also have shared bits, and find
the borrow of c - r with a tree of ANDs over bit planes: its top bit is [x < 0]. x is zero where
c = r (edaBits; Rabbit).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unspoken.arrays import Words
from unspoken.joint.mpc.bit_planes import plane_words, planes_of
from unspoken.joint.mpc.correlated.kinds import Need
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.words.masked_products import and_words
from unspoken.joint.mpc.words.opening import open_sum, open_xor


def below_zero_needs(size: int, width: int) -> list[Need]:
    """Return what comparing `size` values of a width draws, in one step."""
    words = plane_words(size)
    return [Need("edabits", (width, size)),
            *(Need("pairs", (k * words,)) for k in tree(width - 1))]


def is_zero_needs(size: int, width: int) -> list[Need]:
    """Return what testing `size` values of a width for zero draws, in one step."""
    words = plane_words(size)
    return [Need("edabits", (width, size)), *(Need("ands", (k * words,)) for k in tree(width))]


def tree(count: int) -> list[int]:
    """Return how many nodes each level has that joins neighbours until one is left."""
    levels = []
    while count > 1:
        levels.append(count // 2)
        count -= count // 2
    return levels


def ladder_needs(size: int, width: int, kind: str) -> list[Need]:
    """Return what the first level without an opening draws, and the levels above it."""
    words, count = plane_words(size), width - 1 if kind == "pairs" else width
    return [Need("ladders", (width, size)),
            *(Need(kind, (k * words,)) for k in tree(count - count // 2))]


def first_level(party: Party, c: Words, r: Words, joined: Words) -> tuple[Words, Words]:
    """Return the borrows and passes of neighbouring bits, from joined bits of the mask alone.

    A bit generates n r and passes n xor r, where n, not c, is public: for two of them
    g = n_h r_h xor n_h n_l r_l xor n_l (r_h r_l), and p the product of both sums.
    """
    k, clear = len(c) // 2, ~c
    low, high = clear[0:2 * k:2], clear[1:2 * k:2]
    r_low, r_high, joined = r[0:2 * k:2], r[1:2 * k:2], joined[:k]
    g = (high & r_high) ^ ((high & low) & r_low) ^ (low & joined)
    p = (high & r_low) ^ (low & r_high) ^ joined ^ party.engine.public_bits(high & low)
    last, rest = r[2 * k:], clear[2 * k:]
    return (np.concatenate([g, rest & last]),
            np.concatenate([p, last ^ party.engine.public_bits(rest)]))


async def below_zero_by_ladder(party: Party, share: Words, width: int,
                               drawn: list[list[Words]]) -> Words:
    """Return this party's plane of top bits; the lowest level of the tree opens nothing."""
    (r, planes, joined), *pairs = drawn
    c, bits = await _opened_bits(party, share, r, planes, width)
    top = bits[-1] ^ party.engine.public_bits(c[-1])
    if width == 1:
        return np.asanyarray(top)
    rows = joined.reshape(width // 2, plane_words(share.size))
    generate, passes = first_level(party, c[:-1], bits[:-1], rows)
    return np.asanyarray(top ^ await _borrow(party, generate, passes, pairs))


async def is_zero_by_ladder(party: Party, share: Words, width: int,
                            drawn: list[list[Words]]) -> Words:
    """Return this party's plane of [value = 0]; the lowest level of the tree opens nothing."""
    (r, planes, joined), *triples = drawn
    c, bits = await _opened_bits(party, share, r, planes, width)
    rows = joined.reshape(width // 2, plane_words(share.size))
    _, same = first_level(party, c, bits, rows)
    return await _all_same(party, same, triples)


async def below_zero_words(party: Party, share: Words, width: int,
                           drawn: list[list[Words]]) -> Words:
    """Return this party's plane of top bits."""
    (r, planes), *pairs = drawn
    c, bits = await _opened_bits(party, share, r, planes, width)
    public_bits = party.engine.public_bits
    top = bits[-1] ^ public_bits(c[-1])
    if width == 1:
        return np.asanyarray(top)
    # Borrow: generated where c has 0 and r has 1, passed on where they are the same.
    generate = bits[:-1] & ~c[:-1]
    passes = bits[:-1] ^ public_bits(~c[:-1])
    return np.asanyarray(top ^ await _borrow(party, generate, passes, pairs))


async def _opened_bits(party: Party, share: Words, r: Words, planes: Words,
                       width: int) -> tuple[Words, Words]:
    """Open value + r; return its public planes and this holder's planes of r."""
    opened = await open_sum(party, "compare.open", share + r, width)
    return planes_of(opened, width), planes.reshape(width, plane_words(share.size))


async def _borrow(party: Party, generate: Words, passes: Words, pairs: list[Any]) -> Words:
    """Join neighbours (low, high): g = g_h xor p_h g_l, p = p_h p_l; two ANDs, three openings."""
    g, p = generate, passes
    for level, (a, b1, b2, c1, c2) in enumerate(pairs):
        k = g.shape[0] // 2
        shape = k, g.shape[1]
        sides = p[1:2 * k:2], g[0:2 * k:2], p[0:2 * k:2]
        masked = np.concatenate([(side ^ mask.reshape(shape)).ravel()
                                 for side, mask in zip(sides, (a, b1, b2), strict=True)])
        d, e1, e2 = (await open_xor(party, f"compare.level{level}", masked)).reshape(3, -1)
        whole = a ^ party.engine.public_bits(d)
        first, second = c1 ^ (d & b1) ^ (e1 & whole), c2 ^ (d & b2) ^ (e2 & whole)
        g = np.concatenate([g[1:2 * k:2] ^ first.reshape(shape), g[2 * k:]])
        p = np.concatenate([second.reshape(shape), p[2 * k:]])
    return np.asanyarray(g[0])


async def is_zero_words(party: Party, share: Words, width: int,
                        drawn: list[list[Words]]) -> Words:
    """Return this party's plane of [value = 0]: all bits of c and r are the same."""
    (r, planes), *triples = drawn
    c, bits = await _opened_bits(party, share, r, planes, width)
    return await _all_same(party, bits ^ party.engine.public_bits(~c), triples)


async def _all_same(party: Party, same: Words, triples: list[list[Words]]) -> Words:
    """Return where all planes are set."""
    for level, triple in enumerate(triples):
        k = same.shape[0] // 2
        joined = await and_words(party, f"compare.level{level}", same[0:2 * k:2],
                                 same[1:2 * k:2], triple)
        same = np.concatenate([joined, same[2 * k:]])
    return np.asanyarray(same[0])
