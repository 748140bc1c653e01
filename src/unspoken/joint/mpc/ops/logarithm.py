"""ln x, x ln x and the square root on shares (vcz2006 section 4.3; Lindell and Pinkas).

x = m 2^K with m in [0.75, 1.5) (`normal`), then ln x = K ln 2 + p(m - 1) with the polynomial of
degree 8 that is nearest to ln(1 + t) on [-0.25, 0.5] (Remez). It takes four products, where the
book's Taylor series needs 20 terms for the same precision; nothing is scaled by lcm(2..k), which
would not fit.

  error: |ln x| is off by at most 3.5e-8: 2.95e-8 by the polynomial, 5e-9 by rounding. x ln x by
    x times that, and it is exactly 0 at x = 0; ln 0 is taken as 0 (within the error).
    The root is off by at most 8e-9 of itself and two units in the last place, which is about
    2^-29 of the greatest root that the interval allows (2^-30 at best); 0 gives 0.
  discloses: nothing. Safe against all holders but one; never the dealer with a holder.
  cost: about 17 rounds for ln (9 of them `normal`), 18 for x ln x and for the root. Where a
    dealer serves, x ln x of whole numbers goes by `whole_log`: fewer rounds and bytes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from unspoken.errors import explain
from unspoken.joint.joint_errors import RingError
from unspoken.joint.mpc.masked_log import LN
from unspoken.joint.mpc.ops.normalise import FRACTION, Normal, normalise
from unspoken.joint.mpc.ops.products import multiply
from unspoken.joint.mpc.ops.truncation import truncate
from unspoken.joint.mpc.ops.whole_log import serves, whole_x_log_x
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared, public, stack

LOG_ERROR = 3.5e-8
ROOT_ERROR = 8e-9
# In units of 2^-31; the polynomial nearest to sqrt(1 + t) relative to itself.
ROOT = (2147483651, 1073741963, -268436529, 134203472, -83812983, 59036669, -45837569, 34128563,
        -14940106)
COEFFICIENT = 31
ONE = 1 << FRACTION


def plain_log(x: Any) -> Any:
    """Return the reference: ln x, and 0 at 0."""
    return np.log(np.where(np.equal(x, 0), 1, x))


def plain_x_log_x(x: Any) -> Any:
    """Return the reference."""
    return np.multiply(x, plain_log(x))


async def log(party: Party, x: Shared, scale: int = FRACTION) -> Shared:
    """Return the natural logarithm of shared values.

    A polynomial of degree 8 (vcz2006 section 4.3 has a Taylor series), off by at most 3.5e-8; about
    17 rounds. ln 0 is taken as 0. Discloses nothing.

    Parameters
    ----------
    party : Party
        This party, as the program receives it.
    x : Shared
        The values, not negative.
    scale : int, default 30
        Fractional bits of the result, from 1 to 30.

    Returns
    -------
    Shared
        The logarithms.

    Examples
    --------
    >>> logs = await log(party, counts)  # doctest: +SKIP
    """
    normal = await normalise(party, x, "log")
    return await _log(party, x, normal, _scale(scale, "log"))


async def _log(party: Party, x: Shared, normal: Normal, scale: int) -> Shared:
    fraction = await polynomial(party, normal.mantissa - ONE, LN)
    whole = normal.table(lambda k: (k - x.scale) * math.log(2), FRACTION)
    if x.low <= 0 and x.scale:
        # The table starts at -scale ln 2, which a zero must not get.
        start = round(x.scale * math.log(2) * ONE)
        whole = whole + replace((1 - normal.positive) * start, scale=FRACTION)
    slack = math.ceil(LOG_ERROR * ONE) + 1
    # The least unit is the least positive value; a zero counts as ln 1.
    least = min(0 if x.low <= 0 else math.inf, math.log(max(1, x.low)) - x.scale * math.log(2))
    most = max(0.0, math.log(max(1, x.high)) - x.scale * math.log(2))
    result = (whole + fraction).within(math.floor(least * ONE) - slack,
                                       math.ceil(most * ONE) + slack)
    return result if scale == FRACTION else await truncate(party, result, FRACTION - scale)


async def x_log_x(party: Party, x: Shared, scale: int = FRACTION) -> Shared:
    """Return x ln x of shared values, exactly 0 at 0.

    The step behind entropies (vcz2006 section 4.3). Off by at most 3.5e-8 times x; about 18 rounds,
    fewer for whole numbers where a dealer serves. Discloses nothing.

    Parameters
    ----------
    party : Party
        This party, as the program receives it.
    x : Shared
        The values, not negative.
    scale : int, default 30
        Fractional bits of the logarithm, from 1 to 30; the scale of x is added.

    Returns
    -------
    Shared
        The products.

    Examples
    --------
    >>> terms = await x_log_x(party, counts)  # doctest: +SKIP
    """
    if scale == FRACTION and serves(party, x):
        return await whole_x_log_x(party, x)
    logs = await log(party, x, scale)
    return await multiply(party, x, logs)


async def sqrt(party: Party, x: Shared, scale: int | None = None) -> Shared:
    """Return the square root of shared values.

    Off by at most 8e-9 of itself and two units in the last place; about 18 rounds. Discloses
    nothing.

    Parameters
    ----------
    party : Party
        This party, as the program receives it.
    x : Shared
        The values, not negative.
    scale : int, optional
        Fractional bits of the result. Default: as many as fit, at most 30.

    Returns
    -------
    Shared
        The roots.

    Examples
    --------
    >>> deviations = await sqrt(party, variances)  # doctest: +SKIP
    """
    normal = await normalise(party, x, "sqrt")
    mantissa = await polynomial(party, normal.mantissa - ONE, ROOT)
    most = math.isqrt(max(1, x.high) << 2) / 2 ** (1 + x.scale / 2) + 1
    room = 60 - FRACTION - math.ceil(math.log2(most))
    fine = min(FRACTION, room)
    scale = fine if scale is None else scale
    if not 0 <= scale <= fine:
        raise RingError(explain("sqrt: 'scale'", f"between 0 and {fine} here", scale))
    power = normal.table(lambda k: 2 ** ((k - x.scale) / 2), fine)
    power = await multiply(party, normal.positive, power)
    root = await multiply(party, mantissa.within(0, 5 * ONE // 4), power)
    return await truncate(party, root, root.scale - scale)


def _scale(scale: int, what: str) -> int:
    if not 1 <= scale <= FRACTION:
        raise RingError(explain(f"{what}: 'scale'", f"between 1 and {FRACTION}", scale))
    return scale


async def polynomial(party: Party, t: Shared, coefficients: Sequence[int]) -> Shared:
    """Return a polynomial of degree 8 in t, |t| <= 1/2, with 30 fractional bits: 7 rounds.

    It is taken apart as low(t) + t^4 high(t) (Paterson and Stockmeyer): four products, not seven.
    """
    second = _power(await _cut(party, await multiply(party, t, t)), 2)
    pair = await _cut(party, await multiply(party, stack([t, second]), stack([second, second])))
    third, fourth = _power(pair[0], 3), _power(pair[1], 4)
    high = _terms(party, t.shape, coefficients[4:], [t, second, third, fourth])
    high = replace(await truncate(party, high, COEFFICIENT), scale=FRACTION)
    upper = await multiply(party, fourth, high)
    # The product has 60 fractional bits, the terms below it 61.
    lower = _terms(party, t.shape, coefficients[:4], [t, second, third])
    return await truncate(party, replace(upper * 2, scale=lower.scale) + lower, COEFFICIENT)


async def _cut(party: Party, product: Shared) -> Shared:
    return replace(await truncate(party, product, FRACTION), scale=FRACTION)


def _power(value: Shared, degree: int) -> Shared:
    """Return a power with the bounds that |t| <= 1/2 gives; intervals alone would grow."""
    return value.within(*_power_bounds(degree))


def _terms(party: Party, shape: tuple[int, ...], coefficients: Sequence[int],
           powers: Sequence[Shared]) -> Shared:
    """Return a constant and the first powers times their coefficients."""
    scale = FRACTION + COEFFICIENT
    total = public(party, np.full(shape, coefficients[0] << FRACTION), scale)
    for power, c in zip(powers, coefficients[1:], strict=True):
        total = total + replace(power * c, scale=scale)
    return total


def _power_bounds(degree: int) -> tuple[int, int]:
    """Return where t^degree lies for t in [-1/4, 1/2], with room for rounding."""
    least = -(ONE >> (2 * degree)) if degree % 2 else 0
    return least - 4, (ONE >> degree) + 4
