"""Known families of distributions: Gaussian, uniform, Zipf (bu2007 section 3.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from unspoken.arrays import Floats


class Family(Protocol):
    """A distribution whose quantiles are known: `name`, and `quantile(share)`.

    Parameters
    ----------
    *args, **kwargs
        A protocol takes none; Gaussian, Uniform and Zipf are the families that exist.
    """

    @property
    def name(self) -> str:
        """Return the name of the family."""

    def quantile(self, share: Floats) -> Floats:
        """Return the value below which that share of the records lies."""


@dataclass(frozen=True)
class Gaussian:
    """A normal distribution of known mean and standard deviation (bu2007 section 3.3).

    Attributes
    ----------
    mean : float
        The mean.
    deviation : float
        The standard deviation.
    name : str, default "gaussian"
        The name in an audit.
    """

    mean: float
    deviation: float
    name: str = "gaussian"

    def quantile(self, share: Floats) -> Floats:
        """Return the quantiles; shares of 0 and 1 are moved inside."""
        from scipy.special import ndtri

        inside = np.clip(share, 1e-12, 1 - 1e-12)
        return np.asarray(self.mean + self.deviation * ndtri(inside))


@dataclass(frozen=True)
class Uniform:
    """A uniform distribution between two known ends (bu2007 section 3.3).

    Attributes
    ----------
    low, high : float
        The two ends.
    name : str, default "uniform"
        The name in an audit.
    """

    low: float
    high: float
    name: str = "uniform"

    def quantile(self, share: Floats) -> Floats:
        """Return the quantiles."""
        return np.asarray(self.low + share * (self.high - self.low))


@dataclass(frozen=True)
class Zipf:
    """P(low + k - 1) proportional to k ** -exponent for k = 1 .. size (bu2007 section 3.3).

    Attributes
    ----------
    low : float
        The most frequent value, which is the smallest one.
    size : int
        The number of distinct values.
    exponent : float, default 1.0
        How fast the frequencies fall.
    name : str, default "zipf"
        The name in an audit.
    """

    low: float
    size: int
    exponent: float = 1.0
    name: str = "zipf"

    def quantile(self, share: Floats) -> Floats:
        """Return the quantiles."""
        weight = np.arange(1, self.size + 1, dtype=np.float64) ** -self.exponent
        total = np.cumsum(weight) / weight.sum()
        where = np.searchsorted(total, share, side="left")
        return np.asarray(self.low + np.minimum(where, self.size - 1).astype(np.float64))
