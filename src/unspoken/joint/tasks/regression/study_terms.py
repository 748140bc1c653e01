"""What a study of regressions says: its terms, how they are fitted, who has and learns them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from unspoken.errors import explain
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.common.study_parameters import (
    owners_of,
)
from unspoken.joint.tasks.regression.column_blocks import (
    ALL,
    OwnedColumns,
)
from unspoken.joint.tasks.regression.params import (
    ModelSettings,
    RegressionParams,
    RegressionSettings,
    RegressionTerms,
    Selection,
)
from unspoken.joint.tasks.task_params import as_study


def terms_of(parameters: Mapping[str, Any]) -> RegressionTerms:
    """Return the terms of rows that are spread."""
    model = ModelSettings.of(parameters)
    return as_study(lambda: RegressionTerms(model.response, model.columns, model.pairs))


def rules_of(parameters: Mapping[str, Any], receivers: Sequence[str] = ()) -> RegressionParams:
    """Return how the model is fitted."""
    settings = RegressionSettings.of(parameters)
    smaller = tuple(tuple(names.split("+")) for names in settings.smaller)
    return as_study(lambda: RegressionParams(settings.ridge, settings.condition,
                                             settings.inference, tuple(receivers), smaller,
                                             settings.bits))


def places_of(terms: RegressionTerms,
              smaller: Sequence[Sequence[str]]) -> tuple[tuple[int, ...], ...]:
    """Return which terms models inside the model have."""
    return tuple(tuple(terms.place(name) for name in names) for names in smaller)


def columns_of(parameters: Mapping[str, Any]) -> OwnedColumns:
    """Return which owner has which columns."""
    model, owners = ModelSettings.of(parameters), owners_of(parameters)
    if model.held not in (*owners, "all", "split"):
        owners[model.held] = ()
    return as_study(lambda: OwnedColumns(owners, model.response, model.held, model.pairs))


def places_in(columns: OwnedColumns) -> dict[str, tuple[int, ...]]:
    """Return which terms every owner has; the response stands after the last one."""
    shared = (len(columns.terms.features),) if columns.held == ALL else ()
    return {owner: tuple({*(place for place, _ in columns.own(owner)), *shared})
            for owner in columns.owners}


def rows_of(parameters: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the owners that have all columns of further records."""
    return RegressionSettings.of(parameters).rows


def expected_of(study: Study) -> int:
    """Return how many records a forecast is for."""
    return ModelSettings.of(study.parameters).expected


def selection_of(parameters: Mapping[str, Any]) -> Selection | None:
    """Return how terms are chosen, if they are."""
    return RegressionSettings.of(parameters).selection()


def receivers_of(study: Study) -> tuple[str, ...]:
    """Return who learns the model."""
    if not study.facts.has_shares:
        raise StudyError(explain(f"Task '{study.task}'", "given a mode with shares", "mode 'sums'",
                                 "Use dealer, two-party or three-party."))
    return study.having("receiver") or study.having("owner")
