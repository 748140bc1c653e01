"""Number theory of quotients with a common denominator: which counts fit what was opened.

A rounded quotient n/d fits many counts, but the quotients of one class share d. With k independent
quotients of b bits, another denominator fits all of them with a chance of about (d 2^-b)^k, and
there are d of them: up to about 2^(bk/(k+1)) records only the true one is left (`greatest_fixed`).
Smoothing, (n + a)/(d + a s), takes away even the ambiguity of multiples.

So the precision is chosen by the smallest denominator: where a step of the opened values is two
counts wide or more, every count has neighbours that fit, and so has the denominator
(`share_bits`). Means and variances of numbers are opened to a small part of their own sampling
error (`mean_bits`, `variance_bits`): a step is then wider than a unit of the sum, where the unit of
the values is at most about 1/32 of half their range.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unspoken.arrays import Bools, Floats, Ints

LEAST_BITS = 1
MOST_BITS = 20


def greatest_fixed(bits: int, quotients: int) -> int:
    """Return up to which denominator counts are expected to follow from quotients that share it."""
    return int(2.0 ** (bits * quotients / (quotients + 1)))


def share_bits(exponent: int) -> int:
    """Return the bits of shares whose smallest denominator is 2^exponent or more."""
    return min(MOST_BITS, max(LEAST_BITS, exponent - 1))


def mean_bits(exponent: int) -> int:
    """Return the bits of means of this many values, in half ranges."""
    return min(MOST_BITS, exponent // 2 + 6)


def variance_bits(exponent: int) -> int:
    """Return the bits of variances of this many values, in squared half ranges."""
    return min(MOST_BITS, exponent // 2 + 10)


@dataclass(frozen=True)
class Group:
    """Opened shares of all categories of one column in one class: they add up to 1.

    `low` and `high`: between which values each quotient (n + alpha) / (d + alpha size) lies.
    """

    low: Floats
    high: Floats
    alpha: float = 0.0

    def ranges(self, below: Ints) -> tuple[Ints, Ints]:
        """Return the least and the greatest count of each category, by denominator."""
        whole = below[:, None] + self.alpha * self.low.size
        # Quotients are compared as floats: the last bits must not leave out a count that fits.
        least = np.ceil(self.low * whole - self.alpha - 1e-9)
        most = np.floor(self.high * whole - self.alpha + 1e-9)
        return (np.maximum(0, least).astype(np.int64),
                np.minimum(below[:, None], most).astype(np.int64))

    def fits(self, below: Ints) -> Bools:
        """Return which denominators have counts that fit and add up."""
        least, most = self.ranges(below)
        each = (least <= most).all(axis=1)
        return np.asarray(each & (least.sum(axis=1) <= below) & (below <= most.sum(axis=1)))

    def spans(self, below: Ints) -> tuple[Ints, Ints]:
        """Return the least and the greatest count of each category over denominators that fit."""
        least, most = self.ranges(below)
        # The others leave each category at least, and at most, what is left of the denominator.
        room = below - least.sum(axis=1)
        spare = most.sum(axis=1) - below
        return (np.maximum(least, most - spare[:, None]).min(axis=0),
                np.minimum(most, least + room[:, None]).max(axis=0))


def fitting(groups: Sequence[Group], most: int, least: int = 1) -> Ints:
    """Return all denominators from `least` to `most` that fit every group of quotients."""
    below = np.arange(least, most + 1)
    for group in groups:
        below = below[group.fits(below)]
    return below


def around(middles: Floats, bits: int) -> tuple[Floats, Floats]:
    """Return between which values lie those whose step has these middles."""
    return np.asarray(middles - 2.0 ** -(bits + 1)), np.asarray(middles + 2.0 ** -(bits + 1))
