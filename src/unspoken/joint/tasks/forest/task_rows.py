"""The study task `forest`: a random forest over the rows of several owners.

Parameters of task `tree`, and: trees (10), attributes_at_a_node (the root of their number unless
said otherwise), seed (0, public: which attributes count where).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unspoken.errors import InputError
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.forest.program_rows import ForestOverRows
from unspoken.joint.tasks.task import Plan, Task
from unspoken.joint.tasks.tree.read_params import layout_of, rules_of
from unspoken.joint.tasks.tree.task_rows import check_rows, load, plan_rows, told

OWN = ("trees", "seed", "attributes_at_a_node")


def program(study: Study) -> ForestOverRows:
    """Return the program of a study."""
    found = _forest(study.parameters, study.having("receiver"))
    found.disclosures = study.disclosures
    return found


def _forest(parameters: Mapping[str, Any], receivers: tuple[str, ...] = ()) -> ForestOverRows:
    layout, spans = layout_of(parameters)
    return ForestOverRows(layout, rules_of(parameters), parameters.get("trees", 10),
                            attributes=parameters.get("attributes_at_a_node", 0),
                            seed=parameters.get("seed", 0), receivers=receivers, spans=spans)


def check(parameters: Mapping[str, Any]) -> None:
    """Refuse parameters that make no forest."""
    check_rows(parameters, "forest", OWN)
    try:
        _forest(parameters)
    except InputError as error:
        raise StudyError(str(error)) from None


def plan(study: Study) -> Plan:
    """Say what a study will cost and who learns what."""
    forest = _forest(study.parameters)
    counted = min(1.0, forest.count / len(forest.layout.attributes))
    return plan_rows(study, told(study), forest.trees, 1, counted)


TASK = Task("forest", check, told, plan, load, program)
