"""The parameters of task `quantiles`: which ones, of which columns, and how finely."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.joint.tasks.common.quantile_search import Grid
from unspoken.joint.tasks.common.study_parameters import one_range_each
from unspoken.joint.tasks.param_rules import Between, Increasing, Words, is_list, is_number
from unspoken.joint.tasks.task_params import TaskSettings, agreed

FINEST = 10**6


@dataclass(frozen=True)
class SharesOfAll:
    """A list of increasing numbers between 0 and 1, of at most six decimals."""

    def allowed(self) -> str:
        """Return what is allowed, in words."""
        return "a list of at most 99 increasing numbers between 0 and 1, of at most 6 decimals"

    def admits(self, value: Any) -> bool:
        """Return True if the value is allowed."""
        return is_list(value) and 1 <= len(value) <= 99 and all(
            is_number(one) and 0 < one < 1 and FINEST % Fraction(str(one)).denominator == 0
            for one in value) and all(a < b for a, b in itertools.pairwise(value))


@dataclass(frozen=True)
class QuantileParams(TaskSettings):
    """Which quantiles of which columns are found, and on which grid."""

    columns: tuple[str, ...] = field(metadata=agreed(
        Words(), "the columns of numbers whose quantiles are found"))
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict, metadata=agreed(
        Increasing(2), "between which numbers the quantiles of a column are searched, such as "
        "[0, 120]", name="range.NAME", required=True))
    at: tuple[float, ...] = field(default=(0.25, 0.5, 0.75), metadata=agreed(
        SharesOfAll(), "which quantiles; 0.5 is the median"))
    bits: int = field(default=12, metadata=agreed(
        Between(1, 30), "a quantile is exact to the width of the range divided by 2^bits; the "
        "finer, the closer it lies to somebody's value"))
    fewest: int = field(default=5, metadata=agreed(
        Between(1, 1 << 20), "a quantile with fewer known values on one of its sides is left out, "
        "and everybody learns which"))

    def __post_init__(self) -> None:
        """Refuse columns without a range, and ranges of other columns."""
        one_range_each("quantiles", self.columns, self.ranges)

    @property
    def grids(self) -> dict[str, Grid]:
        """Return the grid and the wanted quantiles of every column."""
        wanted = tuple((part.numerator, part.denominator)
                       for part in (Fraction(str(one)) for one in self.at))
        return {name: Grid(*self.ranges[name], self.bits, wanted) for name in self.columns}

    def described(self, ends: Mapping[str, Floats]) -> dict[str, Any]:
        """Return the result: of every column its quantiles, None where one was left out."""
        widths = {name: (high - low) / 2**self.bits for name, (low, high) in self.ranges.items()}
        return {"quantiles": {name: {str(at): None if np.isnan(point) else float(point)
                                     for at, point in zip(self.at, points, strict=True)}
                              for name, points in ends.items()},
                "exact_to": {name: widths[name] for name in self.columns}}
