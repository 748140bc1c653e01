"""A proof that shared numbers were multiplied, by a prover who knows them to two who share them.

As for bits (`bit_proof`), with words in place of coefficients of 40 bits, modulo 2^128: c is the
product in all 128 bits, so that an error of its lower 64 survives a random factor of 64 bits with
probability 2^-64 (the ring is as much wider as in SPDZ2k). Of a matrix triple C = A B one entry
u' C z = (u' A)(B z) is proved for random u and z (Freivalds 1977), an error passing with a
probability below 2^-58; so a matrix triple costs as much as its inner axis is long.
  discloses: nothing. cost: 32 bytes to each holder per product or inner place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unspoken.arrays import Words
from unspoken.joint.mpc.authentic import ring128
from unspoken.joint.mpc.authentic.ring128 import Long
from unspoken.joint.mpc.correlated.kinds import GAP
from unspoken.joint.mpc.randomness import Stream
from unspoken.joint.mpc.verified.claims import Product

EMPTY = np.zeros(0, np.uint64)


@dataclass
class NumberMasks:
    """Shares of a' and b', and of the sum of their products as two words."""

    a: Long
    b: Long
    product: Words

    @classmethod
    def drawn(cls, count: int, stream: Stream, *, last: bool) -> NumberMasks:
        """Return one holder's; the last one is sent the sum."""
        a, b = ((stream.words(count), stream.words(count)) for _ in range(2))
        return cls(a, b, GAP if last else stream.words(2))


@dataclass(frozen=True)
class Folded:
    """All products as one inner product of p and q, and what it should be."""

    p: Long
    q: Long
    sum: Long


def fitting_product(first: NumberMasks, last: NumberMasks) -> Words:
    """Return the last holder's share of the sum of products."""
    sum_of = _inner(ring128.add(first.a, last.a), ring128.add(first.b, last.b))
    return np.concatenate(ring128.subtract(sum_of, _long(first.product)))


def folded(products: Sequence[Product], coin: bytes) -> Folded:
    """Return products under random factors that the coin gives."""
    stream = Stream(coin)
    rows = [_matrix(each, stream) if each.a[0].ndim == 2 else _scalars(each, stream)
            for each in products]
    sums = _joined([row[2] for row in rows])
    return Folded(_joined([row[0] for row in rows]), _joined([row[1] for row in rows]),
                  _total(sums))


def _scalars(each: Product, stream: Stream) -> tuple[Long, Long, Long]:
    factors = stream.words(each.a[0].size)
    return (ring128.times_words(each.a, factors), each.b,
            ring128.times_words(each.c, factors))


def _matrix(each: Product, stream: Stream) -> tuple[Long, Long, Long]:
    rows, columns = each.c[0].shape
    left, right = stream.words(rows)[None], stream.words(columns)
    [p] = ring128.matrix([each.a], left, left=True)
    [q] = ring128.matrix([each.b], right[:, None], left=False)
    [c] = ring128.matrix([each.c], left, left=True)
    return _flat(p), _flat(q), ring128.times_words(_flat(c), right)


def opened_numbers(own: Folded, masks: NumberMasks) -> tuple[Long, Long]:
    """Return p - a' and q - b'; a holder's share of both, if all of it is shares."""
    return ring128.subtract(own.p, masks.a), ring128.subtract(own.q, masks.b)


def number_rests(own: Folded, masks: NumberMasks, opened: tuple[Long, Long], *,
                 first: bool) -> list[Long]:
    """Return numbers that add up to zero with the other holder's if everything fits."""
    shown_p, shown_q = opened
    p, q = opened_numbers(own, masks)
    right = ring128.add(shown_q, masks.b) if first else masks.b
    rest = ring128.subtract(_long(masks.product), own.sum)
    for one, other in ((shown_p, right), (shown_q, masks.a)):
        rest = ring128.add(rest, _inner(one, other))
    if first:
        return [ring128.subtract(p, shown_p), ring128.subtract(q, shown_q), rest]
    return [p, q, rest]


def _inner(one: Long, other: Long) -> Long:
    return _total(ring128.times_long(one, other))


def _total(one: Long) -> Long:
    low, high = ring128.total(one, None)
    return low.reshape(1), high.reshape(1)


def _flat(one: Long) -> Long:
    return one[0].ravel(), one[1].ravel()


def _long(words: Words) -> Long:
    return words[:1], words[1:]


def _joined(longs: Sequence[Long]) -> Long:
    return (np.concatenate([EMPTY, *(low for low, _ in longs)]),
            np.concatenate([EMPTY, *(high for _, high in longs)]))
