"""The parameters of tasks `logistic` and `logistic-columns`."""

from __future__ import annotations

from dataclasses import dataclass, field

from unspoken.joint.tasks.regression.params import ModelSettings
from unspoken.joint.tasks.task_params import agreed
from unspoken.release.parameters import Real

CONDITION = 2.0**16
"""Of the weighted products of columns, which are inverted with fewer bits than those of rows."""
_RULE, _HELP = Real(1.0, 2.0**28), "the greatest condition of the matrix that is inverted"


@dataclass(frozen=True, kw_only=True)
class LogisticSettings(ModelSettings):
    """What a study of a logistic model says."""

    condition: float = field(default=2.0**20, metadata=agreed(_RULE, _HELP, split="rows"))
    condition_columns: float = field(default=CONDITION, metadata=agreed(
        _RULE, _HELP, name="condition", split="columns"))
