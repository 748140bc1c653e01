"""The study task `residuals-columns`: residuals over columns of several owners, as plots.

    unspoken joint new study.toml --name care --task residuals-columns --set response=cost
        --set held=north --set 'columns=["north:age", "south:stay"]' --set groups=10 ...

The model is fitted as by task `regression-columns` and opened to all: owners need it. `show` says
what follows. "groups" (the default): along every column the records are cut into `groups` (10) of
at least `group` (20), and for each of them the mean of the column, the mean of the residuals and
their spread are opened. "each": the residual of every record, to the receivers; refused for two
owners, or where an owner has one column only, because columns could be solved for. Also: ids,
least, products, ridge, condition and expected.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from unspoken.errors import explain
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.party import Party
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.common.study_parameters import (
    RECORD_ORDER,
    as_study,
    check_names,
    count,
)
from unspoken.joint.tasks.regression import costs
from unspoken.joint.tasks.regression.column_blocks import Given
from unspoken.joint.tasks.regression.disclosure_guards import refuse_residuals
from unspoken.joint.tasks.regression.program_columns import RegressionOverColumns
from unspoken.joint.tasks.regression.read_params import forecast, receivers_of, rules_of
from unspoken.joint.tasks.regression.task_columns import columns_in, columns_of, load
from unspoken.joint.tasks.residuals.program_columns import OpenResiduals, once
from unspoken.joint.tasks.residuals.program_rows import LEAST_GROUP, ResidualsOverColumns
from unspoken.joint.tasks.residuals.task_rows import GROUP
from unspoken.joint.tasks.task import Plan, Task
from unspoken.models.residuals import Residuals

KNOWN = ("response", "columns", "held", "products", "ridge", "condition", "expected", "show",
         "groups", "group", *RECORD_ORDER)
SHOWN = ("groups", "each")
GROUPS = 10


class ResidualsColumnsStudy:
    """The program of a study: fit, then show."""

    def __init__(self, study: Study) -> None:
        self.fit, self.sizes = _fit(study.parameters), sizes_of(study.parameters)
        self.each, self.receivers = shows_each(study.parameters), receivers_of(study)
        self.disclosures = study.disclosures

    async def check_first(self, party: Party, data: Given | None) -> None:
        """Check an owner's columns before records are aligned."""
        await self.fit.check_first(party, data)

    async def __call__(self, party: Party, data: Given | None) -> Residuals | list[float] | None:
        """Fit the model, open it to all, and return what is shown of its residuals."""
        own, rows = await self.fit.prepared(party, data)
        model = await self.fit.fitted(party, own, rows)
        assert model is not None
        if not self.each:
            return await ResidualsOverColumns(self.fit.columns, model, *self.sizes).of(
                party, own, rows)
        found = await OpenResiduals(self.fit.columns, model, self.receivers).of(party, own, rows)
        return None if found is None else [float(value) for value in found]


def _fit(parameters: Mapping[str, Any]) -> RegressionOverColumns:
    return as_study(lambda: RegressionOverColumns(
        columns_of(parameters), rules_of(parameters)))


def shows_each(parameters: Mapping[str, Any]) -> bool:
    """Return whether the residual of every record is opened."""
    found = parameters.get("show", "groups")
    if found not in SHOWN:
        raise StudyError(explain("Parameter 'show'", "one of " + ", ".join(SHOWN), found))
    return bool(found == "each")


def sizes_of(parameters: Mapping[str, Any]) -> tuple[int, int]:
    """Return how many groups there are, and of how many records at least."""
    sizes = count(parameters, "groups", GROUPS), count(parameters, "group", GROUP)
    if sizes[1] < LEAST_GROUP:
        raise StudyError(explain("'group'", f"at least {LEAST_GROUP} records", sizes[1]))
    return sizes


def check(parameters: Mapping[str, Any]) -> None:
    """Refuse parameters that make no plots, and residuals that give columns away."""
    check_names(parameters, KNOWN, "residuals-columns")
    count(parameters, "expected", costs.EXPECTED)
    columns = _fit(parameters).columns
    sizes_of(parameters)
    if shows_each(parameters):
        as_study(lambda: refuse_residuals(columns.widths()))


def told(study: Study) -> tuple[Disclosure, ...]:
    """Return what a study discloses."""
    shown: Sequence[Disclosure] = ResidualsOverColumns.told
    if shows_each(study.parameters):
        shown = OpenResiduals.told(columns_of(study.parameters), receivers_of(study))
    receivers_of(study)
    return once((*_fit(study.parameters).disclosures, *shown))


def plan(study: Study) -> Plan:
    """Say what a study will cost and who learns what."""
    columns, fit = columns_in(study), _fit(study.parameters)
    rows = count(study.parameters, "expected", costs.EXPECTED)
    cost = costs.vertical(columns, fit.rules, rows) + costs.residuals_crossed(columns, rows)
    if shows_each(study.parameters):
        cost += costs.residuals_each(rows, len(columns.owners))
    else:
        cost += costs.residuals_columns(list(columns.widths().values()), rows,
                                        sizes_of(study.parameters)[0])
    return forecast(study, told(study), cost, [costs.expecting(rows)], rows)


TASK = Task("residuals-columns", check, told, plan, load, ResidualsColumnsStudy,
            over_columns=True)
