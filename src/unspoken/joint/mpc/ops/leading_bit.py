"""Where a shared number starts: the bits [x >= 0.75 2^k] for all k, from one masked opening.

The holders open c = x + r modulo 2^l for a random r of which they have shared bits, and take r off
again bit by bit: all borrows of c - r come from a prefix tree (Sklansky), so that x is had as
shared bits. A second prefix tree over their complements says from where on they are all zero, and
one AND looks at the bit below the first one.
  discloses: nothing; the dealer learns the number of values and l.
  safe against: all holders but one; never the dealer with a holder.
  cost: 2 log2(l) + 2 rounds; about l (log2(l) 5/4 + 1) ANDs a value, where comparing with every
    threshold by itself takes 2 l^2 and l openings.
"""

from __future__ import annotations

import numpy as np

from unspoken.arrays import Words
from unspoken.joint.mpc.bit_planes import bits_of, plane_of, plane_words, planes_of
from unspoken.joint.mpc.correlated.kinds import Need
from unspoken.joint.mpc.ops.shared_bits import SharedBits
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared
from unspoken.joint.mpc.words.masked_products import and_words
from unspoken.joint.mpc.words.opening import open_sum, open_xor

Steps = list[tuple[list[int], list[int]]]


def prefix_steps(count: int) -> Steps:
    """Return, level by level, which places join what has been joined up to which earlier place."""
    steps: Steps = []
    size = 1
    while size < count:
        high = [i for i in range(count) if i // size % 2]
        steps.append((high, [i // size * size - 1 for i in high]))
        size *= 2
    return steps


def leading_needs(size: int, width: int, top: int) -> list[Need]:
    """Return what `leading_planes` draws."""
    words, sizes = plane_words(size), [len(high) for high, _ in prefix_steps(width)]
    return [Need("edabits", (width, size)), *(Need("pairs", (k * words,)) for k in sizes),
            *(Need("ands", (k * words,)) for k in sizes),
            Need("ands", (max(0, top - 1) * words,))]


async def leading_bits(party: Party, x: Shared, top: int) -> SharedBits:
    """Return (top + 1, values): [x >= 1] first, then [x >= 0.75 2^k] for k = 1 ... top."""
    party.begin("leading bits")
    width, words = max(1, x.high.bit_length()), plane_words(x.size)
    drawn = await party.draw(leading_needs(x.size, width, top))
    if drawn is None:
        return _joined(party, np.zeros((top + 1, words), np.uint64), x)
    return _joined(party, await leading_planes(party, x.share, width, top, drawn), x)


async def leading_planes(party: Party, share: Words, width: int, top: int,
                         drawn: list[list[Words]]) -> Words:
    """Return this holder's planes of the same, one row each."""
    (r, planes), *rest = drawn
    steps = len(prefix_steps(width))
    opened = await open_sum(party, "leading.open", share.ravel() + r, width)
    bits = await _bits(party, planes_of(opened, width), planes.reshape(width, -1), rest[:steps])
    zero = await _zero_from(party, bits, rest[steps:-1])
    return await _starts(party, bits, zero, rest[-1], top)


async def _bits(party: Party, c: Words, r: Words, pairs: list[list[Words]]) -> Words:
    """Return this holder's planes of x = c - r."""
    public_bits = party.engine.public_bits
    generate = r & ~c
    passes = r ^ public_bits(~c)
    for level, ((high, low), triple) in enumerate(zip(prefix_steps(len(c)), pairs, strict=True)):
        a, b1, b2, c1, c2 = triple
        p, g0, p0 = passes[high].ravel(), generate[low].ravel(), passes[low].ravel()
        masked = np.concatenate([p ^ a, g0 ^ b1, p0 ^ b2])
        d, e1, e2 = (await open_xor(party, f"leading.borrow{level}", masked)).reshape(3, -1)
        first, second = c1 ^ (d & b1) ^ (e1 & a), c2 ^ (d & b2) ^ (e2 & a)
        first, second = first ^ public_bits(d & e1), second ^ public_bits(d & e2)
        generate[high] ^= first.reshape(len(high), -1)
        passes[high] = second.reshape(len(high), -1)
    borrow = np.concatenate([np.zeros_like(generate[:1]), generate[:-1]])
    return np.asanyarray(r ^ borrow ^ public_bits(c))


async def _zero_from(party: Party, bits: Words, triples: list[list[Words]]) -> Words:
    """Return, for every place, whether all bits from there on are zero; one more is public."""
    zero = _inverted(party, bits)[::-1].copy()
    for level, ((high, low), triple) in enumerate(zip(prefix_steps(len(bits)), triples,
                                                      strict=True)):
        joint_zero = await and_words(party, f"leading.zero{level}", zero[high], zero[low], triple)
        zero[high] = joint_zero
    ones = party.engine.public_bits(np.full(zero[:1].shape, ~np.uint64(0)))
    return np.concatenate([zero[::-1], ones])


def _inverted(party: Party, bits: Words) -> Words:
    return np.asanyarray(bits ^ party.engine.public_bits(np.full(bits.shape, ~np.uint64(0))))


async def _starts(party: Party, bits: Words, zero: Words, triple: list[Words],
                  top: int) -> Words:
    """Return [x >= 1], [x >= 2], and [x >= 2^k] or (x < 2^k and the bits below say 0.75)."""
    below = zero[2:top + 1] ^ zero[1:top]
    half = await and_words(party, "leading.half", below, bits[:max(0, top - 1)], triple)
    reached = _inverted(party, zero[:top + 1])
    return np.concatenate([reached[:2], reached[2:] ^ half]) if top > 1 else reached


def _joined(party: Party, planes: Words, x: Shared) -> SharedBits:
    """Return planes as one array of bits; values that fill words need no copy."""
    rows = planes.shape[0]
    if x.size % 64:
        flat = np.concatenate([bits_of(plane, x.size) for plane in planes])
        return SharedBits(party, plane_of(flat), (rows, *x.shape))
    return SharedBits(party, planes.ravel(), (rows, *x.shape))
