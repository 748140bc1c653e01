"""The parameters of task `sum`: read and checked, and the noise that they ask for."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.joint.mpc.shared import LIMIT
from unspoken.joint.tasks.common.noise_in_parts import NoiseSettings, draw_part, refuse_bare
from unspoken.joint.tasks.common.study_parameters import only_about
from unspoken.joint.tasks.param_rules import Between, Increasing, Words
from unspoken.joint.tasks.task_params import agreed

_HALF = 26
"""Sums of half of the bits of whole numbers have room in 64 bits."""


@dataclass(frozen=True)
class SumParams(NoiseSettings):
    """Which columns are added up or counted, how finely, and with which noise."""

    columns: tuple[str, ...] = field(metadata=agreed(Words(), "the columns to add up"))
    scale: int = field(default=0, metadata=agreed(
        Between(0, 40), "fractional bits of sums; 0 is for whole numbers"))
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict, metadata=agreed(
        Increasing(2), "what a value counts as at least and at most, such as [0, 120]",
        name="range.NAME"))
    edges: Mapping[str, tuple[float, ...]] = field(default_factory=dict, metadata=agreed(
        Increasing(1000), "count the column's values by interval instead, such as "
        "[0, 18, 65, 120]", name="edges.NAME"))

    def __post_init__(self) -> None:
        """Refuse noise without ranges, and ranges of other columns."""
        self.check_noise()
        for kind, named in (("range", self.ranges), ("edges", self.edges)):
            only_about(kind, "sum", self.columns, named)
        self._check_ranges()

    def _check_ranges(self) -> None:
        bare = [name for name in self.columns if name not in {*self.ranges, *self.edges}]
        if self.epsilon is not None:
            refuse_bare(bare)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Return what the numbers of the result are called."""
        return tuple(label for name in self.columns for label in (
            [f"{name} {low:g} .. {high:g}" for low, high in itertools.pairwise(self.edges[name])]
            if name in self.edges else [name]))

    def sums(self, name: str, values: Floats) -> Floats:
        """Return an owner's numbers for one column: its sum, or its counts by interval."""
        if name not in self.edges and name not in self.ranges:
            return np.array([values.sum()])
        return np.asarray(self.units(name, values) / 2.0**self.scale)

    def units(self, name: str, values: Floats) -> Ints:
        """Return the same of a column with a range or edges in whole units, exactly."""
        if name in self.edges:
            place = np.searchsorted(np.array(self.edges[name][1:-1]), values, side="right")
            return np.bincount(place, minlength=len(self.edges[name]) - 1) << self.scale
        # Every value is rounded by itself, so that one row moves the sum by whole units.
        units = np.rint(np.clip(values, *self.ranges[name]) * 2.0**self.scale).astype(np.int64)
        total = (int((units >> _HALF).sum()) << _HALF) + int((units & ((1 << _HALF) - 1)).sum())
        return np.array([min(max(total, 1 - LIMIT), LIMIT - 1)], np.int64)

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
        return {name: self.parted.scale(self._reach(name), owners, self._size(name),
                                        1 / len(self.columns)) for name in self.columns}

    def deviations(self, owners: int) -> dict[str, float]:
        """Return the standard deviation of the noise of every column, of all parts together."""
        return {name: scale * math.sqrt(owners) / 2.0**self.scale
                for name, scale in self.parts(owners).items()}

    def noise(self, owners: int) -> Ints:
        """Draw one owner's part of the noise, in units; nobody else ever sees it."""
        drawn = [draw_part(self._size(name), scale) for name, scale in self.parts(owners).items()]
        return np.concatenate(drawn)
