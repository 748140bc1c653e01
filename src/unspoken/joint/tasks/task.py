"""Tasks that a study can name: what to compute, what it discloses, and what it will cost.

A task is a program with the parts that everybody must see before agreeing to run it. Each lives
in `unspoken.joint.tasks` and is loaded when a study names it. What a study will cost is not
written down anywhere: the program itself is run dry, with blank data of the expected size.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.engines.mode import UNVETTED
from unspoken.joint.mpc.party import Party
from unspoken.joint.result_control.opened_forms import Opened
from unspoken.joint.session.dry_run import Answers, Drawn, DryRun, dry_run
from unspoken.joint.session.run_roles import roles_of
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.task_params import Param, check_study
from unspoken.joint.wire.ledger_rows import ROUNDING

RECORDS = 1000
"""For how many records a forecast is made, where a study does not say what is expected."""
# Seconds per round and bytes per second.
NETWORKS = {"on one machine": (0.0006, 150e6), "in one building": (0.002, 60e6),
            "across a country": (0.03, 8e6)}


@dataclass(frozen=True)
class Outlook:
    """What can be said about a study without running it dry: who learns what, and how safe it is.

    `assumes`: what the forecast takes for granted about the course of the program.
    `determined`: what each party can work out of the others from the result and its own data.
    """

    learns: dict[str, list[str]]
    safe: str
    notes: tuple[str, ...] = (UNVETTED,)
    assumes: str = ""
    computing: float = 0.0
    determined: Mapping[str, list[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Plan(Outlook):
    """What will happen, before anything is sent: an outlook, and what the dry run counted."""

    rounds: int = 0
    bytes: int = 0
    records: int = 0
    opened: Mapping[str, list[str]] = field(default_factory=dict)
    drawn: tuple[Drawn, ...] = ()

    def seconds(self, network: str) -> float:
        """Return how long it will take over a kind of network, waiting and sending together."""
        delay, rate = NETWORKS[network]
        return self.computing + self.rounds * delay + self.bytes / rate

    def to_json(self) -> dict[str, Any]:
        """Return the plan as plain data."""
        return {"rounds": self.rounds, "bytes": self.bytes, "records": self.records,
                "assumes": self.assumption(), "learns": self.learns,
                "determined": dict(self.determined),
                "seconds": {network: self.seconds(network) for network in NETWORKS},
                "safe_against": self.safe, "notes": list(self.notes)}

    def assumption(self) -> str:
        """Return what the forecast is for."""
        return f"{self.records:,} records" + (f", {self.assumes}" if self.assumes else "")

    def text(self) -> str:
        """Return the plan for people."""
        lines = [f"  {name} learns: {'; '.join(what) or 'nothing'}"
                 for name, what in self.learns.items()]
        lines += [f"  {name} {what}" for name, all_ in self.determined.items() for what in all_]
        times = "; ".join(f"{_duration(self.seconds(n))} {n}" for n in NETWORKS)
        return "\n".join([f"{self.rounds} rounds, about {self.bytes:,} bytes in all, counted by a "
                          f"dry run for {self.assumption()}", f"about {times}",
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


def no_answers(study: Study, records: int, name: str) -> Answers:
    """Assume nothing about opened values: they do not change the course of the program."""
    return {}


@dataclass(frozen=True)
class Task:
    """A program with what belongs to it.

    `help` explains it, and `params` all its parameters: each with its range, which is enforced
    before `fits` refuses what does not fit together. `pooled` is the reference: the same result
    from all data in one place.
    `outlook` refuses what no run of a study could do. `blank`: data of an owner that have the shape
    of real ones, for the dry run; `answers`: what it assumes for opened values that decide the
    course, by party; `expected`: for how many records.
    `over_columns`: owners have columns of the same records, which the runner brings into one
    order first. `ids`: how it reads them, where a file is no table.
    `having_columns`: which owners have records to be named by ids.
    `opens`: what is opened, in the forms of which `result_control` computes what follows for whom.
    """

    name: str
    help: str
    params: tuple[Param, ...]
    fits: Callable[[Mapping[str, Any]], None]
    disclosures: Callable[[Study], tuple[Disclosure, ...]]
    outlook: Callable[[Study], Outlook]
    load: Callable[[Path, Study], Any]
    program: Callable[[Study], Callable[[Party, Any], Any]]
    blank: Callable[[Study, str, int], Any]
    pooled: Callable[..., Any]
    answers: Callable[[Study, int, str], Answers] = no_answers
    expected: Callable[[Study], int] = lambda study: RECORDS
    over_columns: bool = False
    ids: Callable[[Path, str], list[Any]] | None = None
    having_columns: Callable[[Study], tuple[str, ...]] = lambda study: study.having("owner")
    opens: Callable[[Study], tuple[Opened, ...]] | None = None

    def text(self) -> str:
        """Return the explanation of the task and of every parameter."""
        width = max(len(param.name) for param in self.params)
        ordered = sorted(self.params, key=lambda param: not param.required)
        listed = [f"  {param.name.ljust(width)}  {param.shown}" for param in ordered]
        return "\n".join([self.help, "", "Parameters (--set NAME=VALUE):", *listed])

    def check(self, parameters: Mapping[str, Any]) -> None:
        """Refuse what the task does not have, what is out of range, and what does not fit."""
        check_study(self.name, self.params, parameters)
        self.fits(parameters)

    def dry_run(self, study: Study, records: int | None = None) -> DryRun:
        """Carry a study out with blank data, without sending anything."""
        count = self.expected(study) if records is None else records
        study = replace(study, disclosures=self.disclosures(study))
        inputs = {name: self.blank(study, name, count) for name in study.having("owner")}
        return dry_run(self.program(study), inputs, roles_of(study), study.disclosures,
                       lambda name: self.answers(study, count, name))

    def plan(self, study: Study, records: int | None = None) -> Plan:
        """Return what a study will cost, by a dry run, and who learns what.

        Without a number of records it is made for those that the task expects, or for more of
        them if a run of so few would be refused.
        """
        outlook, count = self.outlook(study), self.expected(study) if records is None else records
        try:
            run = self.dry_run(study, count)
        except RefusedError:
            if records is not None or count > 100 * RECORDS:
                raise
            return self.plan(study, 10 * count)
        opened = {name: run.learned(name) for name in run.ledgers}
        notes = *outlook.notes, *rounding_notes(run), *study.facts.cost_notes
        return Plan(outlook.learns, outlook.safe, notes,
                    outlook.assumes, outlook.computing, outlook.determined, run.rounds, run.bytes,
                    count, opened, run.drawn)


def rounding_notes(run: DryRun) -> tuple[str, ...]:
    """Return what must be said of numbers that are opened after they were truncated."""
    reasons = "; ".join(f"'{because}'" for because in run.rounded())
    return (f"opened after rounding on shares: {reasons}: {ROUNDING}.",) if reasons else ()


def needs_of(task: Task, study: Study, records: int | None = None) -> tuple[Drawn, ...]:
    """Return what a study draws of correlated randomness, step by step, with kinds and sizes.

    A dealer that knows this can refuse to deal anything else. Where the course depends on opened
    values it holds for the course that the task assumes.
    """
    return task.dry_run(study, records).drawn
