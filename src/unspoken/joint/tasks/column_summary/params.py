"""The parameters of task `summary`, what an owner counts and adds up, and what totals say."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.tasks.common.noise_in_parts import NoiseSettings, draw_part
from unspoken.joint.tasks.common.study_parameters import one_range_each
from unspoken.joint.tasks.param_rules import Between, Increasing, Words
from unspoken.joint.tasks.task_params import agreed

CELLS = 4
NUMBERS = CELLS + 2
"""Of each column: values below its range, within, above, missing; their sum, and of squares."""
FEWEST = 5
MOST_BITS, NOISY_BITS = 40, 20
EMPTY: dict[str, Any] = dict.fromkeys(
    ("known", "missing", "below", "above", "mean", "variance", "deviation"))


@dataclass(frozen=True)
class SummaryParams(NoiseSettings):
    """Which columns are described, between which bounds, and what is too little to be shown."""

    columns: tuple[str, ...] = field(metadata=agreed(
        Words(), "the columns of numbers that are described"))
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict, metadata=agreed(
        Increasing(2), "what a value of a column counts as at least and at most, such as "
        "[0, 120]", name="range.NAME", required=True))
    fewest: int | None = field(default=None, metadata=agreed(
        Between(0, 1 << 20), f"a column with fewer known values comes out empty, {FEWEST} without "
        "it; not with epsilon"))
    most: int = field(default=1 << 20, metadata=agreed(
        Between(1, 1 << 30), "how many records each owner has at most; the fewer, the finer sums "
        "are"))

    def __post_init__(self) -> None:
        """Refuse columns without a range, ranges of other columns, and exact counts with noise."""
        self.check_noise()
        one_range_each("summary", self.columns, self.ranges)
        if self.epsilon is not None and self.fewest is not None:
            raise StudyError("'fewest' asks for exact counts, and 'epsilon' for noisy ones. The "
                             "study has both. Leave one of them out.")

    @property
    def least(self) -> int:
        """Return how many known values a column must have to be shown; 0 shows every one."""
        if self.epsilon is not None:
            return 0
        return FEWEST if self.fewest is None else self.fewest

    def bits(self, owners: int) -> int:
        """Return the fractional bits of sums, whose unit is half of a column's range."""
        if self.epsilon is not None:
            return NOISY_BITS
        return min(MOST_BITS, 61 - (self.most * owners).bit_length())

    def numbers(self, name: str, values: Floats, owners: int) -> Ints:
        """Return what an owner adds to the totals of a column; NaN is a missing value."""
        low, high = self.ranges[name]
        known = values[~np.isnan(values)]
        below, above = int((known < low).sum()), int((known > high).sum())
        cells = [below, known.size - below - above, above, values.size - known.size]
        places = np.clip((np.clip(known, low, high) - low) / ((high - low) / 2) - 1, -1.0, 1.0)
        sums = _rounded_each if self.epsilon is not None else _exact
        return np.array([*cells, *sums(places, self.bits(owners))], np.int64)

    def parts(self, owners: int) -> tuple[float, float, float]:
        """Return the scales of an owner's parts of the noise: counts, sum, sum of squares."""
        unit, share = 2.0**NOISY_BITS, 1 / (3 * len(self.columns))
        # A row that changes leaves one cell for another, and moves from one end to the other.
        return (self.parted.scale(math.nextafter(math.sqrt(2), 2), owners, CELLS, share),
                self.parted.scale(2 * unit, owners, 1, share),
                self.parted.scale(unit, owners, 1, share))

    def noise(self, owners: int) -> Ints:
        """Draw one owner's part of the noise of all columns; nobody else ever sees it."""
        sizes = tuple(zip((CELLS, 1, 1), self.parts(owners), strict=True))
        return np.stack([np.concatenate([draw_part(size, scale) for size, scale in sizes])
                         for _ in self.columns], axis=1)

    def deviations(self, owners: int) -> dict[str, float]:
        """Return the standard deviation of the noise of counts and of sums, in half ranges."""
        cells, total, _ = self.parts(owners)
        return {"counts": cells * math.sqrt(owners),
                "sums, in half ranges": total * math.sqrt(owners) / 2.0**NOISY_BITS}

    def described(self, totals: Ints, owners: int) -> dict[str, Any]:
        """Return the result from the totals of all owners (numbers, columns)."""
        return {"summary": {name: self._described(name, [int(n) for n in column], owners)
                            for name, column in zip(self.columns, totals.T, strict=True)}}

    def _described(self, name: str, numbers: Sequence[int], owners: int) -> dict[str, Any]:
        cells, bounds = [max(0, cell) for cell in numbers[:CELLS]], list(self.ranges[name])
        below, within, above, missing = cells
        known = below + within + above
        if known == 0:
            empty = EMPTY if self.least else {**EMPTY, "known": 0, "missing": missing, "below": 0,
                                              "above": 0}
            return {**empty, "range": bounds}
        mean, variance = self._moments(name, known, numbers[CELLS:], owners)
        return {"known": known, "missing": missing, "below": below, "above": above, "mean": mean,
                "variance": variance,
                "deviation": None if variance is None else math.sqrt(variance), "range": bounds}

    def _moments(self, name: str, known: int, sums: Sequence[int],
                 owners: int) -> tuple[float, float | None]:
        """Return mean and variance (of a sample) from the sums of places within the range."""
        low, high = self.ranges[name]
        half, unit = (high - low) / 2, 1 << self.bits(owners)
        total, squares = (Fraction(number, unit) for number in sums)
        mean = min(max(low + half * float(total / known + 1), low), high)
        centred = squares - total * total / known
        # What rounding by every owner can make of a constant column.
        rounding = 0 if self.epsilon is not None else Fraction(2 * owners, unit)
        spread = float(centred) if centred > rounding else 0.0
        return mean, None if known < 2 else half * half * spread / (known - 1)


def _exact(places: Floats, bits: int) -> tuple[int, int]:
    """Return the sum of an owner's places and of their squares, each rounded once.

    They are taken around the owner's own mean, so that nothing cancels.
    """
    middle = float(places.mean()) if places.size else 0.0
    apart = places - middle
    first, second = Fraction(math.fsum(apart)), Fraction(math.fsum(apart * apart))
    centre, count = Fraction(middle), places.size
    total = count * centre + first
    return (round(total * 2**bits),
            round((count * centre**2 + 2 * centre * first + second) * 2**bits))


def _rounded_each(places: Floats, bits: int) -> tuple[int, int]:
    """Return the same with every value rounded by itself: a row moves them by whole units."""
    unit = 2.0**bits
    return (int(np.rint(places * unit).astype(np.int64).sum()),
            int(np.rint(places**2 * unit).astype(np.int64).sum()))
