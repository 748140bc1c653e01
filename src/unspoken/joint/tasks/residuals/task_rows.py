"""The study task `residuals`: residual plots over rows of several owners that can be shared.

    unspoken joint new study.toml --name care --task residuals --set response=cost
        --set 'columns=["age", "stay"]' --set synthetic=100 ...

The model is fitted as by task `regression` and opened to all: owners need it. Then every owner
makes up `synthetic` (100) rows with residuals that bend and spread like its own, from groups of at
least `group` (20) records; they are shuffled on shares and opened (vcz2006 section 5.3; Karr and
others). Also: products, ridge and condition as in `regression`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unspoken.arrays import Floats
from unspoken.errors import explain
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.party import Party
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.common.study_parameters import as_study, check_names, count
from unspoken.joint.tasks.regression import costs
from unspoken.joint.tasks.regression.program_rows import RegressionOverRows
from unspoken.joint.tasks.regression.read_params import (
    forecast,
    receivers_of,
    rules_of,
    terms_of,
)
from unspoken.joint.tasks.regression.task_rows import load
from unspoken.joint.tasks.residuals.program_columns import once
from unspoken.joint.tasks.residuals.program_rows import (
    LEAST_GROUP,
    MOST_ROWS,
    ResidualsOverRows,
)
from unspoken.joint.tasks.task import Plan, Task
from unspoken.models.residuals import Residuals

KNOWN = ("response", "columns", "products", "ridge", "condition", "synthetic", "group")
ROWS, GROUP = 100, 20


class ResidualsStudy:
    """The program of a study: fit, then show."""

    def __init__(self, study: Study) -> None:
        self.fit, self.sizes = _fit(study.parameters), sizes_of(study.parameters)
        self.disclosures = study.disclosures

    async def __call__(self, party: Party, data: Floats | None) -> Residuals:
        """Fit the model, open it to all, and return its synthetic residuals."""
        model = await self.fit(party, data)
        assert model is not None
        return await ResidualsOverRows(self.fit.terms, model, *self.sizes)(party, data)


def _fit(parameters: Mapping[str, Any]) -> RegressionOverRows:
    return as_study(lambda: RegressionOverRows(terms_of(parameters), rules_of(parameters)))


def sizes_of(parameters: Mapping[str, Any]) -> tuple[int, int]:
    """Return how many rows are made up, and from how many records at least."""
    sizes = count(parameters, "synthetic", ROWS), count(parameters, "group", GROUP)
    if sizes[0] > MOST_ROWS or sizes[1] < LEAST_GROUP:
        raise StudyError(explain("'synthetic' and 'group'", f"at most {MOST_ROWS} and at least "
                                 f"{LEAST_GROUP}", sizes))
    return sizes


def check(parameters: Mapping[str, Any]) -> None:
    """Refuse parameters that make no plots."""
    check_names(parameters, KNOWN, "residuals")
    _fit(parameters)
    sizes_of(parameters)


def told(study: Study) -> tuple[Disclosure, ...]:
    """Return what a study discloses; everybody learns all of it."""
    receivers_of(study)
    return once((*_fit(study.parameters).disclosures, *ResidualsOverRows.told))


def plan(study: Study) -> Plan:
    """Say what a study will cost and who learns what."""
    fit, owners = _fit(study.parameters), len(study.having("owner"))
    terms, rows = len(fit.terms.features), sizes_of(study.parameters)[0]
    cost = costs.fitting(terms, owners, fit.rules) + costs.residuals(owners, rows, terms)
    return forecast(study, told(study), cost,
                    ["cost is with a dealer, whatever the number of records"])


TASK = Task("residuals", check, told, plan, load, ResidualsStudy)
