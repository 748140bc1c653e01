"""What models of coefficients share, whatever their response is: LinearModel and LogisticModel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats
from unspoken.errors import DataError, InputError, explain
from unspoken.models.comparison import (
    Comparison,
    compare_arrays,
    compare_scalars,
    compare_sequences,
    first_difference,
)
from unspoken.models.hostile_json import Fields, refuse
from unspoken.models.json_files import JsonFile

TIMES = "*"
"""Joins the names of two columns whose product is a term."""


@dataclass(frozen=True, eq=False)
class Coefficients(JsonFile):
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

    def _linear(self, data: Mapping[str, Any] | npt.ArrayLike) -> Floats:
        """Return the linear function, for columns by name or rows in the order of `features`."""
        rows = self._rows(data) if isinstance(data, Mapping) else np.asarray(data, np.float64)
        if rows.ndim != 2 or rows.shape[1] != len(self.features):
            raise DataError(explain("the data", f"of shape (rows, {len(self.features)})",
                                    str(rows.shape)))
        return np.asarray(rows @ self.coefficients + self.intercept)

    def _rows(self, data: Mapping[str, Any]) -> Floats:
        terms = [self._factors(data, name) for name in self.features]
        missing = next((one for term in terms for one in term if one not in data), None)
        if missing is not None:
            raise DataError(explain("the data", f"with a column '{missing}'",
                                    ", ".join(map(str, data))))
        return np.column_stack([np.prod([np.asarray(data[one], np.float64) for one in term],
                                        axis=0) for term in terms])

    def _factors(self, data: Mapping[str, Any], name: str) -> list[str]:
        """Return the columns whose product is a term."""
        return [name] if name in data else name.split(TIMES)

    def _same_fit(self, other: Coefficients) -> Comparison:
        return first_difference(
            lambda: compare_scalars("response", self.response, other.response),
            lambda: compare_sequences("feature", self.features, other.features),
            lambda: compare_scalars("records", self.records, other.records),
            lambda: compare_arrays("parameter", "value", self.parameters, other.parameters),
            lambda: compare_arrays("parameter", "error", self.errors, other.errors))

    def _table(self, letter: str) -> list[str]:
        """Return one line a parameter; `letter` names the tests, if there are errors."""
        names = ("(intercept)", *self.features)
        width = max(map(len, names))
        if not self.errors.size:
            return [f"{name:<{width}} {value:>12.6g}"
                    for name, value in zip(names, self.parameters, strict=True)]
        head = f"{'':<{width}} {'estimate':>12} {'error':>12} {letter:>9} {'p':>9}"
        return [head, *(
            f"{name:<{width}} {b:>12.6g} {e:>12.6g} {t:>9.3f} {p:>9.2g}"
            for name, b, e, t, p in zip(names, self.parameters, self.errors, *self._tests(),
                                        strict=True))]

    def _tests(self) -> tuple[Floats, Floats]:
        """Return estimates in units of their standard errors, and two-sided p-values."""
        raise NotImplementedError

    def _fit_to_json(self) -> dict[str, Any]:
        return {"response": self.response, "features": list(self.features),
                "parameters": self.parameters.tolist(), "errors": self.errors.tolist(),
                "records": self.records}


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
