"""The study task `outliers-columns`: outliers over the columns of several owners.

    unspoken joint new study.toml --name fraud --task outliers-columns --set p=0.95
        --set distance=3.0 --set 'columns=["bank:amount", "shop:visits"]'
        --set ids=customer ...

With `ids` objects are aligned first; with same_order=true all files list them in one order.
Receivers learn which objects are outliers. `parameters` lists the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from unspoken.arrays import Floats
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.common.column_files import (
    check_owners,
    owner_of,
    read_matrix,
    with_shares,
)
from unspoken.joint.tasks.common.study_parameters import (
    RECORD_ORDER,
    as_study,
    check_names,
    owners_of,
    planned,
)
from unspoken.joint.tasks.outliers.program_columns import OutliersOverColumns, disclosures
from unspoken.joint.tasks.outliers.read_params import (
    GUESS,
    GUESSED,
    RULES,
    columns_cost,
    rules_of,
)
from unspoken.joint.tasks.task import Plan, Task


def widths_of(parameters: Mapping[str, Any]) -> dict[str, int]:
    """Return how many columns each owner has."""
    return {name: len(columns) for name, columns in owners_of(parameters).items()}


class ColumnsStudy(OutliersOverColumns):
    """The program of a study."""

    def __init__(self, study: Study) -> None:
        super().__init__(rules_of(study.parameters), widths_of(study.parameters),
                         study.having("receiver"))
        self.disclosures = study.disclosures


def check(parameters: Mapping[str, Any]) -> None:
    """Refuse parameters that make no outliers."""
    check_names(parameters, ("columns", *RULES, *RECORD_ORDER), "outliers-columns")
    as_study(lambda: OutliersOverColumns(rules_of(parameters), widths_of(parameters)))


def told(study: Study) -> tuple[Disclosure, ...]:
    """Return what a study discloses."""
    return disclosures(study.having("receiver"))


def plan(study: Study) -> Plan:
    """Say what a study will cost and who learns what."""
    with_shares(study)
    check_owners(owners_of(study.parameters), study)
    widths = widths_of(study.parameters)
    cost = columns_cost(rules_of(study.parameters), GUESS, sum(widths.values()), len(widths),
                         len(study.having("receiver")) or len(study.names))
    found = planned(study, told(study), (cost.rounds, cost.bytes),
                    (GUESSED, rules_of(study.parameters).words()))
    return replace(found, records=GUESS)


def load(path: Path, study: Study) -> Floats:
    """Return an owner's columns."""
    owners = owners_of(study.parameters)
    return read_matrix(path, owners[owner_of(path, owners)])


TASK = Task("outliers-columns", check, told, plan, load, ColumnsStudy, over_columns=True)
