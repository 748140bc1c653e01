"""Parameter ranges declared as data, so that every method refuses in the same words."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from unspoken.errors import InputError, explain
from unspoken.release.lazy_imports import resolve
from unspoken.table.formats.header_names import unknown_name


class Rule(Protocol):
    """What a parameter may be."""

    def allowed(self) -> str:
        """Return what is allowed, in words."""

    def admits(self, value: Any) -> bool:
        """Return True if the value is allowed."""


@dataclass(frozen=True)
class OneOf:
    """One of a few values."""

    values: tuple[Any, ...]

    def allowed(self) -> str:
        """Return what is allowed, in words."""
        return "one of " + ", ".join(repr(value) for value in self.values)

    def admits(self, value: Any) -> bool:
        """Return True if the value is allowed."""
        return any(value is known or (type(value) is type(known) and value == known)
                   for known in self.values)


YES_NO = OneOf((True, False))
OTHERS = OneOf(("refuse", "keep", "drop"))
"""What happens to columns that a method has nothing to do with."""


@dataclass(frozen=True)
class Whole:
    """A whole number from a least value on."""

    least: int

    def allowed(self) -> str:
        """Return what is allowed, in words."""
        return f"an int >= {self.least}"

    def admits(self, value: Any) -> bool:
        """Return True if the value is allowed."""
        whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
        return whole and int(value) >= self.least


def as_float(value: Any) -> float:
    """Return a number as a float; one that no float can hold is NaN, which no range admits."""
    try:
        return float(value)
    except OverflowError:
        return math.nan


@dataclass(frozen=True)
class Real:
    """A finite number inside an open interval."""

    above: float
    below: float = float("inf")

    def allowed(self) -> str:
        """Return what is allowed, in words."""
        return f"a number above {self.above:g} and below {self.below:g}"

    def admits(self, value: Any) -> bool:
        """Return True if the value is allowed."""
        real = isinstance(value, numbers.Real) and not isinstance(value, bool)
        return real and self.above < as_float(value) < self.below


@dataclass(frozen=True)
class Some:
    """A non-empty sequence of known names."""

    values: tuple[str, ...]

    def allowed(self) -> str:
        """Return what is allowed, in words."""
        return "a non-empty sequence out of " + ", ".join(self.values)

    def admits(self, value: Any) -> bool:
        """Return True if the value is allowed."""
        listed = isinstance(value, Sequence) and not isinstance(value, str) and len(value) > 0
        return listed and all(name in self.values for name in value)


@dataclass(frozen=True)
class KeyIn:
    """One of the names in a table that stands elsewhere, at "module:NAME"."""

    place: str

    @property
    def values(self) -> tuple[str, ...]:
        """Return the names."""
        return tuple(resolve(self.place))

    def allowed(self) -> str:
        """Return what is allowed, in words."""
        return OneOf(self.values).allowed()

    def admits(self, value: Any) -> bool:
        """Return True if the value is allowed."""
        return OneOf(self.values).admits(value)


@dataclass(frozen=True)
class KeysIn(KeyIn):
    """A non-empty sequence of such names."""

    def allowed(self) -> str:
        """Return what is allowed, in words."""
        return Some(self.values).allowed()

    def admits(self, value: Any) -> bool:
        """Return True if the value is allowed."""
        return Some(self.values).admits(value)


class OrNone:
    """None, or what one of some rules admits."""

    def __init__(self, *rules: Rule) -> None:
        self.rules = rules

    def allowed(self) -> str:
        """Return what is allowed, in words."""
        return " or ".join(["None", *(rule.allowed() for rule in self.rules)])

    def admits(self, value: Any) -> bool:
        """Return True if the value is allowed."""
        return value is None or any(rule.admits(value) for rule in self.rules)


@dataclass(frozen=True)
class NotNegative:
    """A finite number from 0 on."""

    def allowed(self) -> str:
        """Return what is allowed, in words."""
        return "a number >= 0"

    def admits(self, value: Any) -> bool:
        """Return True if the value is allowed."""
        real = isinstance(value, numbers.Real) and not isinstance(value, bool)
        return real and 0 <= as_float(value) < float("inf")


@dataclass(frozen=True)
class Share:
    """A share: 0 is allowed, 1 is not."""

    def allowed(self) -> str:
        """Return what is allowed, in words."""
        return "a number from 0 to below 1"

    def admits(self, value: Any) -> bool:
        """Return True if the value is allowed."""
        return not isinstance(value, bool) and isinstance(value, int | float) and 0 <= value < 1


@dataclass(frozen=True)
class Names:
    """Nothing, or a sequence of column names."""

    def allowed(self) -> str:
        """Return what is allowed, in words."""
        return "None or a non-empty list of column names"

    def admits(self, value: Any) -> bool:
        """Return True if the value is allowed."""
        listed = isinstance(value, Sequence) and not isinstance(value, str) and len(value) > 0
        return value is None or (listed and all(isinstance(name, str) for name in value))

    def columns_in(self, value: Any) -> tuple[str, ...]:
        """Return the columns that a value names."""
        return tuple(value or ())


@dataclass(frozen=True)
class PerColumn:
    """One value for all columns, or a mapping from column names to values."""

    rule: Rule
    none: bool = False
    single: bool = True

    def allowed(self) -> str:
        """Return what is allowed, in words."""
        parts = ["None"] * self.none + [self.rule.allowed()] * self.single
        return " or ".join([*parts, f"a mapping from column to {self.rule.allowed()}"])

    def admits(self, value: Any) -> bool:
        """Return True if the value is allowed."""
        if isinstance(value, Mapping):
            return all(isinstance(n, str) and self.rule.admits(v) for n, v in value.items())
        return (value is None and self.none) or (self.single and self.rule.admits(value))

    def columns_in(self, value: Any) -> tuple[str, ...]:
        """Return the columns that a value names."""
        return tuple(value) if isinstance(value, Mapping) else ()


@dataclass(frozen=True)
class Text:
    """A text."""

    def allowed(self) -> str:
        """Return what is allowed, in words."""
        return "a column name"

    def admits(self, value: Any) -> bool:
        """Return True if the value is allowed."""
        return isinstance(value, str)


@dataclass(frozen=True)
class Range:
    """A pair of finite numbers, the first below the second."""

    def allowed(self) -> str:
        """Return what is allowed, in words."""
        return "a pair (low, high) of finite numbers"

    def admits(self, value: Any) -> bool:
        """Return True if the value is allowed."""
        try:
            low, high = (float(end) for end in value)
        except (TypeError, ValueError, OverflowError):
            return False
        return math.isfinite(low) and math.isfinite(high) and low < high


@dataclass(frozen=True)
class Parameter:
    """One parameter of a release method, declared once for the class and the command line.

    `help` continues the name; `advice` is what a refusal adds. `flag` is an option of its own on
    the command line, beside `--option NAME=VALUE`; `switch` is what a flag without a value sets.
    The default is that of the class.
    """

    rule: Rule
    help: str
    advice: str = ""
    flag: str = ""
    switch: bool | None = None


SHUFFLE = Parameter(YES_NO, "release the rows in a random order", flag="--no-shuffle", switch=False)
"""Every release of records has it: an order that everybody knows names everybody."""


def check(owner: str, rules: Mapping[str, tuple[Rule, str]], values: Mapping[str, Any]) -> None:
    """Raise InputError for the first value that its rule does not admit."""
    for name, (rule, advice) in rules.items():
        if not rule.admits(values[name]):
            raise InputError(explain(f"{owner}: '{name}'", rule.allowed(), values[name], advice))


def check_parameters(owner: str, parameters: Mapping[str, Parameter],
                     values: Mapping[str, Any]) -> None:
    """Raise InputError for the first parameter of a method that its rule does not admit."""
    check(owner, {name: (one.rule, one.advice) for name, one in parameters.items()}, values)


def check_columns(owner: str, rules: Mapping[str, Rule], values: Mapping[str, Any],
                  names: Sequence[str]) -> None:
    """Raise InputError for a parameter that names a column which is not there: it did nothing."""
    for parameter, rule in rules.items():
        columns_in = getattr(rule, "columns_in", lambda value: ())
        for name in columns_in(values.get(parameter)):
            if name not in names:
                raise InputError(f"{owner}: '{parameter}' names a column that is not there. "
                                 f"{unknown_name(name, names)}")
