"""The study task `tree-columns`: ID3 over the columns of several sites, on the command line.

    tacit joint new study.toml --name care --task tree-columns --set class_site=north
        --set target=outcome --set 'classes=["no", "yes"]' --set slots=40 --set branches=4
        --set ids=patient ...

Every column of a site's file but the ids and the class is an attribute of its own. Numbers are cut
at the site's own quantiles (`cut_points` of them, 7 unless said otherwise), which nobody else
learns; text is taken as categories. With `ids` rows are aligned first; without it all files must
hold the same records in the same order.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tacit.errors import explain
from tacit.joint.errors import StudyError
from tacit.joint.protocols.parameters import (
    aligning,
    as_study,
    check_names,
    count,
    learns,
    text,
    texts,
)
from tacit.joint.protocols.trees import costs
from tacit.joint.protocols.trees.horizontal_task import SIZES, guessed_levels
from tacit.joint.protocols.trees.layout import attributes_of
from tacit.joint.protocols.trees.parameters import RULES, rules_of
from tacit.joint.protocols.trees.sites import Shape, Site
from tacit.joint.protocols.trees.vertical import VerticalTree, disclosures
from tacit.joint.study import Disclosure, Study
from tacit.joint.tasks import Plan, Task, notes_of, safe_against

KNOWN = ("target", "classes", "class_site", "slots", "branches", "class_known", "cut_points",
         "ids", "least", "expected", *RULES)
CUT_POINTS, EXPECTED = 7, 10_000


class ColumnsStudy(VerticalTree):
    """The program of a study."""

    def __init__(self, study: Study) -> None:
        super().__init__(shape_of(study.parameters), rules_of(study.parameters),
                         study.having("owner"), aligning(study.parameters))
        self.disclosures = study.disclosures


def shape_of(parameters: Mapping[str, Any]) -> Shape:
    """Return what is public about the sites."""
    numbers = {name: count(parameters, name, default)
               for name, default in (("slots", 16), ("branches", 4))}
    return as_study(lambda: Shape(
        texts(parameters, "classes"), text(parameters, "class_site"), numbers["slots"],
        numbers["branches"], text(parameters, "target"),
        bool(parameters.get("class_known", False))))


def check(parameters: Mapping[str, Any]) -> None:
    """Refuse parameters that make no tree."""
    check_names(parameters, KNOWN, "tree-columns")
    shape_of(parameters)
    rules_of(parameters)
    aligning(parameters)
    count(parameters, "cut_points", CUT_POINTS)
    count(parameters, "expected", EXPECTED)


def told(study: Study) -> tuple[Disclosure, ...]:
    """Return what a study discloses."""
    return disclosures(study.having("owner"), shape_of(study.parameters),
                       aligning(study.parameters))


def plan(study: Study) -> Plan:
    """Say what a study will cost and who learns what."""
    shape, rules, sites = shape_of(study.parameters), rules_of(study.parameters), \
        study.having("owner")
    if study.mode == "sums" or shape.class_site not in sites:
        raise StudyError(explain("Task 'tree-columns'", "given shares and a class site among the "
                                 "owners", f"mode '{study.mode}' and '{shape.class_site}'"))
    levels, leaves = guessed_levels(rules)
    rows = count(study.parameters, "expected", EXPECTED)
    cost = costs.vertical(levels, leaves, rows, shape, len(sites), rules.min_records)
    notes = (*notes_of(study), f"cost is for {rows:,} records and {sum(levels)} tested nodes in "
             f"{len(levels)} levels, with a dealer, without aligning; about {cost.seconds():.0f} s "
             "on one machine")
    return Plan(cost.rounds, cost.bytes, learns(study, told(study), SIZES), safe_against(study),
                notes)


def load(path: Path, study: Study) -> Site:
    """Return a site's attributes and rows; numbers are cut at its own quantiles."""
    from tacit.core.read import read

    parameters = study.parameters
    table = read(path, show=False)
    rows = table.arrow()
    columns = {name: np.array(rows[name].to_pylist(), object) for name in rows.column_names}
    labels = columns.pop(str(parameters["target"]), None)
    ids = columns.pop(str(parameters["ids"]), None) if "ids" in parameters else None
    if "ids" in parameters and ids is None:
        raise StudyError(explain("The columns of this site's file",
                                 f"such that '{parameters['ids']}' is there",
                                 ", ".join(rows.column_names)))
    numeric = [n for n in columns if table.schema[n].kind in ("numeric", "ordinal")]
    cuts = {name: own_cuts(columns[name], count(parameters, "cut_points", CUT_POINTS))
            for name in numeric}
    attributes = attributes_of(columns, cuts, list(columns))
    return Site(attributes, columns, labels, None if ids is None else ids.tolist())


def own_cuts(values: Any, count: int) -> list[float]:
    """Return a site's own quantiles, halfway between values as float32 has them."""
    numbers = np.unique(np.asarray(values, np.float32)).astype(np.float64)
    numbers = numbers[~np.isnan(numbers)]
    if numbers.size < 2:
        return [float(numbers[0])] if numbers.size else [0.0]
    ordered = np.sort(np.asarray(values, np.float64))
    wanted = np.quantile(ordered, np.arange(1, count + 1) / (count + 1))
    place = np.clip(np.searchsorted(numbers, wanted, side="right"), 1, numbers.size - 1)
    return sorted({float((numbers[p - 1] + numbers[p]) / 2) for p in place.tolist()})


TASK = Task("tree-columns", check, told, plan, load, ColumnsStudy)
