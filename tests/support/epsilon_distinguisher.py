"""An adversary who tells two inputs apart by their reports: a lower bound on epsilon."""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import beta

CONFIDENCE = 0.999


def least_epsilon(first, second, confidence=CONFIDENCE):
    """Return the epsilon that reports of two neighbouring inputs prove, with this confidence.

    The event that tells them apart best is chosen on one half of the reports and counted on the
    other, so that choosing costs nothing. Reports may be numbers, NaN for missing, or objects.
    """
    one, two = _numbered(first, second)
    half = one.size // 2
    best = 0.0
    for a, b in ((one, two), (two, one)):
        event = _best_event(a[:half], b[:half])
        best = max(best, _bound(event(a[half:]), event(b[half:]), confidence))
    return best


def _numbered(first, second):
    first, second = np.asarray(first), np.asarray(second)
    if first.dtype.kind in "fiub":
        return first.astype(float), second.astype(float)
    codes = {value: place for place, value in enumerate(sorted({*map(str, first.tolist()),
                                                                *map(str, second.tolist())}))}
    return tuple(np.array([codes[str(value)] for value in side.tolist()], float)
                 for side in (first, second))


def _best_event(a, b):
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
    return max(events, key=lambda event: _bound(event(a), event(b), CONFIDENCE))


def _bound(hits, others, confidence):
    """Return the logarithm of the least ratio of two probabilities (Clopper and Pearson)."""
    slack = (1 - confidence) / 2
    seen, n = int(hits.sum()), hits.size
    low = beta.ppf(slack, seen, n - seen + 1) if seen else 0.0
    other = int(others.sum())
    high = beta.ppf(1 - slack, other + 1, others.size - other) if other < others.size else 1.0
    return math.log(low / high) if low > 0 else -math.inf
