"""The parameters of tasks `boosted-trees` and `boosted-trees-columns`: of trees, and their sum."""

from __future__ import annotations

from dataclasses import dataclass, field

from unspoken.joint.tasks.param_rules import Between, Flag, RealBetween
from unspoken.joint.tasks.task_params import agreed, check_declared
from unspoken.joint.tasks.tree.params import GrowthSettings
from unspoken.release.parameters import Real

MOST = 1 << 16
# What a question is worth must stay below 2^62, and so must differences from what does not count.
MOST_RECORDS = 1 << 19


@dataclass(frozen=True)
class Boost:
    """How trees are added up."""

    rounds: int = field(default=10, metadata=agreed(
        Between(1, 1000), "how many trees are added up"))
    rate: float = field(default=0.3, metadata=agreed(
        Real(0.0, 1.0 + 1e-9), "what each tree counts"))
    penalty: float = field(default=1.0, metadata=agreed(
        RealBetween(0.01, 1000.0), "added to the curvature of every leaf"))
    two_may_learn: bool = field(default=False, metadata=agreed(
        Flag(), "two owners agree to learn about each other's leaves", split="rows"))

    def __post_init__(self) -> None:
        check_declared("Boosting", self)


@dataclass(frozen=True, kw_only=True)
class BoostSettings(Boost, GrowthSettings):
    """What a study of boosted trees says; over columns questions have two answers."""

    most: int = field(default=MOST, metadata=agreed(
        Between(1, MOST_RECORDS), "a public bound on the number of all records", split="rows"))
    class_known: bool = False
    branches: int = 2
