"""Straight lines between anchors that may coincide, and on beyond them."""

from __future__ import annotations

import numpy as np

from unspoken.arrays import Floats


def between_anchors(places: Floats, at: Floats, values: Floats) -> Floats:
    """Return values at `places`, interpolated between anchors and extrapolated beyond them.

    Anchors at one place count as one with their mean value. Beyond the outermost anchors the
    line goes on with the average slope of all of them: the slope of the last two alone may be
    anything.
    """
    where, inverse = np.unique(at, return_inverse=True)
    mean = np.bincount(inverse.reshape(-1), weights=values) / np.bincount(inverse.reshape(-1))
    interpolated = np.interp(places, where, mean)
    if where.size < 2:
        return np.asarray(interpolated)
    slope = (mean[-1] - mean[0]) / (where[-1] - where[0])
    interpolated += slope * np.minimum(places - where[0], 0.0)
    interpolated += slope * np.maximum(places - where[-1], 0.0)
    return np.asarray(interpolated)
