"""Which quantities of another owner a party could work out: found by trying all tiny data sets."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from unspoken.joint.result_control.verdict import Certainty, Verdict
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.common.controlled_results import verdicts_of
from unspoken.joint.tasks.task_list import task_of
from unspoken.joint.wire.credentials import Member


@dataclass(frozen=True)
class World:
    """All data sets of one party and of the others, what the party sees, and what it looks for.

    `sees(own, others)` is everything that the task opens to it; None where a run is refused.
    `quantities`: by their names in the verdicts, functions of own data and the others'.
    """

    task: str
    parameters: dict[str, Any]
    own: Sequence[Any]
    others: Sequence[Any]
    sees: Callable[[Any, Any], Hashable | None]
    quantities: dict[str, Callable[[Any, Any], Hashable]]
    owners: tuple[str, ...] = ("north", "south")
    mode: str = "dealer"
    about: tuple[str, ...] = field(default=("south",))


def study_in(world: World) -> Study:
    """Return the study of a world; all owners are receivers."""
    members = [Member(name, f"{name}.example:7700", tuple(
        role for role in ("owner", "holder", "receiver")
        if role != "holder" or (place < 2 and world.mode != "sums")), "", b"")
        for place, name in enumerate(world.owners)]
    if world.mode == "dealer":
        members.append(Member("dora", "dora.example:7700", ("dealer",), "", b""))
    return Study("tiny", world.task, world.mode, tuple(members), world.parameters)


def computed(world: World) -> dict[str, Verdict]:
    """Return what the control says about the quantities of a world."""
    study = study_in(world)
    task = task_of(study)
    task.outlook(study)
    return {verdict.quantity: verdict for verdict in verdicts_of(task, study, "north")
            if verdict.about == world.about}


def agrees(verdict: Verdict, certainty: Certainty) -> bool:
    """Return True if brute force on tiny data comes to a verdict; few records may give more."""
    return certainty is verdict.certainty if verdict.few is None else certainty >= verdict.few


def tried(world: World) -> dict[str, Certainty]:
    """Return how often each quantity has one value in all data sets that fit what was seen."""
    hits, pairs = dict.fromkeys(world.quantities, 0), 0
    for own in world.own:
        fitting = defaultdict(list)
        for others in world.others:
            if (seen := world.sees(own, others)) is not None:
                fitting[seen].append(others)
        pairs += sum(map(len, fitting.values()))
        for name, quantity in world.quantities.items():
            hits[name] += sum(len(group) for group in fitting.values()
                              if len({quantity(own, others) for others in group}) == 1)
    assert pairs
    return {name: _certainty(count, pairs) for name, count in hits.items()}


def _certainty(count: int, pairs: int) -> Certainty:
    if count in (0, pairs):
        return Certainty.ALWAYS if count else Certainty.NEVER
    return Certainty.USUALLY if 2 * count >= pairs else Certainty.SOMETIMES
