"""The parameters of tasks `classify` and `classify-columns`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from unspoken.joint.tasks.common.study_parameters import EXPECTED_PARAM
from unspoken.joint.tasks.naive_bayes.params import CATEGORIES, CLASSES, COLUMNS, RANGE, TARGET
from unspoken.joint.tasks.param_rules import Between, OneWord, Word
from unspoken.joint.tasks.task import RECORDS
from unspoken.joint.tasks.task_params import TaskSettings, agreed, of_rows

MAX_DEPTH, MOST_PART_DEPTH, MOST_RECORDS, MOST_TREES = 12, 20, 1 << 20, 1000
WAYS = ("together", "walking")


@dataclass(frozen=True, kw_only=True)
class ClassifySettings(TaskSettings):
    """What a study that classifies says: over rows one owner has the model, another the records."""

    target: str = field(default="", metadata=of_rows(TARGET))
    classes: tuple[str, ...] = field(default=(), metadata=of_rows(CLASSES))
    columns: tuple[str, ...] = field(default=(), metadata=COLUMNS)
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict, metadata=CATEGORIES)
    range: Mapping[str, tuple[float, ...]] = field(default_factory=dict, metadata=RANGE)
    model: str = field(default="", metadata=agreed(
        Word("an owner's name"), "the owner of the model", split="rows", required=True))
    asks: str = field(default="", metadata=agreed(
        Word("an owner's name"), "the owner of the records", split="rows", required=True))
    records: int = field(default=RECORDS, metadata=agreed(
        Between(1, MOST_RECORDS), "the number of records that the forecast is for",
        name="expected", split="rows"))
    most: int | None = field(default=None, metadata=agreed(
        Between(1, MOST_RECORDS), "more records than this are refused before anything of the model "
        "is shared; without it nothing counts them", split="rows"))
    expected: int = field(default=RECORDS, metadata=EXPECTED_PARAM)
    depth: int | None = field(default=None, metadata=agreed(
        Between(1, MAX_DEPTH), "the model is a tree of this depth, of two answers; without it "
        "naive Bayes", split="rows"))
    class_site: str = field(default="", metadata=agreed(
        Word("an owner's name"), "the owner that knows the classes of leaves", split="columns",
        required=True))
    way: str = field(default=WAYS[0], metadata=agreed(
        OneWord(WAYS), "walking shows every path to all sites", split="columns"))
    part_depth: int = field(default=4, metadata=agreed(
        Between(1, MOST_PART_DEPTH), "the depth of the tree that the forecast is for",
        name="depth", split="columns"))
    trees: int = field(default=0, metadata=agreed(
        Between(0, MOST_TREES), "of how many boosted trees the forecast is; 0: of one tree",
        split="columns"))
