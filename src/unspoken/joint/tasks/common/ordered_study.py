"""Tasks over columns as studies name them: what a study says about the order of its records.

A study names the column of ids, or columns by which people are linked, or says that all files
already have one order. Everything that follows from it is put around the task here: what is
disclosed, what the plan says, what is read of an owner's file, and the step before the program.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.sets.alignment import computing_time
from unspoken.joint.mpc.sets.encrypted_circle import SetRules
from unspoken.joint.result_control.opened_forms import Opened
from unspoken.joint.session.dry_run import Answers
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.common.party_files import (
    id_column,
    leaving_out,
    needed,
    party_table,
)
from unspoken.joint.tasks.common.record_order import InOneOrder, RecordOrder, Records
from unspoken.joint.tasks.common.study_parameters import (
    ORDER_PARAMS,
    RECORD_ORDER,
    OrderSettings,
    everybody,
)
from unspoken.joint.tasks.task import Outlook, Task

UNNOTICED = ("all files are taken to list the same records in the same order: without 'ids' a file "
             "in another order is not noticed, only another number of records is")
UNTAGGED = ("tags cover what is computed on shares, not how records are matched before: whoever "
            "finds the common ids can leave some out, a linkage unit can link wrongly, and owners "
            "can make records up; nobody notices")


def order_of(parameters: Mapping[str, Any], task: str) -> RecordOrder:
    """Return how a study's records come into one order; a study must say it."""
    settings, named = OrderSettings.of(parameters), "ids" in parameters
    same = settings.same_order
    if settings.linkage is not None:
        return _linking(settings, parameters)
    stray = next((name for name in parameters if name.startswith("link_")), None)
    if stray is not None:
        raise StudyError(f"Parameter '{stray}' is about linked records, and the study links none. "
                         "Leave it out, or name the columns: --set 'link=[\"last:name\"]'.")
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


def _linking(settings: OrderSettings, parameters: Mapping[str, Any]) -> RecordOrder:
    """Return the order by linkage; what contradicts it is refused."""
    linkage, on_shares = settings.linkage, settings.link_on == "shares"
    if "ids" in parameters or settings.same_order:
        raise StudyError("Records are linked by 'link', aligned by 'ids', or in one order already "
                         "('same_order'). The study names two of these. Keep one.")
    unit_only = [name for name in ("link_encoding", "link_precision") if name in parameters]
    if "link_bits" in parameters and settings.link_encoding != "minhash":
        raise StudyError(f"Parameter 'link_bits' is for the encoding minhash. The study names "
                         f"'{settings.link_encoding}'. Leave it out.")
    wrong = unit_only if on_shares else [n for n in ("link_threshold",) if n in parameters]
    if wrong:
        raise StudyError(f"Parameter '{wrong[0]}' is for the other way of linking. This study "
                         f"links {'on shares' if on_shares else 'by a unit'}. Leave it out.")
    return RecordOrder(linkage=linkage)


def unit_of(study: Study) -> str | None:
    """Return the linkage unit of a study; one that is missing, or that nobody needs, is refused."""
    settings, units = OrderSettings.of(study.parameters), study.having("linker")
    if settings.linkage is None:
        return None
    if settings.link_on == "unit" and not units:
        raise StudyError("A study that links records needs a linkage unit, or links on shares. It "
                         "has neither. Name a unit with --linker, or add --set link_on=shares.")
    if settings.link_on == "shares" and (units or len(study.having("owner")) != 2
                                         or not study.facts.has_shares):
        raise StudyError("Records are linked on shares between two owners, without a linkage unit, "
                         f"in a mode that has shares. Here are {len(study.having('owner'))} owners "
                         f"and {len(units)} linkage units, in mode '{study.mode}'.")
    return next(iter(units), None)


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
                *order(study).disclosures(study.having("owner"), unit_of(study)))

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
        linked_by = [range(records)] if "link" in study.parameters else None
        return Records(task.blank(without_order(study), name, records), ids, linked_by)

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
    if idle and ("ids" in study.parameters or "link" in study.parameters):
        raise StudyError(f"Records are aligned among owners that have columns. '{idle[0]}' has "
                         "none. Give it one, leave it out, or name no ids and say "
                         "same_order=true.")


def _load(task: Task, path: Path, study: Study) -> Records:
    """Return an owner's data and its ids; a task never sees the column of ids."""
    name, linkage = study.parameters.get("ids"), OrderSettings.of(study.parameters).linkage
    hidden = [c.name for c in linkage.columns] if linkage else [] if name is None else [name]
    linked_by = None if linkage is None else _link_columns(task, path, hidden)
    with leaving_out(*hidden):
        data = task.load(path, without_order(study))
    return Records(data, None if name is None else (task.ids or _ids)(path, name), linked_by)


def _link_columns(task: Task, path: Path, names: Sequence[str]) -> list[list[Any]]:
    """Return the columns by which an owner's records are linked, as they are written."""
    if task.ids is not None and path.suffix == ".dat":
        raise StudyError(f"Task '{task.name}' reads baskets here, which have no names or dates. "
                         "Give a table, or align by ids.")
    needed(party_table(path).schema.names, *names)
    with_names = (id_column(path, name, "link") for name in names)
    return [[value or None for value in column] for column in with_names]


def _ids(path: Path, name: str) -> list[Any]:
    needed(party_table(path).schema.names, name)
    return id_column(path, name)


def _outlook(task: Task, study: Study, order: RecordOrder) -> Outlook:
    """Return an outlook with what bringing records into one order takes and discloses."""
    owners, unordered = study.having("owner"), task.outlook(without_order(study))
    learns = {name: list(what) for name, what in unordered.learns.items()}
    units = study.having("linker")
    learns |= {name: [] for name in units}
    for disclosure in order.disclosures(owners, unit_of(study)):
        for name in (*everybody(study), *units):
            if name in (disclosure.to or everybody(study)):
                learns[name].append(disclosure.because)
    seconds = 0.0 if order.rules is None else computing_time(
        task.expected(without_order(study)), len(owners))
    linked = order.linkage is not None and order.linkage.on != "shares"
    matched = order.rules is not None or linked
    notes = (*((UNNOTICED,) if order == RecordOrder() else ()),
             *((UNTAGGED,) if matched and study.facts.finds_deviation else ()))
    return replace(unordered, computing=unordered.computing + seconds, learns=learns,
                   notes=(*unordered.notes, *notes))
