"""The parameters of studies: what all tasks read, refuse and plan in the same way."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from unspoken.errors import InputError, explain
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.common.party_files import needed, party_table
from unspoken.joint.tasks.task import Outlook, Param, notes_of, safe_against
from unspoken.table.table import Table

T = TypeVar("T")
# What every task over columns has, and the runner does: see `record_order`.
RECORD_ORDER = ("ids", "least", "same_order")
ORDER_PARAMS = (
    Param("ids", "the column of ids by which records are aligned"),
    Param("least", "the least number of ids of an owner where records are aligned (10)"),
    Param("same_order", "true: all files list the same records in the same order"))
EXPECTED_PARAM = Param("expected", "the number of records that the forecast is for")


def as_study(make: Callable[[], T]) -> T:
    """Return what a function makes; its refusals become those of a study."""
    try:
        return make()
    except StudyError:
        raise
    except (InputError, TypeError) as error:
        raise StudyError(str(error)) from None


def check_names(parameters: Mapping[str, Any], params: Sequence[Param], task: str) -> None:
    """Refuse parameters that a task does not have; those about a column are named 'kind.name'."""
    known = [p.name for p in params if "." not in p.name]
    about = [p.name.partition(".")[0] for p in params if "." in p.name]
    for name in parameters:
        kind, dot, _ = name.partition(".")
        if name not in known and not (dot and kind in about):
            raise StudyError(f"Task '{task}' has no parameter '{name}'.{near(name, known)} It has "
                             + ", ".join([*known, *(f"{kind}.NAME" for kind in about)]) + ".")


def near(name: str, known: Sequence[str]) -> str:
    """Return a hint at the name that was probably meant."""
    close = difflib.get_close_matches(name, known, 1)
    return f" Did you mean '{close[0]}'?" if close else ""


def text(parameters: Mapping[str, Any], name: str) -> str:
    """Return a parameter that is a text."""
    value = parameters.get(name)
    if not isinstance(value, str) or not value:
        raise StudyError(explain(f"Parameter '{name}'", "a text", value))
    return value


def texts(parameters: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """Return a parameter that is a list of one or more texts."""
    values = parameters.get(name)
    if not isinstance(values, list) or not values or not all(isinstance(t, str) for t in values):
        raise StudyError(explain(f"Parameter '{name}'", "a list of texts", values))
    return tuple(values)


def any_texts(parameters: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """Return a list of names; an empty one if it is not there."""
    values = parameters.get(name, [])
    if not isinstance(values, list) or not all(isinstance(t, str) and t for t in values):
        raise StudyError(explain(f"Parameter '{name}'", "a list of texts", values))
    return tuple(values)


def numbers(parameters: Mapping[str, Any], name: str) -> tuple[float, ...]:
    """Return a parameter that is a list of one or more numbers."""
    values = parameters.get(name)
    if not isinstance(values, list) or not values or not all(
            isinstance(n, int | float) and not isinstance(n, bool) for n in values):
        raise StudyError(explain(f"Parameter '{name}'", "a list of numbers", values))
    return tuple(float(n) for n in values)


def one_kind(parameters: Mapping[str, Any], name: str, kinds: Sequence[str], what: str) -> str:
    """Return in which of some ways a column is described: one, and one only."""
    present = [kind for kind in kinds if f"{kind}.{name}" in parameters]
    if len(present) != 1:
        raise StudyError(explain(f"{what} '{name}'", "given one of "
                                 + ", ".join(f"{kind}.{name}" for kind in kinds), len(present)))
    return present[0]


def about_known(parameters: Mapping[str, Any], names: Collection[str], what: str) -> None:
    """Refuse what is said about columns that are not there."""
    for key in parameters:
        if "." in key and key.partition(".")[2] not in names:
            raise StudyError(explain(f"Parameter '{key}'", f"about one of '{what}'",
                                     "another name"))


def count(parameters: Mapping[str, Any], name: str, default: int) -> int:
    """Return a parameter that is a whole number, one or more."""
    value = parameters.get(name, default)
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise StudyError(explain(f"Parameter '{name}'", "an int >= 1", value))
    return value


def flag(parameters: Mapping[str, Any], name: str) -> bool:
    """Return a parameter that is true or false, the latter if it is not there."""
    value = parameters.get(name, False)
    if not isinstance(value, bool):
        raise StudyError(explain(f"Parameter '{name}'", "true or false", value))
    return value


def names_of(parameters: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the columns of a study: one or more, all different."""
    columns = any_texts(parameters, "columns")
    if not columns or len(set(columns)) != len(columns):
        raise StudyError(explain("Parameter 'columns'", "a list of different columns",
                                 list(columns)))
    return columns


def owners_of(parameters: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Return which owner has which columns, where they are written as "owner:column"."""
    owners: dict[str, tuple[str, ...]] = {}
    for word in names_of(parameters):
        owner, mark, name = word.partition(":")
        if not mark or not owner or not name:
            raise StudyError(explain("Parameter 'columns'", 'a list such as ["north:age"]', word))
        owners[owner] = (*owners.get(owner, ()), name)
    return owners


def learns(study: Study, declared: Sequence[Disclosure],
           sizes: str = "kinds and sizes of what is computed") -> dict[str, list[str]]:
    """Return what each party learns; a dealer outside the program learns sizes."""
    by_name = {name: [d.because for d in declared if not d.to or name in d.to]
               for name in everybody(study)}
    return by_name | {name: [sizes] for name in study.names if name not in by_name}


def not_chosen(study: Study) -> None:
    """Refuse receivers that a study names where a task cannot tell its result to some alone."""
    named, owners = set(study.having("receiver")), set(study.having("owner"))
    if named and named != owners:
        raise StudyError(f"Task '{study.task}' tells every owner the same, as its plan says. "
                         f"Receivers were chosen: {', '.join(sorted(named))}. Leave them out.")


def everybody(study: Study) -> list[str]:
    """Return who takes part in the program."""
    return [name for name in study.names if name != study.outside_dealer]


def outlined(study: Study, declared: Sequence[Disclosure], more: Sequence[str] = (),
             assumes: str = "") -> Outlook:
    """Return the outlook of a study whose values are on shares."""
    return Outlook(learns(study, declared), safe_against(study), (*notes_of(study), *more),
                   assumes)


def read_own(path: Path, names: Sequence[str]) -> Table:
    """Return an owner's file; one that lacks a column is refused."""
    table = party_table(path)
    needed(table.schema.names, *names)
    return table


def read_columns(path: Path, names: Sequence[str]) -> dict[str, npt.NDArray[Any]]:
    """Return columns of a file by name; categories of any type are compared as texts."""
    rows = read_own(path, names).arrow(list(names))
    return {name: np.array(rows[name].to_pylist(), object) for name in names}


def read_numbers(path: Path, names: Sequence[str]) -> dict[str, npt.NDArray[np.float64]]:
    """Return numeric columns of a file by name."""
    table = read_own(path, names).numbers(list(names))
    return {name: table[:, i] for i, name in enumerate(names)}
