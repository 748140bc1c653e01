"""Conditions on records: comparisons of columns with constants, in-lists, and, or, not.

    column("age") > 30
    (column("sex") == "F") & ~column("city").isin(["A", "B"])
    column("income").missing()

They are plain data. Nothing is ever evaluated as code, and their size is bounded. A comparison
with a missing value is false, and its `not` is true: there are two truth values, not three.
`str` writes a condition in the language that `parse` reads.
"""

from __future__ import annotations

import datetime
import math
import numbers
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from unspoken.errors import InputError, explain

Constant = int | float | str | bool
SIGNS = ("=", "!=", "<", "<=", ">", ">=")
WORDS = ("and", "or", "not", "in", "is", "missing", "true", "false")
MAX_NODES, MAX_DEPTH, MAX_TEXT = 500, 50, 10_000
_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


class Predicate(ABC):
    """A condition that each record meets or not."""

    @property
    @abstractmethod
    def parts(self) -> tuple[Predicate, ...]:
        """Return the conditions that this one is made of."""

    @property
    def columns(self) -> frozenset[str]:
        """Return the columns that it looks at."""
        return frozenset().union(*(part.columns for part in self.parts))

    @property
    def nodes(self) -> int:
        """Return how many conditions and constants it holds."""
        return 1 + sum(part.nodes for part in self.parts)

    @property
    def depth(self) -> int:
        """Return how deep conditions are nested."""
        return 1 + max((part.depth for part in self.parts), default=0)

    def __and__(self, other: Predicate) -> Predicate:
        return bounded(All(conjuncts(self) + conjuncts(_predicate(other))))

    def __or__(self, other: Predicate) -> Predicate:
        mine = self.parts if isinstance(self, Some) else (self,)
        return bounded(Some((*mine, _predicate(other))))

    def __invert__(self) -> Predicate:
        return bounded(Not(self))

    def __bool__(self) -> bool:
        raise InputError("A condition has no truth value of its own. "
                         "Join conditions with & | ~ and parentheses, not with and, or, not.")


@dataclass(frozen=True)
class OfColumn(Predicate):
    """A condition on one column, made of no others."""

    name: str

    @property
    def parts(self) -> tuple[Predicate, ...]:
        """Return nothing: this is a whole."""
        return ()

    @property
    def columns(self) -> frozenset[str]:
        """Return the column."""
        return frozenset([self.name])


@dataclass(frozen=True)
class Compare(OfColumn):
    """A column against a constant."""

    sign: str
    value: Constant

    def __str__(self) -> str:
        return f"{spell(self.name)} {self.sign} {_constant_text(self.value)}"


@dataclass(frozen=True)
class Among(OfColumn):
    """A column that holds one of some constants."""

    values: tuple[Constant, ...]

    @property
    def nodes(self) -> int:
        """Return how many constants it holds, and itself."""
        return 1 + len(self.values)

    def __str__(self) -> str:
        listed = ", ".join(_constant_text(value) for value in self.values)
        return f"{spell(self.name)} in ({listed})"


@dataclass(frozen=True)
class Missing(OfColumn):
    """A column without a value."""

    def __str__(self) -> str:
        return f"{spell(self.name)} is missing"


@dataclass(frozen=True)
class Not(Predicate):
    """The opposite of a condition."""

    part: Predicate

    @property
    def parts(self) -> tuple[Predicate, ...]:
        """Return the condition."""
        return (self.part,)

    def __str__(self) -> str:
        return f"not ({self.part})"


@dataclass(frozen=True)
class All(Predicate):
    """Every one of some conditions."""

    joined: tuple[Predicate, ...]

    @property
    def parts(self) -> tuple[Predicate, ...]:
        """Return the conditions."""
        return self.joined

    def __str__(self) -> str:
        return " and ".join(f"({part})" if isinstance(part, Some) else str(part)
                            for part in self.joined)


@dataclass(frozen=True)
class Some(Predicate):
    """At least one of some conditions."""

    joined: tuple[Predicate, ...]

    @property
    def parts(self) -> tuple[Predicate, ...]:
        """Return the conditions."""
        return self.joined

    def __str__(self) -> str:
        return " or ".join(str(part) for part in self.joined)


class Named:
    """A column, to be compared with constants."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, name: str) -> None:
        if not isinstance(name, str) or not 0 < len(name) <= 500:
            raise InputError(explain("The name of a column", "a text", name))
        self._name = name

    def __eq__(self, value: object) -> Predicate:  # type: ignore[override]
        return Compare(self._name, "=", constant(value))

    def __ne__(self, value: object) -> Predicate:  # type: ignore[override]
        return Compare(self._name, "!=", constant(value))

    def __lt__(self, value: Any) -> Predicate:
        return Compare(self._name, "<", constant(value))

    def __le__(self, value: Any) -> Predicate:
        return Compare(self._name, "<=", constant(value))

    def __gt__(self, value: Any) -> Predicate:
        return Compare(self._name, ">", constant(value))

    def __ge__(self, value: Any) -> Predicate:
        return Compare(self._name, ">=", constant(value))

    def isin(self, values: Iterable[Any]) -> Predicate:
        """Return the condition that the column holds one of some constants."""
        if isinstance(values, str):
            raise InputError(f"isin needs a list of constants. Got {values[:200]!r}.")
        listed = tuple(dict.fromkeys(constant(value) for value in values))
        if not listed:
            raise InputError("isin needs at least one constant. Got none.")
        return bounded(Among(self._name, listed))

    def missing(self) -> Predicate:
        """Return the condition that the column has no value."""
        return Missing(self._name)


def column(name: str) -> Named:
    """Return a column to be compared in the condition of a query.

    Parameters
    ----------
    name : str
        Name of the column.

    Returns
    -------
    Named
        Compare it with constants, and join conditions with `&`, `|` and `~`.

    Examples
    --------
    >>> condition = (column("age") > 30) & column("city").isin(["Bern", "Basel"])
    """
    return Named(name)


def conjuncts(predicate: Predicate) -> tuple[Predicate, ...]:
    """Return the conditions that are joined by `and` at the top."""
    return predicate.parts if isinstance(predicate, All) else (predicate,)


def bounded(predicate: Predicate) -> Predicate:
    """Return the condition, or refuse one that is too large."""
    if predicate.nodes > MAX_NODES or predicate.depth > MAX_DEPTH:
        raise InputError(explain(
            "A condition", f"of at most {MAX_NODES} parts, nested at most {MAX_DEPTH} deep",
            "a larger one", "Ask for less at once."))
    return predicate


def constant(value: object) -> Constant:
    """Return a constant as plain data; dates become their ISO text."""
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, str) and len(value) <= 1000:
        return value
    if type(value).__name__ in ("bool", "bool_"):
        return bool(value)
    if isinstance(value, numbers.Integral) and abs(int(value)) < 2**63:
        return int(value)
    if isinstance(value, numbers.Real) and not isinstance(value, numbers.Integral) \
            and math.isfinite(value):
        return float(value)
    raise InputError(explain("A constant of a condition",
                             "a finite number, a text, a date, true or false",
                             value if isinstance(value, str | float) else type(value).__name__))


def spell(name: str) -> str:
    """Return a column's name as the language writes it."""
    if _BARE.match(name) and name.lower() not in WORDS:
        return name
    return '"' + name.replace('"', '""') + '"'


def _constant_text(value: Constant) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else repr(value)


def _predicate(value: object) -> Predicate:
    if not isinstance(value, Predicate):
        raise InputError("A condition can only be joined with another condition, such as "
                         f"column('age') > 30. Got {type(value).__name__}.")
    return value
