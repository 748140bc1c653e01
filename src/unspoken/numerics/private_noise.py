"""Noise of OpenDP on whole numbers: what a stated epsilon or rho of an answer rests on.

OpenDP samples discrete laws exactly, from the operating system's randomness, so that floating point
gives nothing away. The scale is raised until OpenDP's own privacy map confirms the stated loss.
Nothing here can be seeded.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from unspoken.errors import MissingExtraError

_TRIES = 60


def _opendp() -> Any:
    try:
        import opendp.prelude as dp
    except ImportError:
        raise MissingExtraError("Private answers and releases need OpenDP. Type: pip install "
                                "'unspoken[private]' or 'unspoken[serve]'.") from None
    dp.enable_features("contrib")
    return dp


def _raised(make: Any, scale: float, distance: float, most: float) -> Any:
    """Return a mechanism of the least scale whose own map confirms the loss."""
    for _ in range(_TRIES):
        measurement = make(scale)
        if measurement.map(distance) <= most:
            return measurement
        scale = math.nextafter(scale, math.inf) * (1 + 1e-15)
    raise ValueError(f"no scale near {scale} keeps a loss of {most}")


@lru_cache(maxsize=256)
def _laplace(reach: int, epsilon: float) -> tuple[Any, float]:
    dp = _opendp()
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    found = _raised(lambda scale: dp.m.make_laplace(*space, scale=scale), reach / epsilon, reach,
                    epsilon)
    return found, reach / epsilon


def laplace_noise(values: Sequence[int], reach: int, epsilon: float) -> list[int]:
    """Return whole numbers plus discrete Laplace noise; one unit moves their sum by `reach`."""
    return [int(value) for value in _laplace(reach, epsilon)[0]([int(v) for v in values])]


def laplace_error(reach: int, epsilon: float) -> float:
    """Return the standard deviation of that noise."""
    rate = epsilon / reach
    return math.sqrt(2 * math.exp(-rate)) / -math.expm1(-rate)


@lru_cache(maxsize=256)
def _gaussian(reach: float, rho: float) -> Any:
    dp = _opendp()
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="f64")
    return _raised(lambda scale: dp.m.make_gaussian(*space, scale=scale),
                   reach / math.sqrt(2 * rho), reach, rho)


def gaussian_noise(values: Sequence[int], reach: float, rho: float) -> list[int]:
    """Return whole numbers plus discrete Gaussian noise; one unit moves them `reach` in all."""
    return [int(value) for value in _gaussian(reach, rho)([int(v) for v in values])]


def gaussian_part(size: int, scale: float) -> list[int]:
    """Return discrete Gaussian noise of a scale: one party's part of noise that nobody knows."""
    return gaussian_noise([0] * size, math.nextafter(scale * math.sqrt(2), math.inf), 1.0)


def gaussian_error(reach: float, rho: float) -> float:
    """Return the standard deviation of that noise."""
    return reach / math.sqrt(2 * rho)


@lru_cache(maxsize=256)
def _chooser(reach: int, epsilon: float, one_way: bool) -> Any:
    dp = _opendp()
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64", monotonic=one_way)
    return _raised(lambda scale: dp.m.make_noisy_max(*space, dp.max_divergence(), scale=scale),
                   (1 if one_way else 2) * reach / epsilon, reach, epsilon)


def noisy_choice(scores: Sequence[int], reach: int, epsilon: float, one_way: bool = False) -> int:
    """Return the place of a high score; one unit moves each score by at most `reach`.

    `one_way`: a unit that comes lowers no score or raises none, and half the noise is enough.
    """
    return int(_chooser(reach, epsilon, one_way)([int(score) for score in scores]))


@lru_cache(maxsize=256)
def _concentrated_chooser(reach: int, rho: float) -> Any:
    dp = _opendp()
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64")
    measure = dp.zero_concentrated_divergence()
    return _raised(lambda scale: dp.m.make_noisy_max(*space, measure, scale=scale),
                   reach / math.sqrt(2 * rho), reach, rho)


def noisy_choice_concentrated(scores: Sequence[int], reach: int, rho: float) -> int:
    """Return the place of a high score at a zero-concentrated loss of `rho`."""
    return int(_concentrated_chooser(reach, rho)([int(score) for score in scores]))
