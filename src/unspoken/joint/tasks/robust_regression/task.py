"""The study task `robust`: a linear model that outliers do not move."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.result_control.opened_forms import FineNumbers, Opened, RowModel, Totals
from unspoken.joint.session.dry_run import Answers
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.common.blank_data import part_of
from unspoken.joint.tasks.common.study_parameters import outlined
from unspoken.joint.tasks.regression.params import RegressionParams
from unspoken.joint.tasks.regression.study_terms import receivers_of, terms_of
from unspoken.joint.tasks.regression.task import blank_rows, fitted_answers, load_rows
from unspoken.joint.tasks.robust_regression.params import RobustSettings, normal_square
from unspoken.joint.tasks.robust_regression.pooled import pooled
from unspoken.joint.tasks.robust_regression.program_rows import SCALE, STEP, RobustOverRows
from unspoken.joint.tasks.task import Outlook, Task
from unspoken.joint.tasks.task_params import as_study, declared

HELP = """Robust regression (Huber's) over rows of several owners: outliers do not move it.

    unspoken joint new study.toml --name care --task robust --set response=cost
        --set 'columns=["age", "stay"]' --set tuning=1.345 ...

Each owner's file has the response and all columns. Residuals beyond 'tuning' scales count as if
they were just there; the scale is found with the coefficients (Huber's proposal 2). Everybody
learns the coefficients after each step and how many residuals are held down, nobody which."""
STEPS = 8
"""Steps that data usually need, least squares before them."""


class RobustStudy(RobustOverRows):
    """The program of a study."""

    def __init__(self, study: Study) -> None:
        fitted = _program(study.parameters, receivers_of(study))
        super().__init__(fitted.terms, fitted.rules, fitted.tuning)
        self.disclosures = study.disclosures


def _program(parameters: Mapping[str, Any], receivers: tuple[str, ...] = ()) -> RobustOverRows:
    settings = RobustSettings.of(parameters)
    return as_study(lambda: RobustOverRows(
        terms_of(parameters), RegressionParams(0.0, settings.condition, receivers=receivers),
        settings.tuning))


def _fits(parameters: Mapping[str, Any]) -> None:
    _program(parameters)


def _disclosures(study: Study) -> tuple[Disclosure, ...]:
    return tuple(_program(study.parameters, receivers_of(study)).disclosures)


def _outlook(study: Study) -> Outlook:
    return outlined(study, _disclosures(study), assumes=f"{STEPS} steps, as data usually need; how "
                    "many there are is seen when they have become small")


def _answers(study: Study, records: int, name: str) -> Answers:
    settings = RobustSettings.of(study.parameters)
    total = part_of(records, study) * len(study.having("owner"))
    left = (total - len(terms_of(study.parameters).features) - 1) / total
    # A scale that stays, and steps of which the last is small; each is opened in two parts.
    stays = np.array([normal_square(settings.tuning) * left, 0.8])
    steps = iter([1e-3] * (2 * STEPS))
    return {**fitted_answers(study, records, over_rows=True),
            SCALE: lambda shape: stays[:shape[0]],
            STEP: lambda shape: np.full(shape, next(steps, 0.0))}


def _opens(study: Study) -> tuple[Opened, ...]:
    terms = len(terms_of(study.parameters).features)
    return (Totals("number of records"), Totals("how many residuals are held down"),
            FineNumbers("values of records"),
            RowModel(terms, errors=True, sums=True, where="no residual is held down"))


TASKS = (Task("robust", HELP, tuple(
    param for param in declared(RobustSettings, "rows") if param.name != "ridge"), _fits,
    _disclosures, _outlook, load_rows, RobustStudy, blank_rows, pooled, _answers, opens=_opens),)
