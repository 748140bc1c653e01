"""Probabilities from log-odds on shares: 1 / (1 + exp(-x)), and the logarithm of the likelihood.

The magnitude is cut at 16 and divided by 16; exp of that is a polynomial of degree 9 and then
squared four times; 1 / (1 + e) takes three of Newton's steps; the sign decides in the end.
ln(1 + e) is a polynomial of degree 10.
  error: 2e-7, of which 1.2e-7 is the cut at 16; 3e-7 for the logarithm of the likelihood.
  discloses: nothing. Safe against: as products and comparisons in the mode.
  cost: about 70 rounds, and 1.5 kB a value.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import factorial

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial

from unspoken.joint.mpc.ops.choice import minimum
from unspoken.joint.mpc.ops.less_than import less_than
from unspoken.joint.mpc.ops.products import multiply
from unspoken.joint.mpc.ops.shared_bits import to_numbers
from unspoken.joint.mpc.ops.truncation import truncate
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared

SCALE = 26
LOGARITHM = 10


@dataclass(frozen=True)
class Fineness:
    """Where magnitudes are cut, the degree of the polynomial, and how many of Newton's steps."""

    greatest: int = 16
    degree: int = 9
    steps: int = 3


FINEST = Fineness()


async def sigmoid(party: Party, odds: Shared, fineness: Fineness = FINEST) -> Shared:
    """Return probabilities with 26 fractional bits; the log-odds must have as many."""
    negative, power = await _signs_and_powers(party, odds, fineness)
    likely = await _one_over_one_plus(party, power, fineness.steps)
    # p for a positive number, 1 - p for a negative one: p + s (1 - 2 p).
    turned = await _times(party, 0 - (likely * 2 - (1 << SCALE)), negative)
    return (likely + turned).within(0, 1 << SCALE)


async def log_likelihoods(party: Party, odds: Shared, yes: Shared) -> Shared:
    """Return the logarithm of the probability of what was seen, yes (1) or no (0)."""
    negative, power = await _signs_and_powers(party, odds)
    # y x - max(x, 0) = x (y - 1 + s).
    signs = (replace(yes, scale=0) + replace(negative, scale=0) - 1).within(-1, 1)
    most = max(-odds.low, odds.high)
    lines = (await multiply(party, odds, signs)).within(-most, most)
    return lines - await _log_one_plus(party, power)


async def _signs_and_powers(party: Party, odds: Shared,
                            fineness: Fineness = FINEST) -> tuple[Shared, Shared]:
    """Return 1 for negative numbers, and exp(-|x|)."""
    negative = await to_numbers(party, await less_than(party, odds, 0))
    size = odds - await _times(party, odds, negative) * 2
    size = size.within(0, max(0, -odds.low, odds.high))
    size = await minimum(party, size, _full(party, size, fineness.greatest << SCALE))
    small = await truncate(party, size.within(0, fineness.greatest << SCALE), 4)
    return negative, await _exp(party, replace(small, scale=SCALE), fineness.degree)


async def _times(party: Party, values: Shared, bits: Shared) -> Shared:
    """Return values where a shared 1 stands, and 0 elsewhere."""
    return (await multiply(party, values, bits)).within(min(0, values.low), max(0, values.high))


def _full(party: Party, like: Shared, number: int) -> Shared:
    return (like - like).within(0, 0) + number


async def _product(party: Party, one: Shared, other: Shared) -> Shared:
    """Return a product cut to 26 fractional bits."""
    return await truncate(party, await multiply(party, one, other), SCALE)


async def _exp(party: Party, x: Shared, degree: int) -> Shared:
    """Return exp(-16 x) for x in [0, 1] with 26 fractional bits, cut from 30."""
    x = x.within(0, (1 << SCALE) + 1)
    terms = [round((-1) ** k / factorial(k) * (1 << SCALE)) for k in range(degree + 1)]
    total = _full(party, x, terms[-1])
    for term in terms[-2::-1]:
        total = (await _product(party, total, x) + term).within(-(2 << SCALE), 2 << SCALE)
    total = total.within(0, (1 << SCALE) + 64)
    for _ in range(4):
        total = (await _product(party, total, total)).within(0, (1 << SCALE) + 1024)
    return total


async def _one_over_one_plus(party: Party, e: Shared, steps: int) -> Shared:
    """Return 1 / (1 + e) for e in [0, 1]: a line, and some of Newton's steps."""
    d = (e + (1 << SCALE)).within(1 << SCALE, (2 << SCALE) + 1024)
    # 24/17 - 8/17 d is off by at most 1/17 of itself for d in [1, 2].
    line = await truncate(party, d * round(8 / 17 * (1 << 20)), 20)
    x = (round(24 / 17 * (1 << SCALE)) - replace(line, scale=SCALE)).within(0, 2 << SCALE)
    for _ in range(steps):
        rest = (2 << SCALE) - (await _product(party, d, x)).within(0, 2 << SCALE)
        x = (await _product(party, x, rest)).within(0, (1 << SCALE) + 1024)
    return x


async def _log_one_plus(party: Party, e: Shared) -> Shared:
    """Return ln(1 + e) for e in [0, 1], off by 3e-8 and rounding."""
    fit = Chebyshev.interpolate(np.log1p, LOGARITHM, (0, 1)).convert(kind=Polynomial).coef
    terms = [round(float(term) * (1 << SCALE)) for term in fit]
    total = _full(party, e, terms[-1])
    for term in terms[-2::-1]:
        total = (await _product(party, total, e) + term).within(-(2 << SCALE), 2 << SCALE)
    return total.within(-64, 1 << SCALE)
