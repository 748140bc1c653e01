"""The parameters of task `vote`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from unspoken.joint.tasks.classify.params import MAX_DEPTH, MOST_RECORDS
from unspoken.joint.tasks.naive_bayes.params import CATEGORIES, CLASSES, COLUMNS, RANGE, TARGET
from unspoken.joint.tasks.param_rules import Between, Word
from unspoken.joint.tasks.task import RECORDS
from unspoken.joint.tasks.task_params import TaskSettings, agreed


@dataclass(frozen=True, kw_only=True)
class VoteSettings(TaskSettings):
    """What models and records have in common, who asks, and how much."""

    target: str = field(metadata=TARGET)
    classes: tuple[str, ...] = field(metadata=CLASSES)
    columns: tuple[str, ...] = field(metadata=COLUMNS)
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict, metadata=CATEGORIES)
    range: Mapping[str, tuple[float, ...]] = field(default_factory=dict, metadata=RANGE)
    asks: str = field(metadata=agreed(
        Word("an owner's name"), "the owner of the records; every other owner has a model"))
    depth: int | None = field(default=None, metadata=agreed(
        Between(1, MAX_DEPTH), "the models are trees of this depth, of two answers; without it "
        "naive Bayes"))
    expected: int = field(default=RECORDS, metadata=agreed(
        Between(1, MOST_RECORDS), "the number of records that the forecast is for"))
    most: int | None = field(default=None, metadata=agreed(
        Between(1, MOST_RECORDS), "more records than this are refused before anything of a model "
        "is shared; without it nothing counts them"))
