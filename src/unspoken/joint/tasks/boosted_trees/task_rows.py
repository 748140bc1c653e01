"""The study task `boosted-trees`: boosting over the rows of several owners, two classes.

Parameters of task `tree` (but most is 65,536 unless said otherwise, and at most 524,288), and:
rounds (10), rate (0.3), penalty (1.0), two_may_learn (false). All who take part learn the trees and
the numbers of their leaves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from unspoken.errors import InputError
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.boosted_trees.program_rows import (
    MOST,
    Boost,
    BoostOverRows,
    disclosures,
)
from unspoken.joint.tasks.common.study_parameters import not_chosen
from unspoken.joint.tasks.task import Plan, Task
from unspoken.joint.tasks.tree import costs
from unspoken.joint.tasks.tree.read_params import layout_of, rules_of
from unspoken.joint.tasks.tree.task_rows import check_rows, load, plan_rows

OWN = ("rounds", "rate", "penalty", "two_may_learn")


def program(study: Study) -> BoostOverRows:
    """Return the program of a study."""
    found = _boost(study.parameters)
    found.disclosures = study.disclosures
    return found


def _boost(parameters: Mapping[str, Any]) -> BoostOverRows:
    layout, spans = layout_of(parameters)
    boost = Boost(**{name: parameters[name] for name in OWN if name in parameters})
    return BoostOverRows(layout, rules_of({"most": MOST, **parameters}), boost, spans)


def check(parameters: Mapping[str, Any]) -> None:
    """Refuse parameters that boost nothing."""
    check_rows(parameters, "boosted-trees", OWN)
    try:
        _boost(parameters)
    except StudyError:
        raise
    except InputError as error:
        raise StudyError(str(error)) from None


def told(study: Study) -> tuple[Disclosure, ...]:
    """Return what a study discloses."""
    return disclosures(bool(layout_of(study.parameters)[1]))


def plan(study: Study) -> Plan:
    """Say what a study will cost and who learns what."""
    boost = _boost(study.parameters).boost
    not_chosen(study)
    if len(study.having("owner")) == 2 and not boost.two_may_learn:
        raise StudyError("Boosting of two owners shows each of them something about the other's "
                         "records in every leaf. Agree to it with two_may_learn=true, or do not.")
    study = replace(study, parameters={"most": MOST, **study.parameters})
    return plan_rows(study, told(study), 1, boost.rounds, cost_of=costs.boosted)


TASK = Task("boosted-trees", check, told, plan, load, program)
