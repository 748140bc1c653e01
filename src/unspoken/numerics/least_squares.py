"""What follows from least squares in the clear: fits, tests, Mallows' C_p (vcz2006 section 5.1.2).

The book prints C_p (5.7) for models without an intercept; with p attributes and an intercept it is
RSS / s^2 - (N - 2 (p + 1)), and good models have C_p near p + 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unspoken.arrays import Floats


@dataclass(frozen=True)
class Test:
    """A test statistic with its degrees of freedom and its p-value."""

    # pytest takes classes of this name for its own.
    __test__ = False

    statistic: float
    degrees: tuple[int, int]
    p_value: float


@dataclass(frozen=True)
class Solved:
    """Least squares with an intercept, on centred columns: all that inference needs."""

    intercept: float
    coefficients: Floats
    errors: Floats
    rss: float
    tss: float


def f_test(explained: float, terms: int, rss: float, degrees: int) -> Test:
    """Return the F test of a sum of squares that `terms` terms explain."""
    from scipy.stats import f

    ratio = (explained / terms) / (rss / degrees) if rss > 0 else float("inf")
    return Test(ratio, (terms, degrees), float(f.sf(ratio, terms, degrees)))


def extra_sum_of_squares(rss: float, terms: int, rss_full: float, terms_full: int,
                         records: int) -> Test:
    """Return the test of a model against a larger one that holds it; terms without intercept."""
    return f_test(rss - rss_full, terms_full - terms, rss_full, records - terms_full - 1)


def mallows_cp(rss: float, terms: int, rss_full: float, terms_full: int, records: int) -> float:
    """Return C_p of a model beside the largest one."""
    variance = rss_full / (records - terms_full - 1)
    return rss / variance - (records - 2 * (terms + 1))


def t_p_values(t: Floats, degrees: int) -> Floats:
    """Return two-sided p-values."""
    from scipy.stats import t as student

    return np.asarray(2 * student.sf(np.abs(t), degrees), np.float64)


def t_quantile(level: float, degrees: int) -> float:
    """Return the quantile that a two-sided interval of this level needs."""
    from scipy.stats import t as student

    return float(student.ppf((1 + level) / 2, degrees))


def solve(x: Floats, y: Floats, ridge: float = 0.0) -> Solved:
    """Return least squares with an intercept that ridge does not touch, by QR.

    `errors` are the square roots of the diagonal of the inverse times s^2, the intercept first;
    with a ridge they are empty.
    """
    means, middle = x.mean(axis=0), float(y.mean())
    centred, rest = x - means, y - middle
    if ridge:
        centred = np.vstack([centred, np.sqrt(ridge) * np.eye(x.shape[1])])
    padded = np.concatenate([rest, np.zeros(centred.shape[0] - y.size)])
    q, r = np.linalg.qr(centred)
    beta = np.linalg.solve(r, q.T @ padded)
    residuals = (padded - centred @ beta)[:y.size]
    rss, tss = float(residuals @ residuals), float(rest @ rest)
    errors = np.zeros(0) if ridge else _errors(r, means, rss, y.size)
    return Solved(middle - float(means @ beta), beta, errors, rss, tss)


def _errors(r: Floats, means: Floats, rss: float, records: int) -> Floats:
    half = np.linalg.inv(r)
    variance = rss / max(1, records - r.shape[0] - 1)
    first = 1 / records + float(((means @ half) ** 2).sum())
    return np.asarray(np.sqrt(variance * np.concatenate([[first], (half ** 2).sum(axis=1)])))
