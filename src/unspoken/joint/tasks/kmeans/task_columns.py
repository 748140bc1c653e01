"""The study task `kmeans-columns`: k-means over the columns of several owners.

    unspoken joint new study.toml --name care --task kmeans-columns --set k=4
        --set 'columns=["north:age", "south:stay"]' --set ids=patient ...

With `ids` records are aligned first; with same_order=true all files list them in one order.
Receivers learn the assignments, each owner its part of the centres. `parameters` lists the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from unspoken.joint.joint_errors import StudyError
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
from unspoken.joint.tasks.kmeans import costs
from unspoken.joint.tasks.kmeans.program_columns import KMeansOverColumns, KMeansSite, disclosures
from unspoken.joint.tasks.kmeans.read_params import GUESS, GUESSED, RULES, rules_of
from unspoken.joint.tasks.task import Plan, Task


def ways(parameters: Mapping[str, Any]) -> tuple[str, str]:
    """Return how assignments are kept, and how the nearest centre is found."""
    return str(parameters.get("way", "hidden")), str(parameters.get("closest", "shares"))


class ColumnsStudy(KMeansOverColumns):
    """The program of a study."""

    def __init__(self, study: Study) -> None:
        owners = owners_of(study.parameters)
        super().__init__(rules_of(study.parameters), {n: len(c) for n, c in owners.items()},
                         study.having("holder"), *ways(study.parameters),
                         study.having("receiver"))
        self.disclosures = study.disclosures


def check(parameters: Mapping[str, Any]) -> None:
    """Refuse parameters that make no clustering."""
    check_names(parameters, ("columns", "way", "closest", *RULES, *RECORD_ORDER), "kmeans-columns")
    widths = {name: len(columns) for name, columns in owners_of(parameters).items()}
    as_study(lambda: KMeansOverColumns(rules_of(parameters), widths, (), *ways(parameters)))


def told(study: Study) -> tuple[Disclosure, ...]:
    """Return what a study discloses."""
    return disclosures(study.having("owner"), study.having("holder"), rules_of(study.parameters),
                       *ways(study.parameters), study.having("receiver"))


def plan(study: Study) -> Plan:
    """Say what a study will cost and who learns what."""
    with_shares(study)
    owners, rules = owners_of(study.parameters), rules_of(study.parameters)
    check_owners(owners, study)
    way, nearest = ways(study.parameters)
    if nearest == "permuted" and set(study.having("owner")) <= set(study.having("holder")):
        raise StudyError("Permuted comparisons need a party that holds no share and draws the "
                         "orders. All owners hold shares. Use closest=shares.")
    count = costs.hidden if way == "hidden" else costs.known
    cost = count(rules, GUESS, sum(map(len, owners.values())), len(owners))
    found = planned(study, told(study), (cost.rounds, cost.bytes), (GUESSED,))
    return replace(found, records=GUESS)


def load(path: Path, study: Study) -> KMeansSite:
    """Return an owner's columns."""
    owners = owners_of(study.parameters)
    names = owners[owner_of(path, owners)]
    return KMeansSite(read_matrix(path, names), names)


TASK = Task("kmeans-columns", check, told, plan, load, ColumnsStudy, over_columns=True)
