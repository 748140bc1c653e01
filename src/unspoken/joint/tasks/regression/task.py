"""The study tasks `regression` and `regression-columns`: least squares of several owners."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.errors import explain
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.ops.matrix_inverse import ILL
from unspoken.joint.mpc.party import Party
from unspoken.joint.result_control.opened_forms import ColumnModel, Opened, RowModel, Totals
from unspoken.joint.session.dry_run import Answers
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.common.blank_data import named, part_of
from unspoken.joint.tasks.common.column_files import check_owners
from unspoken.joint.tasks.common.noise_in_parts import noisy_outlook
from unspoken.joint.tasks.common.party_files import party_table
from unspoken.joint.tasks.common.study_parameters import (
    outlined,
    read_numbers,
)
from unspoken.joint.tasks.regression import program_rows
from unspoken.joint.tasks.regression.column_blocks import (
    SAME_RESPONSE,
    SAME_ROWS,
    Given,
    OwnedColumns,
)
from unspoken.joint.tasks.regression.fitting import COUNT, SPREADS
from unspoken.joint.tasks.regression.mixed_rows import GROUP
from unspoken.joint.tasks.regression.mixed_study import (
    blank_given,
    having_columns,
    mixed_opens,
    rows_given,
)
from unspoken.joint.tasks.regression.noisy_sums import (
    NOISY,
    NoisyRegression,
    NoisyRowsStudy,
    noisy_disclosures,
    noisy_model,
)
from unspoken.joint.tasks.regression.params import (
    RegressionSettings,
    Selection,
)
from unspoken.joint.tasks.regression.pooled import pooled
from unspoken.joint.tasks.regression.program_columns import RegressionOverColumns
from unspoken.joint.tasks.regression.program_rows import RegressionOverRows
from unspoken.joint.tasks.regression.second_moments import SIZES
from unspoken.joint.tasks.regression.study_terms import (
    columns_of,
    expected_of,
    places_in,
    places_of,
    receivers_of,
    rows_of,
    rules_of,
    selection_of,
    terms_of,
)
from unspoken.joint.tasks.regression.term_selection import BEST, STEP
from unspoken.joint.tasks.task import Outlook, Task
from unspoken.joint.tasks.task_params import as_study, declared
from unspoken.models.linear_model import LinearModel

ROWS_HELP = """Least squares or ridge over rows of several owners.

    unspoken joint new study.toml --name care --task regression --set response=cost
        --set 'columns=["age", "stay"]' --set select=stepwise ...

Each owner's file has the response and all columns. With 'epsilon', a range of every column and of
the response, and inference=false every owner adds its part of noise to sums of clamped columns, and
books the study in the budget of its table."""
COLUMNS_HELP = """Least squares or ridge over columns of several owners.

    unspoken joint new study.toml --name care --task regression-columns --set response=cost
        --set held=north --set 'columns=["north:age", "south:stay"]' --set ids=patient ...

With `ids` records are aligned first (`least` of them in common or more); with same_order=true all
files list the same records in one order. With having_rows=["west"] and same_order=true some owners
have all columns and the response of further records, in a file of their own."""


class RowsStudy(RegressionOverRows):
    """The program of a study over rows."""

    def __init__(self, study: Study) -> None:
        super().__init__(terms_of(study.parameters),
                         rules_of(study.parameters, receivers_of(study)),
                         selection_of(study.parameters))
        self.disclosures = study.disclosures


def _noisy(study: Study) -> NoisyRegression | None:
    """Return what a study with an epsilon adds up, None without one."""
    if RegressionSettings.of(study.parameters).epsilon is None:
        return None
    return noisy_model(study.parameters, terms_of(study.parameters), len(study.having("owner")))


def _program_rows(study: Study) -> RowsStudy | NoisyRowsStudy:
    plan = _noisy(study)
    return RowsStudy(study) if plan is None else NoisyRowsStudy(study, plan)


class ColumnsStudy:
    """The program of a study over columns."""

    def __init__(self, study: Study) -> None:
        self.program = _over_columns(study.parameters, receivers_of(study))
        self.disclosures = study.disclosures

    async def __call__(self, party: Party, data: Given | None) -> LinearModel | None:
        """Run the program."""
        return await self.program(party, data)

    async def check_first(self, party: Party, data: Given | None) -> None:
        """Check an owner's columns before records are aligned."""
        await self.program.check_first(party, data)


def _over_columns(parameters: Mapping[str, Any],
                  receivers: Sequence[str] = ()) -> RegressionOverColumns:
    columns, selection = columns_of(parameters), selection_of(parameters)
    return as_study(lambda: RegressionOverColumns(columns, rules_of(parameters, receivers),
                                                  selection, rows_of(parameters)))


def columns_in(study: Study) -> OwnedColumns:
    """Return which owner of a study has which columns; others are refused."""
    columns = columns_of(study.parameters)
    check_owners(columns.owners, study)
    return columns


def _fits_rows(parameters: Mapping[str, Any]) -> None:
    if RegressionSettings.of(parameters).epsilon is not None:
        noisy_model(parameters, terms_of(parameters), 1)
    as_study(lambda: RegressionOverRows(terms_of(parameters), rules_of(parameters),
                                        selection_of(parameters)))


def _fits_columns(parameters: Mapping[str, Any]) -> None:
    _over_columns(parameters)


def _rows_disclosures(study: Study) -> tuple[Disclosure, ...]:
    if _noisy(study) is not None:
        return noisy_disclosures(study)
    return program_rows.disclosures(rules_of(study.parameters, receivers_of(study)),
                                    selection_of(study.parameters),
                                    len(terms_of(study.parameters).features))


def _columns_disclosures(study: Study) -> tuple[Disclosure, ...]:
    return _over_columns(study.parameters, receivers_of(study)).disclosures


def selecting(selection: Selection | None) -> str:
    """Return what a forecast assumes about the steps of a selection."""
    if selection is None:
        return ""
    return "a selection that takes every other term" if selection.method == "best" else \
        "a selection that moves half of the terms"


def _rows_outlook(study: Study) -> Outlook:
    plan = _noisy(study)
    if plan is not None:
        return noisy_outlook(study, _rows_disclosures(study), plan.noise.notes(plan.deviations()))
    return outlined(study, _rows_disclosures(study),
                    assumes=selecting(selection_of(study.parameters)))


def _columns_outlook(study: Study) -> Outlook:
    columns = columns_of(study.parameters)
    check_owners({**columns.owners, **dict.fromkeys(rows_of(study.parameters), ())}, study)
    return outlined(study, _columns_disclosures(study),
                    assumes=selecting(selection_of(study.parameters)))


def load_rows(path: Path, study: Study) -> Floats:
    """Return an owner's table: all terms, and the response last."""
    terms, plan = terms_of(study.parameters), _noisy(study)
    columns = read_numbers(path, (*terms.columns, terms.response))
    return terms.table(columns) if plan is None else plan.table(columns)


def load_columns(path: Path, study: Study) -> Given:
    """Return an owner's columns; whose the file is shows in its columns."""
    columns = columns_of(study.parameters)
    owner = _owner(path, columns)
    return Given(read_numbers(path, columns.needed(owner)))


def _load_mixed(path: Path, study: Study) -> Given:
    """Return the same, or the rows of an owner that has every column."""
    return rows_given(path, study) or load_columns(path, study)


def _owner(path: Path, columns: OwnedColumns) -> str:
    """Return the owner whose columns a file has."""
    names = set(party_table(path).schema.names)
    fits = [owner for owner in columns.owners if set(columns.needed(owner)) <= names]
    if len(fits) == 1:
        return fits[0]
    wanted = "; ".join(f"{owner}: {', '.join(columns.needed(owner))}" for owner in columns.owners)
    raise StudyError(explain("The columns of this owner's file", f"those of one owner ({wanted})",
                             ", ".join(sorted(names)), "An attribute has one owner."))


def blank_rows(study: Study, name: str, records: int) -> Floats:
    """Return blank rows of an owner."""
    terms = terms_of(study.parameters)
    return terms.table(named(part_of(records, study), (*terms.columns, terms.response)))


def blank_columns(study: Study, name: str, records: int) -> Given:
    """Return blank columns of an owner."""
    columns = columns_of(study.parameters)
    every = (*columns.terms.columns, columns.response)
    return Given(named(records, columns.needed(name), every) if name in columns.owners else {})


def _blank_mixed(study: Study, name: str, records: int) -> Given:
    return blank_given(study, name, records) or blank_columns(study, name, records)


def fitted_answers(study: Study, records: int, over_rows: bool) -> dict[str, Any]:
    """Assume that data fit together, and that a selection moves half of the terms."""
    total = part_of(records, study) * len(study.having("owner")) if over_rows else records
    terms = len((terms_of if over_rows else lambda p: columns_of(p).terms)(
        study.parameters).features)
    moves = iter([1] * ((terms + 1) // 2))
    # Columns that lie between -1 and 1; what is made up from them may be a little greater.
    sizes = iter([0])
    return {SIZES: lambda shape: np.full(shape, next(sizes, 2)), SPREADS: np.ones,
            COUNT: lambda shape: np.full(shape, total), ILL: np.ones, SAME_ROWS: np.ones,
            SAME_RESPONSE: np.ones, STEP: lambda shape: np.full(shape, next(moves, 0)),
            BEST: lambda shape: np.full(shape, sum(1 << j for j in range(0, terms, 2)))}


def _rows_answers(study: Study, records: int, name: str) -> Answers:
    if _noisy(study) is not None:
        return {NOISY: lambda shape: np.full(shape, records)}
    return fitted_answers(study, records, over_rows=True)


def _columns_answers(study: Study, records: int, name: str) -> Answers:
    answers, parts = fitted_answers(study, records, over_rows=False), 1 + len(
        rows_of(study.parameters))
    return {**answers, GROUP: answers[COUNT],
            COUNT: lambda shape: np.full(shape, parts * records)}


def rows_opens(study: Study) -> tuple[Opened, ...]:
    """Return the numbers of a model over rows; a selection may leave one term."""
    if _noisy(study) is not None:
        return (Totals("sums of products", study.having("receiver"), noisy=True),)
    rules, selection = rules_of(study.parameters, receivers_of(study)), selection_of(
        study.parameters)
    terms = len(terms_of(study.parameters).features)
    if selection is not None:
        terms = min(terms, max(1, len(selection.keep)))
    return (RowModel(terms, rules.inference and not rules.ridge, rules.inference,
                     bool(rules.ridge), rules.receivers,
                     places_of(terms_of(study.parameters), rules.smaller), rules.bits),
            Totals("number of records"))


def columns_opens(study: Study) -> tuple[Opened, ...]:
    """Return the numbers of a model over columns; a response that all have is known to all."""
    rules, columns = rules_of(study.parameters, receivers_of(study)), columns_of(study.parameters)
    terms = len(columns.terms.features)
    return (ColumnModel(places_in(columns), terms, rules.inference and not rules.ridge,
                        rules.inference, bool(rules.ridge), rules.receivers,
                        places_of(columns.terms, rules.smaller),
                        selection_of(study.parameters) is not None, rules.bits),)


TASKS = (
    Task("regression", ROWS_HELP, declared(RegressionSettings, "rows"), _fits_rows,
         _rows_disclosures, _rows_outlook, load_rows, _program_rows, blank_rows, pooled,
         _rows_answers, opens=rows_opens),
    Task("regression-columns", COLUMNS_HELP, declared(RegressionSettings, "columns"), _fits_columns,
         _columns_disclosures, _columns_outlook, _load_mixed, ColumnsStudy, _blank_mixed, pooled,
         _columns_answers, expected=expected_of, over_columns=True, having_columns=having_columns,
         opens=lambda study: mixed_opens(study, columns_opens(study))))
