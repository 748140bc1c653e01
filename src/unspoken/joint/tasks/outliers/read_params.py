"""The parameters of a study that seeks outliers, and what such a study costs.

    columns = ["age", "stay"]         # columns spread: ["north:age", "south:stay"]
    p = 0.95
    distance = 3.0
    enough = "at least"               # or "more than"
    among = "others"                  # or "all"
    order = 2                         # of the Minkowski distance
    most = 8.0                        # every value lies between -8 and 8
    scale = 8                         # fractional bits of values
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unspoken.errors import explain
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.shared import width_of
from unspoken.joint.tasks.common import primitive_costs as costs
from unspoken.joint.tasks.common.primitive_costs import Cost
from unspoken.joint.tasks.common.study_parameters import as_study
from unspoken.joint.tasks.kmeans.costs import sizes
from unspoken.joint.tasks.outliers.count_near import BLOCK
from unspoken.joint.tasks.outliers.params import OutlierParams

RULES = ("p", "distance", "most", "scale", "order", "enough", "among")
GUESS = 1000
GUESSED = f"cost is for {GUESS:,} objects and a dealer; how many there are is not in a study"


def rules_of(parameters: Mapping[str, Any]) -> OutlierParams:
    """Return the rule of a study."""
    for name in ("p", "distance"):
        if name not in parameters:
            raise StudyError(explain(f"Parameter '{name}'", "a number", "nothing"))
    return as_study(lambda: OutlierParams(**{n: parameters[n] for n in RULES if n in parameters}))


def counting_cost(rules: OutlierParams, pairs: int, columns: int) -> Cost:
    """Return comparing and counting so many pairs."""
    width = width_of(-rules.reach(columns), rules.reach(columns))
    found = Cost()
    for start in range(0, pairs, BLOCK):
        size = min(BLOCK, pairs - start)
        found += costs.less_than(size, width) + costs.to_numbers(size)
    return found


def columns_cost(
    rules: OutlierParams, objects: int, columns: int, owners: int, receivers: int
) -> Cost:
    """Return the cost over columns."""
    pairs = objects * (objects - 1) // 2
    found = sizes(owners, owners) + costs.share(pairs, owners - 2)
    found += counting_cost(rules, pairs, columns)
    return found + costs.less_than(objects, objects.bit_length() + 1) + costs.reveal(
        objects // 64 + 1, receivers)


def rows_cost(rules: OutlierParams, objects: int, columns: int, owners: int) -> Cost:
    """Return the cost over rows, objects spread evenly."""
    each = objects // owners
    found = sizes(owners, owners)
    for _ in range(owners * (owners - 1) // 2):
        terms = (max(2, rules.order) - 1) * columns + 1
        found += costs.share(each * terms, 2) + costs.matmul(each, terms, each)
        found += counting_cost(rules, each * each, columns)
    return found + costs.less_than(objects, objects.bit_length() + 1) + costs.reveal(objects, 1)
