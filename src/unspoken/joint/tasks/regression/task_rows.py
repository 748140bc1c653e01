"""The study task `regression`: least squares or ridge over rows of several owners.

    unspoken joint new study.toml --name care --task regression --set response=cost
        --set 'columns=["age", "stay"]' --set select=stepwise ...

Each owner's file has the response and all columns. Also: products (["age*stay"]), ridge (as
scikit-learn's alpha), condition (the greatest condition of the matrix that is inverted, 2^20),
inference (false opens coefficients alone), select (forward, backward, stepwise, best) by criterion
(bic, aic, adjusted or cp) with terms to keep, and smaller models to test against (["age+stay"]).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from unspoken.arrays import Floats
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.common.study_parameters import as_study, check_names, read_numbers
from unspoken.joint.tasks.regression import costs
from unspoken.joint.tasks.regression.program_rows import RegressionOverRows, disclosures
from unspoken.joint.tasks.regression.read_params import (
    FITTING,
    SELECTING,
    forecast,
    receivers_of,
    rules_of,
    selection_of,
    terms_of,
)
from unspoken.joint.tasks.regression.term_selection import Selection
from unspoken.joint.tasks.task import Plan, Task


class RowsStudy(RegressionOverRows):
    """The program of a study."""

    def __init__(self, study: Study) -> None:
        super().__init__(terms_of(study.parameters),
                         rules_of(study.parameters, receivers_of(study)),
                         selection_of(study.parameters))
        self.disclosures = study.disclosures


def check(parameters: Mapping[str, Any]) -> None:
    """Refuse parameters that make no regression."""
    check_names(parameters, (*FITTING, *SELECTING), "regression")
    as_study(lambda: RegressionOverRows(terms_of(parameters), rules_of(parameters),
                                          selection_of(parameters)))


def told(study: Study) -> tuple[Disclosure, ...]:
    """Return what a study discloses."""
    return disclosures(rules_of(study.parameters, receivers_of(study)),
                       selection_of(study.parameters), len(terms_of(study.parameters).features))


def plan(study: Study) -> Plan:
    """Say what a study will cost and who learns what."""
    rules, terms = rules_of(study.parameters), len(terms_of(study.parameters).features)
    selection = selection_of(study.parameters)
    cost = costs.fitting(terms, len(study.having("owner")), rules, selection)
    return forecast(study, told(study), cost,
                    ["cost is with a dealer, whatever the number of records",
                     *selecting_notes(selection)])


def selecting_notes(selection: Selection | None) -> tuple[str, ...]:
    """Return what must be known about the steps of a selection."""
    if selection is None or selection.method == "best":
        return ()
    return ("cost is for half of the terms; how many steps there are is seen when no term moves",)


def load(path: Path, study: Study) -> Floats:
    """Return an owner's table: all terms, and the response last."""
    terms = terms_of(study.parameters)
    return terms.table(read_numbers(path, (*terms.columns, terms.response)))


TASK = Task("regression", check, told, plan, load, RowsStudy)
