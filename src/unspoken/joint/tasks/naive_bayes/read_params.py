"""The parameters of studies that use naive Bayes: read, checked, and turned into what is public.

    target = "income"
    classes = ["<=50K", ">50K"]
    columns = ["age", "sex"]
    "range.age" = [0, 120]
    "categories.sex" = ["Female", "Male"]   # "" stands for a missing value
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unspoken.errors import InputError, explain
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.tasks.common.study_parameters import about_known, one_kind, text, texts
from unspoken.joint.tasks.naive_bayes.params import BayesLayout, BayesParams, Numeric
from unspoken.joint.tasks.tree.params import Attribute

KINDS = ("categories", "range")
RULES = ("alpha", "var_smoothing", "most", "least", "reveal", "bits")


def layout_of(parameters: Mapping[str, Any]) -> BayesLayout:
    """Return columns and classes."""
    try:
        columns = tuple(_column(parameters, name) for name in texts(parameters, "columns"))
        layout = BayesLayout(columns, texts(parameters, "classes"), text(parameters, "target"))
    except StudyError:
        raise
    except InputError as error:
        raise StudyError(str(error)) from None
    about_known(parameters, [column.name for column in columns], "columns")
    return layout


def _column(parameters: Mapping[str, Any], name: str) -> Attribute | Numeric:
    if one_kind(parameters, name, KINDS, "Column") == "categories":
        return Attribute(name, tuple(c or None for c in texts(parameters, f"categories.{name}")))
    found = parameters[f"range.{name}"]
    if not isinstance(found, list) or len(found) != 2 or not all(
            isinstance(n, int | float) and not isinstance(n, bool) for n in found):
        raise StudyError(explain(f"Parameter 'range.{name}'", "[lowest, highest]", found))
    return Numeric(name, float(found[0]), float(found[1]))


def rules_of(parameters: Mapping[str, Any], receivers: tuple[str, ...] = ()) -> BayesParams:
    """Return smoothing, bounds and what is opened."""
    try:
        return BayesParams(**{name: parameters[name] for name in RULES if name in parameters},
                     receivers=receivers)
    except InputError as error:
        raise StudyError(str(error)) from None
