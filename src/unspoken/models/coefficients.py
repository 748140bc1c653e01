"""What models of coefficients share, whatever their response is: LinearModel and LogisticModel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.errors import InputError, explain
from unspoken.models.comparison import (
    Comparison,
    compare_arrays,
    compare_scalars,
    compare_sequences,
    first_difference,
)
from unspoken.models.hostile_json import Fields, refuse
from unspoken.models.model import Predictor
from unspoken.models.named_columns import by_name, check_there, count_rows, number_rows, numbers_of
from unspoken.models.tree_text import number

TIMES = "*"
"""Joins the names of two columns whose product is a term."""


@dataclass(frozen=True, eq=False)
class Coefficients(Predictor):
    """An intercept and a coefficient a term; `errors` is empty, or begins with the intercept's."""

    response: str
    features: tuple[str, ...]
    intercept: float
    coefficients: Floats
    records: int
    errors: Floats

    def __post_init__(self) -> None:
        """Refuse what is no model."""
        if self.coefficients.shape != (len(self.features),):
            refuse("coefficients", f"{len(self.features)} numbers", str(self.coefficients.shape))
        if self.errors.size not in (0, len(self.features) + 1):
            refuse("errors", f"{len(self.features) + 1} numbers or none", str(self.errors.shape))

    @property
    def parameters(self) -> Floats:
        """Return the intercept and the coefficients in one array."""
        return np.concatenate([[self.intercept], self.coefficients])

    @property
    def target(self) -> str:
        """Return the column that is predicted."""
        return self.response

    def _linear(self, data: Any) -> Floats:
        """Return the linear function, for columns by name or rows in the order of `features`."""
        return np.asarray(self._terms(data) @ self.coefficients + self.intercept)

    def _factors(self) -> list[str]:
        """Return the columns whose products are terms."""
        return [one for name in self.features for one in name.split(TIMES)]

    def _terms(self, data: Any) -> Floats:
        known = by_name(data, self.features, self._factors())
        if all(name in known for name in self.features):
            return number_rows(data, self.features)
        factors = [[name] if name in known else name.split(TIMES) for name in self.features]
        needed = list(dict.fromkeys(one for term in factors for one in term))
        check_there(known, needed, data)
        columns = {name: numbers_of(name, known[name]) for name in needed}
        count_rows(columns, known)
        return np.column_stack([np.prod([columns[one] for one in term], axis=0)
                                for term in factors])

    def _same_fit(self, other: Coefficients) -> Comparison:
        return first_difference(
            lambda: compare_scalars("response", self.response, other.response),
            lambda: compare_sequences("feature", self.features, other.features),
            lambda: compare_scalars("records", self.records, other.records),
            lambda: compare_arrays("parameter", "value", self.parameters, other.parameters),
            lambda: compare_arrays("parameter", "error", self.errors, other.errors))

    def _table(self, letter: str, full: bool) -> list[str]:
        """Return one line per parameter; `letter` names the tests, if there are errors."""
        names = ("(intercept)", *self.features)
        width = max(map(len, names))
        if not self.errors.size:
            return [f"{name:<{width}} {_cell(value, 12, '.6g', full)}"
                    for name, value in zip(names, self.parameters, strict=True)]
        head = f"{'':<{width}} {'estimate':>12} {'error':>12} {letter:>9} {'p':>9}"
        return [head, *(
            f"{name:<{width}} {_cell(b, 12, '.6g', full)} {_cell(e, 12, '.6g', full)} "
            f"{_cell(t, 9, '.3f', full)} {_cell(p, 9, '.2g', full)}"
            for name, b, e, t, p in zip(names, self.parameters, self.errors, *self._tests(),
                                        strict=True))]

    def _tests(self) -> tuple[Floats, Floats]:
        """Return estimates in units of their standard errors, and two-sided p-values."""
        raise NotImplementedError

    def _fit_to_json(self) -> dict[str, Any]:
        return {"response": self.response, "features": list(self.features),
                "parameters": self.parameters.tolist(), "errors": self.errors.tolist(),
                "records": self.records}


def _cell(value: float, width: int, digits: str, full: bool) -> str:
    """Return a number in a column of a table; a dash where there is none."""
    shown = "-" if np.isnan(value) else number(value, True) if full else format(value, digits)
    return f"{shown:>{width}}"


Fit = tuple[str, tuple[str, ...], float, Floats, int, Floats]


def fit_from_json(fields: Fields) -> Fit:
    """Read what `Coefficients` holds, in the order of its fields."""
    features = fields.texts("features", fields.limits.max_features)
    parameters = fields.floats("parameters", len(features) + 1)
    return (fields.text("response"), features, float(parameters[0]), parameters[1:],
            fields.whole("records", 0, 2**62), fields.floats("errors", None))


def check_level(level: float) -> None:
    """Refuse a level of confidence that is none."""
    if not 0 < level < 1:
        raise InputError(explain("'level'", "between 0 and 1", level, "Use 0.95."))
