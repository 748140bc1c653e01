"""Logistic regression in the clear: probabilities, one Newton step, and the fit of pooled data."""

from __future__ import annotations

import numpy as np

from unspoken.arrays import Floats

STEPS = 40


def probabilities(odds: Floats) -> Floats:
    """Return 1 / (1 + exp(-x)) without overflow."""
    from scipy.special import expit

    return np.asarray(expit(odds), np.float64)


def log_likelihood(odds: Floats, y: Floats) -> float:
    """Return the sum of the logarithms of the probabilities of what was seen."""
    return float((y * odds - np.logaddexp(0.0, odds)).sum())


def normal_p_values(z: Floats) -> Floats:
    """Return two-sided p-values."""
    from scipy.special import ndtr

    return np.asarray(2 * ndtr(-np.abs(z)), np.float64)


def normal_quantile(level: float) -> float:
    """Return the quantile that a two-sided interval of this level needs."""
    from scipy.special import ndtri

    return float(ndtri((1 + level) / 2))


def fit_logistic(x: Floats, y: Floats, ridge: float = 0.0) -> tuple[Floats, Floats, float]:
    """Return parameters (the intercept first), their errors and the log-likelihood, by Newton."""
    rows = np.column_stack([np.ones(y.size), x])
    beta, penalty = np.zeros(rows.shape[1]), np.full(rows.shape[1], ridge)
    penalty[0] = 0.0
    for _ in range(STEPS):
        p = probabilities(rows @ beta)
        hessian = (rows * (p * (1 - p))[:, None]).T @ rows + np.diag(penalty)
        step = np.linalg.solve(hessian, rows.T @ (y - p) - penalty * beta)
        beta = beta + step
        if np.abs(step * np.sqrt(np.diag(hessian))).max() < 1e-10:
            break
    errors = np.sqrt(np.diag(np.linalg.inv(hessian)))
    return beta, errors, log_likelihood(rows @ beta, y)
