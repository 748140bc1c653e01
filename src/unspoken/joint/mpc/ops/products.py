"""Products of shared values by multiplication triples (Beaver 1991; matrix triples: SecureML).

To multiply x and y, the holders open x - a and y - b for random a, b nobody knows, of which they
also have shares of a b. The opened words are uniform.
  discloses: nothing (shapes are public; the dealer learns them).
  safe against: all holders but one; never against the dealer together with a holder.
  cost: 1 round; 16 bytes per element from each holder to each other, 8 from the dealer. A matrix
    product n x k by k x m opens n k + k m words, not n k m.
The book's commodity server (vcz2006 section 5.2.1) is this over the ring; over the reals, as
printed there, it is not secure. Products of fixed point add their scales: truncate afterwards.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from unspoken.joint.joint_errors import RingError
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared, check_interval, corners


def plain_multiply(one: Any, other: Any) -> Any:
    """Return the reference."""
    return np.multiply(one, other)


async def multiply(party: Party, one: Shared, other: Shared,
                   within: tuple[int, int] | None = None) -> Shared:
    """Return the products of shared values, element by element; shapes broadcast as in numpy.

    One multiplication triple per element (Beaver 1991), 1 round. Discloses nothing; a dealer learns
    the shapes. Scales add: truncate fixed-point products afterwards.

    Parameters
    ----------
    party : Party
        This party, as the program receives it.
    one, other : Shared
        The factors.
    within : tuple of int, optional
        An interval that the caller promises and that the factors' intervals do not show, as for x
        times 1/x.

    Returns
    -------
    Shared
        The products.

    Examples
    --------
    >>> squares = await multiply(party, x, x)  # doctest: +SKIP
    """
    party.begin("multiply")
    low, high = within or corners(one, other)
    check_interval(low, high, "A product")
    x, y = np.broadcast_arrays(one.share, other.share)
    shape = x.shape
    blank = replace(one, share=np.zeros(shape, np.uint64), low=low, high=high,
                    scale=one.scale + other.scale, rounded=one.rounded or other.rounded)
    return blank.with_share((await party.engine.multiply(x, y)).reshape(shape))


async def matmul(party: Party, one: Shared, other: Shared,
                 within: tuple[int, int] | None = None) -> Shared:
    """Return the matrix product of two shared matrices.

    One matrix triple (SecureML), 1 round. Discloses nothing; a dealer learns the shapes. Scales
    add.

    Parameters
    ----------
    party : Party
        This party, as the program receives it.
    one : Shared
        A matrix n x k.
    other : Shared
        A matrix k x m.
    within : tuple of int, optional
        An interval that the caller promises for the product.

    Returns
    -------
    Shared
        The product, n x m.

    Examples
    --------
    >>> product = await matmul(party, x, y)  # doctest: +SKIP
    """
    party.begin("matmul")
    n, k, m = _sizes(one, other)
    ends = corners(one, other)
    low, high = within or (min(0, ends[0] * k), max(0, ends[1] * k))
    check_interval(low, high, "A matrix product")
    blank = replace(one, share=np.zeros((n, m), np.uint64), low=low, high=high,
                    scale=one.scale + other.scale, rounded=one.rounded or other.rounded)
    return blank.with_share(await party.engine.matmul(one.share, other.share))


async def dot(party: Party, one: Shared, other: Shared) -> Shared:
    """Return the scalar product of two shared vectors, as a shared value.

    1 round. Discloses nothing; a dealer learns the length. Scales add.

    Parameters
    ----------
    party : Party
        This party, as the program receives it.
    one, other : Shared
        Two vectors of the same length.

    Returns
    -------
    Shared
        The scalar product, without axes.

    Examples
    --------
    >>> product = await dot(party, x, y)  # doctest: +SKIP
    """
    return (await matmul(party, one.reshape(1, -1), other.reshape(-1, 1))).reshape()


def _sizes(one: Shared, other: Shared) -> tuple[int, int, int]:
    fits = len(one.shape) == len(other.shape) == 2 and one.shape[1] == other.shape[0]
    if not fits:
        raise RingError("Only matrices of shapes n x k and k x m can be multiplied. Got shapes "
                        f"{one.shape} and {other.shape}.")
    return one.shape[0], one.shape[1], other.shape[1]
