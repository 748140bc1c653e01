"""Reading an owner's file in a study whose columns are spread: whose it is shows in its columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from unspoken.arrays import Floats
from unspoken.errors import explain
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.common.party_files import party_table
from unspoken.joint.tasks.common.study_parameters import read_numbers


def read_matrix(path: Path, names: Sequence[str]) -> Floats:
    """Return numeric columns as one array (records, columns)."""
    columns = read_numbers(path, names)
    return np.column_stack([columns[name] for name in names])


def owner_of(path: Path, owners: Mapping[str, Sequence[str]]) -> str:
    """Return the owner whose columns a file has."""
    names = set(party_table(path).schema.names)
    fits = [owner for owner, columns in owners.items() if set(columns) <= names]
    if len(fits) != 1:
        wanted = "; ".join(f"{owner}: {', '.join(c)}" for owner, c in owners.items())
        raise StudyError(explain("The columns of this owner's file",
                                 f"those of one owner ({wanted})", ", ".join(sorted(names))))
    return fits[0]


def check_owners(owners: Mapping[str, Sequence[str]], study: Study) -> None:
    """Refuse columns of parties that own no data, and owners without columns."""
    if set(owners) != set(study.having("owner")):
        raise StudyError(explain("The owners of columns", "the owners of the study: "
                                 + ", ".join(study.having("owner")), ", ".join(owners)))


def with_shares(study: Study) -> None:
    """Refuse the mode that has none."""
    if not study.facts.has_shares:
        raise StudyError(f"Task '{study.task}' needs shares. Mode 'sums' has none. Use dealer, "
                         "two-party, three-party or spu.")
