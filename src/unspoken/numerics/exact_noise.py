"""Noise on whole numbers without rounding: what a stated epsilon needs.

Floating-point noise gives its value away in the low bits of a sum (Mironov 2012). Here nothing is
rounded: uniform integers by rejection from ChaCha20 bytes, Bernoulli trials of probability
exp(-a/b) from those alone, and the discrete Laplace law P(x) ~ exp(-|x| / scale) from these
(Canonne, Kamath and Steinke 2020, algorithms 1 and 2). The scale is a fraction.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

_AHEAD = 512


class Coins:
    """Exact random decisions from a stream of random bytes."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._bytes = b""
        self._at = 0

    def _take(self, count: int) -> int:
        if self._at + count > len(self._bytes):
            self._bytes, self._at = self._rng.bytes(max(count, _AHEAD)), 0
        self._at += count
        return int.from_bytes(self._bytes[self._at - count : self._at], "little")

    def below(self, bound: int) -> int:
        """Return a whole number from 0 to bound - 1, all equally likely."""
        bits = max((bound - 1).bit_length(), 1)
        count = -(-bits // 8)
        while True:
            drawn = self._take(count) >> (8 * count - bits)
            if drawn < bound:
                return drawn

    def fades(self, over: int, under: int) -> bool:
        """Return True with probability exp(-over / under), for over <= under.

        Trials of probability rate, rate/2, rate/3, ... go on while they succeed; an even number of
        successes is a yes (the series of the exponential function).
        """
        step = 1
        while self.below(under * step) < over:
            step += 1
        return step % 2 == 1


def discrete_laplace(scale: Fraction, rng: np.random.Generator) -> int:
    """Return a whole number x with probability proportional to exp(-|x| / scale)."""
    coins, long, short = Coins(rng), scale.numerator, scale.denominator
    while True:
        offset = coins.below(long)
        if not coins.fades(offset, long):
            continue
        laps = 0
        while coins.fades(1, 1):
            laps += 1
        size, negative = (offset + long * laps) // short, coins.below(2) == 1
        # Zero has one sign only, or it would come twice as often.
        if not (negative and size == 0):
            return -size if negative else size


def laplace_deviation(scale: Fraction) -> float:
    """Return the standard deviation of the discrete Laplace law."""
    fade = math.exp(-1 / float(scale))
    return math.sqrt(2 * fade) / -math.expm1(-1 / float(scale))
