"""The study task `regression-columns`: least squares or ridge over columns of several owners.

    tacit joint new study.toml --name care --task regression-columns --set response=cost
        --set held=north --set 'columns=["north:age", "south:stay"]' --set ids=patient ...

`held` says who has the response: an owner, "all", or "split" (a sum of parts of every owner). With
`ids` records are aligned first (`least` of them in common or more); without it all files must hold
the same records in the same order. Also: products (["age*stay"]), ridge, condition (2^20),
inference (false opens coefficients alone), select (forward, backward, stepwise, best) by criterion
(bic, aic, adjusted or cp) with terms to keep, and smaller models to test against (["age+stay"]).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tacit.errors import explain
from tacit.joint.errors import StudyError
from tacit.joint.protocols.common_ids import id_column
from tacit.joint.protocols.parameters import (
    aligning,
    as_study,
    check_names,
    owners_of,
    planned,
    read_numbers,
    text,
)
from tacit.joint.protocols.regression.columns import Columns, Given
from tacit.joint.protocols.regression.horizontal_task import selecting_notes
from tacit.joint.protocols.regression.parameters import (
    FITTING,
    SELECTING,
    fitting_cost,
    products_of,
    receivers_of,
    rules_of,
    selection_of,
)
from tacit.joint.protocols.regression.vertical import VerticalRegression, disclosures
from tacit.joint.study import Disclosure, Study
from tacit.joint.tasks import Plan, Task

KNOWN = (*FITTING, *SELECTING, "held", "ids", "least")


class ColumnsStudy(VerticalRegression):
    """The program of a study."""

    def __init__(self, study: Study) -> None:
        super().__init__(columns_of(study.parameters),
                         rules_of(study.parameters, receivers_of(study)),
                         selection_of(study.parameters), aligning(study.parameters))
        self.disclosures = study.disclosures


def columns_of(parameters: Mapping[str, Any]) -> Columns:
    """Return which owner has which columns."""
    owners, held = owners_of(parameters), text(parameters, "held")
    if held not in (*owners, "all", "split"):
        owners[held] = ()
    return as_study(lambda: Columns(owners, text(parameters, "response"), held,
                                    products_of(parameters)))


def check(parameters: Mapping[str, Any]) -> None:
    """Refuse parameters that make no regression."""
    check_names(parameters, KNOWN, "regression-columns")
    as_study(lambda: VerticalRegression(columns_of(parameters), rules_of(parameters),
                                        selection_of(parameters), aligning(parameters)))


def told(study: Study) -> tuple[Disclosure, ...]:
    """Return what a study discloses."""
    return disclosures(columns_of(study.parameters),
                       rules_of(study.parameters, receivers_of(study)),
                       selection_of(study.parameters), aligning(study.parameters))


def plan(study: Study) -> Plan:
    """Say what a study will cost and who learns what."""
    columns, rules = columns_of(study.parameters), rules_of(study.parameters)
    if set(columns.owners) != set(study.having("owner")):
        raise StudyError(explain("The owners of columns", "the owners of the study: "
                                 + ", ".join(study.having("owner")), ", ".join(columns.owners)))
    fits = 1 + len(rules.smaller) + ("select" in study.parameters)
    rounds, size = fitting_cost(len(columns.terms.features), rules.condition, len(columns.owners))
    note = ("and 32 bytes for each value and each other owner whose columns it meets, and 5 rounds "
            "for each 8192 records; without aligning")
    return planned(study, told(study), (rounds * fits + 20, size * fits),
                   (note, *selecting_notes(study)))


def load(path: Path, study: Study) -> Given:
    """Return an owner's columns and its ids; whose the file is shows in its columns."""
    columns = columns_of(study.parameters)
    owner = _owner(path, columns)
    ids = id_column(path, text(study.parameters, "ids")) if "ids" in study.parameters else None
    return Given(read_numbers(path, columns.needed(owner)), ids)


def _owner(path: Path, columns: Columns) -> str:
    """Return the owner whose columns a file has."""
    from tacit.core.read import read

    names = set(read(path, show=False).schema.names)
    fits = [owner for owner in columns.owners if set(columns.needed(owner)) <= names]
    if len(fits) == 1:
        return fits[0]
    wanted = "; ".join(f"{owner}: {', '.join(columns.needed(owner))}" for owner in columns.owners)
    raise StudyError(explain("The columns of this owner's file", f"those of one owner ({wanted})",
                             ", ".join(sorted(names)), "An attribute has one owner."))


TASK = Task("regression-columns", check, told, plan, load, ColumnsStudy)
