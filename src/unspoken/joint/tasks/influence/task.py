"""The study task `influence`: which of its own records an owner should look at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unspoken.errors import explain
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.result_control.opened_forms import (
    Decisions,
    FineNumbers,
    Opened,
    RowModel,
)
from unspoken.joint.result_control.verdict import Certainty
from unspoken.joint.session.dry_run import Answers
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.common.blank_data import part_of
from unspoken.joint.tasks.common.public_sizes import SIZES as ROWS
from unspoken.joint.tasks.common.study_parameters import outlined
from unspoken.joint.tasks.influence.params import VALUES, InfluenceSettings
from unspoken.joint.tasks.influence.pooled import pooled
from unspoken.joint.tasks.influence.program_rows import InfluenceOverRows
from unspoken.joint.tasks.regression.fitting import SUMS
from unspoken.joint.tasks.regression.study_terms import receivers_of, terms_of
from unspoken.joint.tasks.regression.task import blank_rows, fitted_answers, load_rows
from unspoken.joint.tasks.task import Outlook, Task
from unspoken.joint.tasks.task_params import as_study, declared

HELP = """Leverage and Cook's distance of records in a regression over rows of several owners.

    unspoken joint new study.toml --name care --task influence --set response=cost
        --set 'columns=["age", "stay"]' ...

The model is fitted as by task `regression` and opened to all: residuals need it. Then every owner
learns, of its own records and of no others, which have much leverage (above 'leverage' times the
mean) and which move the model far (Cook's distance above 'distance' / N). With show=values it
learns both numbers of each, from which all joint means and second moments can be worked out: that
is refused for two owners. Receivers, where some are named, are the owners that learn theirs."""
MOMENTS = "joint second moments"


class InfluenceStudy(InfluenceOverRows):
    """The program of a study."""

    def __init__(self, study: Study) -> None:
        made = _program(study.parameters, study.having("owner"), study.having("receiver"))
        super().__init__(made.terms, made.owners, made.rules.condition, made.show, made.limits,
                         made.learners)
        self.disclosures = study.disclosures


def _program(parameters: Mapping[str, Any], owners: Sequence[str],
             receivers: Sequence[str] = ()) -> InfluenceOverRows:
    settings = InfluenceSettings.of(parameters)
    return as_study(lambda: InfluenceOverRows(
        terms_of(parameters), owners, settings.condition, settings.show,
        (settings.leverage, settings.distance), receivers))


def _fits(parameters: Mapping[str, Any]) -> None:
    _program(parameters, ())


def _disclosures(study: Study) -> tuple[Disclosure, ...]:
    return tuple(_program(study.parameters, study.having("owner"),
                          study.having("receiver")).disclosures)


def _outlook(study: Study) -> Outlook:
    receivers_of(study)
    owners, show = study.having("owner"), InfluenceSettings.of(study.parameters).show
    outside = [name for name in study.having("receiver") if name not in owners]
    if outside:
        raise StudyError(f"In task 'influence' an owner learns about its own records. "
                         f"'{outside[0]}' brings none and cannot be a receiver. Leave it out.")
    if show == VALUES and len(owners) < 3:
        raise StudyError(explain("Task 'influence' with show=values", "given three owners or more: "
                                 "of two each would work out the other's second moments",
                                 len(owners), "Use show=flags."))
    return outlined(study, _disclosures(study))


def _answers(study: Study, records: int, name: str) -> Answers:
    return {**fitted_answers(study, records, over_rows=True), SUMS: np.ones,
            ROWS: lambda shape: np.full(shape, part_of(records, study))}


def _opens(study: Study) -> tuple[Opened, ...]:
    settings, to = InfluenceSettings.of(study.parameters), study.having("receiver")
    by_value = settings.show == VALUES
    return (Decisions("number of records", "it is opened", certainty=Certainty.ALWAYS),
            FineNumbers("values of records"),
            RowModel(len(terms_of(study.parameters).features), errors=False, sums=True),
            Decisions(MOMENTS, "leverage of enough of its records" if by_value else
                      "where leverage of many of its records is near a limit", to,
                      certainty=Certainty.USUALLY if by_value else Certainty.SOMETIMES))


TASKS = (Task("influence", HELP, tuple(
    param for param in declared(InfluenceSettings, "rows") if param.name != "ridge"), _fits,
    _disclosures, _outlook, load_rows, InfluenceStudy, blank_rows, pooled, _answers,
    opens=_opens),)
