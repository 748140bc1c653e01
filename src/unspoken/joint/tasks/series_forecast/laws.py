"""Forecasts that are linear in a series: the sum of owners' forecasts is that of the sum.

A series has a row per period and a column per quantity. Every law says what follows, and by how
much it would have missed each period before.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from unspoken.arrays import Floats

LAWS = ("mean", "trend", "smoothing", "holt")
GRID = tuple(round(0.1 * step, 1) for step in range(1, 10))
"""Weights among which one is chosen."""


@dataclass(frozen=True)
class Law:
    """One law with its numbers: how many periods it averages, or how fast it forgets."""

    name: str
    window: int = 1
    weight: float = 0.5
    trend_weight: float = 0.1

    def ahead(self, series: Floats, periods: int) -> Floats:
        """Return the next periods (periods, columns)."""
        ways: dict[str, Callable[[Floats], tuple[Floats, Floats]]] = {
            "mean": self._mean, "trend": self._line, "smoothing": self._smoothed,
            "holt": self._holt}
        level, slope = ways[self.name](series)
        return np.asarray(level + slope * np.arange(1, periods + 1)[:, None])

    def misses(self, series: Floats) -> Floats:
        """Return by how much smoothing misses each period but the first, one ahead."""
        return self._passed(series)[2]

    def _mean(self, series: Floats) -> tuple[Floats, Floats]:
        return series[-self.window:].mean(axis=0), np.zeros(series.shape[1])

    def _line(self, series: Floats) -> tuple[Floats, Floats]:
        """Return the last height and the slope of the line of least squares."""
        time = np.arange(len(series)) - (len(series) - 1) / 2
        slope = time @ series / (time @ time)
        return series.mean(axis=0) + slope * time[-1], slope

    def _smoothed(self, series: Floats) -> tuple[Floats, Floats]:
        level, _, _ = self._passed(series)
        return level, np.zeros(series.shape[1])

    def _holt(self, series: Floats) -> tuple[Floats, Floats]:
        level, slope, _ = self._passed(series)
        return level, slope

    def _passed(self, series: Floats) -> tuple[Floats, Floats, Floats]:
        """Go through a series; level, slope (0 but for Holt's), and misses one ahead."""
        holt = self.name == "holt"
        level, slope = series[0], (series[1] - series[0]) * holt
        misses = []
        for value in series[1:]:
            misses.append(value - level - slope)
            risen = level + slope + self.weight * misses[-1]
            slope = slope + self.weight * self.trend_weight * misses[-1] * holt
            level = risen
        return level, slope, np.array(misses)
