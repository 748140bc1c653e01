"""Parameter ranges declared as data, so that every method refuses in the same words."""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from unspoken.errors import InputError, explain


class Rule(Protocol):
    """What a parameter may be."""

    def allowed(self) -> str:
        """Say what is allowed."""

    def admits(self, value: Any) -> bool:
        """Say whether a value is allowed."""


@dataclass(frozen=True)
class OneOf:
    """One of a few values."""

    values: tuple[Any, ...]

    def allowed(self) -> str:
        """Say what is allowed."""
        return "one of " + ", ".join(repr(value) for value in self.values)

    def admits(self, value: Any) -> bool:
        """Say whether a value is allowed."""
        return any(value is known or (type(value) is type(known) and value == known)
                   for known in self.values)


@dataclass(frozen=True)
class Whole:
    """A whole number from a least value on."""

    least: int

    def allowed(self) -> str:
        """Say what is allowed."""
        return f"an int >= {self.least}"

    def admits(self, value: Any) -> bool:
        """Say whether a value is allowed."""
        whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
        return whole and int(value) >= self.least


@dataclass(frozen=True)
class Real:
    """A finite number inside an open interval."""

    above: float
    below: float = float("inf")

    def allowed(self) -> str:
        """Say what is allowed."""
        return f"a number above {self.above:g} and below {self.below:g}"

    def admits(self, value: Any) -> bool:
        """Say whether a value is allowed."""
        real = isinstance(value, numbers.Real) and not isinstance(value, bool)
        return real and self.above < float(value) < self.below


@dataclass(frozen=True)
class Some:
    """A non-empty sequence of known names."""

    values: tuple[str, ...]

    def allowed(self) -> str:
        """Say what is allowed."""
        return "a non-empty sequence out of " + ", ".join(self.values)

    def admits(self, value: Any) -> bool:
        """Say whether a value is allowed."""
        listed = isinstance(value, Sequence) and not isinstance(value, str) and len(value) > 0
        return listed and all(name in self.values for name in value)


class OrNone:
    """None, or what one of some rules admits."""

    def __init__(self, *rules: Rule) -> None:
        self.rules = rules

    def allowed(self) -> str:
        """Say what is allowed."""
        return " or ".join(["None", *(rule.allowed() for rule in self.rules)])

    def admits(self, value: Any) -> bool:
        """Say whether a value is allowed."""
        return value is None or any(rule.admits(value) for rule in self.rules)


def check(owner: str, rules: Mapping[str, tuple[Rule, str]], values: Mapping[str, Any]) -> None:
    """Raise InputError for the first value that its rule does not admit."""
    for name, (rule, advice) in rules.items():
        if not rule.admits(values[name]):
            raise InputError(explain(f"{owner}: '{name}'", rule.allowed(), values[name], advice))
