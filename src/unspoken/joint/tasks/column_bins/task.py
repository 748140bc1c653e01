"""The study task `bins`: columns in bins over all owners' rows, and weights of evidence."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from unspoken.arrays import Ints
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.result_control.opened_forms import Decisions, Opened, Totals
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.column_bins.evidence_weights import OwnRows, category_of
from unspoken.joint.tasks.column_bins.params import BinParams
from unspoken.joint.tasks.column_bins.pooled import pooled
from unspoken.joint.tasks.column_bins.program_rows import COUNTS, EDGES, THIN, BinsOverRows
from unspoken.joint.tasks.common.blank_data import choices, part_of, scattered
from unspoken.joint.tasks.common.column_files import with_shares
from unspoken.joint.tasks.common.study_parameters import outlined, read_columns, read_numbers
from unspoken.joint.tasks.common.unlabelled_rows import codes_of
from unspoken.joint.tasks.task import Outlook, Task
from unspoken.joint.tasks.task_params import declared

HELP = """Counts of columns by bins over all owners, with weights of evidence of a class of two.

    unspoken joint new study.toml --name scores --task bins --columns age,town
        --set target=default --set 'classes=["no", "yes"]' --set 'range.age=[0, 128]' --set bins=5
        --set 'categories.town=["north", "south"]' ...
    unspoken joint prepare north.csv --by result.json --bin weights --out prepared.csv

Each column has agreed edges (cuts), categories, or a range within which quantiles of all owners'
values are found, which everybody learns. Receivers learn how many values each bin has, by class;
missing values have a bin of their own, and rows without a class are left out. A bin with fewer than
'fewest' values comes out empty. With 'epsilon' every owner adds a part of noise to the counts."""


def _fits(parameters: Mapping[str, Any]) -> None:
    BinParams.of(parameters)


def _disclosures(study: Study) -> tuple[Disclosure, ...]:
    searched = [Disclosure(THIN), Disclosure(EDGES)]
    return (*(searched if BinParams.of(study.parameters).ranges else []),
            Disclosure(COUNTS, study.having("receiver")))


def _outlook(study: Study) -> Outlook:
    with_shares(study)
    return outlined(study, _disclosures(study), _notes(study))


def _notes(study: Study) -> tuple[str, ...]:
    params, owners = BinParams.of(study.parameters), len(study.having("owner"))
    if params.epsilon is not None:
        return params.parted.notes({name: scale * math.sqrt(owners)
                                    for name, scale in params.parts(owners).items()})
    return (f"a bin with fewer than {params.least} values comes out empty, and the smallest other "
            "one where it would follow from the number of all records",) if params.least else ()


def _load(path: Path, study: Study) -> OwnRows:
    """Return this owner's columns and classes; rows without a class are left out."""
    params = BinParams.of(study.parameters)
    texts = [name for name in params.columns if name in params.categories]
    columns: dict[str, Any] = read_columns(path, texts) if texts else {}
    numbers = [name for name in params.columns if name not in params.categories]
    columns |= read_numbers(path, numbers) if numbers else {}
    for name in texts:
        category_of(name, columns[name], params.categories[name])
    if not params.target:
        return OwnRows(columns, np.zeros(len(columns[params.columns[0]]), np.int64))
    return _with_class(columns, codes_of(read_columns(path, [params.target])[params.target],
                                         params.classes, params.target))


def _with_class(columns: Mapping[str, Any], labels: Ints) -> OwnRows:
    there = labels >= 0
    return OwnRows({name: values[there] for name, values in columns.items()}, labels[there])


def _blank(study: Study, name: str, records: int) -> OwnRows:
    params, count = BinParams.of(study.parameters), part_of(records, study)
    columns = {column: choices(count, params.categories[column], place)
               if column in params.categories
               else scattered(count, place, *params.ranges.get(column, (-1.0, 1.0)))
               for place, column in enumerate(params.columns)}
    return OwnRows(columns, np.arange(count) % params.kinds)


def _opens(study: Study) -> tuple[Opened, ...]:
    params = BinParams.of(study.parameters)
    counts = Totals("the counts of each bin", study.having("receiver"), params.epsilon is not None)
    edges = Decisions("values of records", "where an edge lies just above one")
    return (counts, edges) if params.ranges else (counts,)


TASKS = (Task("bins", HELP, declared(BinParams), _fits, _disclosures, _outlook, _load,
              BinsOverRows, _blank, pooled, opens=_opens),)
