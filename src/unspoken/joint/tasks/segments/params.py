"""The parameters of task `segments`, and what an owner brings: its records and sums by segment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unspoken.arrays import Ints
from unspoken.errors import DataError
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.shared import LIMIT
from unspoken.joint.tasks.common.column_checks import all_there, numbers
from unspoken.joint.tasks.param_rules import Between, Word, Words
from unspoken.joint.tasks.task_params import TaskSettings, agreed
from unspoken.joint.tasks.tree.params import Attribute

MOST = 1 << 40
"""More records of one owner are refused."""


@dataclass(frozen=True)
class OwnSegments:
    """What an owner brings: records by segment, and sums (segments, columns) in whole units."""

    counts: Ints
    sums: Ints


@dataclass(frozen=True)
class SegmentParams(TaskSettings):
    """Which segments there are, what is averaged in them, and when they are not shown."""

    segment: str = field(metadata=agreed(
        Word(), "the column that says to which segment a record belongs"))
    labels: tuple[str, ...] = field(metadata=agreed(
        Words("a list of different texts"), "all segments"))
    columns: tuple[str, ...] = field(metadata=agreed(
        Words(), "the columns of numbers whose means are taken"))
    least: int = field(default=10, metadata=agreed(
        Between(1, MOST), "a segment with fewer records of all owners together is not shown, and "
        "cannot be told from an empty one"))
    others: int = field(default=0, metadata=agreed(
        Between(0, MOST), "nor is one in which all owners but one, whichever it is, have fewer "
        "records than this together: who subtracts its own part has means over as many"))
    scale: int = field(default=10, metadata=agreed(
        Between(0, 30), "fractional bits to which every number is rounded"))

    def __post_init__(self) -> None:
        """Refuse a segment that is averaged."""
        if self.segment in self.columns:
            raise StudyError(f"The column of segments, '{self.segment}', must not be one of "
                             "'columns', whose means are taken.")

    def own(self, table: Mapping[str, Any], owners: int) -> OwnSegments:
        """Return an owner's records and sums; a label that is not agreed on is refused unseen."""
        all_there((self.segment, *self.columns), table)
        codes = Attribute(self.segment, self.labels).code(table[self.segment])
        units = np.rint(np.ldexp(np.column_stack(
            [numbers(name, table[name]) for name in self.columns]), self.scale))
        if np.abs(units).sum(axis=0).max(initial=0.0) > bound_of(owners) / 2:
            raise DataError(f"The sums of this owner's columns are too great for {self.scale} "
                            "fractional bits. Agree on a smaller 'scale'.")
        sums = np.zeros((len(self.labels), len(self.columns)), np.int64)
        np.add.at(sums, codes, units.astype(np.int64))
        return OwnSegments(np.bincount(codes, minlength=len(self.labels)), sums)

    def shown(self, opened: Ints) -> dict[str, Any]:
        """Return the result of opened records and sums: both are 0 where nothing is shown."""
        rows = dict(zip(self.labels, np.asarray(opened).tolist(), strict=True))
        return {"segments": {label: self._means(*row) for label, row in rows.items() if row[0]},
                "not shown": [label for label, row in rows.items() if not row[0]]}

    def _means(self, count: int, *sums: int) -> dict[str, Any]:
        means = (total / (count << self.scale) for total in sums)
        return {"records": count, "means": dict(zip(self.columns, means, strict=True))}


def bound_of(owners: int) -> int:
    """Return the bound of the sums of one of some owners, in units."""
    return (LIMIT - 1) // owners
