"""Parameters of tasks, declared once: range, help and default stand where the value is held.

The fields of a frozen dataclass carry them, and everything else comes from there: what a study may
say (--set NAME=VALUE), what is refused, and the help. Ranges are those of the release methods.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields
from typing import Any, Self, TypeVar

from unspoken.errors import InputError, explain
from unspoken.joint.joint_errors import StudyError
from unspoken.release.parameters import Parameter, Rule, check_parameters

T = TypeVar("T")
_KEY = "parameter"
PLACE = "NAME"
"""Stands for a name of the data in the name of a parameter, as in "range.NAME"."""


@dataclass(frozen=True)
class Param:
    """A parameter of a task as a study names it.

    "range.NAME" stands for one per NAME, and NAME alone for every other name. `split`: the only of
    the two splits, rows or columns, that has it.
    """

    name: str
    declared: Parameter
    default: Any = None
    required: bool = False
    split: str = ""

    def about(self, name: str) -> str | None:
        """Return the NAME that a study's parameter is about, "" for this one itself, or None."""
        start, place, _ = self.name.partition(PLACE)
        if not place:
            return "" if name == self.name else None
        return name.removeprefix(start) if name.startswith(start) and name != start else None

    @property
    def shown(self) -> str:
        """Return what it is for, what it may be, and what it is where a study says nothing."""
        default = "" if self.default in (None, (), "") else f"; default {_word(self.default)}"
        return (f"{self.declared.help} ({self.declared.rule.allowed()}"
                f"{'; required' if self.required else default})")


def _word(value: Any) -> str:
    """Return a default as it is written in a study."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def agreed(rule: Rule, help: str, advice: str = "", *, name: str = "", split: str = "",
           required: bool = False) -> dict[str, Any]:
    """Return the metadata of a field that a study can set; `name` where it is not the field's.

    `required`: a study must set it, although the class has a default.
    """
    return {_KEY: (Parameter(rule, help, advice), name, split, required)}


def of_rows(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return a declaration as one that only the task over rows has, and must be set there."""
    parameter, name, _, _ = metadata[_KEY]
    return {_KEY: (parameter, name, "rows", True)}


def declared(cls: type, split: str = "") -> tuple[Param, ...]:
    """Return the parameters that a dataclass declares; of one split, or all."""
    params = (_param(each) for each in fields(cls) if _KEY in each.metadata)
    return tuple(param for param in params if not split or param.split in ("", split))


def _param(each: Field[Any]) -> Param:
    parameter, name, split, required = each.metadata[_KEY]
    missing = each.default is MISSING and each.default_factory is MISSING
    default = None if each.default is MISSING else each.default
    return Param(name or each.name, parameter, default, required or missing, split)


def check_declared(owner: str, value: Any) -> None:
    """Raise InputError for the first field of a dataclass that its range does not admit."""
    rules = {each.name: each.metadata[_KEY][0] for each in fields(value)
             if _KEY in each.metadata and not _left_out(each, getattr(value, each.name))}
    check_parameters(owner, rules, {name: getattr(value, name) for name in rules})


def _left_out(each: Field[Any], value: Any) -> bool:
    """Return True for what a study need not say, and for what it says name by name."""
    return isinstance(value, Mapping) or (each.default in (None, (), "") and value == each.default)


def check_study(task: str, params: Sequence[Param], parameters: Mapping[str, Any]) -> None:
    """Refuse, by name, what a task does not have, what is out of range, and what is missing."""
    for name, value in parameters.items():
        param = _named(task, params, name)
        rule, advice = param.declared.rule, param.declared.advice
        if not rule.admits(value):
            raise StudyError(explain(f"Parameter '{name}' of task '{task}'", rule.allowed(), value,
                                     advice))
    for param in params:
        if param.required and PLACE not in param.name and param.name not in parameters:
            raise StudyError(f"Task '{task}' needs parameter '{param.name}', "
                             f"{param.declared.help}. Add --set {param.name}=VALUE.")


def _named(task: str, params: Sequence[Param], name: str) -> Param:
    """Return the parameter of a name; whole names come before those with a place."""
    for param in sorted(params, key=lambda param: (PLACE in param.name, -len(param.name))):
        if param.about(name) is not None:
            return param
    known = [param.name for param in params]
    raise StudyError(f"Task '{task}' has no parameter '{name}'.{near(name, known)} It has "
                     + ", ".join(known) + ".")


class TaskSettings:
    """What a study says, in one frozen dataclass per task folder."""

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> Self:
        """Return the settings of a study whose parameters were checked; lists become tuples."""
        values: dict[str, Any] = {}
        for each in fields(cls):  # type: ignore[arg-type]
            if _KEY in each.metadata:
                values |= _values(each, parameters, declared(cls))
        make: Callable[..., Self] = cls
        return as_study(lambda: make(**values))

    def part(self, cls: type[T]) -> T:
        """Return the object of a class whose fields these settings have."""
        return cls(**{each.name: getattr(self, each.name)
                      for each in fields(cls)})  # type: ignore[arg-type]


def _values(each: Field[Any], parameters: Mapping[str, Any],
            params: Iterable[Param]) -> dict[str, Any]:
    """Return what a study says about a field, by its name, or nothing."""
    param = _param(each)
    if PLACE not in param.name:
        # Both splits may have one name: what only the other one admits is not for this field.
        here = param.name in parameters and not (
            param.split and not param.declared.rule.admits(parameters[param.name]))
        return {each.name: _frozen(parameters[param.name])} if here else {}
    others = [other for other in params if len(other.name) > len(param.name) or (
        PLACE not in other.name)]
    return {each.name: {param.about(name): _frozen(value) for name, value in parameters.items()
                        if param.about(name) and all(o.about(name) is None for o in others)}}


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def as_study(make: Callable[[], T]) -> T:
    """Return what a function makes; its refusals become those of a study."""
    try:
        return make()
    except StudyError:
        raise
    except (InputError, TypeError) as error:
        raise StudyError(str(error)) from None


def near(name: str, known: Sequence[str]) -> str:
    """Return a hint at the name that was probably meant."""
    close = difflib.get_close_matches(name, known, 1)
    return f" Did you mean '{close[0]}'?" if close else ""
