"""The parameters of task `bins`: how columns are parted, by which classes values are counted."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from unspoken.arrays import Floats
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.tasks.common.noise_in_parts import NoiseSettings
from unspoken.joint.tasks.common.quantile_search import Grid, even_parts
from unspoken.joint.tasks.common.study_parameters import only_about
from unspoken.joint.tasks.param_rules import AboveZero, Between, Increasing, Numbers, Word, Words
from unspoken.joint.tasks.task_params import agreed

FEWEST = 5
KINDS = ("cuts", "range", "categories")


@dataclass(frozen=True)
class BinParams(NoiseSettings):
    """Which columns are parted and how, the two classes, and what is too little to be shown."""

    columns: tuple[str, ...] = field(metadata=agreed(
        Words(), "the columns that are parted into bins; each has cuts, a range or categories"))
    target: str = field(default="", metadata=agreed(
        Word(), "the column of a class of two, by which values are counted; without it they are "
        "only counted"))
    classes: tuple[str, ...] = field(default=(), metadata=agreed(
        Words("a list of different texts"), "both classes of the target; a weight above 0 speaks "
        "for the second"))
    cuts: Mapping[str, tuple[float, ...]] = field(default_factory=dict, metadata=agreed(
        Numbers(), "the edges between the bins of a number, increasing; a value at an edge belongs "
        "to the bin below it", name="cuts.NAME"))
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict, metadata=agreed(
        Increasing(2), "a number is parted at quantiles of all owners' values, which are searched "
        "between these two", name="range.NAME"))
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict, metadata=agreed(
        Words("a list of different texts"), "the categories of a column, each a bin",
        name="categories.NAME"))
    bins: int = field(default=10, metadata=agreed(
        Between(2, 100), "how many bins of equally many values a column with a range has"))
    bits: int = field(default=12, metadata=agreed(
        Between(1, 30), "edges from quantiles are exact to the width of the range divided by "
        "2^bits"))
    fewest: int | None = field(default=None, metadata=agreed(
        Between(0, 1 << 20), f"a bin with fewer values comes out empty, {FEWEST} without it; not "
        "with epsilon"))
    smoothing: float = field(default=0.5, metadata=agreed(
        AboveZero(1000.0), "what is added to every count of a class before a weight of evidence is "
        "taken"))

    def __post_init__(self) -> None:
        """Refuse columns that are parted in no way or two, and half a target."""
        self.check_noise()
        for name in self.columns:
            self._check_kind(name)
        for kind, named in self._named().items():
            only_about(kind, "bins", self.columns, named)
        self._check_target()
        self._check_noisy()

    def _named(self) -> dict[str, Mapping[str, object]]:
        return dict(zip(KINDS, (self.cuts, self.ranges, self.categories), strict=True))

    def _check_kind(self, name: str) -> None:
        kinds = [kind for kind, named in self._named().items() if name in named]
        if len(kinds) != 1:
            raise StudyError(f"Column '{name}' of task 'bins' must be given one of "
                             + ", ".join(f"{kind}.{name}" for kind in KINDS)
                             + f". It has {len(kinds)}.")
        edges = self.cuts.get(name, ())
        if any(low >= high for low, high in itertools.pairwise(edges)):
            raise StudyError(f"'cuts.{name}' must be increasing numbers. They are not.")

    def _check_target(self) -> None:
        if bool(self.target) != bool(self.classes) or len(self.classes) not in (0, 2):
            raise StudyError("A weight of evidence needs 'target' and both of its 'classes', two "
                             "texts; counts alone need neither. The study has something else.")
        if self.target in self.columns:
            raise StudyError(f"'{self.target}' is the target of task 'bins' and one of its "
                             "columns. Leave it out of 'columns'.")

    def _check_noisy(self) -> None:
        if self.epsilon is not None and (self.ranges or self.fewest is not None):
            raise StudyError("With 'epsilon' bins have agreed cuts or categories, and no 'fewest': "
                             "quantiles and exact counts would be opened without noise.")

    @property
    def least(self) -> int:
        """Return how many values a bin must have to be shown; 0 shows every one."""
        if self.epsilon is not None:
            return 0
        return FEWEST if self.fewest is None else self.fewest

    @property
    def grids(self) -> dict[str, Grid]:
        """Return the grid and the wanted quantiles of the columns that are parted by them."""
        return {name: Grid(*self.ranges[name], self.bits, even_parts(self.bins))
                for name in self.columns if name in self.ranges}

    @property
    def kinds(self) -> int:
        """Return how many counts a bin has: one for each class, or one."""
        return max(1, len(self.classes))

    def cells(self, name: str) -> int:
        """Return how many bins a column has at most, the one of missing values last."""
        if name in self.categories:
            return len(self.categories[name]) + 1
        return (self.bins if name in self.ranges else len(self.cuts[name]) + 1) + 1

    def edges(self, ends: Mapping[str, Floats]) -> dict[str, Floats]:
        """Return the edges of every number, with those that were found in the run.

        One that was left out lies at infinity, so that everything above the last lies below it.
        """
        searched = {name: np.sort(np.where(np.isnan(points), np.inf, points))
                    for name, points in ends.items()}
        return {name: searched[name] if name in searched else np.array(self.cuts[name], float)
                for name in self.columns if name not in self.categories}

    def parts(self, owners: int) -> dict[str, float]:
        """Return the scale of each owner's part of the noise of every column's counts."""
        reach, share = math.nextafter(math.sqrt(2), 2), 1 / len(self.columns)
        return {name: self.parted.scale(reach, owners, self.cells(name) * self.kinds, share)
                for name in self.columns}
