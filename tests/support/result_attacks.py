"""Attacks of one of two owners on a result: what it opens, less what the attacker has itself."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from unspoken.joint.result_control.shared_denominators import Group, around, fitting


def counts_of_other(steps, bits, own, sizes, most, floored=True):
    """Return the counts of the other owner that follow from opened shares, None where they do not.

    `steps`: opened shares (1 + categories, classes), `bits` of each; `own`: the attacker's counts
    by class and category, of the same shape.
    """
    low, high = _bounds(steps, bits, floored)
    starts = np.cumsum([1, *sizes])
    found = np.full(own.shape, None, object)
    for place in range(own.shape[1]):
        groups = [Group(low[a:b, place], high[a:b, place], 1.0)
                  for a, b in pairwise(starts)]
        totals = fitting(groups, most, max(1, int(own[0, place])))
        if totals.size == 1:
            found[0, place] = int(totals[0] - own[0, place])
        if not totals.size:
            continue
        for group, (a, b) in zip(groups, pairwise(starts), strict=True):
            least, greatest = group.spans(totals)
            least = np.maximum(least, own[a:b, place])
            for cell in np.flatnonzero(least == greatest):
                found[a + cell, place] = int(least[cell] - own[a + cell, place])
    return found


def _bounds(steps, bits, floored):
    """Return between which values opened shares lie; truncation may go one step up."""
    if floored:
        low, high = around(steps, bits)
        return low - 2.0**-28, high + 2.0**-28
    return steps - 2.0 ** -(bits + 0.0), steps + 2.0 ** -(bits + 0.0)


def moments_of_other(model, own):
    """Return the other's size, means, deviations and correlation from a model of one feature.

    `own`: the attacker's rows (feature, response); means are taken to be positive.
    """
    n, (slope,), start = model.records, model.coefficients, model.intercept
    first, second = model.errors
    variance = model.rss / (n - 2)
    xx = variance / second**2
    mean = np.sqrt(max(0.0, (first**2 / variance - 1 / n) * xx))
    means = np.array([mean, start + slope * mean])
    centred = np.array([[xx, slope * xx], [slope * xx, model.tss]])
    whole = centred + n * np.outer(means, means)
    rest, sums = whole - own.T @ own, n * means - own.sum(axis=0)
    count = n - len(own)
    theirs = rest / count - np.outer(sums, sums) / count**2
    spread = np.sqrt(np.diagonal(theirs))
    return {"number of records": count, "means": sums / count, "deviations": spread,
            "correlations": theirs[0, 1] / spread.prod()}
