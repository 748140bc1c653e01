"""Running a program in memory with every party's view recorded, for tests and audits.

    outcomes, views = run_recorded(program, [x, y])
    museum.message_equations.equations_of(views["p0"])

Only invented or own data belongs here: the views of all parties together are the data.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from unspoken.joint.session.own_loop import finished
from unspoken.joint.session.play import Outcome, Program, in_memory
from unspoken.joint.session.run_roles import roles_for
from unspoken.joint.wire.endpoint import Seam
from unspoken.joint.wire.transports.recording import Recording, Transcript


def run_recorded(program: Program, inputs: Sequence[Any], mode: str = "dealer",
                 names: Sequence[str] | None = None, *, holders: Sequence[str] | None = None
                 ) -> tuple[list[Outcome], dict[str, Transcript]]:
    """Run a program in memory; return how it ended, and every party's view by its name."""
    named = list(names) if names is not None else [f"p{i}" for i in range(len(inputs))]
    views: dict[str, Transcript] = {}

    def wrap(seam: Seam) -> Any:
        recording = Recording(seam)
        views[seam.name] = recording.transcript
        return recording

    roles = roles_for(named, mode, holders)
    outcomes = finished(in_memory(program, inputs, roles, wrap=wrap))
    return outcomes, views


def coalition(views: Iterable[Transcript]) -> Transcript:
    """Return the joint view of several parties."""
    joint_view = Transcript(())
    for view in views:
        joint_view.parties += view.parties
        joint_view.received += view.received
        joint_view.own |= view.own
    return joint_view
