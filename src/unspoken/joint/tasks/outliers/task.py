"""The study tasks `outliers` and `outliers-columns`: outliers over rows or columns of owners."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.result_control.opened_forms import Decisions, Opened
from unspoken.joint.session.dry_run import Answers
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.common.blank_data import part_of, table_of_numbers
from unspoken.joint.tasks.common.column_files import (
    check_owners,
    owner_of,
    read_matrix,
    with_shares,
)
from unspoken.joint.tasks.common.public_sizes import SIZES
from unspoken.joint.tasks.common.study_parameters import (
    names_of,
    outlined,
    owners_of,
)
from unspoken.joint.tasks.outliers import program_columns
from unspoken.joint.tasks.outliers.params import OutlierSettings, rules_of
from unspoken.joint.tasks.outliers.pooled import pooled
from unspoken.joint.tasks.outliers.program_columns import OutliersOverColumns
from unspoken.joint.tasks.outliers.program_rows import OutliersOverRows
from unspoken.joint.tasks.task import Outlook, Task
from unspoken.joint.tasks.task_params import as_study, declared

ROWS_HELP = """Outliers over the rows of several owners.

    unspoken joint new study.toml --name fraud --task outliers --set p=0.95 --set distance=3.0
        --set 'columns=["amount", "visits"]' ...

In place of p, neighbours=5 asks whether the fifth nearest neighbour is further away than distance.
With top=10 in place of distance, the ten objects whose fifth neighbour is farthest are outliers.
Receivers learn all outliers; if there is none, each owner learns its own."""
COLUMNS_HELP = """Outliers over the columns of several owners.

    unspoken joint new study.toml --name fraud --task outliers-columns --set p=0.95
        --set distance=3.0 --set 'columns=["bank:amount", "shop:visits"]'
        --set ids=customer ...

With `ids` objects are aligned first; with same_order=true all files list them in one order.
In place of p, neighbours=5 asks whether the fifth nearest neighbour is further away than distance.
With top=10 in place of distance, the ten objects whose fifth neighbour is farthest are outliers.
Receivers learn which objects are outliers."""


def _widths(parameters: Mapping[str, Any]) -> dict[str, int]:
    """Return how many columns each owner has."""
    return {name: len(columns) for name, columns in owners_of(parameters).items()}


def _over_rows(parameters: Mapping[str, Any], owners: Sequence[str],
               receivers: Sequence[str] = ()) -> OutliersOverRows:
    return OutliersOverRows(rules_of(parameters), len(names_of(parameters)), owners, receivers)


class RowsStudy:
    """The program of a study over rows."""

    def __init__(self, study: Study) -> None:
        self.program = _over_rows(study.parameters, study.having("owner"),
                                  study.having("receiver"))
        self.disclosures = study.disclosures

    async def __call__(self, party: Any, data: Any) -> Any:
        """Run the program."""
        return await self.program(party, data)


class ColumnsStudy(OutliersOverColumns):
    """The program of a study over columns."""

    def __init__(self, study: Study) -> None:
        super().__init__(rules_of(study.parameters), _widths(study.parameters),
                         study.having("receiver"))
        self.disclosures = study.disclosures


def _fits_rows(parameters: Mapping[str, Any]) -> None:
    as_study(lambda: _over_rows(parameters, ()))


def _fits_columns(parameters: Mapping[str, Any]) -> None:
    as_study(lambda: OutliersOverColumns(rules_of(parameters), _widths(parameters)))


def _rows_disclosures(study: Study) -> tuple[Disclosure, ...]:
    return as_study(lambda: _over_rows(study.parameters, study.having("owner"),
                                       study.having("receiver"))).disclosures


def _columns_disclosures(study: Study) -> tuple[Disclosure, ...]:
    return program_columns.disclosures(study.having("receiver"))


def _rows_outlook(study: Study) -> Outlook:
    with_shares(study)
    return outlined(study, _rows_disclosures(study), (rules_of(study.parameters).words(),))


def _columns_outlook(study: Study) -> Outlook:
    with_shares(study)
    check_owners(owners_of(study.parameters), study)
    return outlined(study, _columns_disclosures(study), (rules_of(study.parameters).words(),))


def _load_rows(path: Path, study: Study) -> Floats:
    return read_matrix(path, names_of(study.parameters))


def _load_columns(path: Path, study: Study) -> Floats:
    owners = owners_of(study.parameters)
    return read_matrix(path, owners[owner_of(path, owners)])


def _blank_rows(study: Study, name: str, records: int) -> Floats:
    return table_of_numbers(part_of(records, study), len(names_of(study.parameters)), -0.5, 0.5) \
        * rules_of(study.parameters).most


def _blank_columns(study: Study, name: str, records: int) -> Floats:
    return table_of_numbers(records, _widths(study.parameters)[name], -0.5, 0.5) \
        * rules_of(study.parameters).most


def _rows_answers(study: Study, records: int, name: str) -> Answers:
    return {SIZES: lambda shape: np.full(shape, part_of(records, study))}


def _columns_answers(study: Study, records: int, name: str) -> Answers:
    return {SIZES: lambda shape: np.full(shape, records)}


def _rows_opens(study: Study) -> tuple[Opened, ...]:
    return (Decisions("values of objects", "where only some values make these outliers",
                      study.having("receiver")),)


def _columns_opens(study: Study) -> tuple[Opened, ...]:
    return (Decisions("equality of values in a column", "where only some make these outliers",
                      study.having("receiver")),)


TASKS = (
    Task("outliers", ROWS_HELP, declared(OutlierSettings), _fits_rows, _rows_disclosures,
         _rows_outlook, _load_rows, RowsStudy, _blank_rows, pooled, _rows_answers,
         opens=_rows_opens),
    Task("outliers-columns", COLUMNS_HELP, declared(OutlierSettings), _fits_columns,
         _columns_disclosures, _columns_outlook, _load_columns, ColumnsStudy, _blank_columns,
         pooled, _columns_answers, over_columns=True, opens=_columns_opens))
