"""New records meet trees whose questions are spread over sites: the program of a study."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.errors import explain
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.party import Party
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.classify.params import ClassifySettings
from unspoken.joint.tasks.classify.program_boosted import ClassifyBoosted
from unspoken.joint.tasks.classify.program_columns import (
    PREDICTED,
    ClassifyTogether,
    ClassifyWalking,
)
from unspoken.joint.tasks.common.blank_data import scattered
from unspoken.joint.tasks.common.party_files import party_table
from unspoken.models.boosted_part import BoostedPart
from unspoken.models.load_model import load_model
from unspoken.models.site_tree_part import Asked, TreePart
from unspoken.table.formats.data_urls import DataUrl, Place


@dataclass(frozen=True)
class Loaded:
    """A site's part of the tree or trees, and its columns of the new records."""

    part: TreePart | BoostedPart
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
        classes = await self._classes(party, data)
        if classes is None or data is None:
            return None
        return {"rows": list(range(len(classes))), PREDICTED: classes.tolist()}

    async def _classes(self, party: Party, data: Loaded | None) -> npt.NDArray[Any] | None:
        """Return the classes by one tree, or by boosted trees if that is what the parts are of."""
        if data is None:
            return await self.inner(party, None)
        if isinstance(data.part, TreePart):
            return await self.inner(party, (data.part, data.columns))
        if isinstance(self.inner, ClassifyWalking):
            raise StudyError("Records walk through one tree. These parts are of boosted trees. "
                             "Use way=together.")
        boosted = ClassifyBoosted(self.inner.class_site, self.inner.receivers)
        return await boosted(party, (data.part, data.columns))


def parts_program(study: Study) -> ClassifyTogether | ClassifyWalking:
    """Return the program of a study, as its records go together or walk."""
    settings = ClassifySettings.of(study.parameters)
    if settings.way == "walking":
        return ClassifyWalking(settings.class_site)
    return ClassifyTogether(settings.class_site, study.having("receiver"))


def load_part(path: Place, study: Study) -> Loaded:
    """Return a site's part and its columns of the new records."""
    if isinstance(path, DataUrl):
        raise StudyError("The part of the tree lies beside the table, as 'NAME.part.json'. An "
                         "address of a database or another system has no such place. Copy the "
                         "table into a file.")
    beside = path.with_suffix(".part.json")
    if not beside.exists():
        raise StudyError(explain("A part of the tree", f"beside the table: '{beside.name}'",
                                 "none"))
    rows = party_table(path).arrow()
    columns = {name: np.array(rows[name].to_pylist(), object) for name in rows.column_names}
    part = load_model(beside)
    if not isinstance(part, TreePart | BoostedPart):
        raise StudyError(explain(f"'{beside.name}'", "a part of a tree or of boosted trees",
                                 part.kind))
    return Loaded(part, columns)


def blank_part(study: Study, name: str, records: int) -> Loaded:
    """Return a site's part of full trees of two answers, whose levels sites ask in turn."""
    settings, columns = ClassifySettings.of(study.parameters), {"blank": scattered(records)}
    tree = _blank_tree(study, name)
    if not settings.trees:
        return Loaded(tree, columns)
    knows = name == settings.class_site
    numbers = (np.zeros(tree.leaves),) * settings.trees if knows else ()
    return Loaded(BoostedPart((tree,) * settings.trees, numbers), columns)


def _blank_tree(study: Study, name: str) -> TreePart:
    """Return a site's part of one full tree."""
    settings, sites = ClassifySettings.of(study.parameters), study.having("owner")
    depth = settings.part_depth
    levels = np.repeat(np.arange(depth + 1), 2 ** np.arange(depth + 1))
    inner, nodes = levels < depth, np.arange(levels.size)
    owner = np.where(inner, levels % len(sites), -1)
    knows = name == settings.class_site
    return TreePart(name, sites, ("no", "yes"), owner, np.where(inner, 2 * nodes + 1, -1),
                    np.where(inner, 2, 0), np.where(inner | (not knows), -1, nodes % 2),
                    {int(n): Asked("blank") for n in nodes[owner == sites.index(name)]})
