"""Which estimates may be reported: false-discovery control, and intervals that know of it.

Whoever looks at thousands of estimated supports and reports those above a threshold reports mostly
noise where the randomisation is strong. So each candidate is a test of "its support is below the
threshold", and what is reported is what Benjamini and Hochberg's procedure (1995) lets through:
in expectation at most a share `false_discovery` of the reported sets is truly below. Intervals of
reported sets are widened for the selection, to the level 1 - (1 - confidence) reported / tested
(false coverage rate, Benjamini and Yekutieli 2005).
"""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from unspoken.arrays import Bools, Floats

FALSE_DISCOVERY = 0.05
"""Share of what is reported that may be below the threshold, in expectation."""


def p_values(above: Floats, deviations: Floats) -> Floats:
    """Return how likely an estimate this far above its threshold is where the truth is not."""
    from scipy.special import ndtr

    sure = np.where(above >= 0, np.inf, -np.inf)
    score = np.divide(above, deviations, out=sure, where=deviations > 0)
    return np.asarray(ndtr(-score))


def discovered(p: Floats, tested: int, false_discovery: float) -> Bools:
    """Return which of the smallest p-values of `tested` are discoveries (Benjamini-Hochberg).

    `p` may leave out tests whose p-value is above `false_discovery`: they are never discoveries.
    A share of 1 lets everything through.
    """
    if p.size == 0 or false_discovery >= 1:
        return np.ones(p.size, np.bool_)
    order = np.sort(p)
    allowed = false_discovery * np.arange(1, p.size + 1) / max(tested, p.size)
    passing = np.flatnonzero(order <= allowed)
    return np.asarray(p <= (order[passing[-1]] if passing.size else -1.0))


def reach_of(confidence: float, reported: int, tested: int) -> float:
    """Return how many deviations an interval reaches when `reported` of `tested` are shown."""
    share = min(max(reported, 1) / max(tested, 1), 1.0)
    return NormalDist().inv_cdf(1 - (1 - confidence) * share / 2)
