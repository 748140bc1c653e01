"""The pattern LogisticModel: log-odds of a yes as a linear function of columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.core.comparison import (
    Comparison,
    compare_arrays,
    compare_scalars,
    compare_sequences,
    first_difference,
)
from tacit.core.jsonfile import JsonFile
from tacit.core.reading import DEFAULT_LIMITS, Fields, Limits, refuse
from tacit.core.tree import check_format
from tacit.errors import DataError, InputError, explain
from tacit.stats.logistic import normal_p_values, normal_quantile, probabilities

Floats = npt.NDArray[np.float64]

FORMAT = "tacit-logistic-model"
VERSION = 1


@dataclass(frozen=True, eq=False)
class LogisticModel(JsonFile):
    """A logistic model with an intercept; errors and tests begin with the intercept.

    With a ridge there are no standard errors. `likelihood` is the logarithm of the likelihood, NaN
    where it was not opened.
    """

    response: str
    features: tuple[str, ...]
    intercept: float
    coefficients: Floats
    records: int
    errors: Floats
    likelihood: float = float("nan")
    ridge: float = 0.0

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
    def odds_ratios(self) -> Floats:
        """Return what one unit more of each column does to the odds."""
        return np.asarray(np.exp(self.coefficients))

    @property
    def z_values(self) -> Floats:
        """Return estimates in units of their standard errors."""
        if not self.errors.size:
            raise InputError("Tests and intervals need standard errors. A ridge model has none.")
        return self.parameters / self.errors

    @property
    def p_values(self) -> Floats:
        """Return two-sided p-values."""
        return normal_p_values(self.z_values)

    def intervals(self, level: float = 0.95) -> Floats:
        """Return confidence intervals, one row a parameter."""
        if not 0 < level < 1:
            raise InputError(explain("'level'", "between 0 and 1", level, "Use 0.95."))
        reach = normal_quantile(level) * self.parameters / self.z_values
        return np.column_stack([self.parameters - reach, self.parameters + reach])

    @property
    def aic(self) -> float:
        """Return Akaike's criterion."""
        return 2 * (len(self.features) + 1) - 2 * self.likelihood

    def predict_proba(self, data: Mapping[str, Any] | npt.ArrayLike) -> Floats:
        """Return the probability of a yes, for columns by name or rows in order."""
        if isinstance(data, Mapping):
            missing = next((name for name in self.features if name not in data), None)
            if missing is not None:
                raise DataError(explain("the data", f"with a column '{missing}'",
                                        ", ".join(map(str, data))))
            data = np.column_stack([np.asarray(data[n], np.float64) for n in self.features])
        rows = np.asarray(data, np.float64)
        if rows.ndim != 2 or rows.shape[1] != len(self.features):
            raise DataError(explain("the data", f"of shape (rows, {len(self.features)})",
                                    str(rows.shape)))
        return probabilities(rows @ self.coefficients + self.intercept)

    def predict(self, data: Mapping[str, Any] | npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return 1 where a yes is likelier than not."""
        return (self.predict_proba(data) > 0.5).astype(np.int64)

    def same_as(self, other: object) -> Comparison:
        """Compare bit by bit with another model and say where they first differ."""
        if not isinstance(other, LogisticModel):
            return Comparison(f"kind: LogisticModel and {type(other).__name__}")
        return first_difference(
            lambda: compare_scalars("response", self.response, other.response),
            lambda: compare_sequences("feature", self.features, other.features),
            lambda: compare_scalars("records", self.records, other.records),
            lambda: compare_arrays("parameter", "value", self.parameters, other.parameters),
            lambda: compare_arrays("parameter", "error", self.errors, other.errors))

    def summary(self) -> str:
        """Return the table that readers of regressions know."""
        names = ("(intercept)", *self.features)
        width = max(map(len, names))
        head = f"{self.response}: logistic, {self.records:,} records, {len(self.features)} terms"
        if np.isfinite(self.likelihood):
            head += f", log-likelihood {self.likelihood:.6g}"
        if not self.errors.size:
            return "\n".join([head, *(f"{name:<{width}} {value:>12.6g}" for name, value
                                      in zip(names, self.parameters, strict=True))])
        lines = [f"{name:<{width}} {b:>12.6g} {e:>12.6g} {z:>9.3f} {p:>9.2g}"
                 for name, b, e, z, p in zip(names, self.parameters, self.errors, self.z_values,
                                             self.p_values, strict=True)]
        return "\n".join([head, f"{'':<{width}} {'estimate':>12} {'error':>12} {'z':>9} {'p':>9}",
                          *lines])

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready object that `from_json` reads back bit for bit."""
        return {"format": FORMAT, "version": VERSION, "response": self.response,
                "features": list(self.features), "parameters": self.parameters.tolist(),
                "errors": self.errors.tolist(), "records": self.records,
                "likelihood": [self.likelihood] if np.isfinite(self.likelihood) else [],
                "ridge": [self.ridge]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], limits: Limits = DEFAULT_LIMITS) -> LogisticModel:
        """Read `to_json`'s object; anything malformed is a ModelError naming the field."""
        fields = Fields(data, limits=limits)
        check_format(fields, FORMAT)
        features = fields.texts("features", limits.max_features)
        parameters = fields.floats("parameters", len(features) + 1)
        return cls(fields.text("response"), features, float(parameters[0]), parameters[1:],
                   fields.whole("records", 0, 2**62), fields.floats("errors", None),
                   _likelihood(fields), float(fields.floats("ridge", 1)[0]))


def _likelihood(fields: Fields) -> float:
    found = fields.floats("likelihood", None)
    if found.size > 1:
        refuse("likelihood", "one number or none", str(found.size))
    return float(found[0]) if found.size else float("nan")
