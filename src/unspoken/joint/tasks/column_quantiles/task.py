"""The study task `quantiles`: medians, quartiles and limits of columns over all owners' rows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.result_control.opened_forms import Decisions, Opened
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.column_quantiles.params import QuantileParams
from unspoken.joint.tasks.column_quantiles.pooled import pooled
from unspoken.joint.tasks.column_quantiles.program_rows import (
    QUANTILES,
    THIN,
    QuantilesOverRows,
)
from unspoken.joint.tasks.common.blank_data import part_of, scattered
from unspoken.joint.tasks.common.column_files import with_shares
from unspoken.joint.tasks.common.study_parameters import not_chosen, outlined, read_numbers
from unspoken.joint.tasks.task import Outlook, Task
from unspoken.joint.tasks.task_params import declared

HELP = """Quantiles of columns over all owners, exact to a stated width.

    unspoken joint new study.toml --name ages --task quantiles --columns age
        --set 'range.age=[0, 128]' --set 'at=[0.01, 0.25, 0.5, 0.75, 0.99]' --set bits=7 ...
    unspoken joint prepare north.csv --by result.json --limit quantiles --impute median
        --out prepared.csv

Everybody learns the quantiles, each as the first of 2^bits + 1 even points of the range with at
least that share of all known values at or below it. A quantile with fewer than 'fewest' known
values on one of its sides is left out. The least and the greatest value are nobody's business: ask
for 0.01 and 0.99."""


def _fits(parameters: Mapping[str, Any]) -> None:
    QuantileParams.of(parameters)


def _disclosures(study: Study) -> tuple[Disclosure, ...]:
    return Disclosure(THIN), Disclosure(QUANTILES)


def _outlook(study: Study) -> Outlook:
    with_shares(study)
    not_chosen(study)
    params = QuantileParams.of(study.parameters)
    steps = ", ".join(f"{(high - low) / 2**params.bits:.4g} ({name})"
                      for name, (low, high) in params.ranges.items())
    return outlined(study, _disclosures(study), [f"quantiles are exact to a step of {steps}"])


def _load(path: Path, study: Study) -> dict[str, Floats]:
    """Return this owner's known values of every column."""
    columns = read_numbers(path, QuantileParams.of(study.parameters).columns)
    return {name: values[~np.isnan(values)] for name, values in columns.items()}


def _blank(study: Study, name: str, records: int) -> dict[str, Floats]:
    params, count = QuantileParams.of(study.parameters), part_of(records, study)
    return {column: scattered(count, place, *params.ranges[column])
            for place, column in enumerate(params.columns)}


def _opens(study: Study) -> tuple[Opened, ...]:
    return (Decisions("the number of values at or below a quantile"),
            Decisions("values of records", "where a quantile lies just above one"))


TASKS = (Task("quantiles", HELP, declared(QuantileParams), _fits, _disclosures, _outlook, _load,
              QuantilesOverRows, _blank, pooled, opens=_opens),)
