"""The parameters of a study that grows a tree: read, checked, and turned into what is public.

    target = "income"
    classes = ["<=50K", ">50K"]
    attributes = ["age", "sex"]
    "cuts.age" = [25.5, 40.5]            # or "range.age" = [0, 128, 7, 7]: agreed on in the run
    "categories.sex" = ["Female", "Male"]  # "" stands for a missing value
    most = 50000                         # a public bound on the number of all records
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unspoken.errors import InputError, explain
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.common.study_parameters import (
    EXPECTED_PARAM,
    about_known,
    as_study,
    check_names,
    count,
    flag,
    numbers,
    one_kind,
    text,
    texts,
)
from unspoken.joint.tasks.task import Param
from unspoken.joint.tasks.tree.cut_points import Span
from unspoken.joint.tasks.tree.level_growth import TreeParams
from unspoken.joint.tasks.tree.params import Attribute, TreeLayout
from unspoken.joint.tasks.tree.tree_sites import TreeShape

KINDS = ("categories", "cuts", "range")
RULES = ("max_depth", "min_records", "most")
GROWTH = (
    Param("max_depth", "how many questions a record is asked at most (5)"),
    Param("min_records", "nodes with fewer records are leaves (1)"),
    Param("most", "a public bound on the number of all records (2^20); small is cheap"))
ROWS_PARAMS = (
    Param("target", "the column of the class"),
    Param("classes", "all classes, a list of texts"),
    Param("attributes", "the columns that are asked about, a list of names"),
    Param("categories.NAME", 'all categories of an attribute; "" is a missing value'),
    Param("cuts.NAME", "the cut points of a number"),
    Param("range.NAME", "[low, high, cut points, bits]: quantiles of all are agreed on in the run"),
    *GROWTH)
COLUMNS_PARAMS = (
    Param("target", "the column of the class"),
    Param("classes", "all classes, a list of texts"),
    Param("class_site", "the owner that has the class"),
    Param("class_known", "true: all files have the class, which is cheaper (false)"),
    Param("slots", "room for questions of a site (16); a number has one per cut point"),
    Param("branches", "the most answers of a question (4)"),
    Param("cut_points", "at how many of its own quantiles a site cuts numbers (7)"),
    EXPECTED_PARAM, *GROWTH)
STRUCTURE = Param("structure", "known, or hidden: nobody sees the tree, only classes (known)")
STRUCTURES = ("known", "hidden")
CUT_POINTS, EXPECTED = 7, 10_000


def rules_of(parameters: Mapping[str, Any]) -> TreeParams:
    """Return when growing stops."""
    try:
        return TreeParams(**{name: parameters[name] for name in RULES if name in parameters})
    except InputError as error:
        raise StudyError(str(error)) from None


def layout_of(parameters: Mapping[str, Any]) -> tuple[TreeLayout, dict[str, Span]]:
    """Return attributes and classes, and the ranges whose cut points are agreed on in the run."""
    spans: dict[str, Span] = {}
    try:
        attributes = tuple(_attribute(parameters, name, spans)
                           for name in texts(parameters, "attributes"))
        layout = TreeLayout(attributes, texts(parameters, "classes"),
                        text(parameters, "target"))
    except StudyError:
        raise
    except InputError as error:
        raise StudyError(str(error)) from None
    about_known(parameters, [a.name for a in attributes], "attributes")
    return layout, spans


def _attribute(parameters: Mapping[str, Any], name: str, spans: dict[str, Span]) -> Attribute:
    kind = one_kind(parameters, name, KINDS, "Attribute")
    if kind == "categories":
        return Attribute(name, tuple(c or None for c in texts(parameters, f"categories.{name}")))
    listed = numbers(parameters, f"{kind}.{name}")
    if kind == "cuts":
        return Attribute(name, cuts=listed)
    if not 3 <= len(listed) <= 4 or any(n % 1 != 0 for n in listed[2:]):
        raise StudyError(explain(f"Parameter 'range.{name}'", "[low, high, cut points, bits], the "
                                 "last two whole numbers", list(listed)))
    low, high, *whole = listed
    spans[name] = Span(low, high, *(int(n) for n in whole))
    return Attribute(name, cuts=(spans[name].low,))


def check_rows(parameters: Mapping[str, Any], task: str, more: tuple[Param, ...] = ()) -> None:
    """Refuse parameters that a task over rows cannot use."""
    check_names(parameters, (*ROWS_PARAMS, *more), task)
    layout_of(parameters)
    rules_of(parameters)


def shape_of(parameters: Mapping[str, Any]) -> TreeShape:
    """Return what is public about the sites."""
    room = {name: count(parameters, name, default)
            for name, default in (("slots", 16), ("branches", 4))}
    return as_study(lambda: TreeShape(
        texts(parameters, "classes"), text(parameters, "class_site"), room["slots"],
        room["branches"], text(parameters, "target"), flag(parameters, "class_known")))


def hides(parameters: Mapping[str, Any]) -> bool:
    """Return True if nobody shall see the tree."""
    structure = parameters.get("structure", STRUCTURES[0])
    if structure not in STRUCTURES:
        raise StudyError(explain("Parameter 'structure'", "one of " + ", ".join(STRUCTURES),
                                 structure))
    return bool(structure == "hidden")


def expected_of(study: Study) -> int:
    """Return how many records a forecast over columns is for."""
    return count(study.parameters, "expected", EXPECTED)


def refuse_other_sites(study: Study) -> None:
    """Refuse a study over columns without shares, or whose class site owns nothing."""
    site = text(study.parameters, "class_site")
    if not study.facts.has_shares or site not in study.having("owner"):
        raise StudyError(explain(f"Task '{study.task}'", "given shares and a class site among the "
                                 "owners", f"mode '{study.mode}' and '{site}'"))
