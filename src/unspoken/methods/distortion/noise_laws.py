"""Noise of a known family: density, distribution, quantiles, and its worth (as2000 section 2).

Three symmetric families with mean zero. `scale` is the half-width a of uniform noise on [-a, a],
the standard deviation of Gaussian noise and the b of Laplace noise exp(-|y|/b) / 2b.

The privacy of as2000 is the width of the interval that holds the value with confidence c: uniform
2ac, Gaussian 2 z sigma (3.92 sigma at 95%), Laplace 2b ln(1 / (1 - c)). It looks at one reported
value alone; an adversary who knows the distribution knows more (`risk.entropy`).
"""

from __future__ import annotations

import math
import numbers
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats
from unspoken.errors import InputError, explain, unknown
from unspoken.numerics.random import shares

ROOT_TWO_PI = math.sqrt(2 * math.pi)
Words = npt.NDArray[np.uint64]


class NoiseLaw(ABC):
    """One family of noise: a new one is one class here and one line in LAWS.

    `t` is a distance in scales. `volume`: two to the entropy, at scale one. `reach`: beyond it
    lies less than 1e-12. `smooth_step`: no detail of the density is finer, in scales; zero where
    it has a corner. `bounded`: no report lies farther than the reach.
    """

    deviation: ClassVar[float]
    volume: ClassVar[float]
    reach: ClassVar[float]
    smooth_step: ClassVar[float] = 0.0
    bounded: ClassVar[bool] = False

    @abstractmethod
    def density(self, t: Floats, scale: float) -> Floats:
        """Return the density at distances of either sign."""

    @abstractmethod
    def cdf(self, t: Floats) -> Floats:
        """Return the probability of less."""

    @abstractmethod
    def cdf_integral(self, t: Floats, scale: float) -> Floats:
        """Return the integral of `cdf` from minus infinity."""

    @abstractmethod
    def quantile(self, share: Floats, scale: float) -> Floats:
        """Return the value below which a share of the noise lies."""

    def amplification(self, ratio: float) -> float:
        """Return gamma for values `ratio` scales apart; infinite where no odds are bounded.

        It counts only for a law that has `beyond`.
        """
        return math.inf

    def beyond(self, share: Floats) -> Floats:
        """Return the distance beyond which a share of the noise lies, both sides together.

        A law that bounds odds must have it, precise for shares down to 2**-127: quantiles of 53
        bits end after some 36 scales, and a report from farther away would rule values out.
        """
        raise NotImplementedError

    @property
    def reaches_far(self) -> bool:
        """Return True if the law draws its far tail, so that bounded odds are bounded indeed."""
        return type(self).beyond is not NoiseLaw.beyond

    def drawn(self, words: Words, more: Callable[[], Words]) -> Floats:
        """Return noise of scale 1; `more` gives as many words again, for the far tail."""
        if not self.reaches_far:
            return self.quantile(shares(words), 1.0)
        sign = np.where(words >> np.uint64(63), -1.0, 1.0)
        return np.asarray(sign * self.beyond(_far_shares(words, more())))


def _far_shares(high: Words, low: Words) -> Floats:
    """Return numbers in (0, 1] from 127 bits each, to full precision however small they are."""
    share = (high & np.uint64((1 << 63) - 1)) * 2.0**-63 + (low + 1.0) * 2.0**-127
    return np.asarray(np.minimum(share, 1.0))


class _Uniform(NoiseLaw):
    deviation, volume, reach, bounded = 3**-0.5, 2.0, 1.0, True

    def density(self, t: Floats, scale: float) -> Floats:
        return np.where(np.abs(t) <= 1.0, 0.5 / scale, 0.0)

    def cdf(self, t: Floats) -> Floats:
        return np.clip((t + 1.0) / 2, 0.0, 1.0)

    def cdf_integral(self, t: Floats, scale: float) -> Floats:
        inside = np.clip(t, -1.0, 1.0)
        return np.asarray(scale * ((inside + 1.0) ** 2 / 4 + np.maximum(t - 1.0, 0.0)))

    def quantile(self, share: Floats, scale: float) -> Floats:
        return np.asarray(scale * (2 * share - 1))


class _Gaussian(NoiseLaw):
    deviation, volume, reach = 1.0, math.sqrt(2 * math.pi * math.e), 7.2
    smooth_step = 1 / 8

    def density(self, t: Floats, scale: float) -> Floats:
        return np.asarray(np.exp(-0.5 * t * t) / (scale * ROOT_TWO_PI))

    def cdf(self, t: Floats) -> Floats:
        from scipy.special import ndtr

        return np.asarray(ndtr(t))

    def cdf_integral(self, t: Floats, scale: float) -> Floats:
        from scipy.special import ndtr

        return np.asarray(scale * (t * ndtr(t) + np.exp(-0.5 * t * t) / ROOT_TWO_PI))

    def quantile(self, share: Floats, scale: float) -> Floats:
        from scipy.special import ndtri

        return np.asarray(scale * ndtri(share))


class _Laplace(NoiseLaw):
    deviation, volume, reach = 2**0.5, 2 * math.e, 27.7

    def density(self, t: Floats, scale: float) -> Floats:
        return np.asarray(np.exp(-np.abs(t)) / (2 * scale))

    def cdf(self, t: Floats) -> Floats:
        tail = np.exp(-np.abs(t)) / 2
        return np.where(t < 0, tail, 1.0 - tail)

    def cdf_integral(self, t: Floats, scale: float) -> Floats:
        return np.asarray(scale * (np.maximum(t, 0.0) + np.exp(-np.abs(t)) / 2))

    def quantile(self, share: Floats, scale: float) -> Floats:
        small = np.minimum(share, 1 - share)
        return np.asarray(scale * np.sign(share - 0.5) * -np.log(2 * small))

    def amplification(self, ratio: float) -> float:
        return math.exp(ratio) if ratio < 700 else math.inf

    def beyond(self, share: Floats) -> Floats:
        return np.asarray(-np.log(share))


LAWS: Mapping[str, NoiseLaw] = {"uniform": _Uniform(), "gaussian": _Gaussian(),
                                "laplace": _Laplace()}
FAMILIES = tuple(LAWS)


@dataclass(frozen=True)
class Noise:
    """A family of symmetric noise with mean zero, and its scale (as2000 section 2).

    Uniform and Gaussian noise bound no odds (gamma is infinite); Laplace noise does.

    Attributes
    ----------
    family : str
        "uniform", "gaussian" or "laplace".
    scale : float
        Half-width a, standard deviation or b, above 0.

    Examples
    --------
    >>> Noise("gaussian", 5.0).scale
    5.0
    """

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
    def law(self) -> NoiseLaw:
        """Return the law of the family."""
        return LAWS[self.family]

    @property
    def deviation(self) -> float:
        """Return the standard deviation."""
        return self.scale * self.law.deviation

    @property
    def entropy(self) -> float:
        """Return the differential entropy in bits (vcz2006 section 2.2)."""
        return math.log2(self.law.volume * self.scale)

    @property
    def reach(self) -> float:
        """Return the distance beyond which less than 1e-12 of the noise lies."""
        return self.scale * self.law.reach

    def density(self, at: npt.ArrayLike) -> Floats:
        """Return the density."""
        return self.law.density(np.asarray(at, np.float64) / self.scale, self.scale)

    def cdf(self, at: npt.ArrayLike) -> Floats:
        """Return the probability of less."""
        return self.law.cdf(np.asarray(at, np.float64) / self.scale)

    def cdf_integral(self, at: npt.ArrayLike) -> Floats:
        """Return the integral of `cdf` from minus infinity: integrated kernels are made of it."""
        return self.law.cdf_integral(np.asarray(at, np.float64) / self.scale, self.scale)

    def quantile(self, share: npt.ArrayLike) -> Floats:
        """Return the value below which a share of the noise lies."""
        return self.law.quantile(np.asarray(share, np.float64), self.scale)

    def from_words(self, words: Words) -> Floats:
        """Turn random 64-bit words into noise without far tails, one each; no end can be hit."""
        return self.quantile(shares(words))

    def drawn(self, words: Words, more: Callable[[], Words]) -> Floats:
        """Return the noise of a report from one word, or two where the law has far tails."""
        return np.asarray(self.scale * self.law.drawn(words, more))

    def width(self, confidence: float = 0.95) -> float:
        """Return the privacy of as2000: the width of the interval of that confidence."""
        return float(2 * self.quantile(0.5 + check_confidence(confidence) / 2))

    def amplification(self, spread: float) -> float:
        """Return gamma for values at most `spread` apart (vcz2006 section 6.1.3, corrected).

        Uniform noise rules values out and the ratio of two Gaussian tails has no bound, so both
        are infinite; Laplace noise has exp(spread / b). So is a law that does not draw its far
        tail, whatever its density says. Definition 6.3 as printed skips zero probabilities and
        would call uniform noise perfect.
        """
        if spread == 0:
            return 1.0
        return self.law.amplification(spread / self.scale) if self.law.reaches_far else math.inf

    def to_json(self) -> dict[str, Any]:
        """Return the noise as plain data."""
        return {"family": self.family, "scale": self.scale}


def for_width(family: str, width: float, confidence: float = 0.95) -> Noise:
    """Return the noise whose interval of that confidence has that width."""
    return Noise(family, width / Noise(family, 1.0).width(confidence))


def check_family(family: Any) -> None:
    """Refuse a family that is not known."""
    if not isinstance(family, str) or family not in LAWS:
        raise InputError(unknown("'family' of the noise", family, LAWS))


def check_confidence(confidence: Any) -> float:
    """Refuse a confidence that is not strictly between 0 and 1."""
    real = isinstance(confidence, numbers.Real) and not isinstance(confidence, bool)
    if not real or not 0 < float(confidence) < 1:
        raise InputError(explain("'confidence'", "a number above 0 and below 1", confidence,
                                 "Use 0.95."))
    return float(confidence)
