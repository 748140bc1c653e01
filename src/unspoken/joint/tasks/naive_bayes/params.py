"""What everybody knows before naive Bayes begins: columns, classes, smoothing, who learns what.

A column has categories, or numbers in an agreed range; values outside of it are refused where
they are, so that no range of real data has to be disclosed. Numbers travel as
z = (x - middle) / half the range, between -1 and 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.errors import DataError, InputError, explain
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.tasks.common.column_checks import all_there, numbers, one_length
from unspoken.joint.tasks.common.noise_in_parts import NoiseSettings
from unspoken.joint.tasks.common.study_parameters import EXPECTED_PARAM, about_known, one_kind
from unspoken.joint.tasks.param_rules import (
    Between,
    Each,
    Either,
    Flag,
    Numbers,
    OneWord,
    Word,
    Words,
)
from unspoken.joint.tasks.task_params import agreed, as_study, check_declared
from unspoken.joint.tasks.tree.params import Attribute
from unspoken.release.parameters import OneOf, Real, Whole

ALPHA_BITS = 10
MOST = 1 << 20
FARTHEST = 1e100
"""Scaling ranges beyond leaves what floats have room for."""
EXPECTED = 10_000
KINDS = ("categories", "range")
TARGET = agreed(Word(), "the column of the class")
CLASSES = agreed(Words("a list of two or more different texts", 2), "all classes")
CATEGORIES = agreed(Words("a list of different texts", empty=True),
                    'all categories of a column; "" is a missing value', name="categories.NAME",
                    split="rows")
RANGE = agreed(Numbers("[lowest, highest]", (2,)), "the range of a number, which no value may "
               "leave; with epsilon values are clamped to it", name="range.NAME", split="rows")
COLUMNS = agreed(Words(), "the columns that count", split="rows", required=True)
CLASS_SITE = agreed(Word("an owner's name"), "the owner that has the class", split="columns",
                    required=True)


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
    bits : int, default 0
        The precision of opened ratios, 8 to 28; 0 is as fine as the size of each class allows
        without giving counts away.
    receivers : tuple of str, default ()
        Who learns the model.
    """

    alpha: float = field(default=1.0, metadata=agreed(
        Real(0.0, 1025.0), "added to every count, as in scikit-learn",
        "1 is Laplace's smoothing."))
    var_smoothing: float = field(default=1e-9, metadata=agreed(
        Real(-1e-300, 1.0), "the part of the largest variance that is added to all",
        "Use 1e-9, as scikit-learn does."))
    most: int = field(default=MOST, metadata=agreed(
        Between(1, MOST), "a public bound on all records", split="rows"))
    least: int = field(default=3, metadata=agreed(
        Whole(0), "fewer records of a class at an owner are refused where there are numbers",
        "Use 3: two values follow from their mean and variance.", split="rows"))
    reveal: str = field(default="ratios", metadata=agreed(
        OneOf(("ratios", "sums")), "what is opened; sums are for three owners or more",
        "'ratios' opens less.", split="rows"))
    bits: int = field(default=0, metadata=agreed(
        Either((Between(0, 0), Between(8, 28))), "fractional bits of opened quotients; 0: as many "
        "as the size of each class allows", "Use 0: fine quotients give counts away.",
        split="rows"))
    receivers: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what cannot be computed."""
        check_declared("naive Bayes", self)
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


@dataclass(frozen=True, kw_only=True)
class BayesSettings(NoiseSettings, BayesParams):
    """What a study of naive Bayes says."""

    target: str = field(metadata=TARGET)
    classes: tuple[str, ...] = field(metadata=CLASSES)
    columns: tuple[str, ...] = field(default=(), metadata=COLUMNS)
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict, metadata=CATEGORIES)
    range: Mapping[str, tuple[float, ...]] = field(default_factory=dict, metadata=RANGE)
    class_site: str = field(default="", metadata=CLASS_SITE)
    class_known: bool = field(default=False, metadata=agreed(
        Flag(), "all files have the class; only scores are shared", split="columns"))
    expected: int = field(default=EXPECTED, metadata=EXPECTED_PARAM)
    sites: Mapping[str, tuple[Any, ...]] = field(default_factory=dict, metadata=agreed(
        Each('a list of numbers of categories, or "number", such as [3, 2, "number"]',
             (Between(1, 4096), OneWord(("number",)))),
        "the columns of owner NAME: how many categories each has",
        "A name that is no parameter is taken for an owner.", name="NAME", split="columns"))

    def __post_init__(self) -> None:
        """Refuse what cannot be computed, and noise on what is not opened."""
        super().__post_init__()
        self.check_noise()
        if self.epsilon is not None and self.reveal != "sums":
            raise StudyError("With 'epsilon' noisy counts and sums are opened, and never ratios of "
                             "exact ones. Add --set reveal=sums.")


@dataclass(frozen=True)
class Numeric:
    """A column of numbers in an agreed range; with `clamp` values beyond it count as its ends."""

    name: str
    low: float
    high: float
    clamp: bool = False

    def __post_init__(self) -> None:
        ends = (self.low, self.high)
        if not self.name or not np.isfinite(ends).all() or self.low >= self.high \
                or max(map(abs, ends)) > FARTHEST or self.high - self.low < 1 / FARTHEST:
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
        if self.clamp:
            return np.clip(column, self.low, self.high)
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


def layout_of(parameters: Mapping[str, Any]) -> BayesLayout:
    """Return the columns and classes of a study over rows."""
    names, classes = tuple(parameters["columns"]), tuple(parameters["classes"])
    layout = as_study(lambda: BayesLayout(tuple(_column(parameters, name) for name in names),
                                          classes, parameters["target"]))
    about_known(parameters, names, "columns")
    return layout


def _column(parameters: Mapping[str, Any], name: str) -> Attribute | Numeric:
    if one_kind(parameters, name, KINDS, "Column") == "categories":
        return Attribute(name, tuple(c or None for c in parameters[f"categories.{name}"]))
    low, high = map(float, parameters[f"range.{name}"])
    # With noise a refusal would tell that somebody lies outside.
    return Numeric(name, low, high, clamp="epsilon" in parameters)


def rules_of(parameters: Mapping[str, Any], receivers: tuple[str, ...] = ()) -> BayesParams:
    """Return smoothing, bounds and what is opened."""
    return replace(BayesSettings.of(parameters).part(BayesParams), receivers=receivers)
