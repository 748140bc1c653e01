"""The study task `summary`: what describes columns of numbers over the rows of all owners."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from unspoken.arrays import Ints
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.result_control.opened_forms import FineNumbers, Opened, Totals
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.column_summary.params import NUMBERS, SummaryParams
from unspoken.joint.tasks.column_summary.pooled import pooled
from unspoken.joint.tasks.column_summary.program_rows import SUMMARY, SummaryOverRows
from unspoken.joint.tasks.common.column_files import with_shares
from unspoken.joint.tasks.common.study_parameters import outlined, read_own
from unspoken.joint.tasks.task import Outlook, Task
from unspoken.joint.tasks.task_params import declared

HELP = """Known and missing values, mean, variance and deviation of columns over all owners.

    unspoken joint new study.toml --name ages --task summary --columns age,pressure
        --set 'range.age=[0, 120]' --set 'range.pressure=[40, 260]' ...
    unspoken joint prepare north.csv --by result.json --impute mean --scale deviation
        --out prepared.csv

Receivers learn counts and sums, and so mean and variance, never the least or the greatest value:
the agreed range takes their place, with how many values lie beyond it. A column with fewer than
'fewest' known values comes out empty. With 'epsilon' every owner adds a part of noise."""


def _fits(parameters: Mapping[str, Any]) -> None:
    SummaryParams.of(parameters)


def _disclosures(study: Study) -> tuple[Disclosure, ...]:
    return (Disclosure(SUMMARY, study.having("receiver")),)


def _outlook(study: Study) -> Outlook:
    with_shares(study)
    return outlined(study, _disclosures(study), _notes(study))


def _notes(study: Study) -> tuple[str, ...]:
    params, owners = SummaryParams.of(study.parameters), len(study.having("owner"))
    if params.epsilon is not None:
        return params.parted.notes(params.deviations(owners))
    return (f"sums are exact to {owners} roundings to 2^-{params.bits(owners)} of half a range",
            *([f"a column with fewer than {params.least} known values comes out empty"]
              if params.least else []))


def _load(path: Path, study: Study) -> Ints:
    """Return this owner's counts and sums (numbers, columns)."""
    params, owners = SummaryParams.of(study.parameters), len(study.having("owner"))
    rows = read_own(path, params.columns).numbers(params.columns)
    if len(rows) > params.most:
        raise StudyError(f"An owner has at most {params.most:,} records, as the study says. This "
                         "one has more. Propose the study with a larger 'most'.")
    return np.stack([params.numbers(name, values, owners)
                     for name, values in zip(params.columns, rows.T, strict=True)], axis=1)


def _blank(study: Study, name: str, records: int) -> Ints:
    return np.zeros((NUMBERS, len(SummaryParams.of(study.parameters).columns)), np.int64)


def _opens(study: Study) -> tuple[Opened, ...]:
    noisy, to = SummaryParams.of(study.parameters).epsilon is not None, study.having("receiver")
    totals = Totals("the counts, the mean and the variance of each column", to, noisy)
    return (totals,) if noisy else (totals, FineNumbers("values of records", to))


TASKS = (Task("summary", HELP, declared(SummaryParams), _fits, _disclosures, _outlook, _load,
              SummaryOverRows, _blank, pooled, opens=_opens),)
