"""The study task `outliers`: outliers over the rows of several owners.

    unspoken joint new study.toml --name fraud --task outliers --set p=0.95 --set distance=3.0
        --set 'columns=["amount", "visits"]' ...

Receivers learn all outliers; if there is none, each owner learns its own. With `third` and
`accept` a party without data compares distances, sees them all, and can find the points
(vcz2006 section 7.3.7). `parameters` lists the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from unspoken.arrays import Floats
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.museum.outliers_third_party import ThirdPartyOutliers
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.common.column_files import read_matrix, with_shares
from unspoken.joint.tasks.common.study_parameters import (
    as_study,
    check_names,
    names_of,
    planned,
    text,
)
from unspoken.joint.tasks.outliers.program_rows import OutliersOverRows
from unspoken.joint.tasks.outliers.read_params import (
    GUESS,
    GUESSED,
    RULES,
    rows_cost,
    rules_of,
)
from unspoken.joint.tasks.task import Plan, Task

SEEN = "the third party can find all points up to a motion: see attack.distances"


def program_of(parameters: Mapping[str, Any], owners: Sequence[str],
               receivers: Sequence[str] = ()) -> OutliersOverRows:
    """Return the program that parameters describe."""
    rules, columns = rules_of(parameters), len(names_of(parameters))
    if "third" not in parameters:
        return OutliersOverRows(rules, columns, owners, receivers)
    return ThirdPartyOutliers(rules, columns, owners, text(parameters, "third"), receivers,
                              accept=str(parameters.get("accept", "")))


class RowsStudy:
    """The program of a study."""

    def __init__(self, study: Study) -> None:
        self.program = program_of(study.parameters, study.having("owner"),
                                  study.having("receiver"))
        self.disclosures = study.disclosures

    async def __call__(self, party: Any, data: Any) -> Any:
        """Run the program."""
        return await self.program(party, data)


def check(parameters: Mapping[str, Any]) -> None:
    """Refuse parameters that make no outliers."""
    check_names(parameters, ("columns", "third", "accept", *RULES), "outliers")
    as_study(lambda: program_of(parameters, ()))


def told(study: Study) -> tuple[Disclosure, ...]:
    """Return what a study discloses."""
    made = as_study(lambda: program_of(study.parameters, study.having("owner"),
                                       study.having("receiver")))
    return made.disclosures


def plan(study: Study) -> Plan:
    """Say what a study will cost and who learns what."""
    with_shares(study)
    third = study.parameters.get("third")
    if third is not None and (third not in study.names or third in study.having("holder")
                              or third == study.dealer):
        raise StudyError(f"The third party must be a party of the study that holds no shares and "
                         f"does not deal. '{third}' is not.")
    cost = rows_cost(rules_of(study.parameters), GUESS, len(names_of(study.parameters)),
                           len(study.having("owner")), third is None)
    more = (GUESSED, rules_of(study.parameters).words())
    return planned(study, told(study), (cost.rounds, cost.bytes),
                   more if third is None else (*more, SEEN))


def load(path: Path, study: Study) -> Floats:
    """Return an owner's objects."""
    return read_matrix(path, names_of(study.parameters))


TASK = Task("outliers", check, told, plan, load, RowsStudy)
