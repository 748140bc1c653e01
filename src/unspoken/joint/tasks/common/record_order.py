"""Records in one order at all owners: a step of the runner for every task over columns.

A study over columns names the column of ids (`ids`), and its records are aligned before the
program begins; or it says `same_order=true`: all files list the same records in the same order.
With both, the ids are only compared, as one keyed digest, so that a file in another order is
noticed; without ids nothing but another number of records can be.
  discloses: what `align` does; with `same_order` and ids, whether all owners' lists are the same.
    A digest has a key of this run: it can be tried out by the owners alone, on whole lists.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from unspoken.errors import DataError
from unspoken.joint.joint_errors import RefusedError, StudyError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.sets.alignment import (
    Places,
    align,
    align_disclosures,
    computing_time,
)
from unspoken.joint.mpc.sets.encrypted_circle import SetRules, encoded
from unspoken.joint.result_control.opened_forms import Opened
from unspoken.joint.session.dry_run import Answers
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.common.aligned_records import same_digest
from unspoken.joint.tasks.common.party_files import (
    id_column,
    leaving_out,
    needed,
    party_table,
)
from unspoken.joint.tasks.common.study_parameters import (
    ORDER_PARAMS,
    RECORD_ORDER,
    OrderSettings,
    everybody,
)
from unspoken.joint.tasks.task import Outlook, Task
from unspoken.joint.wire.frames import Purpose

COMMON = "which records all owners have"
SAME_ORDER = "whether all owners list the same records in the same order"
Program = Callable[[Party, Any], Awaitable[Any]]


@dataclass(frozen=True)
class Records:
    """An owner's data, and the ids of its records."""

    data: Any
    ids: Sequence[Any] | None = None

    @classmethod
    def of(cls, data: Any) -> Records:
        """Return data with the ids that came with them, or that they have themselves."""
        return data if isinstance(data, Records) else cls(data, getattr(data, "ids", None))


@runtime_checkable
class HasRows(Protocol):
    """Data that know how to keep some of their records."""

    def take_rows(self, places: Places) -> Any:
        """Return the same data with these records, in this order."""


@runtime_checkable
class ChecksFirst(Protocol):
    """A program that can refuse its input before records are aligned."""

    async def check_first(self, party: Party, data: Any) -> None:
        """Refuse what cannot be computed with; nothing was sent yet."""


@runtime_checkable
class NamesRows(Protocol):
    """A result with one value a record."""

    def with_records(self, names: Sequence[str]) -> Any:
        """Return the result with the names of its records."""


@dataclass(frozen=True)
class RecordOrder:
    """How records come into one order: aligned by `rules`, or compared, or as they are."""

    rules: SetRules | None = None
    compared: bool = False

    def disclosures(self, owners: Sequence[str]) -> tuple[Disclosure, ...]:
        """Return what bringing records into one order discloses; the first owner counts."""
        if self.rules is not None:
            return align_disclosures(COMMON, owners, owners[0], self.rules)
        return (Disclosure(SAME_ORDER, tuple(owners)),) if self.compared else ()


class InOneOrder:
    """A program over columns whose records the runner brings into one order first."""

    def __init__(self, program: Program, owners: Sequence[str],
                 order: RecordOrder | SetRules | None) -> None:
        self.program = program
        self.order = order if isinstance(order, RecordOrder) else RecordOrder(order)
        self.disclosures = (*getattr(program, "disclosures", ()),
                            *self.order.disclosures(tuple(owners)))

    async def __call__(self, party: Party, data: Any) -> Any:
        """Check, align or compare, run the program, and name the records of its result."""
        own = Records.of(data) if party.name in party.roles.owners else Records(data)
        if self.order.rules is not None and isinstance(self.program, ChecksFirst):
            await self.program.check_first(party, own.data)
        places = await self._places(party, own)
        output = await self.program(party, take_rows(own.data, places))
        return output if own.ids is None else _named(output, _chosen(own.ids, places))

    async def _places(self, party: Party, own: Records) -> Places | None:
        """Return where this owner's records are in the common order, if they are aligned."""
        if self.order.rules is None and not self.order.compared:
            return None
        if own.ids is None and party.name in party.roles.owners:
            raise RefusedError("A site must give ids where rows are to be aligned. This one gave "
                               "none.")
        if self.order.rules is None:
            await _compare(party, own.ids)
            return None
        return await align(party, own.ids, because=COMMON, rules=self.order.rules)


async def _compare(party: Party, ids: Sequence[Any] | None) -> None:
    """Refuse lists of ids that differ, or stand in different orders."""
    party.begin("compare ids")
    party.opening(SAME_ORDER, party.roles.owners, (1,))
    if party.name not in party.roles.owners:
        return
    others = [name for name in party.roles.owners if name != party.name]
    part = np.frombuffer(secrets.token_bytes(32), np.uint8)
    parts = [part, *await party.swap(others, "order.key", part, Purpose.CONTROL)]
    key = hashlib.sha256(b"".join(sorted(p.tobytes() for p in parts))).digest()
    listed = hmac.new(key, digestmod=hashlib.sha256)
    for item in encoded(ids or ()):
        listed.update(len(item).to_bytes(8, "big") + item)
    await same_digest(party, others, "order.ids", np.frombuffer(listed.digest(), np.uint8),
                      "All sites must list the same records in the same order, as the study says. "
                      "They do not. Leave same_order out of the study, and records are aligned.")


def take_rows(data: Any, places: Places | None) -> Any:
    """Return some records of an owner's data."""
    if data is None or places is None:
        return data
    return data.take_rows(places) if isinstance(data, HasRows) else np.asarray(data)[places]


def _chosen(ids: Sequence[Any], places: Places | None) -> list[Any]:
    return list(ids) if places is None else [ids[place] for place in places.tolist()]


def _named(output: Any, names: Sequence[Any]) -> Any:
    """Return a result whose records are named by their ids."""
    if isinstance(output, NamesRows):
        return output.with_records([str(name) for name in names])
    if isinstance(output, dict) and "rows" in output:
        return {**output, "rows": [names[place] for place in output["rows"]]}
    return output


def with_ids(columns: Mapping[str, Any], ids: Iterable[Any] | None, owner: str,
             data: Any) -> Records:
    """Return an owner's data and ids, of which there must be as many as values in a column."""
    listed = None if ids is None else list(ids)
    if listed is not None and any(len(column) != len(listed) for column in columns.values()):
        raise DataError(f"'{owner}' must have one id for each record. It has another number.")
    return Records(data, listed)


def order_of(parameters: Mapping[str, Any], task: str) -> RecordOrder:
    """Return how a study's records come into one order; a study must say it."""
    settings, named = OrderSettings.of(parameters), "ids" in parameters
    same = settings.same_order
    if not named and not same:
        raise StudyError(f"Task '{task}' needs the same records in the same order at all owners. "
                         "Its study says nothing about it. Name the column of ids "
                         "(--set ids=patient) so that records are aligned, or say "
                         "--set same_order=true if all files already have one order.")
    if "least" in parameters and (same or not named):
        raise StudyError("Parameter 'least' says how many records must be in common, where they "
                         "are aligned. Here they are not. Leave it out, or leave same_order out "
                         "and name the column of ids.")
    if same:
        return RecordOrder(None, named)
    return RecordOrder(SetRules(least=settings.least))


def without_order(study: Study) -> Study:
    """Return a study as its task sees it: without what the runner does."""
    return replace(study, parameters=_rest(study.parameters))


def _rest(parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in parameters.items() if name not in RECORD_ORDER}


def in_one_order(task: Task) -> Task:
    """Return a task over columns with the runner's step before it."""
    def order(study: Study) -> RecordOrder:
        return order_of(study.parameters, task.name)

    def fits(parameters: Mapping[str, Any]) -> None:
        order_of(parameters, task.name)
        task.fits(_rest(parameters))

    def disclosures(study: Study) -> tuple[Disclosure, ...]:
        return (*task.disclosures(without_order(study)),
                *order(study).disclosures(study.having("owner")))

    def outlook(study: Study) -> Outlook:
        _nobody_idle(task, study)
        return _outlook(task, study, order(study))

    def load(path: Path, study: Study) -> Records:
        return _load(task, path, study)

    def program(study: Study) -> InOneOrder:
        ordered = InOneOrder(task.program(without_order(study)), study.having("owner"),
                             order(study))
        ordered.disclosures = study.disclosures
        return ordered

    def blank(study: Study, name: str, records: int) -> Records:
        ids = range(records) if "ids" in study.parameters else None
        return Records(task.blank(without_order(study), name, records), ids)

    def answers(study: Study, records: int, name: str) -> Answers:
        return task.answers(without_order(study), records, name)

    def opens(study: Study) -> tuple[Opened, ...]:
        return task.opens(without_order(study)) if task.opens is not None else ()

    return replace(task, params=(*task.params, *ORDER_PARAMS), fits=fits,
                   disclosures=disclosures, outlook=outlook, load=load, program=program,
                   blank=blank, answers=answers, opens=opens,
                   expected=lambda study: task.expected(without_order(study)))


def _nobody_idle(task: Task, study: Study) -> None:
    """Refuse owners whose ids would stand for nothing."""
    idle = [n for n in study.having("owner") if n not in task.having_columns(without_order(study))]
    if idle and "ids" in study.parameters:
        raise StudyError(f"Records are aligned among owners that have columns. '{idle[0]}' has "
                         "none. Give it one, or leave it out.")


def _load(task: Task, path: Path, study: Study) -> Records:
    """Return an owner's data and its ids; a task never sees the column of ids."""
    name = study.parameters.get("ids")
    with leaving_out(name):
        data = task.load(path, without_order(study))
    return Records(data, None if name is None else (task.ids or _ids)(path, name))


def _ids(path: Path, name: str) -> list[Any]:
    needed(party_table(path).schema.names, name)
    return id_column(path, name)


def _outlook(task: Task, study: Study, order: RecordOrder) -> Outlook:
    """Return an outlook with what bringing records into one order takes and discloses."""
    owners, unordered = study.having("owner"), task.outlook(without_order(study))
    learns = {name: list(what) for name, what in unordered.learns.items()}
    for disclosure in order.disclosures(owners):
        for name in everybody(study):
            if not disclosure.to or name in disclosure.to:
                learns[name].append(disclosure.because)
    seconds = 0.0 if order.rules is None else computing_time(
        task.expected(without_order(study)), len(owners))
    return replace(unordered, computing=unordered.computing + seconds, learns=learns)
