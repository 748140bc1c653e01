"""The study task `regression-columns`: least squares or ridge over columns of several owners.

    unspoken joint new study.toml --name care --task regression-columns --set response=cost
        --set held=north --set 'columns=["north:age", "south:stay"]' --set ids=patient ...

`held` says who has the response: an owner, "all", or "split" (a sum of parts of every owner). With
`ids` records are aligned first (`least` of them in common or more); with same_order=true all files
list the same records in one order. Also: products (["age*stay"]), ridge, condition (2^20),
inference (false opens coefficients alone), select (forward, backward, stepwise, best) by criterion
(bic, aic, adjusted or cp) with terms to keep, smaller models to test against (["age+stay"]), and
expected (how many records the plan is for).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from unspoken.errors import explain
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.party import Party
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.common.column_files import check_owners
from unspoken.joint.tasks.common.party_files import party_table
from unspoken.joint.tasks.common.study_parameters import (
    RECORD_ORDER,
    as_study,
    check_names,
    count,
    owners_of,
    read_numbers,
    text,
)
from unspoken.joint.tasks.regression import costs
from unspoken.joint.tasks.regression.column_blocks import Given, OwnedColumns
from unspoken.joint.tasks.regression.program_columns import RegressionOverColumns
from unspoken.joint.tasks.regression.read_params import (
    FITTING,
    SELECTING,
    forecast,
    products_of,
    receivers_of,
    rules_of,
    selection_of,
)
from unspoken.joint.tasks.regression.task_rows import selecting_notes
from unspoken.joint.tasks.task import Plan, Task
from unspoken.models.linear_model import LinearModel

KNOWN = (*FITTING, *SELECTING, "held", "expected", *RECORD_ORDER)


class ColumnsStudy:
    """The program of a study."""

    def __init__(self, study: Study) -> None:
        self.program = program_of(study.parameters, receivers_of(study))
        self.disclosures = study.disclosures

    async def __call__(self, party: Party, data: Given | None) -> LinearModel | None:
        """Run the program."""
        return await self.program(party, data)

    async def check_first(self, party: Party, data: Given | None) -> None:
        """Check an owner's columns before records are aligned."""
        await self.program.check_first(party, data)


def program_of(parameters: Mapping[str, Any],
               receivers: Sequence[str] = ()) -> RegressionOverColumns:
    """Return the program that parameters describe."""
    columns, selection = columns_of(parameters), selection_of(parameters)
    return as_study(lambda: RegressionOverColumns(columns, rules_of(parameters, receivers),
                                                  selection))


def columns_of(parameters: Mapping[str, Any]) -> OwnedColumns:
    """Return which owner has which columns."""
    owners, held = owners_of(parameters), text(parameters, "held")
    if held not in (*owners, "all", "split"):
        owners[held] = ()
    return as_study(lambda: OwnedColumns(owners, text(parameters, "response"), held,
                                    products_of(parameters)))


def columns_in(study: Study) -> OwnedColumns:
    """Return which owner of a study has which columns; others are refused."""
    columns = columns_of(study.parameters)
    check_owners(columns.owners, study)
    return columns


def check(parameters: Mapping[str, Any]) -> None:
    """Refuse parameters that make no regression."""
    check_names(parameters, KNOWN, "regression-columns")
    count(parameters, "expected", costs.EXPECTED)
    program_of(parameters)


def told(study: Study) -> tuple[Disclosure, ...]:
    """Return what a study discloses."""
    return program_of(study.parameters, receivers_of(study)).disclosures


def plan(study: Study) -> Plan:
    """Say what a study will cost and who learns what."""
    columns, program = columns_in(study), program_of(study.parameters)
    rows = count(study.parameters, "expected", costs.EXPECTED)
    cost = costs.vertical(columns, program.rules, rows, program.selection)
    more = selecting_notes(program.selection)
    return forecast(study, told(study), cost, [costs.expecting(rows), *more], rows)


def load(path: Path, study: Study) -> Given:
    """Return an owner's columns; whose the file is shows in its columns."""
    columns = columns_of(study.parameters)
    owner = _owner(path, columns)
    return Given(read_numbers(path, columns.needed(owner)))


def _owner(path: Path, columns: OwnedColumns) -> str:
    """Return the owner whose columns a file has."""
    names = set(party_table(path).schema.names)
    fits = [owner for owner in columns.owners if set(columns.needed(owner)) <= names]
    if len(fits) == 1:
        return fits[0]
    wanted = "; ".join(f"{owner}: {', '.join(columns.needed(owner))}" for owner in columns.owners)
    raise StudyError(explain("The columns of this owner's file", f"those of one owner ({wanted})",
                             ", ".join(sorted(names)), "An attribute has one owner."))


TASK = Task("regression-columns", check, told, plan, load, ColumnsStudy, over_columns=True)
