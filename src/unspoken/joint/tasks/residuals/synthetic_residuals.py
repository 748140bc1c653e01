"""Synthetic predictors and residuals that behave like real ones (vcz2006 5.3; Karr and others).

Predictors are drawn from normal distributions, one for each group of records with similar fitted
values. Residuals at such points are an additive curve over the predictors, found from the real ones
by backfitting over groups, and noise whose variance is such a curve too. Curves and changes of
spread can be seen in the result; single records cannot: every number comes from a group of at least
`least` records.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats

PASSES = 3


def groups_of(values: Floats, least: int, most: int = 12) -> list[npt.NDArray[np.int64]]:
    """Return places of records, cut along a value into groups of at least `least`."""
    count = max(1, min(most, values.size // least))
    return [np.asarray(part, np.int64)
            for part in np.array_split(np.argsort(values, kind="stable"), count)]


def synthetic(x: Floats, fitted: Floats, residuals: Floats, count: int, least: int,
              generator: np.random.Generator) -> tuple[Floats, Floats]:
    """Return synthetic rows of predictors, and residuals that go with them."""
    groups = groups_of(fitted, least)
    sizes = np.array([group.size for group in groups])
    chosen = generator.choice(len(groups), count, p=sizes / sizes.sum())
    rows = np.empty((count, x.shape[1]))
    for place, group in enumerate(groups):
        at = np.flatnonzero(chosen == place)
        rows[at] = _drawn(x[group], at.size, generator)
    curves = _curves(x, residuals, least)
    rest = residuals - _height(curves, x, residuals)
    squares = rest**2
    variance = _height(_curves(x, squares, least), rows, squares)
    floor = min(squares[group].mean() for group in groups) / 4
    noise = np.sqrt(np.maximum(variance, floor)) * generator.standard_normal(count)
    return rows, np.asarray(_height(curves, rows, residuals) + noise)


def _height(curves: list[tuple[Floats, Floats]], rows: Floats, values: Floats) -> Floats:
    """Return the mean of the values and what the curves add to it at each row."""
    added = [np.interp(rows[:, j], *curve) for j, curve in enumerate(curves)]
    return np.asarray(values.mean() + np.sum(added, axis=0))


def _drawn(x: Floats, count: int, generator: np.random.Generator) -> Floats:
    """Return normal rows with the mean and the covariance of a group, of its spread if few."""
    covariance = np.atleast_2d(np.cov(x.T)) if x.shape[0] > 2 * x.shape[1] else np.diag(
        x.var(axis=0))
    return np.asarray(generator.multivariate_normal(x.mean(axis=0), covariance, count,
                                                    method="svd"))


def _curves(x: Floats, residuals: Floats, least: int) -> list[tuple[Floats, Floats]]:
    """Return a broken line for each predictor, through means of groups, by backfitting."""
    split = [groups_of(column, least) for column in x.T]
    middles = [np.array([column[g].mean() for g in groups])
               for column, groups in zip(x.T, split, strict=True)]
    heights = [np.zeros(len(groups)) for groups in split]
    centred = residuals - residuals.mean()
    effects = np.zeros_like(x)
    for _ in range(PASSES):
        for j, groups in enumerate(split):
            left = centred - effects.sum(axis=1) + effects[:, j]
            heights[j] = np.array([left[g].mean() for g in groups])
            effects[:, j] = np.interp(x[:, j], middles[j], heights[j])
    return list(zip(middles, heights, strict=True))
