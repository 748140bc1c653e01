"""What noise was added to behind an answer: kept in the log, so that an audit knows its size.

The stated error of a mean or a variance is divided by a noisy number of people. Times the true
number it would say too little wherever that noise fell high; the noise of the sums themselves
follows from the grid, the price and how many rows a person has, and from nothing that was drawn.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from unspoken.methods.queries.service.noisy_answers import Aggregates, shrunk
from unspoken.numerics.private_noise import laplace_error


@dataclass(frozen=True)
class AnsweredGrid:
    """The steps of a column inside its bounds, and what one person could move."""

    low: int
    high: int
    step: Fraction
    rows: int
    moving: bool

    @property
    def bounds(self) -> tuple[float, float]:
        """Return the bounds that values were clamped to."""
        return float(self.low * self.step), float(self.high * self.step)

    def mean_sum(self, value: float, error: float, epsilon: float, people: int) -> \
            tuple[float, float]:
        """Return the sum that a mean of some people discloses, and the deviation of its noise."""
        part, middle = self._each(epsilon) / 2, (self.low + self.high) // 2
        wide = laplace_error(self._far(1) * self.rows, part)
        narrow = laplace_error(self.rows, part)
        off, step = value / float(self.step) - middle, float(self.step)
        noisy_people = math.hypot(wide, off * narrow) * step / error
        return (off * noisy_people + middle * people) * step, wide * step

    def square_sum(self, value: float, error: float, epsilon: float, mean: float) -> \
            tuple[float, float]:
        """Return the sum of squares about their mean that a variance discloses, and its noise."""
        part, shrink = self._each(epsilon) / 3, shrunk(self.low, self.high)
        unit, middle, far = float(self.step) * shrink, (self.low + self.high) // 2, \
            self._far(shrink) + 1
        off, spread = (mean / float(self.step) - middle) / shrink, value / unit ** 2
        few = laplace_error(self.rows, part)
        fixed = (laplace_error(far * far * self.rows, part),
                 2 * off * laplace_error(far * self.rows, part))
        noisy_people = math.hypot(*fixed, (off ** 2 - spread) * few) * unit ** 2 / error
        return value * noisy_people, math.hypot(*fixed, off ** 2 * few) * unit ** 2

    def _each(self, epsilon: float) -> float:
        return epsilon / 2 if self.moving else epsilon

    def _far(self, shrink: int) -> int:
        middle = (self.low + self.high) // 2
        return -(-max(self.high - middle, middle - self.low) // shrink)


def grid_entry(sums: Aggregates | None, rows: int) -> dict[str, Any]:
    """Return what the log keeps of the grid behind an answer; nothing where there is none."""
    if sums is None or sums.column is None:
        return {}
    column = sums.column
    return {"grid": {"low": column.low, "high": column.high, "step": str(column.step),
                     "rows": rows, "moving": sums.groups is not None and sums.groups.moving}}


def grid_of(entry: Mapping[str, Any]) -> AnsweredGrid | None:
    """Return the grid behind a logged answer, None where an earlier version logged none."""
    kept = entry.get("grid")
    if kept is None:
        return None
    return AnsweredGrid(kept["low"], kept["high"], Fraction(kept["step"]), kept["rows"],
                        kept["moving"])
