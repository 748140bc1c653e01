"""The parameters of task `percentile`, and how a place among others is put into numbers.

With n owners, of whom b bring less in a column and a bring more, the rank is (n + 1 + b - a) / 2:
1 is the least, and equal numbers share the middle of their ranks. The percentile is
100 (n + b - a) / 2n: who is less counts whole, who is equal counts half, oneself too. (scipy calls
them rankdata, "average", and percentileofscore, "mean".)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unspoken.arrays import Ints
from unspoken.errors import DataError
from unspoken.joint.tasks.common.column_checks import as_numbers
from unspoken.joint.tasks.param_rules import AboveZero, Between, Either, Words
from unspoken.joint.tasks.task_params import TaskSettings, agreed

MOST_SCALE, MOST_GROUPS = 20, 100


@dataclass(frozen=True)
class PercentileParams(TaskSettings):
    """In which columns owners are compared, how finely, and how much each learns."""

    columns: tuple[str, ...] = field(metadata=agreed(
        Words(), "the columns, in each of which every owner brings one number"))
    most: float = field(default=1e9, metadata=agreed(
        AboveZero(2.0**40), "every number lies between -most and most; tight is cheap"))
    scale: int = field(default=10, metadata=agreed(
        Between(0, MOST_SCALE), "fractional bits of numbers; what is equal then is a tie"))
    groups: int = field(default=0, metadata=agreed(
        Either((Between(0, 0), Between(2, MOST_GROUPS))), "an owner learns only in which of so "
        "many equal parts it stands, such as 4 for quarters; 0 opens its rank"))

    @property
    def bound(self) -> int:
        """Return the bound of numbers in units of 2^-scale."""
        return int(np.ceil(np.ldexp(self.most, self.scale)))

    def units(self, values: Any) -> Ints:
        """Return an owner's numbers in whole units; what does not fit is refused unseen."""
        row = as_numbers("This owner's file", values)
        if row.shape != (len(self.columns),):
            raise DataError("An owner must bring one number in each of the columns "
                            f"{', '.join(self.columns)}. This one brings more or fewer. Give a "
                            "table of one row.")
        if not np.isfinite(row).all() or (np.abs(row) > self.most).any():
            raise DataError(f"Every number must lie between {-self.most:g} and {self.most:g}. Some "
                            "do not, or are missing. Correct them, or agree on a greater 'most'.")
        return np.rint(np.ldexp(row, self.scale)).astype(np.int64)

    def limits(self, owners: int) -> list[int]:
        """Return from which balance of less and more on an owner is in the next group."""
        return [-(-2 * owners * group // self.groups) - owners for group in range(1, self.groups)]

    def ends_alone(self, owners: int) -> bool:
        """Return True if who is first or last of all learns just that."""
        return not self.groups or {2 - owners, owners - 1} <= set(self.limits(owners))

    def standing(self, places: Ints, owners: int) -> dict[str, dict[str, float]]:
        """Return what an owner is told of every column, from its opened places."""
        by_column = zip(self.columns, np.asarray(places).tolist(), strict=True)
        if self.groups:
            return {name: {"group": place + 1, "groups": self.groups} for name, place in by_column}
        return {name: {"rank": (owners + 1 + place) / 2, "owners": owners,
                       "percentile": 100 * (owners + place) / (2 * owners)}
                for name, place in by_column}
