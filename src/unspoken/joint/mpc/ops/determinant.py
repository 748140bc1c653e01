"""Determinant and norm of shared matrices (vcz2006 section 5.2.1 says "similar techniques").

The determinant of a positive definite matrix is the product of the pivots of elimination, which
needs no search for pivots there. With S = M / 2^e, 2^e a bound on the greatest eigenvalue, all
pivots lie between 0 and 1, and what is eliminated stays below 1 as well. A pivot below 2^-40 is
divided by as if it were 2^-40, so that a singular matrix overflows nothing; its determinant
comes out as nearly 0.

  error: `determinant` p 2^-90 in units of 2^(p e), and as much relative to itself as the pivots
    are off: below 1e-9 for conditions up to 2^20. `log_determinant` 4e-8 p then.
    `norm` 1e-8 of itself, and one unit in the last place.
  discloses: nothing. Safe against all holders but one; never the dealer with a holder.
  cost: about 50 rounds per column; norm 25 rounds in all.
"""

from __future__ import annotations

import math
from dataclasses import replace
from math import ceil, log2

import numpy as np

from unspoken.joint.joint_errors import RingError
from unspoken.joint.mpc.multi_limb import FINE, Wide, join_wide, public_wide
from unspoken.joint.mpc.ops.choice import select
from unspoken.joint.mpc.ops.division import mantissa_inverse
from unspoken.joint.mpc.ops.less_than import less_than
from unspoken.joint.mpc.ops.limb_products import wide_matmul, wide_multiply
from unspoken.joint.mpc.ops.limb_sharing import carry, narrow, rescale
from unspoken.joint.mpc.ops.logarithm import log, sqrt
from unspoken.joint.mpc.ops.normalise import FRACTION, inverse_power, normalise
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared, public

NEAR = 58
LEAST = 40


async def determinant(party: Party, matrix: Wide, most: float) -> Wide:
    """Return the determinant of a shared positive definite matrix.

    Elimination on shares, about 50 rounds per column (vcz2006 section 5.2.1 names the problem
    only). The determinant of a singular matrix comes out as nearly 0. Discloses nothing.

    Parameters
    ----------
    party : Party
        This party, as the program receives it.
    matrix : Wide
        A square, positive definite matrix.
    most : float
        A public bound on the greatest eigenvalue (the trace is one).

    Returns
    -------
    Wide
        The determinant, without axes.

    Examples
    --------
    >>> volume = await determinant(party, covariance, most=4.0)  # doctest: +SKIP
    """
    factors = await pivots(party, matrix, most)
    while factors.shape[0] > 1:
        half = factors.shape[0] // 2
        product = await wide_multiply(party, factors[:half], factors[half:2 * half], FINE)
        factors = join_wide([product.within(1), factors[2 * half:]])
    return factors[0].shifted(-matrix.shape[0] * ceil(log2(most)))


async def log_determinant(party: Party, matrix: Wide, most: float) -> Shared:
    """Return the natural logarithm of the determinant of a shared positive definite matrix.

    Off by at most 4e-8 per column for conditions up to 2^20. Discloses nothing.

    Parameters
    ----------
    party : Party
        This party, as the program receives it.
    matrix : Wide
        A square, positive definite matrix.
    most : float
        A public bound on the greatest eigenvalue (the trace is one).

    Returns
    -------
    Shared
        The logarithm, with 30 fractional bits.

    Examples
    --------
    >>> logarithm = await log_determinant(party, covariance, most=4.0)  # doctest: +SKIP
    """
    narrowed = await narrow(party, await pivots(party, matrix, most), NEAR, 1)
    # Rounding may leave the pivot of a singular matrix below zero: it counts as 2^-40.
    logs = await log(party, await _at_least(party, narrowed))
    shift = matrix.shape[0] * ceil(log2(most))
    return logs.sum() + round(shift * math.log(2) * (1 << FRACTION))


async def pivots(party: Party, matrix: Wide, most: float) -> Wide:
    """Return the pivots of M / 2^e, e the least that bounds `most`."""
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise RingError(f"The matrix of a determinant must be square. Its shape is "
                        f"{matrix.shape}.")
    s = (await rescale(party, matrix.shifted(ceil(log2(most))), FINE)).within(1)
    leading = [s[:1, 0]]
    while s.shape[0] > 1:
        column = s[1:, :1]
        ratio = await wide_matmul(party, column, await _reciprocal(party, s[:1, :1]), FINE)
        taken = await wide_matmul(party, ratio.within(2.0 ** (LEAST // 2 + 1)), column.T, FINE)
        s = (await carry(party, s[1:, 1:] - taken.within(2))).within(1)
        leading.append(s[:1, 0])
    return join_wide(leading)


async def _reciprocal(party: Party, x: Wide) -> Wide:
    """Return 1/x for x in (0, 1]: a start of 30 bits and one step of Newton."""
    near = await _at_least(party, await narrow(party, x, NEAR, 1))
    normal = await normalise(party, near, "determinant")
    mantissa = Wide((replace(await mantissa_inverse(party, normal), scale=0),), FRACTION)
    power = Wide((inverse_power(normal.bits, normal.top, near),), normal.top)
    start = (await wide_multiply(party, mantissa, power)).shifted(-NEAR)
    y = (await rescale(party, start, FINE)).within(2.0 ** (LEAST + 1))
    two = public_wide(party, np.full(x.shape, 2.0), FINE)
    rest = two - (await wide_multiply(party, x, y, FINE)).within(2)
    return (await wide_multiply(party, y, rest, FINE)).within(2.0 ** (LEAST + 1))


async def _at_least(party: Party, x: Shared) -> Shared:
    """Return x, or 2^-40 where it is less."""
    least = 1 << (NEAR - LEAST)
    low = replace(public(party, np.full(x.shape, least)), scale=x.scale)
    raised = await select(party, await less_than(party, x, low), low, x)
    return raised.within(least, x.high)


async def norm(party: Party, matrix: Wide) -> Shared:
    """Return the Frobenius norm of a shared matrix, or the length of a shared vector.

    Off by at most 1e-8 of itself and one unit in the last place; 25 rounds. Discloses nothing.

    Parameters
    ----------
    party : Party
        This party, as the program receives it.
    matrix : Wide
        The values; their squares must add up to less than 2^57 by their bounds.

    Returns
    -------
    Shared
        The norm, without axes.

    Examples
    --------
    >>> length = await norm(party, residuals)  # doctest: +SKIP
    """
    flat = matrix.reshape(1, -1)
    square = await wide_matmul(party, flat, flat.T)
    bound = float(matrix.most) ** 2 * flat.shape[1]
    scale = 57 - ceil(log2(bound))
    if scale < 0:
        raise RingError("norm: the sum of the squares must stay below 2^57. It could reach "
                        f"{bound:.3g}. Promise tighter bounds first.")
    squares = await narrow(party, square, min(scale, 56), bound)
    return (await sqrt(party, squares.within(0, squares.high))).reshape()
