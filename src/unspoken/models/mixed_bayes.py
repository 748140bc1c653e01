"""The pattern MixedBayes: naive Bayes over categories and normal columns (vcz2006 section 4.5).

P(class | record) is proportional to P(class) times the product of P(value | class): shares of
categories, and densities of normal distributions. The book prints n_ac / n_a for a category; the
classifier needs n_ac / n_c. A value that is missing or not known says nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats
from unspoken.models.comparison import (
    Comparison,
    compare_arrays,
    compare_scalars,
    compare_sequences,
    first_difference,
)
from unspoken.models.hostile_json import DEFAULT_LIMITS, Fields, Limits, refuse
from unspoken.models.model import Predictor
from unspoken.models.named_columns import by_name, check_there, count_rows, numbers_of, texts_of
from unspoken.models.tree import check_format
from unspoken.models.tree_text import number

FORMAT = "unspoken-mixed-bayes"
VERSION = 1
LEAST = 1e-300
"""What counts in place of a share or a variance of nothing, where its logarithm is needed."""


@dataclass(frozen=True, eq=False)
class Nominal:
    """A column of categories: one row of shares a class. None stands for a missing value."""

    name: str
    values: tuple[str | None, ...]
    shares: Floats

    def __post_init__(self) -> None:
        """Refuse what are no shares."""
        if self.shares.ndim != 2 or self.shares.shape[1] != len(self.values):
            refuse(f"shares of {self.name}", f"{len(self.values)} for each class",
                   str(self.shares.shape))
        if self.shares.min() < 0 or not np.allclose(self.shares.sum(axis=1), 1.0, atol=1e-6):
            refuse(f"shares of {self.name}", "never negative and one in sum", "others")

    def logs(self, values: Any) -> Floats:
        """Return log P(value | class), one column a class; 0 for what is not known."""
        place = {value: code for code, value in enumerate(self.values)}
        codes = np.array([place.get(text, -1) for text in texts_of(values)], np.int64)
        table = np.log(np.maximum(self.shares.T, LEAST))
        return np.vstack([table, np.zeros(self.shares.shape[0])])[codes]


@dataclass(frozen=True, eq=False)
class Normal:
    """A numeric column: mean and variance of each class."""

    name: str
    means: Floats
    variances: Floats

    def __post_init__(self) -> None:
        """Refuse what are no normal distributions."""
        if self.means.shape != self.variances.shape or self.means.ndim != 1:
            refuse(f"variances of {self.name}", f"{self.means.size} numbers",
                   str(self.variances.shape))
        if self.variances.min() < 0:
            refuse(f"variances of {self.name}", "never negative", "others")

    def logs(self, values: Any) -> Floats:
        """Return the log density of every value, one column a class; 0 where it is missing."""
        numbers = numbers_of(self.name, values)[:, None]
        spread = np.maximum(self.variances, LEAST)
        logs = -0.5 * (np.log(2 * np.pi * spread) + (numbers - self.means) ** 2 / spread)
        return np.asarray(np.where(np.isnan(numbers), 0.0, logs))


Column = Nominal | Normal


@dataclass(frozen=True, eq=False)
class MixedBayes(Predictor):
    """A naive Bayes classifier; `records` is 0 where their number was not opened."""

    format = FORMAT

    target: str
    classes: tuple[str, ...]
    prior: Floats
    columns: tuple[Column, ...]
    records: int = 0

    def __post_init__(self) -> None:
        """Refuse what is no classifier."""
        count = len(self.classes)
        if count < 2 or self.prior.shape != (count,):
            refuse("prior", "one share for each of two or more classes", str(self.prior.shape))
        if self.prior.min() < 0 or not np.isclose(self.prior.sum(), 1.0, atol=1e-6):
            refuse("prior", "a distribution", "others")
        for column in self.columns:
            size = (column.shares.shape[0] if isinstance(column, Nominal) else column.means.size)
            if size != count:
                refuse(f"column {column.name}", f"{count} classes", size)

    @property
    def features(self) -> tuple[str, ...]:
        """Return the names of the columns in order."""
        return tuple(column.name for column in self.columns)

    def log_joint(self, data: Any) -> Floats:
        """Return log P(class, record), one column a class; the data as in `predict`."""
        known = by_name(data, self.features)
        check_there(known, self.features, data)
        rows = count_rows({name: known[name] for name in self.features}, known)
        total = np.repeat(np.log(np.maximum(self.prior, LEAST))[None], rows, axis=0)
        for column in self.columns:
            total += column.logs(known[column.name])
        return total

    def predict_proba(self, data: Any) -> Floats:
        """Return the probability of each class for each record; the data as in `predict`."""
        logs = self.log_joint(data)
        odds = np.exp(logs - logs.max(axis=1, keepdims=True))
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))

    def predict(self, data: Any) -> npt.NDArray[Any]:
        """Return the likeliest class of each record; the first among equals.

        Parameters
        ----------
        data : Table, frame, mapping of columns, or array
            Columns by name in any order; categories as texts. What is missing says nothing.

        Returns
        -------
        numpy.ndarray
            One class per record.
        """
        return np.asarray(np.array(self.classes, object)[self.log_joint(data).argmax(axis=1)])

    def _compare(self, other: MixedBayes) -> Comparison:
        head = first_difference(
            lambda: compare_scalars("target", self.target, other.target),
            lambda: compare_sequences("class", self.classes, other.classes),
            lambda: compare_sequences("column", self.features, other.features),
            lambda: compare_arrays("class", "prior", self.prior, other.prior))
        return head and first_difference(*(
            lambda a=a, b=b: _compare(a, b)
            for a, b in zip(self.columns, other.columns, strict=True)))

    def _lines(self, full: bool) -> list[str]:
        names = ", ".join(f"{c} {p:.1%}" for c, p in zip(self.classes, self.prior, strict=True))
        return [f"naive Bayes of {self.target}: {names}",
                *(line for column in self.columns for line in (
                    _line(column, self.classes), *(_shares(column) if full else ())))]

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready object that `from_json` reads back bit for bit."""
        return {"format": FORMAT, "version": VERSION, "target": self.target,
                "classes": list(self.classes), "prior": self.prior.tolist(),
                "records": self.records, "columns": [_plain(column) for column in self.columns]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], limits: Limits = DEFAULT_LIMITS) -> MixedBayes:
        """Read `to_json`'s object; anything malformed is a ModelError naming the field."""
        fields = Fields(data, limits=limits)
        check_format(fields, FORMAT)
        classes = fields.texts("classes", limits.max_classes)
        columns = tuple(_column(Fields(one, f"columns[{i}]", limits), len(classes), limits)
                        for i, one in enumerate(fields.items("columns", limits.max_features)))
        return cls(fields.text("target"), classes, fields.floats("prior", len(classes)), columns,
                   fields.whole("records", 0, 2**62))


def _compare(one: Column, other: Column) -> Comparison:
    if isinstance(one, Nominal) and isinstance(other, Nominal):
        return first_difference(
            lambda: compare_sequences(f"value of {one.name}", one.values, other.values),
            lambda: compare_arrays(f"{one.name}, class", "shares", one.shares, other.shares))
    if isinstance(one, Normal) and isinstance(other, Normal):
        return first_difference(
            lambda: compare_arrays(f"{one.name}, class", "mean", one.means, other.means),
            lambda: compare_arrays(f"{one.name}, class", "variance", one.variances,
                                   other.variances))
    return Comparison(f"kind of {one.name}: {type(one).__name__} and {type(other).__name__}")


def _line(column: Column, classes: tuple[str, ...]) -> str:
    if isinstance(column, Nominal):
        gaps = np.abs(column.shares[:, None] - column.shares[None]).sum(axis=2) / 2
        return f"{column.name}: {len(column.values)} categories, classes differ by {gaps.max():.3f}"
    each = zip(classes, column.means, np.sqrt(column.variances), strict=True)
    return f"{column.name}: " + ", ".join(f"{c} {m:.5g} ± {s:.3g}" for c, m, s in each)


def _shares(column: Column) -> list[str]:
    """Return the numbers of a column with all their digits, class by class."""
    if isinstance(column, Nominal):
        return [f"  {'missing' if value is None else value}: "
                + ", ".join(number(share, True) for share in shares)
                for value, shares in zip(column.values, column.shares.T, strict=True)]
    return [f"  {name}: " + ", ".join(number(value, True) for value in values)
            for name, values in (("means", column.means), ("variances", column.variances))]


def _plain(column: Column) -> dict[str, Any]:
    if isinstance(column, Nominal):
        return {"name": column.name, "values": list(column.values),
                "shares": column.shares.ravel().tolist()}
    return {"name": column.name, "means": column.means.tolist(),
            "variances": column.variances.tolist()}


def _column(fields: Fields, classes: int, limits: Limits) -> Column:
    name = fields.text("name")
    if "values" not in fields.data:
        return Normal(name, fields.floats("means", classes), fields.floats("variances", classes))
    values = tuple(fields.items("values", limits.max_classes))
    if not values or any(v is not None and not isinstance(v, str) for v in values):
        refuse(fields.at("values"), "texts or null", "others")
    shares = fields.floats("shares", classes * len(values)).reshape(classes, -1)
    return Nominal(name, values, shares)
