"""The parameters of task `robust`, and the numbers of Huber's estimate (Huber 1981, chapter 7).

Residuals beyond `tuning` scales count as if they were just there. The scale is found together with
the coefficients (proposal 2): the mean of the squares of what counts is the one that normal errors
would have, with N - p - 1 degrees of freedom left of N.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import erf, exp, pi, sqrt

import numpy as np

from unspoken.arrays import Floats
from unspoken.joint.tasks.param_rules import RealBetween
from unspoken.joint.tasks.regression.params import CONDITION_PARAM, ModelSettings
from unspoken.joint.tasks.task_params import agreed


@dataclass(frozen=True, kw_only=True)
class RobustSettings(ModelSettings):
    """What a study of a robust linear model says."""

    condition: float = field(default=2.0**20, metadata=CONDITION_PARAM)
    tuning: float = field(default=1.345, metadata=agreed(
        RealBetween(0.5, 10.0), "beyond how many scales a residual is held down; 1.345 loses 5% "
        "where errors are normal"))


def counted(residuals: Floats, reach: float) -> Floats:
    """Return what residuals count as, in units of the reach: between -1 and 1."""
    return np.clip(residuals / reach, -1.0, 1.0)


def normal_square(tuning: float) -> float:
    """Return the mean of the squares of what normal errors count as, in units of the reach."""
    inside = erf(tuning / sqrt(2))
    bell = sqrt(2 / pi) * tuning * exp(-tuning * tuning / 2)
    return (inside - bell) / tuning**2 + 1 - inside


def new_scale(scale: float, square: float, tuning: float, left: float) -> float:
    """Return the next scale from the mean square of what counts; `left`: (N - p - 1) / N."""
    return scale * sqrt(square / (normal_square(tuning) * left))


def stepped_scale(scale: float, square: float, inside: float, tuning: float, left: float) -> float:
    """Return the next scale by Newton's step for its logarithm, by a factor of at most e.

    Only residuals inside change what they count as when the scale does: their part of the mean
    square is what is left of it without those at the reach.
    """
    moved = max(square - (1 - inside), 0.05 * square)
    off = (square - normal_square(tuning) * left) / (2 * moved) if moved else -1.0
    return scale * exp(min(1.0, max(-1.0, off)))


def error_factor(square: float, inside: float, tuning: float, records: int, terms: int) -> float:
    """Return the variance of coefficients beside (X'X)^-1, in squares of the scale.

    Huber's first correction (1981, section 7.6): `inside` is the share of residuals that are not
    held down.
    """
    spread = 1 + (terms + 1) / records * (1 - inside) / inside
    return spread**2 * (records * tuning**2 * square / (records - terms - 1)) / inside**2
