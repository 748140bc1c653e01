"""The pattern LogisticModel: log-odds of a yes as a linear function of columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats
from unspoken.errors import InputError
from unspoken.models.coefficients import Coefficients, check_level, fit_from_json
from unspoken.models.comparison import Comparison
from unspoken.models.hostile_json import DEFAULT_LIMITS, Fields, Limits, refuse
from unspoken.models.tree import check_format
from unspoken.numerics.logistic_fit import normal_p_values, normal_quantile, probabilities

FORMAT = "unspoken-logistic-model"
VERSION = 1


@dataclass(frozen=True, eq=False)
class LogisticModel(Coefficients):
    """A logistic model with an intercept; errors and tests begin with the intercept.

    With a ridge there are no standard errors. `likelihood` is the logarithm of the likelihood, NaN
    where it was not opened.
    """

    format = FORMAT

    likelihood: float = float("nan")
    ridge: float = 0.0

    @property
    def odds_ratios(self) -> Floats:
        """Return what one unit more of each column does to the odds."""
        return np.asarray(np.exp(self.coefficients))

    @property
    def z_values(self) -> Floats:
        """Return estimates in units of their standard errors."""
        return self.parameters / self._checked()

    def _checked(self) -> Floats:
        if not self.errors.size:
            raise InputError("Tests and intervals need standard errors. A ridge model has none.")
        return self.errors

    @property
    def p_values(self) -> Floats:
        """Return two-sided p-values."""
        return normal_p_values(self.z_values)

    def intervals(self, level: float = 0.95) -> Floats:
        """Return confidence intervals, one row a parameter."""
        check_level(level)
        reach = normal_quantile(level) * self._checked()
        return np.column_stack([self.parameters - reach, self.parameters + reach])

    @property
    def aic(self) -> float:
        """Return Akaike's criterion."""
        return 2 * (len(self.features) + 1) - 2 * self.likelihood

    def predict_proba(self, data: Any) -> Floats:
        """Return the probability of a yes, for columns by name or rows in order."""
        return probabilities(self._linear(data))

    def predict(self, data: Any) -> npt.NDArray[np.int64]:
        """Return 1 where a yes is likelier than not.

        Parameters
        ----------
        data : Table, frame, mapping of columns, or array
            Columns by name in any order; a bare array in the order of `features`.

        Returns
        -------
        numpy.ndarray
            1 or 0 per record.
        """
        return (self.predict_proba(data) > 0.5).astype(np.int64)

    def _compare(self, other: LogisticModel) -> Comparison:
        return self._same_fit(other)

    def _lines(self, full: bool) -> list[str]:
        head = f"{self.response}: logistic, {self.records:,} records, {len(self.features)} terms"
        if np.isfinite(self.likelihood):
            head += f", log-likelihood {self.likelihood:.6g}"
        return [head, *self._table("z", full)]

    def _tests(self) -> tuple[Floats, Floats]:
        return self.z_values, self.p_values

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready object that `from_json` reads back bit for bit."""
        return {"format": FORMAT, "version": VERSION, **self._fit_to_json(),
                "likelihood": [self.likelihood] if np.isfinite(self.likelihood) else [],
                "ridge": [self.ridge]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], limits: Limits = DEFAULT_LIMITS) -> LogisticModel:
        """Read `to_json`'s object; anything malformed is a ModelError naming the field."""
        fields = Fields(data, limits=limits)
        check_format(fields, FORMAT)
        return cls(*fit_from_json(fields), _likelihood(fields),
                   float(fields.floats("ridge", 1)[0]))


def _likelihood(fields: Fields) -> float:
    values = fields.floats("likelihood", None)
    if values.size > 1:
        refuse("likelihood", "one number or none", str(values.size))
    return float(values[0]) if values.size else float("nan")
