"""The study tasks `logistic` and `logistic-columns`: logistic regression of several owners."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.result_control.opened_forms import (
    FineNumbers,
    LogisticNumbers,
    Opened,
    Totals,
)
from unspoken.joint.session.dry_run import Answers
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.common.blank_data import choices
from unspoken.joint.tasks.common.study_parameters import outlined
from unspoken.joint.tasks.logistic.params import LogisticSettings
from unspoken.joint.tasks.logistic.pooled import pooled_logistic
from unspoken.joint.tasks.logistic.program_columns import LogisticOverColumns
from unspoken.joint.tasks.logistic.program_rows import STEP, LogisticOverRows
from unspoken.joint.tasks.regression.column_blocks import Given
from unspoken.joint.tasks.regression.params import RegressionParams
from unspoken.joint.tasks.regression.study_terms import (
    columns_of,
    expected_of,
    places_in,
    receivers_of,
    terms_of,
)
from unspoken.joint.tasks.regression.task import (
    blank_columns,
    blank_rows,
    columns_in,
    fitted_answers,
    load_columns,
    load_rows,
)
from unspoken.joint.tasks.task import Outlook, Task
from unspoken.joint.tasks.task_params import as_study, declared

ROWS_HELP = """Logistic regression over rows of several owners.

    unspoken joint new study.toml --name care --task logistic --set response=returned
        --set 'columns=["age", "stay"]' ...

Each owner's file has the response (0 or 1) and all columns."""
COLUMNS_HELP = """Logistic regression over columns of several owners.

    unspoken joint new study.toml --name care --task logistic-columns --set response=returned
        --set held=north --set 'columns=["north:age", "south:stay"]' ...

The response must be 0 or 1. With `ids` records are aligned first (`least` of them in common or
more); with same_order=true all files list the same records in one order. Products of columns of
different owners do not go with a ridge, and `condition` is 2^16 unless it is set."""
MEANS = ("coefficients of columns that stand in products with another owner's show receivers the "
         "means of these columns")
NEWTON, NEWTON_COLUMNS = 6, 5
"""Newton's steps of a logistic model, as a rule; over columns they end with larger ones."""
STEPS = "{} steps, as data usually need; how many there are is seen when they have become small"


class RowsStudy(LogisticOverRows):
    """The program of a study over rows."""

    def __init__(self, study: Study) -> None:
        super().__init__(terms_of(study.parameters),
                         _rows_rules(study.parameters, receivers_of(study)))
        self.disclosures = study.disclosures


class ColumnsStudy(LogisticOverColumns):
    """The program of a study over columns."""

    def __init__(self, study: Study) -> None:
        super().__init__(columns_of(study.parameters),
                         _columns_rules(study.parameters, receivers_of(study)))
        self.disclosures = study.disclosures


def _rows_rules(parameters: Mapping[str, Any],
                receivers: tuple[str, ...] = ()) -> RegressionParams:
    settings = LogisticSettings.of(parameters)
    return as_study(lambda: RegressionParams(settings.ridge, settings.condition,
                                             receivers=receivers))


def _columns_rules(parameters: Mapping[str, Any],
                   receivers: tuple[str, ...] = ()) -> RegressionParams:
    settings = LogisticSettings.of(parameters)
    return as_study(lambda: RegressionParams(settings.ridge, settings.condition_columns,
                                             receivers=receivers))


def _fits_rows(parameters: Mapping[str, Any]) -> None:
    as_study(lambda: LogisticOverRows(terms_of(parameters), _rows_rules(parameters)))


def _fits_columns(parameters: Mapping[str, Any]) -> None:
    as_study(lambda: LogisticOverColumns(columns_of(parameters), _columns_rules(parameters)))


def _rows_disclosures(study: Study) -> tuple[Disclosure, ...]:
    rules = _rows_rules(study.parameters, receivers_of(study))
    return LogisticOverRows(terms_of(study.parameters), rules).disclosures


def _columns_disclosures(study: Study) -> tuple[Disclosure, ...]:
    rules = _columns_rules(study.parameters, receivers_of(study))
    return LogisticOverColumns(columns_of(study.parameters), rules).disclosures


def _rows_outlook(study: Study) -> Outlook:
    return outlined(study, _rows_disclosures(study), assumes=STEPS.format(NEWTON))


def _columns_outlook(study: Study) -> Outlook:
    shown = (MEANS,) if columns_in(study).crossing() else ()
    return outlined(study, _columns_disclosures(study), shown, STEPS.format(NEWTON_COLUMNS))


def _blank_rows(study: Study, name: str, records: int) -> Floats:
    table = blank_rows(study, name, records)
    table[:, -1] = choices(len(table), (0.0, 1.0))
    return table


def _blank_columns(study: Study, name: str, records: int) -> Given:
    columns = dict(blank_columns(study, name, records).columns)
    response = columns_of(study.parameters).response
    if response in columns:
        columns[response] = choices(records, (0.0, 1.0)).astype(np.float64)
    return Given(columns)


def _steps(count: int) -> Any:
    """Return what is assumed for opened steps: that the last of some is small."""
    sizes = iter([1e-3] * count)
    return lambda shape: np.full(shape, next(sizes, 0.0))


def _rows_answers(study: Study, records: int, name: str) -> Answers:
    # A step over rows is opened in three parts.
    return {**fitted_answers(study, records, over_rows=True), STEP: _steps(3 * (NEWTON - 1))}


def _columns_answers(study: Study, records: int, name: str) -> Answers:
    return {**fitted_answers(study, records, over_rows=False), STEP: _steps(NEWTON_COLUMNS - 1)}


def _rows_opens(study: Study) -> tuple[Opened, ...]:
    to, settings = receivers_of(study), LogisticSettings.of(study.parameters)
    terms = len(terms_of(study.parameters).features)
    return (Totals("number of records"), FineNumbers("values of records", to),
            LogisticNumbers("counts of values of columns and of their pairs", terms,
                            not settings.ridge, to))


def _columns_opens(study: Study) -> tuple[Opened, ...]:
    columns, settings = columns_of(study.parameters), LogisticSettings.of(study.parameters)
    return (LogisticNumbers("counts of values beside one's own", len(columns.terms.features),
                            not settings.ridge, receivers_of(study), places_in(columns)),)


TASKS = (
    Task("logistic", ROWS_HELP, declared(LogisticSettings, "rows"), _fits_rows, _rows_disclosures,
         _rows_outlook, load_rows, RowsStudy, _blank_rows, pooled_logistic, _rows_answers,
         opens=_rows_opens),
    Task("logistic-columns", COLUMNS_HELP, declared(LogisticSettings, "columns"), _fits_columns,
         _columns_disclosures, _columns_outlook, load_columns, ColumnsStudy, _blank_columns,
         pooled_logistic, _columns_answers, expected=expected_of, over_columns=True,
         opens=_columns_opens))
