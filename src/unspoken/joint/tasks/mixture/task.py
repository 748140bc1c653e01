"""The study task `mixture`: a Gaussian mixture over the rows of several owners."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.errors import InputError, explain
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.session.dry_run import Answers
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.common.blank_data import part_of, table_of_numbers
from unspoken.joint.tasks.common.study_parameters import (
    as_study,
    check_names,
    outlined,
    read_columns,
    texts,
)
from unspoken.joint.tasks.mixture import program_rows
from unspoken.joint.tasks.mixture.params import MixtureParams, Space, Start, random_start
from unspoken.joint.tasks.mixture.pooled import pooled
from unspoken.joint.tasks.mixture.program_rows import COUNT, SUMS, MixtureOverRows
from unspoken.joint.tasks.naive_bayes.params import Numeric
from unspoken.joint.tasks.task import Outlook, Param, Task

HELP = """A Gaussian mixture over the rows of several owners.

    unspoken joint new study.toml --name clusters --task mixture --set 'columns=["age", "income"]'
        --set 'range.age=[0, 120]' --set 'range.income=[0, 500000]' --set components=3
        --set seed=7 --set covariance=full ...

The start is drawn from `seed`, without data, or given as `weights`, `means` and `variances` (one
list for all components, in the order of `columns`). Everybody who takes part learns the mixture."""
PARAMS = (
    Param("columns", "the columns, a list of names"),
    Param("range.NAME", "[lowest, highest] of a column, which no value may leave"),
    Param("components", "the number of clusters"),
    Param("seed", "public: from which the start is drawn"),
    Param("weights", "the weights of a start that is given"),
    Param("means", "its means, component by component"),
    Param("variances", "its variances, component by component"),
    Param("covariance", "full or diag (full)"),
    Param("max_iter", "the most iterations; every one opens parameters (100)"),
    Param("tol", "stop when the mean log-likelihood changes by less (0.001)"),
    Param("reg_covar", "added to the diagonal of covariances (1e-6)"),
    Param("stop", "disclosed, or padded: always run max_iter iterations (disclosed)"),
    Param("small", "below least or moved: refuse, or stop (refuse)"),
    Param("least", "members that every cluster must have (10)"),
    Param("moved", "members that must share a change between two iterations (5)"),
    Param("most", "a public bound on all records (2^20)"),
    Param("two_agreed", "true: two owners agree that each learns the other's sums (false)"))
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
    present = [name for name in GIVEN if name in parameters]
    try:
        if not present:
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
    value = parameters.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise StudyError(explain(f"Parameter '{name}'", f"an int from {low} to {high}", value))
    return value


def _numbers(parameters: Mapping[str, Any], name: str, count: int) -> list[float]:
    values = parameters.get(name)
    if not isinstance(values, list) or len(values) != count or not all(
            isinstance(n, int | float) and not isinstance(n, bool) for n in values):
        raise StudyError(explain(f"Parameter '{name}'", f"a list of {count} numbers", values))
    return [float(n) for n in values]


def _check(parameters: Mapping[str, Any]) -> None:
    """Refuse parameters that make no mixture."""
    check_names(parameters, PARAMS, "mixture")
    start_of(parameters, space_of(parameters))
    rules_of(parameters)


def _disclosures(study: Study) -> tuple[Disclosure, ...]:
    return program_rows.disclosures(rules_of(study.parameters))


def opened_numbers(components: int, columns: int, covariance: str) -> int:
    """Return how many numbers an iteration opens."""
    second = columns if covariance == "diag" else columns * (columns + 1) // 2
    return components * (1 + columns + second)


def _outlook(study: Study) -> Outlook:
    space, rules = space_of(study.parameters), rules_of(study.parameters)
    owners = study.having("owner")
    if not study.facts.has_shares or (len(owners) < 3 and not rules.two_agreed):
        raise StudyError(explain("Task 'mixture'", "given shares and three owners or more (or "
                                 "two_agreed: of two, each learns the other's sums)",
                                 f"mode '{study.mode}' and {len(owners)} owners"))
    count = opened_numbers(int(study.parameters["components"]), len(space.columns),
                           rules.covariance)
    return outlined(study, _disclosures(study), (
        f"each iteration opens {count} numbers, {count * rules.max_iter:,} in all at most",),
        f"{rules.max_iter} iterations, the most that may be run")


def _blank(study: Study, name: str, records: int) -> Floats:
    return table_of_numbers(_each(study, records), len(space_of(study.parameters).columns))


def _each(study: Study, records: int) -> int:
    """Return how many records each owner has, at most what it may have."""
    most = rules_of(study.parameters).most // len(study.having("owner"))
    return max(1, min(part_of(records, study), most))


def _answers(study: Study, records: int, name: str) -> Answers:
    """Assume that no cluster is small, and that the likelihood gains in every iteration."""
    total = _each(study, records) * len(study.having("owner"))
    width = len(space_of(study.parameters).columns)
    full = rules_of(study.parameters).covariance == "full"
    squares = [1.0 if i == j else 0.0 for i in range(width) for j in range(i, width)
               if full or i == j]

    def sums(shape: tuple[int, ...]) -> Any:
        row = np.array([1.0, *np.zeros(width), *(0.1 * np.array(squares))])
        return np.broadcast_to(row * total / shape[0], shape)

    return {COUNT: lambda shape: np.full(shape, total), SUMS: sums}


def _load(path: Path, study: Study) -> Floats:
    """Return an owner's rows; what the study does not allow is refused here."""
    space = space_of(study.parameters)
    return space.rows(read_columns(path, space.names))


TASKS = (Task("mixture", HELP, PARAMS, _check, _disclosures, _outlook, _load, MixtureStudy, _blank,
              pooled, _answers),)
