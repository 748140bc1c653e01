"""The study task `neighbours`: one owner's records get the classes of the nearest rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from unspoken.errors import explain
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.party import Party
from unspoken.joint.result_control.opened_forms import Decisions, Opened
from unspoken.joint.session.dry_run import Answers
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.common.blank_data import choices, part_of, table_of_numbers
from unspoken.joint.tasks.common.column_files import read_matrix, with_shares
from unspoken.joint.tasks.common.party_files import party_table
from unspoken.joint.tasks.common.public_sizes import SIZES
from unspoken.joint.tasks.common.study_parameters import outlined, read_columns
from unspoken.joint.tasks.neighbours.params import NeighbourParams, NeighbourSettings
from unspoken.joint.tasks.neighbours.pooled import pooled
from unspoken.joint.tasks.neighbours.program_rows import (
    NEAREST,
    Labelled,
    NeighboursOverRows,
)
from unspoken.joint.tasks.task import Outlook, Task
from unspoken.joint.tasks.task_params import as_study, declared

HELP = """One owner's records get the class that most of the nearest rows of the others have.

    unspoken joint new study.toml --name triage --task neighbours --set k=5 --set asks=clinic
        --set target=outcome --set 'classes=["no", "yes"]' --set 'columns=["age", "dose"]' ...

Who asks joins with a table of its records, every other owner with a table of rows that has the
target too. Receivers learn the class of every record; if there is none, who asks learns it. Scale
the columns first: distances add them up as they are."""


def _program(parameters: Mapping[str, Any], owners: Sequence[str],
             receivers: Sequence[str] = ()) -> NeighboursOverRows:
    settings = NeighbourSettings.of(parameters)
    return NeighboursOverRows(settings.part(NeighbourParams), len(settings.columns),
                              settings.classes, settings.asks, owners, receivers)


def _of(study: Study) -> NeighboursOverRows:
    return as_study(lambda: _program(study.parameters, study.having("owner"),
                                     study.having("receiver")))


class NeighboursStudy:
    """The program of a study."""

    def __init__(self, study: Study) -> None:
        self.program = _of(study)
        self.disclosures = study.disclosures

    async def __call__(self, party: Party, data: Any) -> dict[str, Any] | None:
        """Return the classes as a list."""
        classes = await self.program(party, data)
        return None if classes is None else {NEAREST: classes.tolist()}


def _fits(parameters: Mapping[str, Any]) -> None:
    settings = NeighbourSettings.of(parameters)
    if settings.target in settings.columns:
        raise StudyError(explain("Parameter 'target' of task 'neighbours'",
                                 "a column that is not in 'columns'", settings.target))
    as_study(lambda: _program(parameters, (settings.asks, "another")))


def _disclosures(study: Study) -> tuple[Disclosure, ...]:
    return _of(study).disclosures


def _outlook(study: Study) -> Outlook:
    with_shares(study)
    rules = NeighbourSettings.of(study.parameters)
    return outlined(study, _disclosures(study), (rules.words(), _counting(rules.questions)))


def _counting(questions: int | None) -> str:
    if questions is None:
        return "nothing counts the records that are asked for: classes of many show where rows lie"
    return f"at most {questions:,} records are classified: classes of many show where rows lie"


def _load(path: Path, study: Study) -> Labelled:
    """Return an owner's rows; their classes where the file has the target."""
    settings = NeighbourSettings.of(study.parameters)
    values, names = read_matrix(path, settings.columns), party_table(path).schema.names
    if settings.target not in names:
        return Labelled(values)
    return Labelled(values, read_columns(path, [settings.target])[settings.target])


def _blank(study: Study, name: str, records: int) -> Labelled:
    settings, rows = NeighbourSettings.of(study.parameters), part_of(records, study)
    values = table_of_numbers(rows, len(settings.columns), -0.5, 0.5) * settings.most
    return Labelled(values, None if name == settings.asks else choices(rows, settings.classes))


def _answers(study: Study, records: int, name: str) -> Answers:
    return {SIZES: lambda shape: np.full(shape, part_of(records, study))}


def _opens(study: Study) -> tuple[Opened, ...]:
    program = _of(study)
    why = "where only some rows give these classes"
    return (Decisions("values of labelled rows", why, program.receivers, program.having),
            Decisions("classes of labelled rows", why, program.receivers, program.having),
            Decisions("values of records", "where only one value is given that class",
                      program.receivers, (program.asks,)))


TASKS = (Task("neighbours", HELP, declared(NeighbourSettings), _fits, _disclosures, _outlook, _load,
              NeighboursStudy, _blank, pooled, _answers, opens=_opens),)
