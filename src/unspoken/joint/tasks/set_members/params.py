"""The parameters of tasks `intersection-members` and `union`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.sets.encrypted_circle import DUPLICATES, MOST, SetRules, encoded, own_set
from unspoken.joint.mpc.sets.set_bits import flags_of
from unspoken.joint.tasks.param_rules import Between, OneWord, Word, Words
from unspoken.joint.tasks.task_params import TaskSettings, agreed


@dataclass(frozen=True)
class MemberParams(TaskSettings):
    """The column of ids, all ids that are possible, and what was agreed about the sets."""

    column: str = field(metadata=agreed(Word(), "the column of ids"))
    universe: tuple[str, ...] = field(metadata=agreed(
        Words("a list of different texts"), "all ids that are possible, which everybody may know"))
    least: int = field(default=1, metadata=agreed(Between(0, MOST), "smaller sets are refused"))
    duplicates: str = field(default="drop", metadata=agreed(
        OneWord(DUPLICATES), "what happens to repeated ids"))

    def __post_init__(self) -> None:
        """Refuse what no set could fulfil."""
        if self.least > len(self.universe):
            raise StudyError(f"Sets of at least {self.least} ids cannot come from a universe of "
                             f"{len(self.universe)}. Agree on a smaller 'least'.")

    @property
    def rules(self) -> SetRules:
        """Return what was agreed about the sets."""
        return SetRules(self.least, duplicates=self.duplicates)

    def own(self, values: Sequence[Any]) -> list[bytes]:
        """Return an owner's ids; one that is missing or not in the universe is refused unseen."""
        if any(value is None or value == "" for value in values):
            raise StudyError(f"Column '{self.column}' must have an id in every row. Some have "
                             "none.")
        ids = own_set(encoded(values), self.rules)
        flags_of(ids, self.universe)
        return ids
