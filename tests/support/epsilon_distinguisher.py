"""An adversary who tells two inputs apart by their reports: a lower bound on epsilon."""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import beta

CONFIDENCE = 0.999


def least_epsilon(first, second, confidence=CONFIDENCE, delta=0.0):
    """Return the epsilon at delta that reports of two neighbouring inputs prove.

    The event that tells them apart best is chosen on one half of the reports and counted on the
    other, so that choosing costs nothing. Reports may be numbers, NaN for missing, or objects.
    """
    one, two = _numbered(first, second)
    half = one.size // 2
    best = 0.0
    for a, b in ((one, two), (two, one)):
        event = _best_event(a[:half], b[:half], delta)
        best = max(best, _bound(event(a[half:]), event(b[half:]), confidence, delta))
    return best


def likelier(reports, first, second, absolute=True):
    """Return how much likelier reports are around the first than around the second vector.

    Sums of absolute differences are those of Laplace noise of one scale, squares of Gaussian noise.
    """
    power = 1 if absolute else 2
    return np.array([(np.abs(one - second) ** power).sum() - (np.abs(one - first) ** power).sum()
                     for one in np.asarray(reports, float)])


def _numbered(first, second):
    first, second = np.asarray(first), np.asarray(second)
    if first.dtype.kind in "fiub":
        return first.astype(float), second.astype(float)
    codes = {value: place for place, value in enumerate(sorted({*map(str, first.tolist()),
                                                                *map(str, second.tolist())}))}
    return tuple(np.array([codes[str(value)] for value in side.tolist()], float)
                 for side in (first, second))


def _best_event(a, b, delta):
    events = [np.isnan]
    known = np.concatenate([a, b])
    known = known[~np.isnan(known)]
    if known.size:
        cuts = np.unique(np.quantile(known, np.linspace(0, 1, 201)))
        events += [lambda x, t=t: x <= t for t in cuts] + [lambda x, t=t: x >= t for t in cuts]
        values, counts = np.unique(known, return_counts=True)
        common = values[np.argsort(-counts)[:50]]
        events += [lambda x, v=v: x == v for v in common]
    # What is rare on both sides proves nothing: its bound is weak.
    return max(events, key=lambda event: _bound(event(a), event(b), CONFIDENCE, delta))


def _bound(hits, others, confidence, delta):
    """Return the logarithm of the least ratio of two probabilities (Clopper and Pearson).

    A delta is taken from the one above first: it may fail that often.
    """
    slack = (1 - confidence) / 2
    seen, n = int(hits.sum()), hits.size
    low = beta.ppf(slack, seen, n - seen + 1) if seen else 0.0
    other = int(others.sum())
    high = beta.ppf(1 - slack, other + 1, others.size - other) if other < others.size else 1.0
    return math.log((low - delta) / high) if low > delta else -math.inf
