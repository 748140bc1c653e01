"""The pattern LinearModel: least squares or ridge, with what inference needs (vcz2006 5.1.2).

A model holds coefficients, standard errors and two sums of squares; tests, intervals and measures
of fit follow from them. Ridge models have no standard errors: their estimates are biased, and the
usual t-values would not mean what readers expect.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.errors import InputError
from unspoken.models.coefficients import Coefficients, check_level, fit_from_json
from unspoken.models.comparison import (
    Comparison,
    compare_arrays,
    compare_sequences,
    first_difference,
)
from unspoken.models.hostile_json import DEFAULT_LIMITS, Fields, Limits, refuse
from unspoken.models.tree import check_format
from unspoken.numerics.least_squares import (
    Test,
    extra_sum_of_squares,
    f_test,
    mallows_cp,
    t_p_values,
    t_quantile,
)

FORMAT = "unspoken-linear-model"
VERSION = 1


@dataclass(frozen=True)
class Smaller:
    """A model inside another one: its terms, and its residual sum of squares."""

    features: tuple[str, ...]
    rss: float


@dataclass(frozen=True, eq=False)
class LinearModel(Coefficients):
    """A linear model with an intercept; arrays of errors and tests begin with the intercept.

    `features` may hold products such as "age*income". `errors` is empty where there are none, and
    `rss` and `tss` are NaN where only coefficients were opened.
    """

    format = FORMAT

    rss: float = float("nan")
    tss: float = float("nan")
    ridge: float = 0.0
    smaller: tuple[Smaller, ...] = ()

    @property
    def degrees(self) -> int:
        """Return the degrees of freedom that are left."""
        return self.records - len(self.features) - 1

    @property
    def variance(self) -> float:
        """Return the estimated variance of the noise."""
        return self.rss / self.degrees

    @property
    def t_values(self) -> Floats:
        """Return the t-values."""
        return self.parameters / self._inference()

    @property
    def p_values(self) -> Floats:
        """Return two-sided p-values."""
        return t_p_values(self.t_values, self.degrees)

    def intervals(self, level: float = 0.95) -> Floats:
        """Return confidence intervals, one row a parameter."""
        check_level(level)
        reach = t_quantile(level, self.degrees) * self._inference()
        return np.column_stack([self.parameters - reach, self.parameters + reach])

    @property
    def r_squared(self) -> float:
        """Return the part of the variance that is explained."""
        return 1 - self.rss / self.tss

    @property
    def adjusted_r_squared(self) -> float:
        """Return R-square adjusted for the number of terms."""
        return 1 - (self.rss / self.degrees) / (self.tss / (self.records - 1))

    def f_test(self) -> Test:
        """Return the test of all terms together."""
        self._inference()
        return f_test(self.tss - self.rss, len(self.features), self.rss, self.degrees)

    def nested(self, features: Sequence[str]) -> Test:
        """Return the extra-sum-of-squares test of a smaller model inside this one."""
        inside = self._inside(features)
        return extra_sum_of_squares(inside.rss, len(inside.features), self.rss,
                                    len(self.features), self.records)

    def mallows_cp(self, features: Sequence[str]) -> float:
        """Return Mallows' C_p of a smaller model beside this one."""
        inside = self._inside(features)
        return mallows_cp(inside.rss, len(inside.features), self.rss, len(self.features),
                          self.records)

    def _inside(self, features: Sequence[str]) -> Smaller:
        for smaller in self.smaller:
            if set(smaller.features) == set(features):
                return smaller
        known = "; ".join(", ".join(smaller.features) for smaller in self.smaller) or "none"
        raise InputError(f"No smaller model with {', '.join(features)} was fitted. Fitted: "
                         f"{known}. Name it in Rules(smaller=...).")

    def _inference(self) -> Floats:
        if not self.errors.size:
            raise InputError("Tests and intervals need standard errors. This model has none: it "
                             "is a ridge model, or only its coefficients were opened.")
        return self.errors

    def predict(self, data: Any) -> Floats:
        """Return the predicted number of each record.

        Parameters
        ----------
        data : Table, frame, mapping of columns, or array
            Columns by name in any order; the product "a*b" comes as it is, or from "a" and "b". A
            bare array has the terms in the order of `features`.

        Returns
        -------
        numpy.ndarray
            One number per record.
        """
        return self._linear(data)

    def _compare(self, other: LinearModel) -> Comparison:
        return first_difference(
            lambda: self._same_fit(other),
            lambda: compare_sequences("smaller model", [s.features for s in self.smaller],
                                      [s.features for s in other.smaller]),
            lambda: compare_arrays("sum of squares", "value", self._sums(), other._sums()))

    def _sums(self) -> Floats:
        return np.array([self.rss, self.tss, *(smaller.rss for smaller in self.smaller)])

    def _lines(self, full: bool) -> list[str]:
        kind = f"ridge {self.ridge:g}" if self.ridge else "least squares"
        lines = [f"{self.response}: {kind}, {self.records:,} records, "
                 f"{len(self.features)} terms"]
        if np.isfinite(self.rss) and self.degrees > 0 and self.tss > 0:
            lines.append(f"R-square {self.r_squared:.4f}, adjusted {self.adjusted_r_squared:.4f}, "
                         f"residual standard error {np.sqrt(self.variance):.5g} "
                         f"on {self.degrees} degrees of freedom")
        return [*lines, *self._table("t", full)]

    def _tests(self) -> tuple[Floats, Floats]:
        return self.t_values, self.p_values

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready object that `from_json` reads back bit for bit."""
        sums = [self.rss, self.tss] if np.isfinite(self.rss) else []
        return {"format": FORMAT, "version": VERSION, **self._fit_to_json(), "sums": sums,
                "ridge": [self.ridge],
                "smaller": [{"features": list(s.features), "rss": [s.rss]} for s in self.smaller]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], limits: Limits = DEFAULT_LIMITS) -> LinearModel:
        """Read `to_json`'s object; anything malformed is a ModelError naming the field."""
        fields = Fields(data, limits=limits)
        check_format(fields, FORMAT)
        fit = fit_from_json(fields)
        sums = fields.floats("sums", None)
        if sums.size not in (0, 2):
            refuse("sums", "two numbers or none", str(sums.size))
        rss, tss = sums.tolist() if sums.size else (float("nan"), float("nan"))
        return cls(*fit, rss, tss, float(fields.floats("ridge", 1)[0]),
                   tuple(_smaller(Fields(one, f"smaller[{i}]", limits), fit[1])
                         for i, one in enumerate(fields.items("smaller", limits.max_features))))


def _smaller(fields: Fields, known: tuple[str, ...]) -> Smaller:
    features = fields.texts("features", len(known))
    if not set(features) <= set(known):
        refuse(fields.at("features"), "features of the model", "others")
    return Smaller(features, float(fields.floats("rss", 1)[0]))
