"""The parameters of task `sum`."""

from __future__ import annotations

from dataclasses import dataclass, field

from unspoken.joint.tasks.param_rules import Between, Words
from unspoken.joint.tasks.task_params import TaskSettings, agreed


@dataclass(frozen=True)
class SumParams(TaskSettings):
    """Which columns are added up, and how finely."""

    columns: tuple[str, ...] = field(metadata=agreed(Words(), "the columns to add up"))
    scale: int = field(default=0, metadata=agreed(
        Between(0, 40), "fractional bits of sums; 0 is for whole numbers"))
