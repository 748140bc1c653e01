"""A proof that shared bits were joined by AND, by a prover who knows them to two who share them.

Beaver's trick with coefficients (as in the batched checks of Boyle, Gilboa, Ishai and Nof 2019,
here with the opened products of the older sacrifice in place of polynomials). The prover deals
random x', y' and the sum of x' y'. Only then it learns coefficients c of 40 bits, which the
holders have in common, and opens c x xor x' and y xor y'. With these, the sum of c (x y xor z) is
linear in shares. Each holder computes its share of that sum, and of what was opened; both must be
the same words. A wrong z passes with probability 2^-40, whatever the prover opens.
  discloses: nothing; what is opened is masked by words that serve one proof.
  cost: 41 bits to each holder per AND. Coefficients and masks lie in planes, as tags do.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unspoken.arrays import Words
from unspoken.joint.mpc.authentic.tagged_bits import TAG_WORDS
from unspoken.joint.mpc.correlated.kinds import GAP
from unspoken.joint.mpc.randomness import Stream

PIECE = 1 << 10
"""How many rows are joined at a time, so that they stay near the processor."""


@dataclass
class BitMasks:
    """Shares of x' and y', and of the sum of their products."""

    x: Words
    y: Words
    joined: Words

    @classmethod
    def drawn(cls, count: int, stream: Stream, *, last: bool) -> BitMasks:
        """Return one holder's; the last one is sent the sum."""
        return cls(_rows(stream, count), stream.words(count),
                   GAP if last else stream.words(TAG_WORDS))

    def __xor__(self, other: BitMasks) -> BitMasks:
        return BitMasks(self.x ^ other.x, self.y ^ other.y, self.joined)


def _rows(stream: Stream, count: int) -> Words:
    return stream.words(count * TAG_WORDS).reshape(count, TAG_WORDS)


def fitting_sum(first: BitMasks, last: BitMasks) -> Words:
    """Return the last holder's share of the sum of products."""
    masks = first ^ last
    return _sum(masks.x, masks.y) ^ first.joined


def coefficients(count: int, coin: bytes) -> Words:
    """Return the coefficients of claims, in planes."""
    return _rows(Stream(coin), count)


def opened_bits(x: Words, y: Words, masks: BitMasks, factors: Words) -> tuple[Words, Words]:
    """Return c x xor x' in the place of c, and y xor y'; a holder's share of both from shares."""
    factors &= x[:, None]
    factors ^= masks.x
    return factors, y ^ masks.y


def bit_rests(share: tuple[Words, Words, Words], masks: BitMasks, coin: bytes,
              opened: tuple[Words, Words], *, first: bool) -> list[Words]:
    """Return words that are the same at both holders if, and only if, everything fits."""
    (x, y, z), (shown_x, shown_y) = share, opened
    factors = coefficients(x.size, coin)
    rest = masks.joined ^ _sum(factors, z) ^ _sum(masks.x, shown_y)
    own_x, own_y = opened_bits(x, y, masks, factors)
    if first:
        own_x ^= shown_x
        own_y ^= shown_y
    return [own_x, own_y, rest ^ _sum(shown_x, masks.y ^ shown_y if first else masks.y)]


def _sum(rows: Words, chosen: Words) -> Words:
    """Return the sum of rows where bits of a word are set, lane by lane."""
    sums = np.zeros(TAG_WORDS, np.uint64)
    for start in range(0, len(rows), PIECE):
        piece = rows[start:start + PIECE] & chosen[start:start + PIECE, None]
        sums ^= np.bitwise_xor.reduce(piece, axis=0)
    return sums
