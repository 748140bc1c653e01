"""Tasks that a study can name: what to compute, what it discloses, and what it will cost.

A task is a program with the parts that everybody must see before agreeing to run it. Each lives
in `tacit.joint.protocols` and is loaded when a study names it.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tacit.errors import explain
from tacit.joint.errors import StudyError
from tacit.joint.party import Party
from tacit.joint.study import Disclosure, Study

UNVETTED = "tacit's own engine is not vetted and assumes that everybody follows the protocol"


@dataclass(frozen=True)
class Plan:
    """What will happen, before anything is sent."""

    rounds: int
    bytes: int
    learns: dict[str, list[str]]
    safe: str
    notes: tuple[str, ...] = (UNVETTED,)

    def to_json(self) -> dict[str, Any]:
        """Return the plan as plain data."""
        return {"rounds": self.rounds, "bytes": self.bytes, "learns": self.learns,
                "safe_against": self.safe, "notes": list(self.notes)}

    def text(self) -> str:
        """Return the plan for people."""
        lines = [f"  {name} learns: {'; '.join(what) or 'nothing'}"
                 for name, what in self.learns.items()]
        return "\n".join([f"{self.rounds} rounds, about {self.bytes:,} bytes in all",
                          f"safe against: {self.safe}", *lines, *self.notes])


@dataclass(frozen=True)
class Task:
    """A program with what belongs to it."""

    name: str
    check: Callable[[Mapping[str, Any]], None]
    disclosures: Callable[[Study], tuple[Disclosure, ...]]
    plan: Callable[[Study], Plan]
    load: Callable[[Path, Study], Any]
    program: Callable[[Study], Callable[[Party, Any], Any]]


# Where the TASK of each name lives.
HOMES = {
    "sum": "tacit.joint.protocols.column_sums",
}


def task_of(study: Study) -> Task:
    """Return a study's task; its parameters are checked."""
    if study.task not in HOMES:
        raise StudyError(explain("The task of a study", "one of " + ", ".join(HOMES), study.task))
    task: Task = importlib.import_module(HOMES[study.task]).TASK
    task.check(study.parameters)
    return task
