"""The parameters of a study that grows a tree: read, checked, and turned into what is public.

    target = "income"
    classes = ["<=50K", ">50K"]
    attributes = ["age", "sex"]
    "cuts.age" = [25.5, 40.5]            # or "range.age" = [0, 128, 7, 7]: agreed on in the run
    "categories.sex" = ["Female", "Male"]  # "" stands for a missing value
    most = 50000                         # a public bound on the number of all records
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.errors import InputError, explain
from tacit.joint.errors import StudyError
from tacit.joint.protocols.trees.cuts import Span
from tacit.joint.protocols.trees.growth import Rules
from tacit.joint.protocols.trees.layout import Attribute, Layout

KINDS = ("categories", "cuts", "range")
RULES = ("max_depth", "min_records", "most")


def check_names(parameters: Mapping[str, Any], known: Sequence[str], task: str) -> None:
    """Refuse parameters that a task does not have."""
    for name in parameters:
        if name not in known and name.partition(".")[0] not in known:
            raise StudyError(f"Task '{task}' has no parameter '{name}'. It has "
                             + ", ".join(known) + ".")


def texts(parameters: Mapping[str, Any], name: str) -> list[str]:
    """Return a parameter that is a list of texts."""
    found = parameters.get(name)
    if not isinstance(found, list) or not found or not all(isinstance(t, str) for t in found):
        raise StudyError(explain(f"Parameter '{name}'", "a list of texts", found))
    return found


def text(parameters: Mapping[str, Any], name: str) -> str:
    """Return a parameter that is a text."""
    found = parameters.get(name)
    if not isinstance(found, str) or not found:
        raise StudyError(explain(f"Parameter '{name}'", "a text", found))
    return found


def rules_of(parameters: Mapping[str, Any]) -> Rules:
    """Return when growing stops."""
    try:
        return Rules(**{name: parameters[name] for name in RULES if name in parameters})
    except InputError as error:
        raise StudyError(str(error)) from None


def layout_of(parameters: Mapping[str, Any]) -> tuple[Layout, dict[str, Span]]:
    """Return attributes and classes, and the ranges whose cut points are agreed on in the run."""
    spans: dict[str, Span] = {}
    try:
        attributes = tuple(_attribute(parameters, name, spans)
                           for name in texts(parameters, "attributes"))
        layout = Layout(attributes, tuple(texts(parameters, "classes")),
                        text(parameters, "target"))
    except StudyError:
        raise
    except InputError as error:
        raise StudyError(str(error)) from None
    strange = [key for key in parameters if "." in key
               and key.partition(".")[2] not in [a.name for a in attributes]]
    if strange:
        raise StudyError(explain(f"Parameter '{strange[0]}'", "about one of 'attributes'",
                                 "another name"))
    return layout, spans


def _attribute(parameters: Mapping[str, Any], name: str, spans: dict[str, Span]) -> Attribute:
    given = [kind for kind in KINDS if f"{kind}.{name}" in parameters]
    if len(given) != 1:
        raise StudyError(explain(f"Attribute '{name}'", "given one of "
                                 + ", ".join(f"{kind}.{name}" for kind in KINDS), len(given)))
    if given[0] == "categories":
        found = texts(parameters, f"categories.{name}")
        return Attribute(name, tuple(c or None for c in found))
    numbers = _numbers(parameters, f"{given[0]}.{name}")
    if given[0] == "cuts":
        return Attribute(name, cuts=tuple(numbers))
    if not 3 <= len(numbers) <= 4:
        raise StudyError(explain(f"Parameter 'range.{name}'", "[low, high, cut points, bits]",
                                 numbers))
    low, high, *whole = numbers
    spans[name] = Span(low, high, *(int(n) for n in whole))
    return Attribute(name, cuts=(spans[name].low,))


def _numbers(parameters: Mapping[str, Any], name: str) -> list[float]:
    found = parameters[name]
    if not isinstance(found, list) or not found or not all(
            isinstance(n, int | float) and not isinstance(n, bool) for n in found):
        raise StudyError(explain(f"Parameter '{name}'", "a list of numbers", found))
    return [float(n) for n in found]


def read_columns(path: Path, names: Sequence[str]) -> dict[str, npt.NDArray[Any]]:
    """Return columns of a file by name; categories of any type are compared as texts."""
    from tacit.core.read import read

    table = read(path, show=False)
    missing = [name for name in names if name not in table.schema.names]
    if missing:
        raise StudyError(explain("The columns of this owner's file",
                                 f"such that '{missing[0]}' is there",
                                 ", ".join(table.schema.names)))
    rows = table.arrow(list(names))
    return {name: np.array(rows[name].to_pylist(), object) for name in names}
