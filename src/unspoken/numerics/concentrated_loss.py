"""Zero-concentrated losses: what a rho costs at a delta, and noise that several parties add up.

Canonne, Kamath and Steinke 2020 for the conversion; Kairouz, Liu and Steinke 2021 for discrete
Gaussian noise in parts, whose sum is almost, but not exactly, a discrete Gaussian.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from unspoken.errors import InputError

DELTA = 1e-6
"""The delta of a joint study that states none, for its noise and for the budget that books it."""
_LEAST = 2.0
"""A part of less than two units is too far from a Gaussian for the bound to be of use."""


@lru_cache(maxsize=256)
def rho_of(epsilon: float, delta: float) -> float:
    """Return the largest rho whose zero-concentrated loss is at most epsilon at delta."""
    low, high = 0.0, epsilon + 1.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if delta_of(middle, epsilon) <= delta else (low, middle)
    if low <= 0:
        raise InputError(f"No Gaussian noise is stated to keep an epsilon of {epsilon:g} at delta "
                         f"{delta:g}: both are too small. Use a larger one of them.")
    return low


def delta_of(rho: float, epsilon: float) -> float:
    """Return a delta at which rho costs at most epsilon, the best over Renyi orders."""
    if rho <= 0:
        return 0.0
    orders = 1 + np.geomspace(1e-3, 1e5, 4000)
    logs = (orders - 1) * (orders * rho - epsilon) + orders * np.log1p(-1 / orders) \
        - np.log(orders - 1)
    return float(min(1.0, math.exp(min(float(logs.min()), 0.0))))


@lru_cache(maxsize=256)
def part_scale(reach: float, rho: float, honest: int, numbers: int = 1) -> float:
    """Return the scale of each part of the noise, in units, that keeps a loss of rho.

    One unit of privacy moves the `numbers` sums by `reach` in all (root of squares); the parts of
    `honest` parties, which nobody else knows, must do.
    """
    most = math.sqrt(2 * rho)
    scale = max(reach / (most * math.sqrt(honest)), _LEAST)
    while reach / (math.sqrt(honest) * scale) + _apart(scale, honest) * math.sqrt(numbers) > most:
        scale *= 1.0001
    return scale


def _apart(scale: float, parties: int) -> float:
    """Return how far a sum of discrete Gaussians is from one."""
    return 10 * sum(math.exp(-2 * math.pi**2 * scale**2 * k / (k + 1)) for k in range(1, parties))
