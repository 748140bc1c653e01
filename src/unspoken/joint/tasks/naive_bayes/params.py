"""What everybody knows before naive Bayes begins: columns, classes, smoothing, who learns what.

A column has categories, or numbers in an agreed range; values outside of it are refused where
they are, so that no range of real data has to be disclosed. Numbers travel as
z = (x - middle) / half the range, between -1 and 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.errors import DataError, InputError, explain
from unspoken.joint.tasks.common.column_checks import all_there, numbers, one_length
from unspoken.joint.tasks.tree.params import Attribute
from unspoken.release.parameters import OneOf, Real, Rule, Whole, check

ALPHA_BITS = 10
MOST = 1 << 20
_RULES: dict[str, tuple[Rule, str]] = {
    "alpha": (Real(0.0, 1025.0), "1 is Laplace's smoothing."),
    "var_smoothing": (Real(-1e-300, 1.0), "Use 1e-9, as scikit-learn does."),
    "most": (Whole(1), f"It is a public bound on all records, at most {MOST:,}."),
    "least": (Whole(0), "Use 3: two values follow from their mean and variance."),
    "reveal": (OneOf(("ratios", "sums")), "'ratios' opens less."),
    "bits": (Whole(8), "Use 20.")}


@dataclass(frozen=True)
class BayesParams:
    """Smoothing, bounds, and what is opened to whom (all if nobody is named).

    Attributes
    ----------
    alpha : float, default 1.0
        Smoothing of categories, rounded to 1/1024; 1 is Laplace's.
    var_smoothing : float, default 1e-9
        Smoothing of variances, as in scikit-learn.
    most : int, default 2**20
        A public bound on the number of all records.
    least : int, default 3
        With numbers, an owner with fewer records of a class, but some, refuses to take part.
    reveal : {'ratios', 'sums'}, default 'ratios'
        What is opened; 'ratios' opens less.
    bits : int, default 20
        The precision of opened ratios, at most 28.
    receivers : tuple of str, default ()
        Who learns the model.
    """

    alpha: float = 1.0
    var_smoothing: float = 1e-9
    most: int = MOST
    least: int = 3
    reveal: str = "ratios"
    bits: int = 20
    receivers: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what cannot be computed."""
        check("naive Bayes", _RULES, vars(self))
        if self.most > MOST or self.bits > 28:
            raise InputError(explain("'most' and 'bits' of naive Bayes", f"at most {MOST:,} and 28",
                                     f"{self.most:,} and {self.bits}"))
        if self.units < 1:
            raise InputError(explain("'alpha' of naive Bayes", "at least 1/1024", self.alpha))

    @property
    def units(self) -> int:
        """Return alpha in units of 2^-10."""
        return round(self.alpha * (1 << ALPHA_BITS))

    @property
    def smoothing(self) -> float:
        """Return alpha as it is used."""
        return self.units / (1 << ALPHA_BITS)


@dataclass(frozen=True)
class Numeric:
    """A column of numbers in an agreed range."""

    name: str
    low: float
    high: float

    def __post_init__(self) -> None:
        if not self.name or not np.isfinite([self.low, self.high]).all() or self.low >= self.high:
            raise InputError(explain(f"The range of '{self.name}'", "two finite numbers, the lower "
                                     "first", f"{self.low} and {self.high}"))

    @property
    def middle(self) -> float:
        """Return the middle of the range."""
        return (self.low + self.high) / 2

    @property
    def half(self) -> float:
        """Return half the length of the range."""
        return (self.high - self.low) / 2

    def scaled(self, values: Any) -> Floats:
        """Return numbers between -1 and 1."""
        column = self.checked(values)
        return np.asarray(np.clip((column - self.middle) / self.half, -1.0, 1.0))

    def checked(self, values: Any) -> Floats:
        """Return numbers as they are; what lies outside the range or is missing is refused."""
        column = numbers(self.name, values)
        if column.size and (column.min() < self.low or column.max() > self.high):
            raise DataError(f"Column '{self.name}' must stay in the agreed range, {self.low:g} to "
                            f"{self.high:g}. Some rows do not. Agree on a wider one.")
        return column


@dataclass(frozen=True)
class Given:
    """Coded rows: categories (columns, rows), numbers (columns, rows), classes (rows)."""

    codes: Ints
    numbers: Floats
    labels: Ints

    @property
    def rows(self) -> int:
        """Return the number of rows."""
        return int(self.codes.shape[1])


@dataclass(frozen=True)
class BayesLayout:
    """Columns and classes in the order that everybody uses.

    Attributes
    ----------
    columns : tuple of Attribute or Numeric
        Columns of categories, or of numbers in an agreed range.
    classes : tuple of str
        The classes, two or more, in the order that everybody uses.
    target : str, default 'class'
        The name of the class column.
    """

    columns: tuple[Attribute | Numeric, ...]
    classes: tuple[str, ...]
    target: str = "class"

    def __post_init__(self) -> None:
        names = [column.name for column in self.columns]
        if not names or len(set(names)) != len(names) or self.target in names:
            raise InputError(explain("Columns", "one or more, of different names, without the "
                                     f"class '{self.target}'", ", ".join(names) or "none"))
        if len(self.classes) < 2 or len(set(self.classes)) != len(self.classes):
            raise InputError(explain("Classes", "two or more different texts", self.classes))
        if any(isinstance(c, Attribute) and c.cuts for c in self.columns):
            raise InputError("Columns of naive Bayes have categories or a range, not cut points.")

    @cached_property
    def nominal(self) -> tuple[Attribute, ...]:
        """Return the columns of categories."""
        return tuple(c for c in self.columns if isinstance(c, Attribute))

    @cached_property
    def numeric(self) -> tuple[Numeric, ...]:
        """Return the columns of numbers."""
        return tuple(c for c in self.columns if isinstance(c, Numeric))

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Return how many categories each nominal column has."""
        return tuple(c.cells for c in self.nominal)

    def records(self, columns: Mapping[str, Any]) -> Given:
        """Return records without a class; all columns must be there."""
        all_there((c.name for c in self.columns), columns)
        codes = [c.code(columns[c.name]) for c in self.nominal]
        scaled = [c.scaled(columns[c.name]) for c in self.numeric]
        one_length((*codes, *scaled))
        rows = len((*codes, *scaled)[0])
        return Given(np.array(codes, np.int64).reshape(len(codes), rows),
                     np.array(scaled, np.float64).reshape(len(scaled), rows),
                     np.zeros(rows, np.int64))

    def rows(self, columns: Mapping[str, Any]) -> Given:
        """Return coded rows with their classes."""
        if self.target not in columns:
            raise DataError(explain("The columns", f"such that the class '{self.target}' is there",
                                    ", ".join(map(str, columns))))
        coded = self.records(columns)
        labels = Attribute(self.target, self.classes).code(columns[self.target])
        if labels.size != coded.rows:
            raise DataError(explain("Columns", "of one length", "several"))
        return Given(coded.codes, coded.numbers, labels)


def one_hot(codes: Ints, sizes: tuple[int, ...]) -> Ints:
    """Return (rows, all categories): 1 in each column's place of a row's category."""
    starts = np.cumsum([0, *sizes])
    out = np.zeros((codes.shape[1], int(starts[-1])), np.int64)
    for column, start in zip(codes, starts, strict=False):
        out[np.arange(column.size), start + column] = 1
    return out


def class_counts(coded: Given, layout: BayesLayout) -> Ints:
    """Return (1 + all categories, classes): the records of each class, and of each category."""
    kinds = len(layout.classes)
    parts = [np.bincount(coded.labels, minlength=kinds)]
    parts += [np.bincount(column * kinds + coded.labels, minlength=size * kinds)
              for column, size in zip(coded.codes, layout.sizes, strict=True)]
    return np.concatenate(parts).reshape(-1, kinds)


def class_sums(coded: Given, layout: BayesLayout) -> Floats:
    """Return (2 columns, classes): sums of numbers by class, then sums of their squares."""
    classes = one_hot(coded.labels[None], (len(layout.classes),)).astype(np.float64)
    both = np.vstack([coded.numbers, coded.numbers**2])
    return np.asarray(both @ classes)
