"""Noise of a known family: density, distribution, quantiles, and its worth (as2000 section 2).

Three symmetric families with mean zero. `scale` is the half-width a of uniform noise on [-a, a],
the standard deviation of Gaussian noise and the b of Laplace noise exp(-|y|/b) / 2b.

The privacy of as2000 is the width of the interval that holds the value with confidence c:
uniform 2ac, Gaussian 2 z sigma (3.92 sigma at 95%), Laplace 2b ln(1 / (1 - c)). It looks at one
reported value alone; whoever knows the distribution of the values knows more (`risk.entropy`).
"""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats
from unspoken.errors import InputError, explain
from unspoken.numerics.random import shares

FAMILIES = ("uniform", "gaussian", "laplace")


@dataclass(frozen=True)
class Noise:
    """A family and its scale."""

    family: str
    scale: float

    def __post_init__(self) -> None:
        """Refuse an unknown family and a width of zero, by name."""
        check_family(self.family)
        real = isinstance(self.scale, numbers.Real) and not isinstance(self.scale, bool)
        if not real or not 0 < float(self.scale) < math.inf:
            raise InputError(explain("'scale' of the noise", "a finite number above 0", self.scale,
                                     "Noise of zero width hides nothing."))

    @property
    def deviation(self) -> float:
        """Return the standard deviation."""
        return self.scale * {"uniform": 3**-0.5, "gaussian": 1.0, "laplace": 2**0.5}[self.family]

    @property
    def entropy(self) -> float:
        """Return the differential entropy in bits (vcz2006 section 2.2)."""
        volume = {"uniform": 2.0, "gaussian": math.sqrt(2 * math.pi * math.e),
                  "laplace": 2 * math.e}[self.family]
        return math.log2(volume * self.scale)

    @property
    def reach(self) -> float:
        """Return the distance beyond which less than 1e-12 of the noise lies."""
        return self.scale * {"uniform": 1.0, "gaussian": 7.2, "laplace": 27.7}[self.family]

    def density(self, at: npt.ArrayLike) -> Floats:
        """Return the density."""
        t = np.abs(np.asarray(at, np.float64)) / self.scale
        if self.family == "uniform":
            return np.where(t <= 1.0, 0.5 / self.scale, 0.0)
        if self.family == "gaussian":
            return np.asarray(np.exp(-0.5 * t * t) / (self.scale * math.sqrt(2 * math.pi)))
        return np.asarray(np.exp(-t) / (2 * self.scale))

    def cdf(self, at: npt.ArrayLike) -> Floats:
        """Return the probability of less."""
        t = np.asarray(at, np.float64) / self.scale
        if self.family == "uniform":
            return np.clip((t + 1.0) / 2, 0.0, 1.0)
        if self.family == "gaussian":
            from scipy.special import ndtr

            return np.asarray(ndtr(t))
        tail = np.exp(-np.abs(t)) / 2
        return np.where(t < 0, tail, 1.0 - tail)

    def cdf_integral(self, at: npt.ArrayLike) -> Floats:
        """Return the integral of `cdf` from minus infinity: integrated kernels are made of it."""
        t = np.asarray(at, np.float64) / self.scale
        if self.family == "uniform":
            inside = np.clip(t, -1.0, 1.0)
            return np.asarray(self.scale * ((inside + 1.0) ** 2 / 4 + np.maximum(t - 1.0, 0.0)))
        if self.family == "gaussian":
            from scipy.special import ndtr

            bell = np.exp(-0.5 * t * t) / math.sqrt(2 * math.pi)
            return np.asarray(self.scale * (t * ndtr(t) + bell))
        return np.asarray(self.scale * (np.maximum(t, 0.0) + np.exp(-np.abs(t)) / 2))

    def quantile(self, share: npt.ArrayLike) -> Floats:
        """Return the value below which a share of the noise lies."""
        u = np.asarray(share, np.float64)
        if self.family == "uniform":
            return np.asarray(self.scale * (2 * u - 1))
        if self.family == "gaussian":
            from scipy.special import ndtri

            return np.asarray(self.scale * ndtri(u))
        small = np.minimum(u, 1 - u)
        return np.asarray(self.scale * np.sign(u - 0.5) * -np.log(2 * small))

    def from_words(self, words: npt.NDArray[np.uint64]) -> Floats:
        """Turn random 64-bit words into noise, one each; neither end can be hit."""
        return self.quantile(shares(words))

    def width(self, confidence: float = 0.95) -> float:
        """Return the privacy of as2000: the width of the interval of that confidence."""
        return float(2 * self.quantile(0.5 + check_confidence(confidence) / 2))

    def amplification(self, spread: float) -> float:
        """Return gamma for values at most `spread` apart (vcz2006 section 6.1.3, corrected).

        Uniform noise rules values out and the ratio of two Gaussian tails has no bound, so both
        are infinite; Laplace noise has exp(spread / b). Definition 6.3 as printed skips zero
        probabilities and would call uniform noise perfect.
        """
        if spread == 0:
            return 1.0
        ratio = spread / self.scale
        return math.exp(ratio) if self.family == "laplace" and ratio < 700 else math.inf

    def to_json(self) -> dict[str, Any]:
        """Return the noise as plain data."""
        return {"family": self.family, "scale": self.scale}


def laplace_from_words(high: npt.NDArray[np.uint64], low: npt.NDArray[np.uint64]) -> Floats:
    """Return Laplace noise of scale 1 from 128 bits each: a sign, and 127 for the size.

    The size is -ln u with u in (0, 1] to full floating-point precision however small u is, so that
    every report of the far tail can come from every value.
    """
    sign = np.where(high >> np.uint64(63), -1.0, 1.0)
    share = (high & np.uint64((1 << 63) - 1)) * 2.0**-63 + (low + 1.0) * 2.0**-127
    return np.asarray(sign * -np.log(np.minimum(share, 1.0)))


def for_width(family: str, width: float, confidence: float = 0.95) -> Noise:
    """Return the noise whose interval of that confidence has that width."""
    return Noise(family, width / Noise(family, 1.0).width(confidence))


def check_family(family: Any) -> None:
    """Refuse a family that is not known."""
    if not isinstance(family, str) or family not in FAMILIES:
        raise InputError(explain("'family' of the noise", "one of " + ", ".join(FAMILIES), family))


def check_confidence(confidence: Any) -> float:
    """Refuse a confidence that is not strictly between 0 and 1."""
    real = isinstance(confidence, numbers.Real) and not isinstance(confidence, bool)
    if not real or not 0 < float(confidence) < 1:
        raise InputError(explain("'confidence'", "a number above 0 and below 1", confidence,
                                 "Use 0.95."))
    return float(confidence)
