"""The study task `mixture`: a Gaussian mixture over the rows of several owners."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.errors import explain
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.result_control.opened_forms import Opened, Totals
from unspoken.joint.session.dry_run import Answers
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.common.blank_data import part_of, table_of_numbers
from unspoken.joint.tasks.common.study_parameters import (
    about_known,
    outlined,
    read_columns,
)
from unspoken.joint.tasks.mixture import program_rows
from unspoken.joint.tasks.mixture.params import (
    MixtureParams,
    MixtureSettings,
    Space,
    Start,
    random_start,
)
from unspoken.joint.tasks.mixture.pooled import pooled
from unspoken.joint.tasks.mixture.program_rows import COUNT, SUMS, MixtureOverRows
from unspoken.joint.tasks.naive_bayes.params import Numeric
from unspoken.joint.tasks.task import Outlook, Task
from unspoken.joint.tasks.task_params import as_study, declared

HELP = """A Gaussian mixture over the rows of several owners.

    unspoken joint new study.toml --name clusters --task mixture --set 'columns=["age", "income"]'
        --set 'range.age=[0, 120]' --set 'range.income=[0, 500000]' --set components=3
        --set seed=7 --set covariance=full ...

The start is drawn from `seed`, without data, or given as `weights`, `means` and `variances` (one
list for all components, in the order of `columns`). Everybody who takes part learns the mixture."""
GIVEN = ("weights", "means", "variances")


class MixtureStudy(MixtureOverRows):
    """The program of a study."""

    def __init__(self, study: Study) -> None:
        space = space_of(study.parameters)
        super().__init__(space, start_of(study.parameters, space), rules_of(study.parameters))
        self.disclosures = study.disclosures


def space_of(parameters: Mapping[str, Any]) -> Space:
    """Return the columns and their ranges."""
    settings = MixtureSettings.of(parameters)
    about_known(parameters, settings.columns, "columns")
    missing = [name for name in settings.columns if name not in settings.range]
    if missing:
        raise StudyError(f"Column '{missing[0]}' must have a range. Add --set "
                         f"'range.{missing[0]}=[LOWEST, HIGHEST]'.")
    return as_study(lambda: Space(tuple(
        Numeric(name, float(settings.range[name][0]), float(settings.range[name][1]))
        for name in settings.columns)))


def start_of(parameters: Mapping[str, Any], space: Space) -> Start:
    """Return the start that a study lists, or one drawn from the seed."""
    settings = MixtureSettings.of(parameters)
    k, n = settings.components, len(space.columns)
    if not any(name in parameters for name in GIVEN):
        if (seed := settings.seed) is None:
            raise StudyError("Task 'mixture' needs parameter 'seed', from which the start is "
                             "drawn, or 'weights', 'means' and 'variances'.")
        return as_study(lambda: random_start(space, k, seed))
    weights, means, variances = (_numbers(settings, name, count) for name, count in zip(
        GIVEN, (k, k * n, k * n), strict=True))
    start = as_study(lambda: Start(weights, means.reshape(k, n),
                                   variances.reshape(k, n)[:, :, None] * np.eye(n)))
    as_study(lambda: space.to_z(start))
    return start


def _numbers(settings: MixtureSettings, name: str, count: int) -> Floats:
    """Return a list of the start, which must have as many numbers as there are to say."""
    values = getattr(settings, name)
    if len(values) != count:
        raise StudyError(explain(f"Parameter '{name}'", f"a list of {count} numbers",
                                 list(values)))
    return np.array(values, np.float64)


def rules_of(parameters: Mapping[str, Any]) -> MixtureParams:
    """Return how EM runs."""
    return MixtureSettings.of(parameters).part(MixtureParams)


def _fits(parameters: Mapping[str, Any]) -> None:
    """Refuse parameters that make no mixture."""
    start_of(parameters, space_of(parameters))


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


def _opens(study: Study) -> tuple[Opened, ...]:
    return (Totals("number of records"),
            Totals("the sums of memberships, numbers and squares of every cluster and iteration"))


TASKS = (Task("mixture", HELP, declared(MixtureSettings), _fits, _disclosures, _outlook, _load,
              MixtureStudy, _blank, pooled, _answers, opens=_opens),)
