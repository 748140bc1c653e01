"""Random factors around one: the truncated Gaussian and the log-normal (liu2006 section 5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from unspoken.arrays import Floats
from unspoken.errors import InputError, unknown


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


def lognormal_cdf(at: Floats, deviation: float, cut: float) -> Floats:
    """Return the probability of a smaller factor; a log-normal one is not cut off."""
    from scipy.special import ndtr

    return np.asarray(ndtr(np.log(np.maximum(at, 1e-300)) / deviation))


TRUNCATED, LOGNORMAL = "truncated", "lognormal"
_BELOW: Mapping[str, Callable[[Floats, float, float], Floats]] = {
    TRUNCATED: truncated_cdf, LOGNORMAL: lognormal_cdf}
FORMS = tuple(_BELOW)


def check_form(form: str) -> None:
    """Refuse a form of factors that is not known."""
    if form not in FORMS:
        raise InputError(unknown("'form' of the factors", form, FORMS))


def product_cdf(reported: Floats, value: Floats, form: str, deviation: float,
                cut: float) -> Floats:
    """Return P(value times factor <= reported) for values of either sign."""
    check_form(form)
    with np.errstate(divide="ignore", invalid="ignore"):
        below = _BELOW[form](reported / value, deviation, cut)
    below = np.where(value < 0, 1.0 - below, below)
    return np.asarray(np.where(value == 0, (reported >= 0).astype(np.float64), below))
