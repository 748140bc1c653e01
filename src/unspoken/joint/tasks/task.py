"""Tasks that a study can name: what to compute, what it discloses, and what it will cost.

A task is a program with the parts that everybody must see before agreeing to run it. Each lives
in `unspoken.joint.tasks` and is loaded when a study names it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.engines.mode import UNVETTED
from unspoken.joint.mpc.party import Party
from unspoken.joint.session.study import Study

# Seconds a round and bytes a second.
NETWORKS = {"on one machine": (0.0006, 150e6), "in one building": (0.002, 60e6),
            "across a country": (0.03, 8e6)}


@dataclass(frozen=True)
class Plan:
    """What will happen, before anything is sent; for how many `records`, where it matters."""

    rounds: int
    bytes: int
    learns: dict[str, list[str]]
    safe: str
    notes: tuple[str, ...] = (UNVETTED,)
    computing: float = 0.0
    records: int = 0

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
    return study.facts.safe_against(len(study.having("holder")))


def notes_of(study: Study) -> tuple[str, ...]:
    """Return what must be said about the engine of a study's mode."""
    return study.facts.notes(len(study.having("holder")))


@dataclass(frozen=True)
class Task:
    """A program with what belongs to it.

    `over_columns`: owners have columns of the same records, which the runner brings into one
    order first. `ids`: how it reads them, where a file is no table.
    `having_columns`: which owners have records to be named by ids.
    """

    name: str
    check: Callable[[Mapping[str, Any]], None]
    disclosures: Callable[[Study], tuple[Disclosure, ...]]
    plan: Callable[[Study], Plan]
    load: Callable[[Path, Study], Any]
    program: Callable[[Study], Callable[[Party, Any], Any]]
    over_columns: bool = False
    ids: Callable[[Path, str], list[Any]] | None = None
    having_columns: Callable[[Study], tuple[str, ...]] = lambda study: study.having("owner")
