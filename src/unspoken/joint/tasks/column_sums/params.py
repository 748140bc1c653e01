"""The parameters of task `sum`: read and checked, and the noise that they ask for."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.errors import explain
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.tasks.common.study_parameters import check_names
from unspoken.joint.tasks.task import Param
from unspoken.numerics.concentrated_loss import part_scale, rho_of

PARAMS = (Param("columns", "the columns to add up, a list of names"),
          Param("scale", "fractional bits of sums, 0 to 40 (0: whole numbers)"),
          Param("edges.NAME", "[0, 18, 65, 120]: count the column's values by interval instead"),
          Param("range.NAME", "[low, high]: what a value counts as at least and at most"),
          Param("epsilon", "with it every owner adds its part of noise; ranges are needed then"),
          Param("delta", "the probability that the bound may fail (default: 1e-6)"),
          Param("colluding", "how many owners may pool what they know (default: 1)"))
DELTA = 1e-6


@dataclass(frozen=True)
class SumParams:
    """Which columns are added up or counted, how finely, and with which noise."""

    columns: tuple[str, ...]
    scale: int = 0
    epsilon: float | None = None
    delta: float = DELTA
    colluding: int = 1
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    edges: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> SumParams:
        """Return the parameters of a study; what is wrong is a StudyError."""
        check_names(parameters, PARAMS, "sum")
        columns, scale = parameters.get("columns"), parameters.get("scale", 0)
        if not isinstance(columns, list) or not columns or not all(
                isinstance(c, str) and c for c in columns):
            raise StudyError(explain("Parameter 'columns' of task 'sum'", "a list of column names",
                                     columns))
        if not isinstance(scale, int) or not 0 <= scale <= 40:
            raise StudyError(explain("Parameter 'scale' of task 'sum'", "an int from 0 to 40",
                                     scale))
        params = cls(tuple(columns), scale, *_loss(parameters),
                     {name: (numbers[0], numbers[1]) for name, numbers in
                      _numbers(parameters, "range", columns, 2).items()},
                     _numbers(parameters, "edges", columns, 1000))
        params._check_ranges()
        return params

    def _check_ranges(self) -> None:
        bare = [name for name in self.columns if name not in {*self.ranges, *self.edges}]
        if self.epsilon is not None and bare:
            raise StudyError(f"With 'epsilon' every column needs a range. Missing range.{bare[0]} "
                             "= [low, high], from public knowledge and never from the data.")

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Return what the numbers of the result are called."""
        return tuple(label for name in self.columns for label in (
            [f"{name} {low:g} .. {high:g}" for low, high in itertools.pairwise(self.edges[name])]
            if name in self.edges else [name]))

    def sums(self, name: str, values: Floats) -> Floats:
        """Return an owner's numbers for one column: its sum, or its counts by interval."""
        if name in self.edges:
            place = np.searchsorted(np.array(self.edges[name][1:-1]), values, side="right")
            return np.bincount(place, minlength=len(self.edges[name]) - 1).astype(np.float64)
        if name not in self.ranges:
            return np.array([values.sum()])
        # Every value is rounded by itself, so that one row moves the sum by whole units.
        units = np.rint(np.clip(values, *self.ranges[name]) * 2.0**self.scale)
        return np.array([units.sum() / 2.0**self.scale])

    def _reach(self, name: str) -> float:
        """Return how far one row that comes, goes or changes moves a column's numbers, in units."""
        if name in self.edges:
            return math.nextafter(math.sqrt(2), 2) * 2.0**self.scale
        low, high = (float(np.rint(end * 2.0**self.scale)) for end in self.ranges[name])
        return max(high, 0.0) - min(low, 0.0)

    def _size(self, name: str) -> int:
        return len(self.edges[name]) - 1 if name in self.edges else 1

    def parts(self, owners: int) -> dict[str, float]:
        """Return the scale of each owner's part of the noise of every column, in units."""
        if self.epsilon is None:
            return {}
        if not self.colluding < owners:
            raise StudyError(f"'colluding' must be below the number of owners ({owners}). Got "
                             f"{self.colluding}.")
        rho = rho_of(self.epsilon, self.delta) / len(self.columns)
        return {name: part_scale(max(self._reach(name), 1.0), rho, owners - self.colluding,
                                 self._size(name)) for name in self.columns}

    def deviations(self, owners: int) -> dict[str, float]:
        """Return the standard deviation of the noise of every column, of all parts together."""
        return {name: scale * math.sqrt(owners) / 2.0**self.scale
                for name, scale in self.parts(owners).items()}

    def noise(self, owners: int) -> Ints:
        """Draw one owner's part of the noise, in units; nobody else ever sees it."""
        from unspoken.numerics.private_noise import gaussian_part

        drawn = [gaussian_part(self._size(name), scale)
                 for name, scale in self.parts(owners).items()]
        return np.array([one for part in drawn for one in part], np.int64)


def _loss(parameters: Mapping[str, Any]) -> tuple[float | None, float, int]:
    epsilon, delta = parameters.get("epsilon"), parameters.get("delta", DELTA)
    colluding = parameters.get("colluding", 1)
    if epsilon is None and ("delta" in parameters or "colluding" in parameters):
        raise StudyError("'delta' and 'colluding' belong to 'epsilon', which is missing.")
    for name, value, most in (("epsilon", epsilon, 100.0), ("delta", delta, 0.1)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)
                                  or not 0 < value <= most):
            raise StudyError(explain(f"Parameter '{name}' of task 'sum'",
                                     f"above 0 and up to {most:g}", value))
    if type(colluding) is not int or colluding < 1:
        raise StudyError(explain("Parameter 'colluding' of task 'sum'", "an int of at least 1: "
                                 "every owner knows its own part of the noise", colluding))
    return epsilon, float(delta), colluding


def _numbers(parameters: Mapping[str, Any], kind: str, columns: list[str],
             most: int) -> dict[str, tuple[float, ...]]:
    """Return the increasing numbers that are declared for some columns."""
    declared: dict[str, tuple[float, ...]] = {}
    for key, value in parameters.items():
        head, dot, name = key.partition(".")
        if not dot or head != kind:
            continue
        plain = isinstance(value, list) and 2 <= len(value) <= most and all(
            isinstance(one, int | float) and math.isfinite(one) for one in value)
        if name not in columns or not plain or any(a >= b for a, b in itertools.pairwise(value)):
            raise StudyError(explain(f"Parameter '{key}' of task 'sum'", "increasing numbers for "
                                     "one of 'columns'", value))
        declared[name] = tuple(float(one) for one in value)
    return declared
