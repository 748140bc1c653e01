"""Products of shared values by multiplication triples (Beaver 1991; matrix triples: SecureML).

To multiply x and y, the holders open x - a and y - b for random a, b nobody knows, of which they
also have shares of a b. The opened words are uniform.
  discloses: nothing (shapes are public; the dealer learns them).
  safe against: all holders but one; never against the dealer together with a holder.
  cost: 1 round; 16 bytes an element from each holder to each other, 8 from the dealer. A matrix
    product n x k by k x m opens n k + k m words, not n k m.
The book's commodity server (vcz2006 section 5.2.1) is this over the ring; over the reals, as
printed there, it is not secure. Products of fixed point add their scales: truncate afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from unspoken.arrays import Words
from unspoken.errors import explain
from unspoken.joint.joint_errors import RingError
from unspoken.joint.mpc.correlated.kinds import Need
from unspoken.joint.mpc.ops.opening import open_sum
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Numbers, Shared, check_interval, corners, times


def plain_multiply(one: Any, other: Any) -> Any:
    """Return the reference."""
    return np.multiply(one, other)


async def multiply(party: Party, one: Shared, other: Shared,
                   within: tuple[int, int] | None = None) -> Shared:
    """Return the products, element by element, shapes broadcast as numpy does.

    `within` promises an interval that the factors' intervals do not show, as for x times 1/x.
    """
    party.begin("multiply")
    low, high = within or corners(one, other)
    check_interval(low, high, "A product")
    x, y = np.broadcast_arrays(one.share, other.share)
    shape = x.shape
    blank = replace(one, share=np.zeros(shape, np.uint64), low=low, high=high,
                    scale=one.scale + other.scale)
    if party.engine is not None:
        return blank.with_share(await party.engine.multiply(x, y))
    drawn = await party.draw([Need("triple", (int(x.size),))])
    if drawn is None:
        return blank
    return blank.with_share((await product_words(party, x, y, drawn[0])).reshape(shape))


async def product_words(party: Party, x: Words, y: Words, triple: list[Words]) -> Words:
    """Return shares of the products of shared words."""
    a, b, c = triple
    masked = np.concatenate([x.ravel() - a, y.ravel() - b])
    return product_of(party, await open_sum(party, "multiply.open", masked), (a, b, c))


def product_of(party: Party, opened: Numbers, triple: Sequence[Numbers]) -> Numbers:
    """Return a share of x y in the ring of the triple; x - a and y - b were opened together."""
    a, b, c = triple
    d, e = opened[:a.size], opened[a.size:]
    product = c + d * b + e * a
    return np.asarray(product + d * e if party.adds_public else product)


async def matmul(party: Party, one: Shared, other: Shared,
                 within: tuple[int, int] | None = None) -> Shared:
    """Return the matrix product of two shared matrices; `within` as in multiply."""
    party.begin("matmul")
    n, k, m = _sizes(one, other)
    ends = corners(one, other)
    low, high = within or (min(0, ends[0] * k), max(0, ends[1] * k))
    check_interval(low, high, "A matrix product")
    blank = replace(one, share=np.zeros((n, m), np.uint64), low=low, high=high,
                    scale=one.scale + other.scale)
    if party.engine is not None:
        return blank.with_share(await party.engine.matmul(one.share, other.share))
    drawn = await party.draw([Need("matrix", (n, k, m))])
    if drawn is None:
        return blank
    [[a, b, c]] = drawn
    masked = np.concatenate([one.share.ravel() - a, other.share.ravel() - b])
    opened = await open_sum(party, "matmul.open", masked)
    return blank.with_share(_combined(party, opened, (a, b, c), (n, k, m)))


async def dot(party: Party, one: Shared, other: Shared) -> Shared:
    """Return the scalar product of two shared vectors, still shared."""
    return (await matmul(party, one.reshape(1, -1), other.reshape(-1, 1))).reshape()


def _sizes(one: Shared, other: Shared) -> tuple[int, int, int]:
    fits = len(one.shape) == len(other.shape) == 2 and one.shape[1] == other.shape[0]
    if not fits:
        raise RingError(explain("Matrices to multiply", "n x k and k x m",
                                f"{one.shape} and {other.shape}"))
    return one.shape[0], one.shape[1], other.shape[1]


def _combined(party: Party, opened: Words, triple: tuple[Words, Words, Words],
              sizes: tuple[int, int, int]) -> Words:
    """Return c + d b + a e (+ d e at one holder)."""
    n, k, m = sizes
    a, b, c = triple[0].reshape(n, k), triple[1].reshape(k, m), triple[2].reshape(n, m)
    d, e = opened[:n * k].reshape(n, k), opened[n * k:].reshape(k, m)
    # One product fewer at the holder who also adds d e: d (b + e) + a e.
    right = b + e if party.adds_public else b
    return np.asarray(c + times(d, right) + times(a, e))
