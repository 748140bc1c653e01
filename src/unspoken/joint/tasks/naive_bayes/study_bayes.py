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
from unspoken.joint.tasks.common.study_parameters import (
    EXPECTED_PARAM,
    about_known,
    one_kind,
    text,
    texts,
)
from unspoken.joint.tasks.naive_bayes.params import BayesLayout, BayesParams, Numeric
from unspoken.joint.tasks.task import Param
from unspoken.joint.tasks.tree.params import Attribute

KINDS = ("categories", "range")
RULES = ("alpha", "var_smoothing", "most", "least", "reveal", "bits")
LAYOUT = (
    Param("target", "the column of the class"),
    Param("classes", "all classes, a list of texts"),
    Param("columns", "the columns that count, a list of names"),
    Param("categories.NAME", 'all categories of a column; "" is a missing value'),
    Param("range.NAME", "[lowest, highest] of a number, which no value may leave"))
SMOOTHING = (
    Param("alpha", "added to every count, as in scikit-learn (1)"),
    Param("var_smoothing", "the part of the largest variance that is added to all (1e-9)"))
ROWS_PARAMS = (
    *LAYOUT, *SMOOTHING,
    Param("reveal", "ratios, or sums: open counts and sums, for three owners or more (ratios)"),
    Param("bits", "fractional bits of opened quotients (20)"),
    Param("least", "fewer records of a class at an owner are refused where there are numbers (3)"),
    Param("most", "a public bound on all records (2^20)"))
COLUMNS_PARAMS = (
    Param("target", "the column of the class"),
    Param("classes", "all classes, a list of texts"),
    Param("class_site", "the owner that has the class"),
    Param("class_known", "true: all files have the class; only scores are shared (false)"),
    *SMOOTHING, EXPECTED_PARAM,
    Param("SITE", 'the columns of owner SITE: how many categories, or "number": [3, 2, "number"]'))


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
    ends = parameters[f"range.{name}"]
    if not isinstance(ends, list) or len(ends) != 2 or not all(
            isinstance(n, int | float) and not isinstance(n, bool) for n in ends):
        raise StudyError(explain(f"Parameter 'range.{name}'", "[lowest, highest]", ends))
    return Numeric(name, float(ends[0]), float(ends[1]))


def rules_of(parameters: Mapping[str, Any], receivers: tuple[str, ...] = ()) -> BayesParams:
    """Return smoothing, bounds and what is opened."""
    try:
        return BayesParams(**{name: parameters[name] for name in RULES if name in parameters},
                     receivers=receivers)
    except InputError as error:
        raise StudyError(str(error)) from None
