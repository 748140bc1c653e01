"""The pattern NaiveBayes: shares of intervals or categories by class (vcz2006 section 4.5.1).

P(class | record) is proportional to P(class) times the product of P(interval | class) over the
columns; the book prints n_ac / n_a for the last, the classifier needs n_ac / n_c. Attributes are
taken to be independent given the class. A value that is missing says nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats, Ints
from unspoken.errors import DataError
from unspoken.models.comparison import (
    Comparison,
    compare_arrays,
    compare_sequences,
    first_difference,
)
from unspoken.models.hostile_json import DEFAULT_LIMITS, Fields, Limits, refuse
from unspoken.models.labels import Label, label_array
from unspoken.models.model import Predictor
from unspoken.models.named_columns import check_there, count_rows, named, numbers_of, values_of
from unspoken.models.tree import check_format
from unspoken.models.tree_text import number

FORMAT = "unspoken-naive-bayes"
VERSION = 1


@dataclass(frozen=True, eq=False)
class Likelihood:
    """One column: the edges of its intervals and their shares, one row a class.

    `values` names the categories of a column that has some; their codes 0, 1, ... lie in the
    middle of intervals of width one.
    """

    name: str
    edges: Floats
    shares: Floats
    values: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what are no shares of intervals."""
        size = self.edges.size - 1
        if size < 1 or np.any(np.diff(self.edges) <= 0):
            refuse(f"edges of {self.name}", "two or more increasing numbers", "others")
        if self.shares.ndim != 2 or self.shares.shape[1] != size:
            refuse(f"shares of {self.name}", f"{size} for each class", str(self.shares.shape))
        sums = self.shares.sum(axis=1)
        if self.shares.min() < 0 or not np.allclose(sums, 1.0, atol=1e-6):
            refuse(f"shares of {self.name}", "never negative and one in sum", "others")
        if self.values and len(self.values) != size:
            refuse(f"values of {self.name}", f"{size} categories", str(len(self.values)))

    def places(self, values: Floats) -> Ints:
        """Return the interval of every value, -1 where it is missing; ends reach to infinity."""
        places = np.clip(np.searchsorted(self.edges, values, side="right") - 1, 0,
                         self.edges.size - 2)
        return np.asarray(np.where(np.isnan(values), -1, places), np.int64)


@dataclass(frozen=True, eq=False)
class NaiveBayes(Predictor):
    """A naive Bayes classifier over intervals and categories."""

    format = FORMAT

    classes: tuple[Label, ...]
    prior: Floats
    columns: tuple[Likelihood, ...]
    records: int = 0

    def __post_init__(self) -> None:
        """Refuse what is no classifier."""
        if len(self.classes) < 2 or self.prior.shape != (len(self.classes),):
            refuse("prior", "one share for each of two or more classes", str(self.prior.shape))
        if self.prior.min() < 0 or not np.isclose(self.prior.sum(), 1.0, atol=1e-6):
            refuse("prior", "a distribution", "others")
        if len(set(self.features)) != len(self.columns):
            refuse("columns", "of different names", "one twice")
        for column in self.columns:
            if column.shares.shape[0] != len(self.classes):
                refuse(f"shares of {column.name}", f"{len(self.classes)} rows",
                       str(column.shares.shape))

    @property
    def features(self) -> tuple[str, ...]:
        """Return the names of the columns in order."""
        return tuple(column.name for column in self.columns)

    def log_joint(self, data: Any) -> Floats:
        """Return log P(class, record) up to a constant, one column a class."""
        rows = self.rows(data)
        if np.isinf(rows).any():
            raise DataError("The data holds an infinite value. Values must be finite or missing.")
        total = np.repeat(np.log(np.maximum(self.prior, 1e-300))[None], rows.shape[0], axis=0)
        for index, column in enumerate(self.columns):
            # The last row stands for what is missing.
            logs = np.log(np.maximum(column.shares.T, 1e-300))
            total += np.vstack([logs, np.zeros(len(self.classes))])[column.places(rows[:, index])]
        return total

    def predict_proba(self, data: Any) -> Floats:
        """Return the probability of each class for each record; the data as in `predict`."""
        logs = self.log_joint(data)
        odds = np.exp(logs - logs.max(axis=1, keepdims=True))
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))

    def predict(self, data: Any) -> npt.NDArray[Any]:
        """Return the likeliest class of each record.

        Parameters
        ----------
        data : Table, frame, mapping of columns, or array
            Columns by name in any order, categories as they are; those that are not known count
            as missing. A bare array is in the order of `features`, with the codes of categories.

        Returns
        -------
        numpy.ndarray
            One class per record.
        """
        return np.asarray(label_array(self.classes)[self.log_joint(data).argmax(axis=1)])

    def rows(self, data: Any) -> Floats:
        """Return records as rows of numbers and codes; categories not known are missing."""
        known = named(data, self.features)
        if known is None:
            return self._numbers(data)
        check_there(known, self.features, data)
        columns = {column.name: _codes(column, known[column.name]) for column in self.columns}
        rows = count_rows(columns, known)
        return np.column_stack(list(columns.values())) if columns else np.zeros((rows, 0))

    def _compare(self, other: NaiveBayes) -> Comparison:
        head = first_difference(
            lambda: compare_sequences("class", self.classes, other.classes),
            lambda: compare_sequences("column", self.features, other.features),
            lambda: compare_sequences("number of intervals", _sizes(self), _sizes(other)),
            lambda: compare_arrays("class", "prior", self.prior, other.prior))
        return head and first_difference(*(
            lambda a=a, b=b, part=part: compare_arrays(
                f"{a.name} interval", part, getattr(a, part).ravel(), getattr(b, part).ravel())
            for a, b in zip(self.columns, other.columns, strict=True)
            for part in ("edges", "shares")))

    def _lines(self, full: bool) -> list[str]:
        """Return classes, columns, and how far the classes differ in each column."""
        names = ", ".join(f"{c} {p:.1%}" for c, p in zip(self.classes, self.prior, strict=True))
        lines = [f"naive Bayes from {self.records:,} records; classes: {names}"]
        for place, column in enumerate(self.columns):
            lines.append(f"{column.name}: {_sizes(self)[place]} intervals, classes differ by "
                         f"{_apart(column):.3f}")
            lines += _intervals(column) if full else []
        return lines

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready object that `from_json` reads back bit for bit."""
        columns = [{"name": c.name, "edges": c.edges.tolist(), "shares": c.shares.ravel().tolist(),
                    "values": list(c.values)} for c in self.columns]
        return {"format": FORMAT, "version": VERSION, "classes": list(self.classes),
                "prior": self.prior.tolist(), "records": self.records, "columns": columns}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], limits: Limits = DEFAULT_LIMITS) -> NaiveBayes:
        """Read `to_json`'s object; anything malformed is a ModelError naming the field."""
        fields = Fields(data, limits=limits)
        check_format(fields, FORMAT)
        classes = tuple(fields.items("classes", limits.max_classes))
        if any(type(label) not in (str, int, float, bool) for label in classes):
            refuse("classes", "texts, numbers or booleans", "others")
        columns = [Fields(one, f"columns[{i}]", limits)
                   for i, one in enumerate(fields.items("columns", limits.max_features))]
        return cls(classes, fields.floats("prior", len(classes)),
                   tuple(_column(one, len(classes), limits) for one in columns),
                   fields.whole("records", 0, 2**62))


def _column(fields: Fields, classes: int, limits: Limits) -> Likelihood:
    edges = fields.floats("edges", None)
    if edges.size < 2:
        refuse(fields.at("edges"), "two numbers or more", str(edges.size))
    shares = fields.floats("shares", classes * (edges.size - 1)).reshape(classes, -1)
    values = tuple(fields.items("values", limits.max_classes))
    if any(type(value) not in (str, int, float, bool) for value in values):
        refuse(fields.at("values"), "texts, numbers or booleans", "others")
    return Likelihood(fields.text("name"), edges, shares, values)


def _codes(column: Likelihood, values: Any) -> Floats:
    if not column.values:
        return numbers_of(column.name, values)
    place = {value: float(code) for code, value in enumerate(column.values)}
    return np.array([place.get(value, np.nan) for value in values_of(values)])


def _intervals(column: Likelihood) -> list[str]:
    """Return the shares of each interval or category, class by class."""
    edges = [number(edge, True) for edge in column.edges]
    names = list(map(str, column.values)) or [
        f"from {low} to {high}" for low, high in pairwise(edges)]
    return [f"  {name}: {', '.join(number(share, True) for share in shares)}"
            for name, shares in zip(names, column.shares.T, strict=True)]


def _sizes(model: NaiveBayes) -> tuple[int, ...]:
    return tuple(column.edges.size - 1 for column in model.columns)


def _apart(column: Likelihood) -> float:
    """Return the largest total variation distance between two classes."""
    gaps = np.abs(column.shares[:, None] - column.shares[None]).sum(axis=2) / 2
    return float(gaps.max())
