"""The study task `sum`: the smallest useful study."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.shared import LIMIT, to_ring
from unspoken.joint.result_control.opened_forms import Opened, Totals
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.column_sums.params import SumParams
from unspoken.joint.tasks.column_sums.pooled import pooled
from unspoken.joint.tasks.column_sums.program_rows import SUM, SumOverRows
from unspoken.joint.tasks.common.noise_in_parts import noisy_outlook
from unspoken.joint.tasks.common.party_files import party_table
from unspoken.joint.tasks.task import Outlook, Task
from unspoken.joint.tasks.task_params import declared

HELP = """The sum of columns over all owners (vcz2006 section 3.3.2).

Receivers learn the sum of each column and nothing else; how many rows an owner has stays private.
With two owners a sum gives the other's part away, so that masks are refused for two. With
'epsilon' and ranges every owner adds a part of noise, so that nobody knows all of it; every owner
books the study in the budget of its table. With 'edges.NAME' values are counted by interval."""


def _fits(parameters: Mapping[str, Any]) -> None:
    SumParams.of(parameters)


def _disclosures(study: Study) -> tuple[Disclosure, ...]:
    return (Disclosure(SUM, study.having("receiver")),)


def _outlook(study: Study) -> Outlook:
    return noisy_outlook(study, _disclosures(study), _noise_notes(study),
                         "how many columns there are")


def _noise_notes(study: Study) -> tuple[str, ...]:
    params = SumParams.of(study.parameters)
    if params.epsilon is None:
        return ()
    return params.parted.notes(params.deviations(len(study.having("owner"))))


def _load(path: Path, study: Study) -> npt.NDArray[Any]:
    """Return this owner's column sums, with noise to come in whole units.

    A missing value or an unknown column is refused.
    """
    params = SumParams.of(study.parameters)
    rows = party_table(path).numbers(params.columns)
    for name, column in zip(params.columns, rows.T, strict=True):
        if np.isnan(column).any():
            raise StudyError(f"Column '{name}' must have a value in every row. Some have none.")
    if params.epsilon is not None:
        return np.concatenate([params.units(name, column) for name, column
                               in zip(params.columns, rows.T, strict=True)])
    sums = np.concatenate([params.sums(name, column) for name, column
                           in zip(params.columns, rows.T, strict=True)])
    bound = (LIMIT - 1) // len(study.having("owner"))
    to_ring(sums, -bound, bound, params.scale, "Column sums")
    return sums


def _blank(study: Study, name: str, records: int) -> npt.NDArray[np.float64]:
    return np.zeros(len(SumParams.of(study.parameters).labels))


def _opens(study: Study) -> tuple[Opened, ...]:
    noisy = SumParams.of(study.parameters).epsilon is not None
    return (Totals("the sum of each column", study.having("receiver"), noisy),)


TASKS = (Task("sum", HELP, declared(SumParams), _fits, _disclosures, _outlook, _load, SumOverRows,
              _blank, pooled, opens=_opens),)
