"""Utility against the worst attack: methods of every family that keep the columns, side by side.

Every method is run with several strengths on some of the records. Its release is used as its
receiver would (`release_utility`), and attacked in every way that people are attacked in; records
that were held back are the control group. What counts is the attack that gains most beyond it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from unspoken.audit.people.audit_people import PeopleRequest, people_audit
from unspoken.audit.people.own_release import released_table
from unspoken.disclosure.people_risk import Risk
from unspoken.errors import InputError, UnspokenError, unknown
from unspoken.methods.anonymity.utility.release_utility import ReleaseUtility, release_utility
from unspoken.methods.anonymity.utility.risk_utility_frontier import (
    PREDICTION,
    STATISTICS,
    TASKS,
    divided,
)
from unspoken.numerics.random import generator, seed_from
from unspoken.release.method import method_of
from unspoken.release.record_key import taken
from unspoken.table.table import Table

ROWS, PEOPLE = 2000, 100
"""Records that methods are tried on, and people who are attacked."""
WAYS: tuple[tuple[str, Mapping[str, Any]], ...] = (
    *(("mondrian", {"k": k}) for k in (5, 20, 50)),
    *(("optimal-recoding", {"k": k, "local": True}) for k in (5, 20)),
    *(("microaggregation", {"k": k}) for k in (5, 20)),
    ("condensation", {"k": 20}),
    *(("noise", {"privacy": share}) for share in (0.25, 1.0)),
    *(("post-randomization", {"stay": share}) for share in (0.9, 0.7)),
    *(("swap", {"share": share}) for share in (0.1, 0.5)),
    ("sample", {"share": 0.2}),
    ("private-synthetic", {"epsilon": 1.0}),
)
"""What is tried: methods whose releases are used as the table itself, weak and strong."""


@dataclass(frozen=True)
class AttackedTry:
    """One method with its parameters: what it kept and the worst attack, or why it refused."""

    method: str
    parameters: Mapping[str, Any]
    utility: ReleaseUtility | None = None
    worst: Risk | None = None
    refusal: str = ""

    @property
    def risk(self) -> float:
        """Return what the worst attack gains beyond the control group."""
        return 1.0 if self.worst is None else self.worst.excess

    def worth(self, task: str) -> float:
        """Return how useful the release is: the score, or frequencies and correlations kept."""
        if self.utility is None:
            return -np.inf
        if task == PREDICTION and self.utility.score is not None:
            return self.utility.score
        return 1 - (self.utility.marginals + self.utility.pairs) / 2

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        worst = None if self.worst is None else {
            "kind": self.worst.kind, "column": self.worst.column, "value": self.worst.value,
            "adversary": self.worst.adversary, "knowledge": self.worst.knowledge,
            "excess": self.worst.excess, "interval": list(self.worst.beyond[1:]),
            "people": self.worst.people}
        return {"method": self.method, "parameters": dict(self.parameters),
                "refusal": self.refusal, "worst": worst,
                "utility": None if self.utility is None else self.utility.to_json()}


@dataclass(frozen=True)
class AttackedFrontier:
    """All that was tried, the best balance first, and what refused last."""

    task: str
    tried: tuple[AttackedTry, ...]

    @property
    def frontier(self) -> tuple[AttackedTry, ...]:
        """Return what no other beats in both usefulness and worst attack."""
        known = [one for one in self.tried if one.utility is not None]
        return tuple(one for one in known
                     if not any(self._beats(other, one) for other in known))

    def _beats(self, one: AttackedTry, other: AttackedTry) -> bool:
        mine, theirs = ((each.worth(self.task), -each.risk) for each in (one, other))
        return mine != theirs and mine[0] >= theirs[0] and mine[1] >= theirs[1]

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {"task": self.task, "tried": [one.to_json() for one in self.tried]}


def attacked_frontier(table: Table, task: str = PREDICTION, random_state: Any = None,
                      progress: Callable[[int, int, str], None] | None = None
                      ) -> AttackedFrontier:
    """Try methods of every family on some records, and attack what they release.

    Without a target the task is "statistics". `progress` is called with how many were tried, of how
    many, and which is next.
    """
    if task not in TASKS:
        raise InputError(unknown("A task", task, TASKS))
    task = STATISTICS if table.schema.target is None else task
    train, held_back = divided(_some(table, random_state), random_state)
    tried = []
    for done, (name, ways) in enumerate(WAYS):
        if progress is not None:
            progress(done, len(WAYS), name)
        tried.append(_try(train, held_back, name, ways, random_state))
    return AttackedFrontier(task, tuple(sorted(tried, key=lambda one: _order(one, task))))


def _order(one: AttackedTry, task: str) -> float:
    """Return where a try stands: what it keeps less what the worst attack gains."""
    return one.risk - one.worth(task)


def _some(table: Table, random_state: Any) -> Table:
    if table.rows <= ROWS:
        return table
    rng = generator(seed_from(random_state), "attacked frontier")
    return taken(table, np.sort(rng.choice(table.rows, ROWS, replace=False)))


def _try(train: Table, held_back: Table, name: str, ways: Mapping[str, Any],
         random_state: Any) -> AttackedTry:
    method = method_of(name)
    wanted = {**method.advised, "others": "drop", **ways}
    parameters = {key: value for key, value in wanted.items() if key in method.parameters}
    try:
        release, key = method.build(parameters).protect(train)
        asked = PeopleRequest(people=min(PEOPLE, max(train.rows, 20)), learned=1,
                              random_state=random_state)
        audit = people_audit(train, released_table(release, key), held_back, asked)[0]
        return AttackedTry(name, parameters, release_utility(train, release, held_back),
                           audit.worst())
    except UnspokenError as error:
        return AttackedTry(name, parameters, refusal=str(error))
    except (ArithmeticError, ValueError) as error:
        # Numbers that one method cannot compute with are no reason to leave the others untried.
        return AttackedTry(name, parameters,
                           refusal=f"'{name}' cannot compute with this table: {error}.")
