"""Tasks that a study can name: what to compute, what it discloses, and what it will cost.

A task is a program with the parts that everybody must see before agreeing to run it. Each lives
in `unspoken.joint.tasks` and is loaded when a study names it.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unspoken.errors import explain
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.party import Party
from unspoken.joint.session.study import Study

UNVETTED = "unspoken's own engine is not vetted and assumes that everybody follows the protocol"


# Seconds a round and bytes a second.
NETWORKS = {"on one machine": (0.0006, 150e6), "in one building": (0.002, 60e6),
            "across a country": (0.03, 8e6)}


@dataclass(frozen=True)
class Plan:
    """What will happen, before anything is sent."""

    rounds: int
    bytes: int
    learns: dict[str, list[str]]
    safe: str
    notes: tuple[str, ...] = (UNVETTED,)
    computing: float = 0.0

    def seconds(self, network: str) -> float:
        """Return how long it will take over a kind of network, waiting and sending together."""
        delay, rate = NETWORKS[network]
        return self.computing + self.rounds * delay + self.bytes / rate

    def to_json(self) -> dict[str, Any]:
        """Return the plan as plain data."""
        return {"rounds": self.rounds, "bytes": self.bytes, "learns": self.learns,
                "seconds": {network: self.seconds(network) for network in NETWORKS},
                "safe_against": self.safe, "notes": list(self.notes)}

    def text(self) -> str:
        """Return the plan for people."""
        lines = [f"  {name} learns: {'; '.join(what) or 'nothing'}"
                 for name, what in self.learns.items()]
        times = "; ".join(f"{_duration(self.seconds(n))} {n}" for n in NETWORKS)
        return "\n".join([f"{self.rounds} rounds, about {self.bytes:,} bytes in all",
                          f"about {times}",
                          f"safe against: {self.safe}", *lines, *self.notes])


def _duration(seconds: float) -> str:
    """Return a time for people."""
    if seconds < 120:
        return f"{seconds:.0f} s" if seconds >= 1 else "1 s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def safe_against(study: Study) -> str:
    """Return against whom values on shares are safe in a study's mode."""
    holders = len(study.having("holder"))
    if study.mode == "dealer" and holders > 1:
        return (f"any {holders - 1} of the {holders} holders, with any other owners, but "
                "never a holder with the dealer")
    if holders == 2 and study.mode != "three-party":
        return "either of the two holders, with any other owners, but never both"
    return "any one of the three who compute, with any other owners"


def notes_of(study: Study) -> tuple[str, ...]:
    """Return what must be said about the engine of a study's mode."""
    if study.mode != "spu":
        return (UNVETTED,)
    name = "CHEETAH" if len(study.having("holder")) == 2 else "ABY3"
    return (f"SecretFlow's SPU computes ({name}) and assumes that everybody follows the protocol",)


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
    "sum": "unspoken.joint.tasks.column_sums.task_rows",
    "intersection": "unspoken.joint.tasks.intersection.task_rows",
    "bayes": "unspoken.joint.tasks.naive_bayes.task_rows",
    "bayes-columns": "unspoken.joint.tasks.naive_bayes.task_columns",
    "classify": "unspoken.joint.tasks.classify.task_records",
    "network": "unspoken.joint.tasks.network.task_columns",
    "mixture": "unspoken.joint.tasks.mixture.task_rows",
    "kmeans": "unspoken.joint.tasks.kmeans.task_rows",
    "kmeans-columns": "unspoken.joint.tasks.kmeans.task_columns",
    "logistic": "unspoken.joint.tasks.logistic.task_rows",
    "outliers": "unspoken.joint.tasks.outliers.task_rows",
    "outliers-columns": "unspoken.joint.tasks.outliers.task_columns",
    "logistic-columns": "unspoken.joint.tasks.logistic.task_columns",
    "regression": "unspoken.joint.tasks.regression.task_rows",
    "regression-columns": "unspoken.joint.tasks.regression.task_columns",
    "residuals": "unspoken.joint.tasks.residuals.task_rows",
    "residuals-columns": "unspoken.joint.tasks.residuals.task_columns",
    "rules": "unspoken.joint.tasks.rules.task_rows",
    "rules-columns": "unspoken.joint.tasks.rules.task_columns",
    "boosted-trees": "unspoken.joint.tasks.boosted_trees.task_rows",
    "forest": "unspoken.joint.tasks.forest.task_rows",
    "forest-columns": "unspoken.joint.tasks.forest.task_columns",
    "tree": "unspoken.joint.tasks.tree.task_rows",
    "tree-columns": "unspoken.joint.tasks.tree.task_columns",
    "classify-columns": "unspoken.joint.tasks.classify.task_columns",
}


def task_of(study: Study) -> Task:
    """Return a study's task; its parameters are checked."""
    if study.task not in HOMES:
        raise StudyError(explain("The task of a study", "one of " + ", ".join(HOMES), study.task))
    task: Task = importlib.import_module(HOMES[study.task]).TASK
    task.check(study.parameters)
    return task
