"""The parameters of a study that fits a regression: read, checked, and turned into what is public.

    response = "cost"
    columns = ["age", "sex"]          # columns spread: ["north:age", "south:sex"]
    held = "north"                    # columns spread: who has the response, "all" or "split"
    products = ["age*sex"]
    ridge = 0.0                       # scikit-learn's alpha
    condition = 1048576               # the greatest condition that is inverted
    inference = true                  # standard errors and sums of squares
    select = "stepwise"               # or forward, backward, best
    criterion = "bic"                 # or aic, adjusted, cp
    keep = ["age"]
    smaller = ["age", "age+sex"]      # models inside this one to test against
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import ceil, log2
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from tacit.errors import InputError, explain
from tacit.joint.errors import StudyError
from tacit.joint.protocols.regression.selecting import Selection
from tacit.joint.protocols.regression.terms import Rules, Terms, pair_of
from tacit.joint.study import Disclosure, Study
from tacit.joint.tasks import Plan, notes_of, safe_against

T = TypeVar("T")

FITTING = ("response", "columns", "products", "ridge", "condition", "inference", "smaller")
SELECTING = ("select", "criterion", "keep")


def as_study(make: Callable[[], T]) -> T:
    """Return what a function makes; its refusals become those of a study."""
    try:
        return make()
    except StudyError:
        raise
    except (InputError, TypeError) as error:
        raise StudyError(str(error)) from None


def check_names(parameters: Mapping[str, Any], known: Sequence[str], task: str) -> None:
    """Refuse parameters that a task does not have."""
    for name in parameters:
        if name not in known:
            raise StudyError(f"Task '{task}' has no parameter '{name}'. It has "
                             + ", ".join(known) + ".")


def texts(parameters: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """Return a list of texts; an empty one if it is not there."""
    found = parameters.get(name, [])
    if not isinstance(found, list) or not all(isinstance(t, str) and t for t in found):
        raise StudyError(explain(f"Parameter '{name}'", "a list of texts", found))
    return tuple(found)


def text(parameters: Mapping[str, Any], name: str) -> str:
    """Return a parameter that is a text."""
    found = parameters.get(name)
    if not isinstance(found, str) or not found:
        raise StudyError(explain(f"Parameter '{name}'", "a text", found))
    return found


def terms_of(parameters: Mapping[str, Any]) -> Terms:
    """Return the terms of rows that are spread."""
    return as_study(lambda: Terms(text(parameters, "response"), texts(parameters, "columns"),
                                  products_of(parameters)))


def products_of(parameters: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Return the products that are terms."""
    return as_study(lambda: tuple(pair_of(t) for t in texts(parameters, "products")))


def rules_of(parameters: Mapping[str, Any], receivers: Sequence[str] = ()) -> Rules:
    """Return how the model is fitted."""
    smaller = tuple(tuple(t.split("+")) for t in texts(parameters, "smaller"))
    given = {name: parameters[name] for name in ("ridge", "condition", "inference")
             if name in parameters}
    return as_study(lambda: Rules(**given, receivers=tuple(receivers), smaller=smaller))


def selection_of(parameters: Mapping[str, Any]) -> Selection | None:
    """Return how terms are chosen, if they are."""
    if "select" not in parameters:
        for name in ("criterion", "keep"):
            if name in parameters:
                raise StudyError(f"Parameter '{name}' needs 'select', the way terms are chosen.")
        return None
    return as_study(lambda: Selection(text(parameters, "select"),
                                      str(parameters.get("criterion", "bic")),
                                      texts(parameters, "keep")))


def receivers_of(study: Study) -> tuple[str, ...]:
    """Return who learns the model."""
    if study.mode == "sums":
        raise StudyError(explain(f"Task '{study.task}'", "given a mode with shares", "mode 'sums'",
                                 "Use dealer, two-party or three-party."))
    return study.having("receiver") or study.having("owner")


def fitting_cost(terms: int, condition: float, owners: int) -> tuple[int, int]:
    """Return rounds and bytes of one fit, measured for two holders and a dealer."""
    steps = ceil(log2(condition)) + 6
    return 6 * steps + 60 + 7 * owners, 1850 * terms**2 * steps + 90_000 + 12_000 * terms


def planned(study: Study, told: Sequence[Disclosure], cost: tuple[int, int],
            more: Sequence[str] = ()) -> Plan:
    """Return the plan of a study."""
    everybody = study.names
    learns = {name: [d.because for d in told if name in (d.to or everybody)
                     and name != _outside(study)] for name in everybody}
    if study.mode == "dealer" and study.dealer is not None:
        learns[study.dealer] = ["kinds and sizes of what is computed"]
    return Plan(cost[0], cost[1], learns, safe_against(study), (*notes_of(study), *more))


def _outside(study: Study) -> str | None:
    return study.dealer if study.mode == "dealer" else None


def read_numbers(path: Path, names: Sequence[str]) -> dict[str, npt.NDArray[np.float64]]:
    """Return numeric columns of a file by name; one that is missing is refused."""
    from tacit.core.read import read

    table = read(path, show=False)
    missing = next((name for name in names if name not in table.schema.names), None)
    if missing is not None:
        raise StudyError(explain("The columns of this owner's file",
                                 f"such that '{missing}' is there",
                                 ", ".join(table.schema.names)))
    found = table.numbers(list(names))
    return {name: found[:, i] for i, name in enumerate(names)}
