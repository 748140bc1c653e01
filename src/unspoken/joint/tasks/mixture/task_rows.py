"""The study task `mixture`: a Gaussian mixture over the rows of several owners.

    unspoken joint new study.toml --name clusters --task mixture --set 'columns=["age", "income"]'
        --set 'range.age=[0, 120]' --set 'range.income=[0, 500000]' --set components=3
        --set seed=7 --set covariance=full ...

The start is drawn from `seed`, without data, or given as `weights`, `means` and `variances` (one
list for all components, in the order of `columns`). Everybody who takes part learns the mixture.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.errors import InputError, explain
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.common import primitive_costs as costs
from unspoken.joint.tasks.common.primitive_costs import Cost
from unspoken.joint.tasks.common.study_parameters import (
    as_study,
    check_names,
    everybody,
    learns,
    read_columns,
    texts,
)
from unspoken.joint.tasks.mixture.params import MixtureParams, Space, Start, random_start
from unspoken.joint.tasks.mixture.program_rows import MixtureOverRows, disclosures
from unspoken.joint.tasks.mixture.small_cluster_guards import SCALES
from unspoken.joint.tasks.naive_bayes.params import Numeric
from unspoken.joint.tasks.task import Plan, Task, notes_of, safe_against

RULES = ("covariance", "max_iter", "tol", "reg_covar", "stop", "small", "least", "moved", "most",
         "two_agreed")
GIVEN = ("weights", "means", "variances")


class MixtureStudy(MixtureOverRows):
    """The program of a study."""

    def __init__(self, study: Study) -> None:
        space = space_of(study.parameters)
        super().__init__(space, start_of(study.parameters, space), rules_of(study.parameters))
        self.disclosures = study.disclosures


def space_of(parameters: Mapping[str, Any]) -> Space:
    """Return the columns and their ranges."""
    columns = []
    for name in texts(parameters, "columns"):
        low, high = _numbers(parameters, f"range.{name}", 2)
        columns.append((name, low, high))
    return as_study(lambda: Space(tuple(Numeric(*column) for column in columns)))


def start_of(parameters: Mapping[str, Any], space: Space) -> Start:
    """Return the given start, or one drawn from the seed."""
    k, n = _whole(parameters, "components", 1, 1000), len(space.columns)
    given = [name for name in GIVEN if name in parameters]
    try:
        if not given:
            return random_start(space, k, _whole(parameters, "seed", 0, 2**63 - 1))
        spread = np.array(_numbers(parameters, "variances", k * n)).reshape(k, n)
        start = Start(np.array(_numbers(parameters, "weights", k)),
                      np.array(_numbers(parameters, "means", k * n)).reshape(k, n),
                      spread[:, :, None] * np.eye(n))
        space.to_z(start)
    except StudyError:
        raise
    except InputError as error:
        raise StudyError(str(error)) from None
    return start


def rules_of(parameters: Mapping[str, Any]) -> MixtureParams:
    """Return how EM runs."""
    try:
        return MixtureParams(**{name: parameters[name] for name in RULES if name in parameters})
    except InputError as error:
        raise StudyError(str(error)) from None


def _whole(parameters: Mapping[str, Any], name: str, low: int, high: int) -> int:
    found = parameters.get(name)
    if not isinstance(found, int) or isinstance(found, bool) or not low <= found <= high:
        raise StudyError(explain(f"Parameter '{name}'", f"an int from {low} to {high}", found))
    return found


def _numbers(parameters: Mapping[str, Any], name: str, count: int) -> list[float]:
    found = parameters.get(name)
    if not isinstance(found, list) or len(found) != count or not all(
            isinstance(n, int | float) and not isinstance(n, bool) for n in found):
        raise StudyError(explain(f"Parameter '{name}'", f"a list of {count} numbers", found))
    return [float(n) for n in found]


def check(parameters: Mapping[str, Any]) -> None:
    """Refuse parameters that make no mixture."""
    check_names(parameters, ("columns", "components", "seed", *GIVEN, *RULES), "mixture",
                ("range",))
    start_of(parameters, space_of(parameters))
    rules_of(parameters)


def told(study: Study) -> tuple[Disclosure, ...]:
    """Return what a study discloses."""
    return disclosures(rules_of(study.parameters))


def opened_numbers(components: int, columns: int, covariance: str) -> int:
    """Return how many numbers an iteration opens."""
    second = columns if covariance == "diag" else columns * (columns + 1) // 2
    return components * (1 + columns + second)


def iteration_cost(components: int, opened: int, parties: int) -> Cost:
    """Return the cost of one iteration."""
    circles = components * (parties + 1)
    tests = circles * len(SCALES)
    found = costs.share(circles, parties - 2) + costs.share(2 * tests, parties - 2)
    found += costs.less_than(2 * circles, 60) + costs.to_numbers(2 * circles)
    found += costs.multiply(tests) + costs.less_than(3 * tests, 47) + costs.to_numbers(3 * tests)
    found += costs.multiply(tests) + costs.less_than(1, 12) + costs.reveal(1, parties)
    found += costs.share(opened, parties - 2) + costs.reveal(opened, parties)
    return found + costs.less_than(2, 60) + costs.to_numbers(2) + costs.reveal(1, parties)


def plan(study: Study) -> Plan:
    """Say what a study will cost and who learns what."""
    space, rules = space_of(study.parameters), rules_of(study.parameters)
    owners = study.having("owner")
    if not study.facts.has_shares or (len(owners) < 3 and not rules.two_agreed):
        raise StudyError(explain("Task 'mixture'", "given shares and three owners or more (or "
                                 "two_agreed: of two, each learns the other's sums)",
                                 f"mode '{study.mode}' and {len(owners)} owners"))
    components = int(study.parameters["components"])
    opened = opened_numbers(components, len(space.columns), rules.covariance)
    each = iteration_cost(components, opened, len(everybody(study)))
    times = rules.max_iter
    notes = (*notes_of(study), f"cost is for {times} iterations; each opens {opened} numbers, "
             f"{opened * times:,} in all at most", *study.facts.cost_notes)
    return Plan(each.rounds * times, each.bytes * times, learns(study, told(study)),
                safe_against(study), notes)


def load(path: Path, study: Study) -> Floats:
    """Return an owner's rows; what the study does not allow is refused here."""
    space = space_of(study.parameters)
    return space.rows(read_columns(path, space.names))


TASK = Task("mixture", check, told, plan, load, MixtureStudy)
