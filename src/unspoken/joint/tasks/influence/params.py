"""The parameters of task `influence`, and what leverage and Cook's distance are.

The leverage of a record is h = 1 / N + (x - m)' (X'X)^-1 (x - m), X centred and m the means: how
much its own response moves its own fitted value. Cook's distance is
r^2 h / ((p + 1) s^2 (1 - h)^2): how far all fitted values move when the record is left out (Cook
1977).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.joint.tasks.param_rules import OneWord, RealBetween
from unspoken.joint.tasks.regression.params import ModelSettings
from unspoken.joint.tasks.task_params import agreed

FLAGS, VALUES = "flags", "values"


@dataclass(frozen=True, kw_only=True)
class InfluenceSettings(ModelSettings):
    """What a study of influence says: the model, and what owners learn of their records."""

    show: str = field(default=FLAGS, metadata=agreed(
        OneWord((FLAGS, VALUES)), "what an owner learns of each of its records: whether leverage "
        "and Cook's distance are above their limits, or both numbers"))
    leverage: float = field(default=2.0, metadata=agreed(
        RealBetween(1.0, 100.0), "how many times the mean leverage, (p + 1) / N, is much"))
    distance: float = field(default=4.0, metadata=agreed(
        RealBetween(0.01, 1e6), "which Cook's distance is much, times 1 / N"))


@dataclass(frozen=True)
class Fitted:
    """What everybody knows of the model: coefficients, intercept first, records and variance."""

    beta: Floats
    records: int
    variance: float

    def residuals(self, table: Floats) -> Floats:
        """Return residuals of rows whose last column is the response."""
        return np.asarray(table[:, -1] - table[:, :-1] @ self.beta[1:] - self.beta[0])

    def cook(self, residuals: Floats, leverage: Floats) -> Floats:
        """Return Cook's distances."""
        return np.asarray(residuals**2 * leverage
                          / (self.beta.size * self.variance * (1 - leverage) ** 2))

    def leverage_for(self, residuals: Floats, distance: float) -> Floats:
        """Return from which leverage on Cook's distance is above a limit, for each residual.

        h = k (1 - h)^2 with k = limit (p + 1) s^2 / r^2, solved for the h below 1.
        """
        k = distance * self.beta.size * self.variance / np.maximum(residuals**2, 1e-300)
        return np.asarray(2 * k / (2 * k + 1 + np.sqrt(4 * k + 1)))


def told_flags(much: Any, far: Any) -> dict[str, Any]:
    """Return an owner's rows, numbered from 1, that have much leverage or move the model far."""
    return {"leverage": (np.flatnonzero(much) + 1).tolist(),
            "distance": (np.flatnonzero(far) + 1).tolist()}


def told_values(leverage: Floats, distance: Floats) -> dict[str, Any]:
    """Return both numbers of an owner's rows, in the order of its file."""
    return {"leverage": leverage.tolist(), "distance": distance.tolist()}
