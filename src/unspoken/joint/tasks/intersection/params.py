"""The parameters of task `intersection`."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.sets.answer_budget import QueryBudget
from unspoken.joint.mpc.sets.encrypted_circle import DUPLICATES, MOST, SUBSETS, SetRules
from unspoken.joint.tasks.param_rules import Between, Flag, OneWord, Word
from unspoken.joint.tasks.task_params import TaskSettings, agreed
from unspoken.release.parameters import Whole


@dataclass(frozen=True)
class IntersectionParams(TaskSettings):
    """The column of ids, what was agreed about the sets, and how many queries are allowed."""

    column: str = field(metadata=agreed(Word(), "the column of ids"))
    members: bool = field(default=False, metadata=agreed(
        Flag(), "every owner learns which of its own ids all have, in place of their number"))
    least: int = field(default=10, metadata=agreed(Between(0, MOST), "smaller sets are refused"))
    pad_to: int = field(default=0, metadata=agreed(
        Between(0, MOST), "pad every list to this length, which hides how many ids an owner has; "
        "0 does not pad"))
    duplicates: str = field(default="refuse", metadata=agreed(
        OneWord(DUPLICATES), "what happens to repeated ids"))
    subsets: str = field(default="shown", metadata=agreed(
        OneWord(SUBSETS), "whether the counter may see overlaps of some sets"))
    queries: int | None = field(default=None, metadata=agreed(
        Whole(1), "how many runs an owner allows, counted beside its file in FILE.queries"))
    differ: int | None = field(default=None, metadata=agreed(
        Whole(1), "in how many ids two queries must differ at least, 1 without it; needs "
        "queries"))

    def __post_init__(self) -> None:
        """Refuse what only a budget could count."""
        if self.differ is not None and self.queries is None:
            raise StudyError("Parameter 'differ' of task 'intersection' needs 'queries', the "
                             "number of queries that are allowed.")

    @property
    def rules(self) -> SetRules:
        """Return what was agreed about the sets."""
        return SetRules(self.least, self.pad_to, self.duplicates, self.subsets)

    def budget(self, study: str, path: Path | None) -> QueryBudget | None:
        """Return the budget of queries that is kept in a file."""
        return None if self.queries is None else QueryBudget(study, self.queries,
                                                             self.differ or 1, path)
