"""The study task `classify-columns`: new records meet a tree whose questions are spread over sites.

    unspoken joint new study.toml --name care --task classify-columns --set class_site=north
        --set ids=patient ...

Each site joins with a table of its columns of the new records. Its part of the tree, as the task
`tree-columns` gave it, lies beside the table: `north.part.json` beside `north.csv`. With
way=together, the default, nobody learns a path, and receivers learn the classes. way=walking is the
book's: all sites see every record's path, the class site alone learns classes, and no shares are
needed (mode sums). With `ids` rows are aligned first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.errors import explain
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.party import Party
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.classify.program_columns import (
    PREDICTED,
    ClassifyTogether,
    ClassifyWalking,
)
from unspoken.joint.tasks.common.party_files import party_table
from unspoken.joint.tasks.common.study_parameters import (
    RECORD_ORDER,
    check_names,
    count,
    everybody,
    learns,
    text,
)
from unspoken.joint.tasks.task import Plan, Task, notes_of, safe_against
from unspoken.joint.tasks.tree import costs
from unspoken.models.site_tree_part import TreePart

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
        self.inner = _program(study)
        self.disclosures = study.disclosures

    async def __call__(self, party: Party, data: Loaded | None) -> dict[str, Any] | None:
        """Return the classes with the places of the records."""
        found = await self.inner(party, None if data is None else (data.part, data.columns))
        if found is None or data is None:
            return None
        return {"rows": list(range(len(found))), PREDICTED: found.tolist()}


def _program(study: Study) -> ClassifyTogether | ClassifyWalking:
    class_site = text(study.parameters, "class_site")
    if way_of(study.parameters) == "walking":
        return ClassifyWalking(class_site)
    return ClassifyTogether(class_site, study.having("receiver"))


def way_of(parameters: Mapping[str, Any]) -> str:
    """Return how records find their leaf."""
    found = parameters.get("way", WAYS[0])
    if found not in WAYS:
        raise StudyError(explain("Parameter 'way'", "one of " + ", ".join(WAYS), found))
    return str(found)


def check(parameters: Mapping[str, Any]) -> None:
    """Refuse parameters that classify nothing."""
    check_names(parameters, ("class_site", "way", "expected", "depth", *RECORD_ORDER),
                "classify-columns")
    text(parameters, "class_site")
    way_of(parameters)
    count(parameters, "expected", EXPECTED)
    if count(parameters, "depth", DEPTH) > 20:
        raise StudyError(explain("Parameter 'depth'", "at most 20", parameters["depth"]))


def told(study: Study) -> tuple[Disclosure, ...]:
    """Return what a study discloses."""
    return _program(study).disclosures


def plan(study: Study) -> Plan:
    """Say what a study will cost and who learns what."""
    sites, way = study.having("owner"), way_of(study.parameters)
    class_site = text(study.parameters, "class_site")
    if (way == "walking") == study.facts.has_shares:
        raise StudyError(explain("Task 'classify-columns'", "given shares, or way=walking and mode "
                                 "'sums'", f"way={way} and mode '{study.mode}'"))
    for name in (class_site, *everybody(study)):
        if name not in sites:
            raise StudyError(f"Everybody who takes part in task 'classify-columns' must be an "
                             f"owner with a part of the tree. '{name}' is none. Leave it out.")
    rows = count(study.parameters, "expected", EXPECTED)
    depth = count(study.parameters, "depth", DEPTH)
    receivers = len(study.having("receiver")) or len(sites)
    cost = costs.walking(rows, depth, len(sites)) if way == "walking" else costs.together(
        rows, depth, len(sites), receivers)
    notes = (f"cost is for {rows:,} records and a full tree of two answers and depth {depth}",
             "who learns the classes of many records can copy the tree")
    safe = "nobody: paths are shown to all sites" if way == "walking" else safe_against(study)
    return Plan(cost.rounds, cost.bytes, learns(study, told(study)), safe,
                (*notes_of(study), *notes, *study.facts.cost_notes), records=rows)


def load(path: Path, study: Study) -> Loaded:
    """Return a site's part and its columns of the new records."""
    beside = path.with_suffix(".part.json")
    if not beside.exists():
        raise StudyError(explain("A part of the tree", f"beside the table: '{beside.name}'",
                                 "none"))
    rows = party_table(path).arrow()
    columns = {name: np.array(rows[name].to_pylist(), object) for name in rows.column_names}
    return Loaded(TreePart.load(beside), columns)


TASK = Task("classify-columns", check, told, plan, load, PartsStudy, over_columns=True)
