"""Attempts at a program that end early because a party is lost at a barrier, and what follows."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from unspoken.joint.mpc.checkpoints import Checkpoints
from unspoken.joint.session.play import in_memory
from unspoken.joint.session.run_roles import roles_for

STUDY, CODE = "a study", "some code"


class LostError(Exception):
    """The party is gone."""


class Mortal(Checkpoints):
    """Checkpoints of a party that is lost at its barrier `at`, before or after it has written."""

    def __init__(self, folder, at, after=False):
        super().__init__(folder, STUDY, CODE)
        self.at, self.after = at, after

    def keep(self, point, within):
        if len(self) + 1 == self.at and not self.after:
            raise LostError
        mark = super().keep(point, within)
        if len(self) == self.at:
            raise LostError
        return mark


@dataclass
class Attempts:
    """Attempts at one program, each party with its own folder."""

    folder: Path
    program: Any
    inputs: list[Any]
    mode: str = "dealer"
    names: list[str] = field(default_factory=list)

    def __post_init__(self):
        self.names = self.names or [f"p{i}" for i in range(len(self.inputs))]

    def home(self, name):
        """Return where a party keeps its checkpoints."""
        return self.folder / name

    def run(self, lost="", at=0, after=False, inputs=None):
        """Run an attempt; `lost` is a party that is lost at a barrier. Return all outcomes."""
        points = {name: Mortal(self.home(name), at, after) if name == lost
                  else Checkpoints(self.home(name), STUDY, CODE) for name in self.names}
        roles = roles_for(self.names, self.mode, None)
        return asyncio.run(in_memory(self.program, inputs or self.inputs, roles,
                                     checkpoints=points))

    def whole(self):
        """Run it in one attempt, without checkpoints."""
        return asyncio.run(in_memory(self.program, self.inputs,
                                     roles_for(self.names, self.mode, None)))


def outputs(outcomes, count):
    """Return what the owners got; errors are raised."""
    for outcome in outcomes:
        if outcome.error is not None:
            raise outcome.error
    return [outcome.output for outcome in outcomes[:count]]
