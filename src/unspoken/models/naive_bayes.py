"""The pattern NaiveBayes: shares of intervals or categories by class (vcz2006 section 4.5.1).

P(class | record) is proportional to P(class) times the product of P(interval | class) over the
columns; the book prints n_ac / n_a for the last, the classifier needs n_ac / n_c. Attributes are
taken to be independent given the class. A value that is missing says nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats, Ints
from unspoken.errors import DataError, explain
from unspoken.models.comparison import (
    Comparison,
    compare_arrays,
    compare_sequences,
    first_difference,
)
from unspoken.models.hostile_json import DEFAULT_LIMITS, Fields, Limits, refuse
from unspoken.models.json_files import JsonFile
from unspoken.models.labels import Label
from unspoken.models.tree import check_format, label_array
from unspoken.table.arrow_arrays import to_numbers
from unspoken.table.table import Table

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
        found = np.clip(np.searchsorted(self.edges, values, side="right") - 1, 0,
                        self.edges.size - 2)
        return np.asarray(np.where(np.isnan(values), -1, found), np.int64)


@dataclass(frozen=True, eq=False)
class NaiveBayes(JsonFile):
    """A naive Bayes classifier over intervals and categories."""

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
        for column in self.columns:
            if column.shares.shape[0] != len(self.classes):
                refuse(f"shares of {column.name}", f"{len(self.classes)} rows",
                       str(column.shares.shape))

    @property
    def features(self) -> tuple[str, ...]:
        """Return the names of the columns in order."""
        return tuple(column.name for column in self.columns)

    def log_joint(self, data: npt.ArrayLike) -> Floats:
        """Return log P(class, record) up to a constant, one column a class."""
        rows = np.asarray(data, np.float64)
        if rows.ndim != 2 or rows.shape[1] != len(self.columns):
            raise DataError(explain("the data", f"of shape (rows, {len(self.columns)})",
                                    str(rows.shape)))
        if np.isinf(rows).any():
            raise DataError(explain("the data", "finite or missing", "an infinite value"))
        total = np.repeat(np.log(np.maximum(self.prior, 1e-300))[None], rows.shape[0], axis=0)
        for index, column in enumerate(self.columns):
            # The last row stands for what is missing.
            logs = np.log(np.maximum(column.shares.T, 1e-300))
            total += np.vstack([logs, np.zeros(len(self.classes))])[column.places(rows[:, index])]
        return total

    def predict_proba(self, data: npt.ArrayLike) -> Floats:
        """Return the probability of each class for each row of values and category codes."""
        logs = self.log_joint(data)
        odds = np.exp(logs - logs.max(axis=1, keepdims=True))
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))

    def predict(self, data: npt.ArrayLike) -> npt.NDArray[Any]:
        """Return the likeliest class of each row."""
        return np.asarray(label_array(self.classes)[self.log_joint(data).argmax(axis=1)])

    def rows(self, table: Table) -> Floats:
        """Return a table as rows to predict for; categories that are not known are missing."""
        found = table.arrow(list(self.features))
        out = []
        for column in self.columns:
            if not column.values:
                out.append(np.asarray(to_numbers(found[column.name]), np.float64))
                continue
            place = {value: float(i) for i, value in enumerate(column.values)}
            out.append(np.array([place.get(v, np.nan) for v in found[column.name].to_pylist()]))
        return np.column_stack(out)

    def same_as(self, other: object) -> Comparison:
        """Compare with another classifier and say where they first differ."""
        if not isinstance(other, NaiveBayes):
            return Comparison(f"kind: NaiveBayes and {type(other).__name__}")
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

    def summary(self) -> str:
        """Return classes, columns, and how far the classes differ in each column."""
        names = ", ".join(f"{c} {p:.1%}" for c, p in zip(self.classes, self.prior, strict=True))
        lines = [f"naive Bayes from {self.records:,} records; classes: {names}"]
        return "\n".join(lines + [f"{column.name}: {_sizes(self)[i]} intervals, classes differ by "
                                  f"{_apart(column):.3f}" for i, column in enumerate(self.columns)])

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


def _sizes(model: NaiveBayes) -> tuple[int, ...]:
    return tuple(column.edges.size - 1 for column in model.columns)


def _apart(column: Likelihood) -> float:
    """Return the largest total variation distance between two classes."""
    gaps = np.abs(column.shares[:, None] - column.shares[None]).sum(axis=2) / 2
    return float(gaps.max())
