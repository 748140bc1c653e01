"""The study task `kmeans`: k-means over the rows of several owners.

    unspoken joint new study.toml --name care --task kmeans --set k=4
        --set 'columns=["age", "stay"]' ...

Receivers learn the centres. `parameters` lists the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from unspoken.arrays import Floats
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.common.column_files import read_matrix, with_shares
from unspoken.joint.tasks.common.study_parameters import (
    as_study,
    check_names,
    names_of,
    planned,
)
from unspoken.joint.tasks.kmeans import costs
from unspoken.joint.tasks.kmeans.program_rows import KMeansOverRows, disclosures
from unspoken.joint.tasks.kmeans.read_params import GUESS, GUESSED, RULES, rules_of
from unspoken.joint.tasks.task import UNVETTED, Plan, Task

EXPOSED = "one record that moves between two rounds is the difference of what is opened"


def way_of(parameters: Mapping[str, Any]) -> str:
    """Return whether sums are opened on the way."""
    return str(parameters.get("way", "hidden"))


class RowsStudy(KMeansOverRows):
    """The program of a study."""

    def __init__(self, study: Study) -> None:
        super().__init__(rules_of(study.parameters), names_of(study.parameters),
                         study.having("owner"), way_of(study.parameters),
                         study.having("receiver"))
        self.disclosures = study.disclosures


def check(parameters: Mapping[str, Any]) -> None:
    """Refuse parameters that make no clustering."""
    check_names(parameters, ("columns", "way", *RULES), "kmeans")
    as_study(lambda: KMeansOverRows(rules_of(parameters), names_of(parameters),
                                      ("one", "two", "three"), way_of(parameters)))


def told(study: Study) -> tuple[Disclosure, ...]:
    """Return what a study discloses."""
    return disclosures(rules_of(study.parameters), study.having("owner"),
                       way_of(study.parameters), study.having("receiver"))


def plan(study: Study) -> Plan:
    """Say what a study will cost and who learns what."""
    rules, columns = rules_of(study.parameters), len(names_of(study.parameters))
    owners = len(study.having("owner"))
    if way_of(study.parameters) == "hidden":
        with_shares(study)
        cost = costs.hidden(rules, GUESS, columns, owners)
        return planned(study, told(study), (cost.rounds, cost.bytes), (GUESSED,))
    if owners < 3 or study.mode != "sums" or len(study.names) != owners:
        raise StudyError("Way 'revealed' needs mode 'sums' and three owners or more, and nobody "
                         f"else. Got mode '{study.mode}' and {owners} owners.")
    cost = costs.revealed(rules, columns, owners)
    learns = {name: [d.because for d in told(study)] for name in study.names}
    return Plan(cost.rounds, cost.bytes, learns, "nobody, once one record moves between two "
                "rounds; otherwise two owners less than all", (UNVETTED, EXPOSED))


def load(path: Path, study: Study) -> Floats:
    """Return an owner's records."""
    return read_matrix(path, names_of(study.parameters))


TASK = Task("kmeans", check, told, plan, load, RowsStudy)
