"""The study task `logistic-columns`: logistic regression over columns of several owners.

    tacit joint new study.toml --name care --task logistic-columns --set response=returned
        --set held=north --set 'columns=["north:age", "south:stay"]' ...

The response must be 0 or 1. With `ids` records are aligned first (`least` of them in common or
more); without it all files must hold the same records in the same order. `condition` is the
greatest condition of the matrix that is inverted (2^16).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tacit.errors import explain
from tacit.joint.errors import StudyError
from tacit.joint.protocols.parameters import aligning, as_study, check_names, planned
from tacit.joint.protocols.regression.logistic import EXPECTED_STEPS
from tacit.joint.protocols.regression.logistic_columns import VerticalLogistic
from tacit.joint.protocols.regression.parameters import fitting_cost, receivers_of, rules_of
from tacit.joint.protocols.regression.terms import Rules
from tacit.joint.protocols.regression.vertical_task import columns_of, load
from tacit.joint.study import Disclosure, Study
from tacit.joint.tasks import Plan, Task

KNOWN = ("response", "columns", "held", "condition", "ids", "least")


class LogisticColumnsStudy(VerticalLogistic):
    """The program of a study."""

    def __init__(self, study: Study) -> None:
        super().__init__(columns_of(study.parameters), _rules(study), aligning(study.parameters))
        self.disclosures = study.disclosures


def _rules(study: Study) -> Rules:
    return rules_of({"condition": 2.0**16, **study.parameters}, receivers_of(study))


def check(parameters: Mapping[str, Any]) -> None:
    """Refuse parameters that make no regression."""
    check_names(parameters, KNOWN, "logistic-columns")
    as_study(lambda: VerticalLogistic(columns_of(parameters), rules_of(parameters),
                                      aligning(parameters)))


def told(study: Study) -> tuple[Disclosure, ...]:
    """Return what a study discloses."""
    return VerticalLogistic(columns_of(study.parameters), _rules(study),
                            aligning(study.parameters)).disclosures


def plan(study: Study) -> Plan:
    """Say what a study will cost and who learns what."""
    columns, rules = columns_of(study.parameters), _rules(study)
    if set(columns.owners) != set(study.having("owner")):
        raise StudyError(explain("The owners of columns", "the owners of the study: "
                                 + ", ".join(study.having("owner")), ", ".join(columns.owners)))
    terms, steps = len(columns.terms.features), EXPECTED_STEPS + 2
    rounds, size = fitting_cost(terms + 1, rules.condition, len(columns.owners))
    return planned(study, told(study), ((rounds + 90) * steps, size * steps),
                   (f"for {steps} steps, and {2000 + 70 * terms:,} bytes more for each record and "
                    "step",))


TASK = Task("logistic-columns", check, told, plan, load, LogisticColumnsStudy)
