"""The study task `tree-columns`: ID3 over the columns of several sites, on the command line.

    unspoken joint new study.toml --name care --task tree-columns --set class_site=north
        --set target=outcome --set 'classes=["no", "yes"]' --set slots=40 --set branches=4
        --set ids=patient ...

Every column of a site's file but the ids and the class is an attribute of its own. Numbers are cut
at the site's own quantiles (`cut_points` of them, 7 unless said otherwise), which nobody else
learns; text is taken as categories. With `ids` rows are aligned first (a site with fewer than
`least` of them, 10, is refused); with same_order=true all files list the records in one order.
All sites may have at most `slots` (16) questions of at most `branches` (4) answers: a number has
one of two answers for each cut point. Growing stops at max_depth (5) and at nodes with fewer than
min_records (1). With class_known=true all files have the class, which is cheaper. `expected`
(10,000) records are for the forecast alone. Task `classify-columns` uses what comes out.

With structure=hidden (known unless said otherwise) nobody sees the tree: the sites grow a full one
of `max_depth` levels on shares, from the records that have a class, and what comes out is the
class of those that have none in the class site's file. Take few branches and a small depth.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from unspoken.errors import explain
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.common.party_files import party_table
from unspoken.joint.tasks.common.study_parameters import (
    RECORD_ORDER,
    as_study,
    check_names,
    count,
    flag,
    learns,
    not_chosen,
    text,
    texts,
)
from unspoken.joint.tasks.common.unlabelled_rows import codes_of
from unspoken.joint.tasks.task import Plan, Task, notes_of, safe_against
from unspoken.joint.tasks.tree import costs
from unspoken.joint.tasks.tree.hidden_part import leaves
from unspoken.joint.tasks.tree.hidden_task import (
    EXPECTED,
    HiddenStudy,
    Loaded,
    hidden_plan,
    hidden_told,
)
from unspoken.joint.tasks.tree.params import Attribute
from unspoken.joint.tasks.tree.program_columns import TreeOverColumns, disclosures
from unspoken.joint.tasks.tree.read_params import RULES, rules_of
from unspoken.joint.tasks.tree.task_rows import SIZES, guessed_levels
from unspoken.joint.tasks.tree.tree_sites import TreeShape, TreeSite, own_attributes

KNOWN = ("target", "classes", "class_site", "slots", "branches", "class_known", "cut_points",
         "expected", "structure", *RULES)
STRUCTURES = ("known", "hidden")
CUT_POINTS = 7


class ColumnsStudy(TreeOverColumns):
    """The program of a study."""

    def __init__(self, study: Study) -> None:
        super().__init__(shape_of(study.parameters), rules_of(study.parameters),
                         study.having("owner"))
        self.disclosures = study.disclosures


def program(study: Study) -> ColumnsStudy | HiddenStudy:
    """Return the program of a study, as its structure is known or hidden."""
    if hidden(study.parameters):
        return HiddenStudy(study, shape_of(study.parameters))
    return ColumnsStudy(study)


def hidden(parameters: Mapping[str, Any]) -> bool:
    """Say whether nobody shall see the tree."""
    found = parameters.get("structure", STRUCTURES[0])
    if found not in STRUCTURES:
        raise StudyError(explain("Parameter 'structure'", "one of " + ", ".join(STRUCTURES),
                                 found))
    return bool(found == "hidden")


def shape_of(parameters: Mapping[str, Any]) -> TreeShape:
    """Return what is public about the sites."""
    numbers = {name: count(parameters, name, default)
               for name, default in (("slots", 16), ("branches", 4))}
    return as_study(lambda: TreeShape(
        texts(parameters, "classes"), text(parameters, "class_site"), numbers["slots"],
        numbers["branches"], text(parameters, "target"),
        flag(parameters, "class_known")))


def check(parameters: Mapping[str, Any]) -> None:
    """Refuse parameters that make no tree."""
    check_names(parameters, (*KNOWN, *RECORD_ORDER), "tree-columns")
    shape, rules = shape_of(parameters), rules_of(parameters)
    if hidden(parameters):
        as_study(lambda: leaves(shape, rules.max_depth))
    count(parameters, "cut_points", CUT_POINTS)
    count(parameters, "expected", EXPECTED)


def told(study: Study) -> tuple[Disclosure, ...]:
    """Return what a study discloses."""
    if hidden(study.parameters):
        return hidden_told(study)
    return disclosures(study.having("owner"), shape_of(study.parameters))


def plan(study: Study) -> Plan:
    """Say what a study will cost and who learns what."""
    shape, rules, sites = shape_of(study.parameters), rules_of(study.parameters), \
        study.having("owner")
    if not study.facts.has_shares or shape.class_site not in sites:
        raise StudyError(explain("Task 'tree-columns'", "given shares and a class site among the "
                                 "owners", f"mode '{study.mode}' and '{shape.class_site}'"))
    rows = count(study.parameters, "expected", EXPECTED)
    if hidden(study.parameters):
        return hidden_plan(study, shape, rules)
    not_chosen(study)
    levels, ends = guessed_levels(rules)
    cost = costs.vertical(levels, ends, rows, shape, len(sites), rules.min_records)
    notes = (*notes_of(study), f"cost is for {rows:,} records and {sum(levels)} tested nodes in "
             f"{len(levels)} levels, with a dealer; real trees are not known before")
    return Plan(cost.rounds, cost.bytes, learns(study, told(study), SIZES), safe_against(study),
                notes, records=rows)


def load(path: Path, study: Study) -> TreeSite | Loaded:
    """Return a site's attributes and rows; numbers are cut at its own quantiles."""
    return load_new(path, study) if hidden(study.parameters) else TreeSite(*_read(path, study)[:3])


def load_new(path: Path, study: Study) -> Loaded:
    """Return the same where records without a class are new."""
    shape, points = shape_of(study.parameters), _points(study)
    attributes, columns, labels, numeric = _read(path, study)
    codes = None if labels is None else codes_of(labels, shape.classes, shape.target)
    return Loaded(TreeSite(attributes, columns, classes=codes), numeric, points)


def _points(study: Study) -> int:
    return count(study.parameters, "cut_points", CUT_POINTS)


def _read(path: Path, study: Study) -> tuple[tuple[Attribute, ...], dict[str, Any], Any,
                                             tuple[str, ...]]:
    """Return attributes, columns, the class if it is there, and which columns are numbers."""
    table = party_table(path)
    rows = table.arrow()
    columns = {name: np.array(rows[name].to_pylist(), object) for name in rows.column_names}
    labels = columns.pop(str(study.parameters["target"]), None)
    numeric = tuple(n for n in columns if table.schema[n].kind in ("numeric", "ordinal"))
    attributes = own_attributes(columns, numeric, _points(study))
    return attributes, columns, labels, numeric


TASK = Task("tree-columns", check, told, plan, load, program, over_columns=True)
