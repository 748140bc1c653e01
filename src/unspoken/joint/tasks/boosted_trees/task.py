"""The study tasks `boosted-trees` and `boosted-trees-columns`: boosting of several owners."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.result_control.opened_forms import Opened, Quotients
from unspoken.joint.session.dry_run import Answers
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.boosted_trees import program_rows
from unspoken.joint.tasks.boosted_trees.boosted_columns_study import COLUMNS_TASK
from unspoken.joint.tasks.boosted_trees.params import Boost, BoostSettings
from unspoken.joint.tasks.boosted_trees.pooled import pooled_boost
from unspoken.joint.tasks.boosted_trees.program_rows import BoostOverRows
from unspoken.joint.tasks.boosted_trees.split_gains import RATIO
from unspoken.joint.tasks.common.study_parameters import not_chosen
from unspoken.joint.tasks.task import Outlook, Task
from unspoken.joint.tasks.task_params import as_study, declared
from unspoken.joint.tasks.tree.agreed_layout import layout_of
from unspoken.joint.tasks.tree.assumed_trees import AssumedRows
from unspoken.joint.tasks.tree.params import TreeParams
from unspoken.joint.tasks.tree.task import blank_rows, load_rows, rows_outlook

HELP = """Boosting over the rows of several owners, two classes.

Parameters of task `tree` (but most is 65,536 unless it is set, and at most 524,288), and those of
boosting. All who take part learn the trees and the numbers of their leaves."""


def _program(study: Study) -> BoostOverRows:
    program = _boost(study.parameters)
    program.disclosures = study.disclosures
    return program


def _boost(parameters: Mapping[str, Any]) -> BoostOverRows:
    (layout, spans), settings = layout_of(parameters), BoostSettings.of(parameters)
    return as_study(lambda: BoostOverRows(layout, settings.part(TreeParams), settings.part(Boost),
                                          spans))


def _fits(parameters: Mapping[str, Any]) -> None:
    _boost(parameters)


def _disclosures(study: Study) -> tuple[Disclosure, ...]:
    return program_rows.disclosures(bool(layout_of(study.parameters)[1]))


def _outlook(study: Study) -> Outlook:
    not_chosen(study)
    if len(study.having("owner")) == 2 and not _boost(study.parameters).boost.two_may_learn:
        raise StudyError("Boosting of two owners shows each of them something about the other's "
                         "records in every leaf. Agree to it with two_may_learn=true, or do not.")
    return rows_outlook(study, _disclosures(study))


def _answers(study: Study, records: int, name: str) -> Answers:
    program = _boost(study.parameters)
    return AssumedRows(program.layout, program.rules, program.spans).answers()


def _opens(study: Study) -> tuple[Opened, ...]:
    """Return numbers of leaves: every tree gives one more of the same records."""
    rounds = BoostSettings.of(study.parameters).rounds
    return (Quotients("the sums of gradients of a leaf", RATIO, rounds),)


TASKS = (Task("boosted-trees", HELP, declared(BoostSettings, "rows"), _fits, _disclosures, _outlook,
              load_rows, _program, blank_rows, pooled_boost, _answers, opens=_opens),
         COLUMNS_TASK)
