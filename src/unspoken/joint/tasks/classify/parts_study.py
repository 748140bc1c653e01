"""New records meet a tree whose questions are spread over sites: the program of a study."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.errors import explain
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.party import Party
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.classify.program_columns import (
    PREDICTED,
    ClassifyTogether,
    ClassifyWalking,
)
from unspoken.joint.tasks.common.blank_data import scattered
from unspoken.joint.tasks.common.party_files import party_table
from unspoken.joint.tasks.common.study_parameters import count, text
from unspoken.models.site_tree_part import Asked, TreePart

WAYS = ("together", "walking")
EXPECTED, DEPTH = 1000, 4


@dataclass(frozen=True)
class Loaded:
    """A site's part of the tree, and its columns of the new records."""

    part: TreePart
    columns: Mapping[str, npt.NDArray[Any]]

    def take_rows(self, places: npt.NDArray[np.int64]) -> Loaded:
        """Return part and columns of some records."""
        return Loaded(self.part, {name: values[places] for name, values in self.columns.items()})


class PartsStudy:
    """The program of a study."""

    def __init__(self, study: Study) -> None:
        self.inner = parts_program(study)
        self.disclosures = study.disclosures

    async def __call__(self, party: Party, data: Loaded | None) -> dict[str, Any] | None:
        """Return the classes with the places of the records."""
        classes = await self.inner(party, None if data is None else (data.part, data.columns))
        if classes is None or data is None:
            return None
        return {"rows": list(range(len(classes))), PREDICTED: classes.tolist()}


def parts_program(study: Study) -> ClassifyTogether | ClassifyWalking:
    """Return the program of a study, as its records go together or walk."""
    class_site = text(study.parameters, "class_site")
    if way_of(study.parameters) == "walking":
        return ClassifyWalking(class_site)
    return ClassifyTogether(class_site, study.having("receiver"))


def way_of(parameters: Mapping[str, Any]) -> str:
    """Return how records find their leaf."""
    way = parameters.get("way", WAYS[0])
    if way not in WAYS:
        raise StudyError(explain("Parameter 'way'", "one of " + ", ".join(WAYS), way))
    return str(way)


def load_part(path: Path, study: Study) -> Loaded:
    """Return a site's part and its columns of the new records."""
    beside = path.with_suffix(".part.json")
    if not beside.exists():
        raise StudyError(explain("A part of the tree", f"beside the table: '{beside.name}'",
                                 "none"))
    rows = party_table(path).arrow()
    columns = {name: np.array(rows[name].to_pylist(), object) for name in rows.column_names}
    return Loaded(TreePart.load(beside), columns)


def blank_part(study: Study, name: str, records: int) -> Loaded:
    """Return a site's part of a full tree of two answers, whose levels sites ask in turn."""
    depth, sites = count(study.parameters, "depth", DEPTH), study.having("owner")
    levels = np.repeat(np.arange(depth + 1), 2 ** np.arange(depth + 1))
    inner, nodes = levels < depth, np.arange(levels.size)
    owner = np.where(inner, levels % len(sites), -1)
    knows = name == text(study.parameters, "class_site")
    part = TreePart(name, sites, ("no", "yes"), owner, np.where(inner, 2 * nodes + 1, -1),
                    np.where(inner, 2, 0), np.where(inner | (not knows), -1, nodes % 2),
                    {int(n): Asked("blank") for n in nodes[owner == sites.index(name)]})
    return Loaded(part, {"blank": scattered(records)})
