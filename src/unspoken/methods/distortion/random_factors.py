"""Random factors around one: the truncated Gaussian and the log-normal (liu2006 section 5)."""

from __future__ import annotations

import numpy as np

from unspoken.arrays import Floats


def truncated_quantile(share: Floats, deviation: float, cut: float) -> Floats:
    """Return quantiles of a Gaussian with mean one, cut off at `cut` deviations on both sides."""
    from scipy.special import ndtr, ndtri

    tail = float(ndtr(-cut))
    return np.asarray(1.0 + deviation * ndtri(tail + (1 - 2 * tail) * share))


def truncated_cdf(at: Floats, deviation: float, cut: float) -> Floats:
    """Return the probability of a smaller factor."""
    from scipy.special import ndtr

    tail = float(ndtr(-cut))
    below = (ndtr((np.asarray(at) - 1.0) / deviation) - tail) / (1 - 2 * tail)
    return np.asarray(np.clip(below, 0.0, 1.0))


def product_cdf(reported: Floats, value: Floats, form: str, deviation: float,
                cut: float) -> Floats:
    """Return P(value times factor <= reported) for values of either sign."""
    from scipy.special import ndtr

    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = reported / value
        if form == "truncated":
            below = truncated_cdf(ratio, deviation, cut)
        else:
            below = ndtr(np.log(np.maximum(ratio, 1e-300)) / deviation)
    below = np.where(value < 0, 1.0 - below, below)
    return np.asarray(np.where(value == 0, (reported >= 0).astype(np.float64), below))
