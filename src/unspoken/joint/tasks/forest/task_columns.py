"""The study task `forest-columns`: a random forest over the columns of several sites, in one run.

    unspoken joint new study.toml --name care --task forest-columns --set class_site=north
        --set target=outcome --set 'classes=["no", "yes"]' --set slots=16 --set branches=2
        --set max_depth=4 --set trees=20 ...

Parameters of task `tree-columns`, and: trees (10), questions_at_a_node (half of all slots unless
said otherwise), seed (0, public: which slots count where). Nobody sees the trees: they are full and
stay on shares. Records whose class is missing in the class site's file are new; the others are
drawn with replacement, by the class site, for every tree. What comes out is the class that most
trees say of each new record.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unspoken.errors import explain
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.common.study_parameters import (
    RECORD_ORDER,
    as_study,
    check_names,
    count,
)
from unspoken.joint.tasks.task import Plan, Task
from unspoken.joint.tasks.tree.hidden_part import leaves
from unspoken.joint.tasks.tree.hidden_task import (
    EXPECTED,
    HiddenStudy,
    hidden_plan,
    hidden_told,
)
from unspoken.joint.tasks.tree.hidden_votes import HiddenForest
from unspoken.joint.tasks.tree.read_params import rules_of
from unspoken.joint.tasks.tree.task_columns import CUT_POINTS, KNOWN, load_new, shape_of

OWN = ("trees", "questions_at_a_node", "seed")


def program(study: Study) -> HiddenStudy:
    """Return the program of a study."""
    return HiddenStudy(study, shape_of(study.parameters), forest_of(study.parameters))


def forest_of(parameters: Mapping[str, Any]) -> HiddenForest:
    """Return how many trees there are, and what counts at their nodes."""
    return as_study(lambda: HiddenForest(parameters.get("trees", 10),
                                   parameters.get("questions_at_a_node", 0),
                                   parameters.get("seed", 0)))


def check(parameters: Mapping[str, Any]) -> None:
    """Refuse parameters that make no forest."""
    check_names(parameters, (*(name for name in KNOWN if name != "structure"), *OWN,
                             *RECORD_ORDER),
                "forest-columns")
    shape, rules, forest = shape_of(parameters), rules_of(parameters), forest_of(parameters)
    as_study(lambda: leaves(shape, rules.max_depth, forest.trees))
    count(parameters, "cut_points", CUT_POINTS)
    count(parameters, "expected", EXPECTED)


def plan(study: Study) -> Plan:
    """Say what a study will cost and who learns what."""
    parameters, shape = study.parameters, shape_of(study.parameters)
    if not study.facts.has_shares or shape.class_site not in study.having("owner"):
        raise StudyError(explain("Task 'forest-columns'", "given shares and a class site among "
                                 "the owners", f"mode '{study.mode}' and '{shape.class_site}'"))
    return hidden_plan(study, shape, rules_of(parameters), forest_of(parameters))


TASK = Task("forest-columns", check, hidden_told, plan, load_new, program, over_columns=True)
