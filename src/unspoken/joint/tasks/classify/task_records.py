"""The study task `classify`: one owner has a model, another the records; the class comes out.

    unspoken joint new study.toml --name scoring --task classify --set model=bank --set asks=shop
        --set target=income --set 'classes=["<=50K", ">50K"]' --set 'columns=["age", "sex"]'
        --set 'range.age=[0, 120]' --set 'categories.sex=["Female", "Male"]' ...

The owner of the model joins with its JSON file, the other with a table. Receivers learn the class
of every record. With `depth` the model is a tree (CategoricalTree), which is filled up to so many
questions of two answers; without it naive Bayes. `expected` (1000) records are for the forecast
alone. An owner who has neither may join with any such file: it does not count.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from unspoken.errors import explain
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.party import Party
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.classify.program_bayes import (
    MOST_RECORDS,
    PREDICTED,
    ClassifyPrivately,
    Sides,
)
from unspoken.joint.tasks.classify.program_tree import (
    MAX_DEPTH,
    ClassifyByTree,
    FullTree,
    full_tree,
)
from unspoken.joint.tasks.common.aligned_records import ROWS
from unspoken.joint.tasks.common.study_parameters import (
    as_study,
    check_names,
    everybody,
    learns,
    read_columns,
    text,
)
from unspoken.joint.tasks.naive_bayes import costs
from unspoken.joint.tasks.naive_bayes.params import Given
from unspoken.joint.tasks.naive_bayes.read_params import KINDS, layout_of
from unspoken.joint.tasks.naive_bayes.score_tables import Table, table_of
from unspoken.joint.tasks.task import Plan, Task, notes_of, safe_against
from unspoken.models.categorical_tree import CategoricalTree
from unspoken.models.mixed_bayes import MixedBayes

EXPECTED = 1000


class ClassifyStudy:
    """The program of a study."""

    def __init__(self, study: Study) -> None:
        layout = layout_of(study.parameters)
        sides = sides_of(study.parameters, study.having("receiver"))
        depth = study.parameters.get("depth")
        self.inner: ClassifyPrivately | ClassifyByTree = ClassifyPrivately(layout, sides) \
            if depth is None else ClassifyByTree(layout, sides, depth)
        self.disclosures = study.disclosures

    async def __call__(self, party: Party, data: Any) -> dict[str, Any] | None:
        """Return the classes as a list."""
        found = await self.inner(party, data)
        return None if found is None else {PREDICTED: found.tolist()}


def sides_of(parameters: Mapping[str, Any], receivers: tuple[str, ...] = ()) -> Sides:
    """Return who has what."""
    return as_study(lambda: Sides(text(parameters, "model"), text(parameters, "asks"), receivers))


def check(parameters: Mapping[str, Any]) -> None:
    """Refuse parameters that classify nothing."""
    check_names(parameters, ("target", "classes", "columns", "model", "asks", "expected", "depth"),
                "classify", KINDS)
    layout_of(parameters)
    sides_of(parameters)
    for name, default, most in (("expected", EXPECTED, MOST_RECORDS), ("depth", 1, MAX_DEPTH)):
        found = parameters.get(name, default)
        if not isinstance(found, int) or isinstance(found, bool) or not 1 <= found <= most:
            raise StudyError(explain(f"Parameter '{name}'", f"an int from 1 to {most}", found))


def told(study: Study) -> tuple[Disclosure, ...]:
    """Return what a study discloses."""
    return Disclosure(PREDICTED, study.having("receiver")), Disclosure(ROWS)


def plan(study: Study) -> Plan:
    """Say what a study will cost and who learns what."""
    layout, sides = layout_of(study.parameters), sides_of(study.parameters)
    if not study.facts.has_shares or not {sides.model, sides.records} <= set(study.having("owner")):
        raise StudyError(explain("Task 'classify'", "given shares, and model and records with two "
                                 "of the owners", f"mode '{study.mode}', '{sides.model}' and "
                                 f"'{sides.records}'"))
    rows = int(study.parameters.get("expected", EXPECTED))
    receivers = len(study.having("receiver")) or len(everybody(study))
    depth, cells, numbers = study.parameters.get("depth"), sum(layout.sizes), len(layout.numeric)
    cost = costs.classifying(rows, cells, numbers, len(layout.classes), receivers) \
        if depth is None else costs.by_tree(rows, cells + numbers, int(depth), receivers)
    notes = (*notes_of(study), f"cost is for {rows:,} records",
             "nothing counts the records that are asked for: classes of many give the model away")
    return Plan(cost.rounds, cost.bytes, learns(study, told(study)), safe_against(study),
                (*notes, *study.facts.cost_notes))


def load(path: Path, study: Study) -> Table | FullTree | Given:
    """Return a model from a JSON file, records from any other."""
    layout, depth = layout_of(study.parameters), study.parameters.get("depth")
    if path.suffix.lower() == ".json" and depth is not None:
        return full_tree(CategoricalTree.load(path), layout, int(depth))
    if path.suffix.lower() == ".json":
        return table_of(MixedBayes.load(path), layout)
    columns = read_columns(path, [column.name for column in layout.columns])
    return layout.records(columns)


TASK = Task("classify", check, told, plan, load, ClassifyStudy)
