"""The parameters of task `forecast`, and what an owner brings: its own forecasts and misses."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.errors import DataError, explain
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.shared import LIMIT
from unspoken.joint.tasks.common.column_checks import as_numbers
from unspoken.joint.tasks.param_rules import AboveZero, Between, OneWord, RealBetween, Words
from unspoken.joint.tasks.series_forecast.laws import GRID, LAWS, Law
from unspoken.joint.tasks.task_params import TaskSettings, agreed

MOST_PERIODS, MOST_AHEAD = 10_000, 100
ROOM = 61
"""Bits that sums of squared misses may have."""


@dataclass(frozen=True)
class OwnForecasts:
    """What an owner brings: forecasts (laws, ahead, columns), misses (laws, periods, columns)."""

    ahead: Ints
    misses: Ints


@dataclass(frozen=True)
class ForecastParams(TaskSettings):
    """Which series are continued, how far, by which law, and how finely."""

    columns: tuple[str, ...] = field(metadata=agreed(
        Words(), "the columns, in each of which every owner has one number a period"))
    periods: int = field(metadata=agreed(
        Between(3, MOST_PERIODS), "how many periods, and so rows in order of time, every file has"))
    ahead: int = field(default=1, metadata=agreed(
        Between(1, MOST_AHEAD), "how many of the next periods are forecast"))
    law: str = field(default="smoothing", metadata=agreed(
        OneWord(LAWS), "by which law: a moving mean, a straight line, exponential smoothing, or "
        "Holt's, with a slope"))
    window: int = field(default=3, metadata=agreed(
        Between(1, MOST_PERIODS), "how many periods a moving mean is over"))
    weight: float = field(default=0.0, metadata=agreed(
        RealBetween(0.0, 1.0), "what smoothing gives the last value; 0: the one of 0.1 to 0.9 "
        "that would have missed least before, found on shares and shown to nobody"))
    trend_weight: float = field(default=0.1, metadata=agreed(
        RealBetween(0.0, 1.0), "what Holt's law gives the last change of the slope"))
    most: float = field(default=1e9, metadata=agreed(
        AboveZero(2.0**40), "every number lies between -most and most"))
    scale: int = field(default=10, metadata=agreed(
        Between(0, 20), "fractional bits of the forecast"))

    def __post_init__(self) -> None:
        """Refuse a mean over more periods than there are, and forecasts without room."""
        if self.window > self.periods:
            raise StudyError(explain("'window'", f"at most the {self.periods} periods",
                                     self.window))
        if self.bound * 1000 > LIMIT:
            raise StudyError("Forecasts must have room in 62 bits. They have none here. Agree on "
                             "a smaller 'most', 'ahead' or 'scale'.")

    @property
    def laws(self) -> tuple[Law, ...]:
        """Return the laws of which one is used: several where the weight is chosen on shares."""
        chosen = self.law in ("smoothing", "holt") and self.weight == 0
        return tuple(Law(self.law, self.window, weight, self.trend_weight)
                     for weight in (GRID if chosen else (self.weight,)))

    @property
    def is_last(self) -> bool:
        """Return True if a forecast is the last value, and so that of the sum the last sum."""
        return (self.law == "mean" and self.window == 1) or (
            self.law == "smoothing" and self.weight == 1)

    @property
    def bound(self) -> int:
        """Return the bound of one owner's forecast, in units of 2^-scale.

        A slope is below 2 most a period, Holt's below twice that, and a level is at most so many
        slopes above the last.
        """
        steps = 1 + 4 * (self.ahead + self.periods) * (self.law in ("trend", "holt"))
        return int(np.ceil(np.ldexp(self.most * steps, self.scale)))

    def coarse(self, owners: int) -> int:
        """Return the power of two in which misses are counted, so that squares have room."""
        bits = (ROOM - int(np.ceil(np.log2(self.periods)))) // 2
        steps = 2 + 4 * self.periods * (self.law == "holt")
        return int(np.ceil(np.log2(self.most * steps * owners))) - bits + 1

    def most_missed(self, owners: int) -> int:
        """Return the bound of one owner's misses in these powers."""
        return int((1 << (ROOM - int(np.ceil(np.log2(self.periods)))) // 2) // owners)

    def own(self, values: Any, owners: int) -> OwnForecasts:
        """Return an owner's forecasts and misses; what does not fit is refused unseen."""
        series = self._checked(values)
        ahead = np.array([law.ahead(series, self.ahead) for law in self.laws])
        misses = np.zeros((1, self.periods - 1, len(self.columns)), np.int64)
        if len(self.laws) > 1:
            missed = np.array([law.misses(series) for law in self.laws])
            most = self.most_missed(owners)
            misses = np.clip(np.rint(np.ldexp(missed, -self.coarse(owners))), -most, most).astype(
                np.int64)
        return OwnForecasts(np.rint(np.ldexp(ahead, self.scale)).astype(np.int64), misses)

    def _checked(self, values: Any) -> Floats:
        series = as_numbers("This owner's file", values)
        if series.shape != (self.periods, len(self.columns)):
            raise DataError(f"An owner must bring {self.periods} rows, one for each period, with "
                            f"the columns {', '.join(self.columns)}. This one brings others. Give "
                            "every period one row, in order of time.")
        if not np.isfinite(series).all() or (np.abs(series) > self.most).any():
            raise DataError(f"Every number must lie between {-self.most:g} and {self.most:g}. Some "
                            "do not, or are missing. Correct them, or agree on a greater 'most'.")
        return series

    def told(self, opened: Ints) -> dict[str, list[float]]:
        """Return the next values of every column, from opened units (ahead, columns)."""
        values = np.ldexp(np.asarray(opened, np.float64), -self.scale)
        return {name: values[:, place].tolist() for place, name in enumerate(self.columns)}
