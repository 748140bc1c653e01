"""The parameters of task `schema`, and what an owner brings: its categories, its widened ends."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.errors import DataError
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.tasks.param_rules import Between, Words
from unspoken.joint.tasks.task_params import TaskSettings, agreed
from unspoken.release.parameters import Real, Whole

BITS = 20
"""Ends are whole multiples of 2^-20, and lie between -2^30 and 2^30."""
BOUND = 1 << (30 + BITS)
LEAST = 2.0**-10
"""A column that spreads less counts as one of a single value, and gets a width of 1."""
MOST_BYTES = 32


@dataclass(frozen=True)
class SchemaParams(TaskSettings):
    """Which columns have categories, which have numbers, and how both are hidden."""

    columns: tuple[str, ...] = field(metadata=agreed(
        Words(), "the columns that it is about; the categories of those that are not in numbers "
        "are united"))
    numbers: tuple[str, ...] = field(default=(), metadata=agreed(
        Words("a list of different columns", 0), "those of them that hold numbers, whose ends are "
        "found"))
    most: int = field(default=64, metadata=agreed(
        Between(1, 512), "how many categories a column may have at all owners together"))
    margin: float = field(default=0.1, metadata=agreed(
        Real(0.0, 10.0), "every owner moves its ends outwards by this part of its own width, and "
        "then to a round number"))
    salt: int = field(default=0, metadata=agreed(
        Whole(0), "another one puts categories onto other places, where two had the same one"))

    def __post_init__(self) -> None:
        """Refuse numbers of other columns."""
        for name in set(self.numbers) - set(self.columns):
            raise StudyError(f"'numbers' of task 'schema' must name some of 'columns'. '{name}' is "
                             "none of them.")

    @property
    def categories_of(self) -> tuple[str, ...]:
        """Return the columns whose categories are united."""
        return tuple(name for name in self.columns if name not in self.numbers)


@dataclass(frozen=True)
class OwnSchema:
    """What an owner brings: the categories of each column, and a row of ends for each number."""

    categories: Mapping[str, tuple[str, ...]]
    ends: Ints


def widened(name: str, values: Floats, margin: float) -> tuple[int, int]:
    """Return an owner's ends in units of 2^-20, moved outwards to round numbers.

    Without values they are ends that change nobody's. Values without room are refused: ends that
    are cut would be those of a range that does not hold them.
    """
    there = values[np.isfinite(values)]
    if not there.size:
        return BOUND, -BOUND
    low, high = float(there.min()), float(there.max())
    if max(-low, high) >= 2.0**30:
        raise DataError(f"Column '{name}' must have numbers between -2^30 and 2^30, so that its "
                        "ends have room. Some are beyond. Bring it in greater units, such as "
                        "thousands.")
    width = high - low if high - low >= LEAST else 1.0
    step = _round_step(width * margin)
    ends = (math.floor((low - margin * width) / step) * step,
            math.ceil((high + margin * width) / step) * step)
    units = math.floor(ends[0] * 2**BITS), math.ceil(ends[1] * 2**BITS)
    return max(units[0], 1 - BOUND), min(units[1], BOUND - 1)


def _round_step(width: float) -> float:
    """Return the least of 1, 2 and 5 times a power of ten that is at least a width."""
    power = 10.0 ** math.floor(math.log10(width))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= width * (1 - 1e-9))


def shown_ends(names: Sequence[str], ends: Ints) -> dict[str, list[float]]:
    """Return opened ends as ranges; a column without a value anywhere is refused."""
    ranges = {}
    for name, (low, high) in zip(names, ends.tolist(), strict=True):
        if low >= high:
            raise StudyError(f"No owner has a value in column '{name}', so that it has no range.")
        ranges[name] = [round(low / 2**BITS, 5), round(high / 2**BITS, 5)]
    return ranges
