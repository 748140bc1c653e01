"""The inverse of a positive definite matrix on shares (vcz2006 section 5.2.1, by another method).

The book opens P (A + B) Q for random P and Q; over the reals that shows scale and determinant,
and modulo 2^64 it is not the real inverse. Here S = M / 2^e, 2^e a public bound on the greatest
eigenvalue, is inverted by Newton and Schulz: X <- X (2 I - S X) from X = I. After k steps every
eigenvalue of X lies between 0 and 2^k whatever S is, so nothing can overflow, and the residual
I - S X has the eigenvalues (1 - s)^(2^k).

  error: refused unless every entry of I - S X is below 2^-40; then the inverse is off by at most
    p 2^-40 of itself, and in practice by rounding alone (2^-96 times the condition number).
  discloses: one bit, whether the residual is small enough; it must be declared (`ILL`). A matrix
    whose least eigenvalue is above 2^e / condition passes for certain.
  safe against: all holders but one; never the dealer with a holder.
  cost: log2(condition) + 6 steps of 6 to 8 rounds, and one comparison.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, log2

import numpy as np

from unspoken.errors import explain
from unspoken.joint.joint_errors import RefusedError, RingError
from unspoken.joint.mpc.multi_limb import FINE, Wide, public_wide
from unspoken.joint.mpc.ops.less_than import less_than
from unspoken.joint.mpc.ops.limb_products import wide_matmul
from unspoken.joint.mpc.ops.limb_sharing import narrow, rescale
from unspoken.joint.mpc.ops.shared_bits import to_numbers
from unspoken.joint.mpc.ops.sharing import reveal
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared, stack

ILL = "whether a matrix was too ill-conditioned to invert"
RESIDUAL = 40
MOST_STEPS = 34


async def inverse(party: Party, matrix: Wide, most: float, condition: float = 2.0**20) -> Wide:
    """Return the inverse of a shared positive definite matrix.

    Newton and Schulz on shares (the book's way, vcz2006 section 5.2.1, would show scale and
    determinant). Discloses one bit, whether the matrix was too ill-conditioned to invert; it must
    be declared (`matrix_inverse.ILL`), and such a matrix is refused.

    Parameters
    ----------
    party : Party
        This party, as the program receives it.
    matrix : Wide
        A square, positive definite matrix.
    most : float
        A public bound on the greatest eigenvalue (the trace is one).
    condition : float, default 2**20
        `most` over the least eigenvalue that must still work; at most 2^28. Every doubling costs
        one step more.

    Returns
    -------
    Wide
        The inverse.

    Examples
    --------
    >>> inverted = await inverse(party, moments, most=500.0)  # doctest: +SKIP
    """
    inverted, small = await newton_schulz(party, matrix, most, condition)
    if not bool(await reveal(party, small, because=ILL)):
        raise RefusedError(
            "The matrix is too ill-conditioned to be inverted: its condition is above about "
            f"{condition:.3g}, because columns depend on each other. Leave some out, or give a "
            "greater 'condition'. Every party learned this one bit.")
    return inverted


async def newton_schulz(party: Party, matrix: Wide, most: float,
                        condition: float = 2.0**20) -> tuple[Wide, Shared]:
    """Return the inverse, and as a shared 0 or 1 whether it is one.

    `most` bounds the greatest eigenvalue (the trace does); `condition` is most / the least one.
    """
    steps = steps_for(condition)
    shift = ceil(log2(most))
    s = (await rescale(party, matrix.shifted(shift), FINE)).within(1)
    eye = public_wide(party, np.eye(_order(matrix)), FINE)
    # The first step from X = I is 2 I - S.
    x = (eye * 2 - s)
    for step in range(1, steps):
        x = (await wide_matmul(party, x, await _correction(party, s, x, eye), FINE)).within(
            2 ** (step + 1))
    small = await _is_small(party, await _correction(party, s, x, eye) - eye)
    return x.shifted(shift), small


async def _correction(party: Party, s: Wide, x: Wide, eye: Wide) -> Wide:
    """Return 2 I - S X."""
    product = (await wide_matmul(party, s, x, FINE)).within(Fraction(9, 8))
    return eye * 2 - product


async def _is_small(party: Party, residual: Wide) -> Shared:
    """Return 1 if every entry is below 2^-40 in magnitude, else 0: all in one comparison."""
    entries = await narrow(party, residual, RESIDUAL + 8, 4)
    far = await less_than(party, stack([entries, -entries]), -(1 << 8))
    count = (await to_numbers(party, far)).sum()
    return await to_numbers(party, await less_than(party, count, 1))


def steps_for(condition: float) -> int:
    """Return how many steps bring exp(-2^k / condition) below 2^-64."""
    steps = ceil(log2(max(1.0, condition))) + 6
    if not steps <= MOST_STEPS:
        raise RingError(explain("inverse: 'condition'", f"at most 2^{MOST_STEPS - 6}",
                                condition))
    return steps


def _order(matrix: Wide) -> int:
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise RingError(f"A matrix to invert must be square. It is of shape {matrix.shape}.")
    return matrix.shape[0]
