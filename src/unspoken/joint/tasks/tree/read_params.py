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
from unspoken.joint.tasks.common.study_parameters import (
    about_known,
    numbers,
    one_kind,
    text,
    texts,
)
from unspoken.joint.tasks.tree.cut_points import Span
from unspoken.joint.tasks.tree.level_growth import TreeParams
from unspoken.joint.tasks.tree.params import Attribute, TreeLayout

KINDS = ("categories", "cuts", "range")
RULES = ("max_depth", "min_records", "most")


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
    given = one_kind(parameters, name, KINDS, "Attribute")
    if given == "categories":
        return Attribute(name, tuple(c or None for c in texts(parameters, f"categories.{name}")))
    found = numbers(parameters, f"{given}.{name}")
    if given == "cuts":
        return Attribute(name, cuts=found)
    if not 3 <= len(found) <= 4 or any(n % 1 != 0 for n in found[2:]):
        raise StudyError(explain(f"Parameter 'range.{name}'", "[low, high, cut points, bits], the "
                                 "last two whole numbers", list(found)))
    low, high, *whole = found
    spans[name] = Span(low, high, *(int(n) for n in whole))
    return Attribute(name, cuts=(spans[name].low,))
