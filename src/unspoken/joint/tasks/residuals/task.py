"""The study tasks `residuals` and `residuals-columns`: residual plots that can be shared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.party import Party
from unspoken.joint.result_control.opened_forms import FineNumbers, Opened
from unspoken.joint.session.dry_run import Answers
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.common.study_parameters import outlined
from unspoken.joint.tasks.regression.column_blocks import Given
from unspoken.joint.tasks.regression.disclosure_guards import refuse_residuals
from unspoken.joint.tasks.regression.fitting import SUMS
from unspoken.joint.tasks.regression.program_columns import RegressionOverColumns
from unspoken.joint.tasks.regression.program_rows import RegressionOverRows
from unspoken.joint.tasks.regression.study_terms import (
    columns_of,
    expected_of,
    receivers_of,
    rules_of,
    terms_of,
)
from unspoken.joint.tasks.regression.task import (
    blank_columns,
    blank_rows,
    columns_in,
    columns_opens,
    fitted_answers,
    load_columns,
    load_rows,
    rows_opens,
)
from unspoken.joint.tasks.residuals.params import ResidualSettings
from unspoken.joint.tasks.residuals.pooled import pooled
from unspoken.joint.tasks.residuals.program_columns import OpenResiduals, once
from unspoken.joint.tasks.residuals.program_rows import (
    ResidualsOverColumns,
    ResidualsOverRows,
)
from unspoken.joint.tasks.task import Outlook, Task
from unspoken.joint.tasks.task_params import as_study, declared
from unspoken.models.residuals import Residuals

ROWS_HELP = """Residual plots over rows of several owners that can be shared.

    unspoken joint new study.toml --name care --task residuals --set response=cost
        --set 'columns=["age", "stay"]' --set synthetic=100 ...

The model is fitted as by task `regression` and opened to all: owners need it. Then every owner
makes up rows with residuals that bend and spread like its own; they are shuffled on shares and
opened (vcz2006 section 5.3; Karr and others)."""
COLUMNS_HELP = """Residuals over columns of several owners, as plots.

    unspoken joint new study.toml --name care --task residuals-columns --set response=cost
        --set held=north --set 'columns=["north:age", "south:stay"]' --set groups=10 ...

The model is fitted as by task `regression-columns` and opened to all: owners need it. `show` says
what follows. "groups": along every column the records are cut into groups, and for each of them
the mean of the column, the mean of the residuals and their spread are opened. "each": the residual
of every record, to the receivers; refused for two owners, or where an owner has one column only,
because columns could be solved for."""


class RowsStudy:
    """The program of a study over rows: fit, then show."""

    def __init__(self, study: Study) -> None:
        self.fit, self.sizes = _fit_rows(study.parameters), _rows_sizes(study.parameters)
        self.disclosures = study.disclosures

    async def __call__(self, party: Party, data: Floats | None) -> Residuals:
        """Fit the model, open it to all, and return its synthetic residuals."""
        model = await self.fit(party, data)
        assert model is not None
        return await ResidualsOverRows(self.fit.terms, model, *self.sizes)(party, data)


class ColumnsStudy:
    """The program of a study over columns: fit, then show."""

    def __init__(self, study: Study) -> None:
        self.fit, self.sizes = _fit_columns(study.parameters), _columns_sizes(study.parameters)
        self.each, self.receivers = _shows_each(study.parameters), receivers_of(study)
        self.disclosures = study.disclosures

    async def check_first(self, party: Party, data: Given | None) -> None:
        """Check an owner's columns before records are aligned."""
        await self.fit.check_first(party, data)

    async def __call__(self, party: Party, data: Given | None) -> Residuals | list[float] | None:
        """Fit the model, open it to all, and return what is shown of its residuals."""
        own, rows = await self.fit.prepared(party, data)
        model = await self.fit.fitted(party, own, rows)
        assert model is not None
        if not self.each:
            return await ResidualsOverColumns(self.fit.columns, model, *self.sizes).of(
                party, own, rows)
        values = await OpenResiduals(self.fit.columns, model, self.receivers).of(party, own, rows)
        return None if values is None else [float(value) for value in values]


def _fit_rows(parameters: Mapping[str, Any]) -> RegressionOverRows:
    return as_study(lambda: RegressionOverRows(terms_of(parameters), rules_of(parameters)))


def _fit_columns(parameters: Mapping[str, Any]) -> RegressionOverColumns:
    return as_study(lambda: RegressionOverColumns(columns_of(parameters), rules_of(parameters)))


def _rows_sizes(parameters: Mapping[str, Any]) -> tuple[int, int]:
    """Return how many rows are made up, and from how many records at least."""
    settings = ResidualSettings.of(parameters)
    return settings.synthetic, settings.group


def _columns_sizes(parameters: Mapping[str, Any]) -> tuple[int, int]:
    """Return how many groups there are, and of how many records at least."""
    settings = ResidualSettings.of(parameters)
    return settings.groups, settings.group


def _shows_each(parameters: Mapping[str, Any]) -> bool:
    """Return True if the residual of every record is opened."""
    return ResidualSettings.of(parameters).show == "each"


def _fits_rows(parameters: Mapping[str, Any]) -> None:
    _fit_rows(parameters)


def _fits_columns(parameters: Mapping[str, Any]) -> None:
    columns = _fit_columns(parameters).columns
    if _shows_each(parameters):
        as_study(lambda: refuse_residuals(columns.widths()))


def _rows_disclosures(study: Study) -> tuple[Disclosure, ...]:
    """Return what a study discloses; everybody learns all of it."""
    receivers_of(study)
    return once((*_fit_rows(study.parameters).disclosures, *ResidualsOverRows.declared))


def _columns_disclosures(study: Study) -> tuple[Disclosure, ...]:
    shown: Sequence[Disclosure] = ResidualsOverColumns.declared
    if _shows_each(study.parameters):
        shown = OpenResiduals.declared(columns_of(study.parameters), receivers_of(study))
    receivers_of(study)
    return once((*_fit_columns(study.parameters).disclosures, *shown))


def _rows_outlook(study: Study) -> Outlook:
    return outlined(study, _rows_disclosures(study))


def _columns_outlook(study: Study) -> Outlook:
    columns_in(study)
    return outlined(study, _columns_disclosures(study))


def _rows_answers(study: Study, records: int, name: str) -> Answers:
    return {**fitted_answers(study, records, over_rows=True), SUMS: np.ones}


def _columns_answers(study: Study, records: int, name: str) -> Answers:
    return {**fitted_answers(study, records, over_rows=False), SUMS: np.ones}


def _rows_opens(study: Study) -> tuple[Opened, ...]:
    return (*rows_opens(study), FineNumbers("values of records"))


def _columns_opens(study: Study) -> tuple[Opened, ...]:
    return (*columns_opens(study), FineNumbers("counts of values beside one's own"))


TASKS = (
    Task("residuals", ROWS_HELP, declared(ResidualSettings, "rows"), _fits_rows, _rows_disclosures,
         _rows_outlook, load_rows, RowsStudy, blank_rows, pooled, _rows_answers,
         opens=_rows_opens),
    Task("residuals-columns", COLUMNS_HELP, declared(ResidualSettings, "columns"), _fits_columns,
         _columns_disclosures, _columns_outlook, load_columns, ColumnsStudy, blank_columns, pooled,
         _columns_answers, expected=expected_of, over_columns=True, opens=_columns_opens))
