"""Oblivious polynomial evaluation (Naor and Pinkas 1999): one has a polynomial, another points.

The owner of the points takes their powers itself, so that what is left is one scalar product of
its powers and the other's coefficients, for all points together. Two holders without a dealer do
it by transfers for the bits of one side (Gilboa 1999); else it is one product of shared matrices.
  discloses: degree, bounds and the number of points, which are public. The values stay shared.
  safe against: as products of shares; between two holders alone, either of them.
  cost: two-party 768 bytes per coefficient and point; else as `matmul` of n x (d + 1) by
    (d + 1) x 1.

**evaluate_to** opens the values to the owner of the points. d + 1 values give a polynomial of
degree d away, so that more points than the degree are refused; it does not count over calls. It
never opens to the owner of the polynomial, which would solve p(x) = y for x.

Whole numbers are exact. With `scale` fractional bits the powers are rounded before they are
multiplied: the error is below (|a_0| + ... + |a_d|) / 2 + |x|^d (d + 1) / 2 + 1 in the last place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unspoken.arrays import Words
from unspoken.joint.joint_errors import RefusedError, RingError
from unspoken.joint.mpc.ops.products import matmul
from unspoken.joint.mpc.ops.sharing import reveal, share
from unspoken.joint.mpc.ops.truncation import truncate
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared, check_interval, to_ring


@dataclass(frozen=True)
class Side:
    """What one side has: whose it is, how many, and between which bounds, all of it public.

    Bounds are in units of the values themselves, not of their last place.
    """

    owner: str
    count: int
    low: float
    high: float


def plain_polynomial(coefficients: Any, points: Any) -> Any:
    """Return the reference; the constant comes first."""
    return np.polynomial.polynomial.polyval(np.asarray(points), np.asarray(coefficients))


async def evaluate(party: Party, values: Any, polynomial: Side, points: Side,
                   scale: int = 0) -> Shared:
    """Return p(x) as shares: one owner has the polynomial, another the points.

    Oblivious polynomial evaluation (Naor and Pinkas 1999). Discloses the degree, the bounds and the
    number of points, which are public. Whole numbers are exact.

    Parameters
    ----------
    party : Party
        This party, as the program receives it.
    values : array or None
        This owner's side: the coefficients, constant first, or the points. None for other parties.
    polynomial : Side
        Owner, number and bounds of the coefficients (`oblivious_polynomial.Side`).
    points : Side
        Owner, number and bounds of the points.
    scale : int, default 0
        Fractional bits.

    Returns
    -------
    Shared
        One value per point.

    Examples
    --------
    >>> p = await evaluate(party, own, Side("a", 3, -9, 9), Side("b", 10, 0, 100))  # doctest: +SKIP
    """
    degree = _check(party, polynomial, points)
    powers = _power_interval(points, degree)
    inputs = values if party.name != points.owner else _powers(values, degree)
    if party.engine.multiplies_own({polynomial.owner, points.owner}):
        result = await _directly(party, inputs, (polynomial, points), powers, scale)
    else:
        one = await share(party, inputs if party.name == points.owner else None, points.owner,
                          (points.count, degree + 1), *_units(powers, scale), scale)
        other = await share(party, _column(inputs) if party.name == polynomial.owner else None,
                            polynomial.owner, (degree + 1, 1),
                            *_units((polynomial.low, polynomial.high), scale), scale)
        result = (await matmul(party, one, other)).reshape(points.count)
    return await truncate(party, result, scale) if scale else result


async def evaluate_to(party: Party, values: Any, polynomial: Side, points: Side, *, because: str,
                      scale: int = 0) -> Any:
    """Return p(x) to the owner of the points, None to the others."""
    degree = _check(party, polynomial, points)
    if points.count > degree:
        raise RefusedError(f"{points.count} values of a polynomial of degree {degree} give it "
                           f"away. Ask for at most {degree} points, or keep the values shared.")
    result = await evaluate(party, values, polynomial, points, scale)
    return await reveal(party, result, because=because, to=[points.owner])


def _check(party: Party, polynomial: Side, points: Side) -> int:
    """Return the degree, if there are two sides."""
    for side in (polynomial, points):
        if side.owner not in party.roles.owners:
            raise RefusedError(f"'{side.owner}' owns no data here. Owners: "
                               f"{', '.join(party.roles.owners)}.")
    if polynomial.owner == points.owner:
        raise RefusedError(f"'{points.owner}' must not have both the polynomial and the points: "
                           "it can evaluate them alone.")
    if polynomial.count < 2:
        raise RingError("A polynomial needs at least 2 coefficients. "
                        f"Got {polynomial.count}.")
    return polynomial.count - 1


def _power_interval(points: Side, degree: int) -> tuple[float, float]:
    """Return between which bounds all powers from 0 to the degree lie."""
    ends = [end**k for end in (points.low, points.high) for k in range(degree + 1)]
    return min(0, *ends), max(1, *ends)


def _powers(points: Any, degree: int) -> Any:
    """Return the powers of every point; whole numbers must not wrap before they are checked."""
    values = np.asarray(points)
    if values.dtype.kind in "iub":
        values = values.astype(object)
    powers = values.reshape(-1, 1) ** np.arange(degree + 1)
    if powers.dtype != object:
        return powers
    if powers.size and max(abs(power) for power in powers.flat) >= 1 << 62:
        raise RingError("Some powers of the points reach 2^62. Use smaller points or a lower "
                        "degree.")
    return powers.astype(np.int64)


def _column(coefficients: Any) -> Any:
    return np.asarray(coefficients).reshape(-1, 1)


def _units(interval: tuple[float, float], scale: int) -> tuple[int, int]:
    """Return bounds in units of the last place, rounded outwards."""
    return (int(np.floor(interval[0])) << scale) - 1, (int(np.ceil(interval[1])) << scale) + 1


async def _directly(party: Party, inputs: Any, sides: tuple[Side, Side],
                    powers: tuple[float, float], scale: int) -> Shared:
    """Multiply: the choosing holder has the rows and the other the columns of one product."""
    party.begin("polynomial")
    polynomial, points = sides
    one, other = _units(powers, scale), _units((polynomial.low, polynomial.high), scale)
    ends = [a * b * polynomial.count for a in one for b in other]
    check_interval(min(ends), max(ends), "The values of a polynomial")
    rows, columns = (points.count, 1) if points.owner == party.holders[-1] else (1, points.count)
    own = (_own(party, inputs, sides, (one, other), scale) if party.is_holder
           else np.zeros((0, 0), np.uint64))
    product = await party.engine.own_product(own, rows, polynomial.count, columns)
    return Shared(party, product.reshape(-1), min(0, *ends), max(0, *ends), 2 * scale)


def _own(party: Party, inputs: Any, sides: tuple[Side, Side],
         bounds: tuple[tuple[int, int], tuple[int, int]], scale: int) -> Words:
    """Return this holder's factor as ring words: rows if it chooses, columns if it offers."""
    polynomial, points = sides
    if party.name == points.owner:
        words = to_ring(inputs, *bounds[0], scale, "The powers of the points")
        words = words if party.name == party.holders[-1] else words.T
        expected = points.count * polynomial.count
    else:
        words = to_ring(_column(inputs), *bounds[1], scale, "The coefficients")
        expected = polynomial.count
    if words.size != expected:
        raise RingError(f"This side must have {expected} values in all. It has {words.size}.")
    return np.ascontiguousarray(words)
