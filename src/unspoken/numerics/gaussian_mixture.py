"""Gaussian mixtures by EM, small and without threads: many are fitted in a row (vcz2006 7.1.1)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from unspoken.arrays import Floats


@dataclass(frozen=True)
class Fit:
    """Weights (k), means (k, n), covariances (k, n, n) and the mean log likelihood."""

    weights: Floats
    means: Floats
    covariances: Floats
    score: float


def component_logs(data: Floats, weights: Floats, means: Floats, covariances: Floats) -> Floats:
    """Return the log density of every record under every component, weights included."""
    roots = np.linalg.cholesky(covariances)
    rest = np.linalg.solve(roots, (data[None] - means[:, None]).transpose(0, 2, 1))
    size = np.log(np.diagonal(roots, axis1=1, axis2=2)).sum(axis=1)
    logs = -(rest**2).sum(axis=1) / 2 - size[:, None] - data.shape[1] / 2 * math.log(2 * math.pi)
    return np.asarray(logs.T + np.log(weights))


def log_sum(logs: Floats) -> Floats:
    """Return the log of the sum of exponentials over the last axis."""
    most = logs.max(axis=-1)
    return np.asarray(most + np.log(np.exp(logs - most[..., None]).sum(axis=-1)))


def em(data: Floats, components: int, rng: np.random.Generator, starts: int = 3,
       steps: int = 200, gain: float = 1e-5) -> Fit:
    """Fit a mixture; the best of some starts, each until it gains less than `gain` per record."""
    floor = 1e-6 * max(float(data.var(axis=0).mean()), 1e-12)
    fits = [_climb(data, _start(data, components, rng), floor, steps, gain)
            for _ in range(starts if components > 1 else 1)]
    return max(fits, key=lambda fit: fit.score)


def _start(data: Floats, components: int, rng: np.random.Generator) -> Floats:
    """Return responsibilities from centres that are far apart (k-means++)."""
    centres = data[rng.integers(data.shape[0])][None]
    for _ in range(components - 1):
        apart = ((data[:, None] - centres) ** 2).sum(axis=2).min(axis=1)
        total = float(apart.sum())
        chosen = rng.choice(data.shape[0], p=apart / total if total > 0 else None)
        centres = np.vstack([centres, data[chosen]])
    nearest = ((data[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
    return np.asarray(np.eye(components)[nearest])


def _climb(data: Floats, belongs: Floats, floor: float, steps: int, gain: float) -> Fit:
    score = -np.inf
    for _ in range(steps):
        weights, means, covariances = _maximised(data, belongs, floor)
        logs = component_logs(data, weights, means, covariances)
        total = log_sum(logs)
        before, score = score, float(total.mean())
        if score - before < gain:
            break
        belongs = np.exp(logs - total[:, None])
    return Fit(weights, means, covariances, score)


def _maximised(data: Floats, belongs: Floats, floor: float) -> tuple[Floats, Floats, Floats]:
    each = belongs.sum(axis=0) + 1e-9
    means = belongs.T @ data / each[:, None]
    covariances = np.empty((each.size, data.shape[1], data.shape[1]))
    for number in range(each.size):
        rest = data - means[number]
        covariances[number] = (belongs[:, number, None] * rest).T @ rest / each[number]
        covariances[number] += floor * np.eye(data.shape[1])
    return each / each.sum(), means, covariances
