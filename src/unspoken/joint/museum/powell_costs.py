"""What Powell's searches cost, before they begin."""

from __future__ import annotations

from unspoken.joint.tasks.common.primitive_costs import Cost, times
from unspoken.joint.tasks.regression.column_blocks import OwnedColumns
from unspoken.joint.tasks.regression.costs import vertical
from unspoken.joint.tasks.regression.params import RegressionParams


def powell_cost(columns: OwnedColumns, rules: RegressionParams, rows: int, searches: int,
                literal: bool = False) -> Cost:
    """Return the costs of several searches, and of standard errors if there are any."""
    owners = len(columns.owners)
    one = Cost(53 + 2 * bool(rules.ridge), 45_000 + rows * (160 + 55 * owners))
    if literal:
        one = Cost(5, 5000 + rows * (100 + 50 * owners))
    cost = times(one, searches) + Cost(20 + 4 * owners, 30_000)
    if rules.inference and not rules.ridge:
        cost += vertical(columns, rules, rows)
    return cost
