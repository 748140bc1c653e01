"""Division and reciprocals on shares (Newton, in Goldschmidt's order: fewer rounds).

b = d 2^K with d in [0.75, 1.5) (`normal`). A line starts with w = 32/17 - 128/153 d, which is off
by e = 1 - d w, |e| <= 1/17; then 1/d = w (1 + e)(1 + e^2)(1 + e^4) up to e^8, 1.4e-10.

  error: 1/d by at most 5e-9 of itself. `divide` adds one unit in the last place, and, where
    |quotient| times 2^30 times the divisor's range does not fit 62 bits, |a| 2^-g as documented
    at `spare_bits`; state a bound on the quotient (`most`) to avoid that.
  zero: a divisor of 0 counts as one unit, so that the mean of nothing, 0 / 0, is 0.
  discloses: nothing. Safe against all holders but one; never the dealer with a holder.
  cost: about 21 rounds, 9 of them `normal`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from unspoken.errors import explain
from unspoken.joint.joint_errors import RingError
from unspoken.joint.mpc.ops.normalise import FRACTION, Normal, inverse_power, normalise
from unspoken.joint.mpc.ops.products import multiply
from unspoken.joint.mpc.ops.truncation import truncate
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared, public, stack

RECIPROCAL_ERROR = 5e-9
MOST_BITS = 31
ONE = 1 << FRACTION


def plain_divide(one: Any, other: Any) -> Any:
    """Return the reference: a divisor of 0 counts as 1 unit (here: as 1)."""
    return np.divide(one, np.where(np.equal(other, 0), 1, other))


async def reciprocal(party: Party, x: Shared, scale: int = FRACTION) -> Shared:
    """Return 1/x of shared positive values.

    Off by at most 5e-9 of itself and one unit in the last place; about 21 rounds. A value of 0
    counts as one unit. Discloses nothing.

    Parameters
    ----------
    party : Party
        This party, as the program receives it.
    x : Shared
        The values: not negative, below 2^31 units.
    scale : int, default 30
        Fractional bits of the result.

    Returns
    -------
    Shared
        The reciprocals.

    Examples
    --------
    >>> weights = await reciprocal(party, counts)  # doctest: +SKIP
    """
    one = public(party, np.ones(x.shape, np.int64))
    return await divide(party, one, x, scale)


async def divide(party: Party, a: Shared, b: Shared, scale: int = FRACTION,
                 most: float | None = None) -> Shared:
    """Return a / b of shared values; shapes broadcast as in numpy.

    Newton's iteration in Goldschmidt's order, about 21 rounds. A divisor of 0 counts as one unit,
    so that the mean of no values, 0 / 0, is 0. Discloses nothing.

    Parameters
    ----------
    party : Party
        This party, as the program receives it.
    a : Shared
        The dividends.
    b : Shared
        The divisors: not negative, below 2^31 units.
    scale : int, default 30
        Fractional bits of the quotient.
    most : float, optional
        A bound on |a / b| that the caller promises; it keeps more bits. Without it the quotient is
        only known to stay below the greatest |a| over the least b.

    Returns
    -------
    Shared
        The quotients.

    Examples
    --------
    >>> means = await divide(party, sums, counts, most=200.0)  # doctest: +SKIP
    """
    _check(b)
    y, bits = await _inverse(party, b)
    bound = _bound(a, b, most)
    # a y is the quotient with `bits` + a.scale - b.scale fractional bits.
    shift = a.scale - b.scale
    spare = spare_bits(bound, bits + shift)
    if spare > 0:
        y, bits = replace(await truncate(party, y, spare), scale=0), bits - spare
    fraction = bits + shift
    limit = int(bound * 2.0**fraction * (1 + 1e-7)) + max(abs(a.low), abs(a.high)) + 1
    product = await multiply(party, replace(a, scale=0), y, within=(-limit, limit))
    if a.low >= 0:
        product = product.within(0, limit)
    return await _at_scale(party, product, fraction, scale)


def _bound(a: Shared, b: Shared, most: float | None) -> float:
    """Return the public bound on |a / b|."""
    known = max(abs(a.low), abs(a.high)) / max(1, b.low) * 2.0 ** (b.scale - a.scale)
    if most is not None and not most > 0:
        raise RingError(explain("divide: 'most'", "positive", most))
    return known if most is None else min(known, most)


def spare_bits(bound: float, bits: int) -> int:
    """Return how many bits of the reciprocal do not fit beside a quotient of this bound.

    Cutting them off costs an error of |a| in units of the last bit that is left.
    """
    whole = max(0, int(np.ceil(np.log2(max(bound, 1e-300)))))
    return max(0, bits + whole - 60)


async def _at_scale(party: Party, value: Shared, fraction: int, scale: int) -> Shared:
    """Return a product with `scale` of its fractional bits."""
    if scale < 0:
        raise RingError(explain("divide: 'scale'", "not negative", scale))
    if fraction > scale:
        return replace(await truncate(party, replace(value, scale=fraction), fraction - scale),
                       scale=scale)
    return replace(replace(value, scale=0) * (1 << (scale - fraction)), scale=scale)


async def _inverse(party: Party, b: Shared) -> tuple[Shared, int]:
    """Return 1/b, b in units, and how many fractional bits it has: 30 and those of b's range."""
    normal = await normalise(party, b, "divide")
    w = await mantissa_inverse(party, normal)
    power = inverse_power(normal.bits, normal.top, b)
    bits = FRACTION + normal.top
    # One over at least one unit; the product is exact.
    least = max(1, b.low)
    high = (1 << bits) // least + (1 << bits) // (least * 10**8) + 2
    y = await multiply(party, replace(w, scale=0), power, within=(0, high))
    return y, bits


async def mantissa_inverse(party: Party, normal: Normal) -> Shared:
    """Return 1/d with 30 fractional bits for d in [0.75, 1.5)."""
    d = normal.mantissa
    line = replace(d, scale=0) * -(128 * 2**20 // 153) + (32 * 2 ** (FRACTION + 20) // 17)
    w = replace(await truncate(party, line, 20), scale=FRACTION)
    e = ONE - await _times(party, d, w, (15 * ONE // 16, 17 * ONE // 16))
    both = await _times(party, stack([e, w]), stack([e, e]), (-ONE // 8, ONE // 8))
    square, w = both[0].within(-4, ONE // 256 + 4), w + both[1]
    both = await _times(party, stack([square, w]), stack([square, square]), (-4, ONE // 128))
    fourth, w = both[0].within(-4, ONE // 65536 + 4), w + both[1]
    inverse = w + await _times(party, w, fourth, (-4, ONE // 32768))
    return inverse.within(0, 4 * ONE // 3 + 16)


async def _times(party: Party, one: Shared, other: Shared, bounds: tuple[int, int]) -> Shared:
    product = await multiply(party, one, other)
    return replace(await truncate(party, product, FRACTION), scale=FRACTION).within(*bounds)


def _check(b: Shared) -> None:
    if b.high >= 1 << MOST_BITS:
        raise RingError(f"divide: divisors must stay below 2^{MOST_BITS} units. They could reach "
                        f"{b.high}. Truncate divisor and dividend first.")
