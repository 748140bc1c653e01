"""What parameters of studies may be, beside the ranges that release methods have."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from unspoken.release.parameters import Rule


@dataclass(frozen=True)
class Between:
    """A whole number between two, both allowed."""

    least: int
    most: int

    def allowed(self) -> str:
        """Return what is allowed, in words."""
        return f"an int from {self.least} to {self.most}"

    def admits(self, value: Any) -> bool:
        """Return True if the value is allowed."""
        return isinstance(value, int) and not isinstance(value, bool) \
            and self.least <= value <= self.most


@dataclass(frozen=True)
class RealBetween:
    """A number between two, both allowed."""

    least: float
    most: float

    def allowed(self) -> str:
        """Return what is allowed, in words."""
        return f"a number from {self.least:g} to {self.most:g}"

    def admits(self, value: Any) -> bool:
        """Return True if the value is allowed."""
        return is_number(value) and self.least <= value <= self.most


@dataclass(frozen=True)
class AboveZero:
    """A number above zero, up to another."""

    most: float

    def allowed(self) -> str:
        """Return what is allowed, in words."""
        return f"a number above 0 and up to {self.most:g}"

    def admits(self, value: Any) -> bool:
        """Return True if the value is allowed."""
        return is_number(value) and 0 < value <= self.most


@dataclass(frozen=True)
class Flag:
    """True or false."""

    def allowed(self) -> str:
        """Return what is allowed, in words."""
        return "true or false"

    def admits(self, value: Any) -> bool:
        """Return True if the value is allowed."""
        return isinstance(value, bool)


@dataclass(frozen=True)
class Word:
    """A text that is not empty."""

    what: str = "a column's name"

    def allowed(self) -> str:
        """Return what is allowed, in words."""
        return self.what

    def admits(self, value: Any) -> bool:
        """Return True if the value is allowed."""
        return isinstance(value, str) and bool(value)


@dataclass(frozen=True)
class OneWord:
    """One of a few words."""

    words: tuple[str, ...]

    def allowed(self) -> str:
        """Return what is allowed, in words."""
        return "one of " + ", ".join(self.words)

    def admits(self, value: Any) -> bool:
        """Return True if the value is allowed."""
        return isinstance(value, str) and value in self.words


@dataclass(frozen=True)
class Words:
    """A list of different texts; `empty`: a text of the list may be empty."""

    what: str = "a list of different columns"
    least: int = 1
    empty: bool = False

    def allowed(self) -> str:
        """Return what is allowed, in words."""
        return self.what

    def admits(self, value: Any) -> bool:
        """Return True if the value is allowed."""
        return is_list(value) and len(value) >= self.least and all(
            isinstance(word, str) and (word or self.empty) for word in value) \
            and len(set(value)) == len(value)


@dataclass(frozen=True)
class Numbers:
    """A list of finite numbers, of some lengths or of any."""

    what: str = "a list of numbers"
    lengths: tuple[int, ...] = ()

    def allowed(self) -> str:
        """Return what is allowed, in words."""
        return self.what

    def admits(self, value: Any) -> bool:
        """Return True if the value is allowed."""
        return is_list(value) and len(value) > 0 and all(map(is_number, value)) \
            and (not self.lengths or len(value) in self.lengths)


@dataclass(frozen=True)
class Increasing:
    """A list of increasing numbers, of at least two."""

    most: int

    def allowed(self) -> str:
        """Return what is allowed, in words."""
        return "two increasing numbers" if self.most == 2 else "a list of increasing numbers"

    def admits(self, value: Any) -> bool:
        """Return True if the value is allowed."""
        return is_list(value) and 2 <= len(value) <= self.most and all(map(is_number, value)) \
            and all(a < b for a, b in itertools.pairwise(value)) \
            and math.isfinite(float(value[-1]) - float(value[0]))


@dataclass(frozen=True)
class Each:
    """A list whose every entry one of some rules admits."""

    what: str
    rules: tuple[Rule, ...]

    def allowed(self) -> str:
        """Return what is allowed, in words."""
        return self.what

    def admits(self, value: Any) -> bool:
        """Return True if the value is allowed."""
        return is_list(value) and len(value) > 0 and all(
            any(rule.admits(entry) for rule in self.rules) for entry in value)


@dataclass(frozen=True)
class Either:
    """What one of some rules admits."""

    rules: tuple[Rule, ...]

    def allowed(self) -> str:
        """Return what is allowed, in words."""
        return " or ".join(rule.allowed() for rule in self.rules)

    def admits(self, value: Any) -> bool:
        """Return True if the value is allowed."""
        return any(rule.admits(value) for rule in self.rules)


def is_number(value: Any) -> bool:
    """Return True for a finite number that floats have room for."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def is_list(value: Any) -> bool:
    """Return True for a list as a study has it, or the tuple that it becomes."""
    return isinstance(value, Sequence) and not isinstance(value, str)
