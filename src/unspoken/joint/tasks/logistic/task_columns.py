"""The study task `logistic-columns`: logistic regression over columns of several owners.

    unspoken joint new study.toml --name care --task logistic-columns --set response=returned
        --set held=north --set 'columns=["north:age", "south:stay"]' ...

The response must be 0 or 1. With `ids` records are aligned first (`least` of them in common or
more); with same_order=true all files list the same records in one order. Also: products
(["age*stay"]; of columns of different owners not with a ridge), ridge (as scikit-learn's 1 / C),
condition (the greatest condition of the matrix that is inverted, 2^16), expected (how many records
the plan is for).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.common.study_parameters import (
    RECORD_ORDER,
    as_study,
    check_names,
    count,
)
from unspoken.joint.tasks.logistic.program_columns import CONDITION, LogisticOverColumns
from unspoken.joint.tasks.regression import costs
from unspoken.joint.tasks.regression.params import RegressionParams
from unspoken.joint.tasks.regression.read_params import forecast, receivers_of, rules_of
from unspoken.joint.tasks.regression.task_columns import columns_in, columns_of, load
from unspoken.joint.tasks.task import Plan, Task

KNOWN = ("response", "columns", "held", "products", "ridge", "condition", "expected",
         *RECORD_ORDER)


MEANS = ("coefficients of columns that stand in products with another owner's show receivers the "
         "means of these columns")


class LogisticColumnsStudy(LogisticOverColumns):
    """The program of a study."""

    def __init__(self, study: Study) -> None:
        super().__init__(columns_of(study.parameters), _rules(study))
        self.disclosures = study.disclosures


def _rules(study: Study) -> RegressionParams:
    return rules_of({"condition": CONDITION, **study.parameters}, receivers_of(study))


def check(parameters: Mapping[str, Any]) -> None:
    """Refuse parameters that make no regression."""
    check_names(parameters, KNOWN, "logistic-columns")
    count(parameters, "expected", costs.EXPECTED)
    as_study(lambda: LogisticOverColumns(columns_of(parameters), rules_of(parameters)))


def told(study: Study) -> tuple[Disclosure, ...]:
    """Return what a study discloses."""
    return LogisticOverColumns(columns_of(study.parameters), _rules(study)).disclosures


def plan(study: Study) -> Plan:
    """Say what a study will cost and who learns what."""
    columns, rules = columns_in(study), _rules(study)
    rows = count(study.parameters, "expected", costs.EXPECTED)
    cost = costs.logistic_columns(columns, rules, rows)
    steps = (f"for {costs.NEWTON_COLUMNS} steps; how many there are is seen when they have become "
             "small")
    shown = [MEANS] if columns.crossing() else []
    return forecast(study, told(study), cost, [costs.expecting(rows), steps, *shown], rows)


TASK = Task("logistic-columns", check, told, plan, load, LogisticColumnsStudy, over_columns=True)
