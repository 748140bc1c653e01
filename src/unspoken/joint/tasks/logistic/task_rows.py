"""The study task `logistic`: logistic regression over rows of several owners.

    unspoken joint new study.toml --name care --task logistic --set response=returned
        --set 'columns=["age", "stay"]' ...

Each owner's file has the response (0 or 1) and all columns. `ridge` and `condition` may be set.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from unspoken.arrays import Floats
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.common.study_parameters import as_study, check_names, read_numbers
from unspoken.joint.tasks.logistic.program_rows import LogisticOverRows
from unspoken.joint.tasks.regression import costs
from unspoken.joint.tasks.regression.read_params import (
    forecast,
    receivers_of,
    rules_of,
    terms_of,
)
from unspoken.joint.tasks.task import Plan, Task

KNOWN = ("response", "columns", "products", "ridge", "condition")


class LogisticStudy(LogisticOverRows):
    """The program of a study."""

    def __init__(self, study: Study) -> None:
        super().__init__(terms_of(study.parameters),
                         rules_of(study.parameters, receivers_of(study)))
        self.disclosures = study.disclosures


def check(parameters: Mapping[str, Any]) -> None:
    """Refuse parameters that make no regression."""
    check_names(parameters, KNOWN, "logistic")
    as_study(lambda: LogisticOverRows(terms_of(parameters), rules_of(parameters)))


def told(study: Study) -> tuple[Disclosure, ...]:
    """Return what a study discloses."""
    rules = rules_of(study.parameters, receivers_of(study))
    return LogisticOverRows(terms_of(study.parameters), rules).disclosures


def plan(study: Study) -> Plan:
    """Say what a study will cost and who learns what."""
    rules, terms = rules_of(study.parameters), len(terms_of(study.parameters).features)
    cost = costs.logistic(terms, len(study.having("owner")), rules)
    return forecast(study, told(study), cost,
                    [f"cost is with a dealer for {costs.NEWTON} steps; how many there are is seen "
                     "when they have become small"])


def load(path: Path, study: Study) -> Floats:
    """Return an owner's table: all terms, and the response last."""
    terms = terms_of(study.parameters)
    return terms.table(read_numbers(path, (*terms.columns, terms.response)))


TASK = Task("logistic", check, told, plan, load, LogisticStudy)
