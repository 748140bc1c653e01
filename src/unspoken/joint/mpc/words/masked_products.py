"""Products and ANDs of shared words by triples (Beaver 1991), and bits turned into numbers.

To multiply x and y, the holders open x - a and y - b for random a, b nobody knows, of which they
also have shares of a b. The opened words are uniform. Cost: 1 round each.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unspoken.arrays import Words
from unspoken.joint.mpc.bit_planes import bits_of
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Numbers, times
from unspoken.joint.mpc.words.opening import open_numbers, open_xor


async def product_words(party: Party, x: Words, y: Words, triple: list[Words]) -> Words:
    """Return shares of the products of shared words."""
    a, b, c = triple
    masked = np.concatenate([x.ravel() - a, y.ravel() - b])
    return product_of(party, await open_numbers(party, "multiply.open", masked), (a, b, c))


def product_of(party: Party, opened: Numbers, triple: Sequence[Numbers]) -> Numbers:
    """Return a share of x y in the ring of the triple; x - a and y - b were opened together."""
    a, b, c = triple
    d, e = opened[:a.size], opened[a.size:]
    product = c + d * b + e * a
    return np.asanyarray(product + party.engine.public_words(d * e))


async def matrix_words(party: Party, one: Words, other: Words, triple: list[Words]) -> Words:
    """Return shares of the product of two matrices of shared words."""
    a, b, c = triple
    masked = np.concatenate([one.ravel() - a, other.ravel() - b])
    opened = await open_numbers(party, "matmul.open", masked)
    return _combined(party, opened, (a, b, c), (*one.shape, other.shape[1]))


def _combined(party: Party, opened: Words, triple: tuple[Words, Words, Words],
              sizes: tuple[int, int, int]) -> Words:
    """Return c + d b + a e (+ d e at one holder)."""
    n, k, m = sizes
    a, b, c = triple[0].reshape(n, k), triple[1].reshape(k, m), triple[2].reshape(n, m)
    d, e = opened[:n * k].reshape(n, k), opened[n * k:].reshape(k, m)
    # One product fewer: d (b + e) + a e, where one holder has e.
    right = b + party.engine.public_words(e)
    return np.asanyarray(c + times(d, right) + times(a, e))


async def and_words(party: Party, label: str, x: Words, y: Words, triple: list[Words]) -> Words:
    """Return shares of x and y, word by word."""
    a, b, c = triple
    opened = await open_xor(party, label, np.concatenate([x.ravel() ^ a, y.ravel() ^ b]))
    d, e = opened[:a.size], opened[a.size:]
    out = c ^ (d & b) ^ (e & (a ^ party.engine.public_bits(d)))
    return np.asanyarray(out.reshape(x.shape))


async def number_words(party: Party, plane: Words, dabits: list[Words]) -> Words:
    """Return shares of bits as numbers 0 and 1."""
    number, mask = dabits
    return numbers_from(party, await open_xor(party, "numbers.open", plane ^ mask), number)


def numbers_from(party: Party, opened: Words, number: Words) -> Words:
    """Return shares of bits from what was opened and the numbers of their masks."""
    return turned(party, bits_of(opened, number.size), number)


def turned(party: Party, seen: Numbers, number: Numbers) -> Numbers:
    """Return v + b - 2 v b: b where the opened v is 0, and 1 - b elsewhere, in the ring of b."""
    return np.asanyarray(number * (1 - 2 * seen) + party.engine.public_words(seen))
