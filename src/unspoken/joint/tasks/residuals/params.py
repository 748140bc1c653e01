"""The parameters of tasks `residuals` and `residuals-columns`."""

from __future__ import annotations

from dataclasses import dataclass, field

from unspoken.joint.tasks.param_rules import Between, OneWord
from unspoken.joint.tasks.regression.params import ModelSettings
from unspoken.joint.tasks.task_params import agreed
from unspoken.release.parameters import Whole

MOST_ROWS = 1000
LEAST_GROUP = 5
SHOWN = ("groups", "each")


@dataclass(frozen=True, kw_only=True)
class ResidualSettings(ModelSettings):
    """What a study of residuals says: the model, and what is shown."""

    synthetic: int = field(default=100, metadata=agreed(
        Between(1, MOST_ROWS), "how many rows each owner makes up", split="rows"))
    group: int = field(default=20, metadata=agreed(
        Whole(LEAST_GROUP), "the least number of records in a group"))
    show: str = field(default="groups", metadata=agreed(
        OneWord(SHOWN), "what is opened", split="columns"))
    groups: int = field(default=10, metadata=agreed(
        Whole(1), "into how many groups records are cut", split="columns"))
