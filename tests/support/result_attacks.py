"""Attacks of one of two owners on a result: what it opens, less what the attacker has itself."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy.optimize import least_squares

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


def coded_moments(rows):
    """Return the moments of two columns of 0 and 1 and a response: sums, and of products."""
    x, z, y = rows.T
    return np.array([x.sum(), z.sum(), x @ z, y.sum(), x @ y, z @ y, y @ y])


def coded_moments_of_other(model, own):
    """Return the same of the other owner, from a model of these two terms and one's own rows."""
    n, start = model.records, coded_moments(own) * model.records / len(own)
    seen = np.array([*model.coefficients, model.intercept, model.tss, model.rss, *model.errors])

    def misses(moments):
        return (_numbers(moments, n) - seen) / np.abs(seen)

    found = least_squares(misses, start, x_scale=np.abs(start), xtol=1e-15, ftol=1e-15,
                          gtol=1e-15, max_nfev=2000)
    return found.x - coded_moments(own)


def _numbers(moments, n):
    sx, sz, sxz, *xy, yy = moments
    normal = np.array([[n, sx, sz], [sx, sx, sxz], [sz, sxz, sz]])
    beta = np.linalg.solve(normal, xy)
    rss = yy - beta @ xy
    errors = np.sqrt(np.maximum(rss, 1e-9) / (n - 3) * np.diagonal(np.linalg.inv(normal)))
    return np.array([*beta[1:], beta[0], yy - xy[0] ** 2 / n, rss, *errors])


def counts_of_yes(model):
    """Return the counts (value, class) behind a logistic model of one column of 0 and 1."""
    counts, variance = [], 0.0
    for odds, error in zip((model.intercept, model.intercept + model.coefficients[0]),
                           model.errors, strict=True):
        share = 1 / (1 + np.exp(-odds))
        size = 1 / ((error**2 - variance) * share * (1 - share))
        counts += [size * (1 - share), size * share]
        variance = error**2
    return np.array(counts)
