"""Least squares over rows with noise in parts: noisy sums of products are all that is opened.

Every owner clamps its columns to the agreed ranges, scales them to lie between -1 and 1, rounds
them row by row to 2^-12, and adds up rows, columns and products of two columns; how far one row
moves these sums stands in `numerics.noisy_moments`. The receivers solve for the coefficients, which
tells nothing more.

How few records an owner has is not checked here: a refusal would tell it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.errors import DataError, explain
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.party import Party
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.common.noise_in_parts import (
    PartedNoise,
    open_noisy,
    refuse_bare,
    with_part,
)
from unspoken.joint.tasks.regression.params import RegressionSettings, RegressionTerms, numbers
from unspoken.models.linear_model import LinearModel
from unspoken.numerics.noisy_moments import most_in_all, scaled_slopes, symmetric

NOISY = "sums of scaled columns and of their products, and the number of records, with noise"
STEPS = 12
BITS = 2 * STEPS
"""Products of two whole numbers of 2^-12 are whole numbers of 2^-24."""
Range = tuple[float, float]
FARTHEST = 1e60
"""Ranges of products beyond leave what floats have room for."""


@dataclass(frozen=True)
class NoisyRegression:
    """Terms and response with their ranges, and the noise of their sums."""

    terms: RegressionTerms
    ranges: Mapping[str, Range]
    noise: PartedNoise
    owners: int
    ridge: float = 0.0

    @property
    def _size(self) -> int:
        return len(self.terms.features) + 1

    @property
    def numbers(self) -> int:
        """Return how many sums there are, that of ones included."""
        return (self._size + 1) * (self._size + 2) // 2

    def scale(self) -> float:
        """Return the scale of each owner's part, in units of 2^-24."""
        return self.noise.scale(most_in_all(self._size) * 2.0**BITS, self.owners, self.numbers)

    @property
    def deviation(self) -> float:
        """Return the standard deviation of the noise of a sum, of all parts together."""
        return self.scale() * math.sqrt(self.owners) / 2.0**BITS

    def deviations(self) -> dict[str, float]:
        """Return what is stated before the study is run."""
        return {"a sum of columns scaled to -1 .. 1, or of their products": self.deviation}

    def table(self, data: Mapping[str, Any]) -> Floats:
        """Return rows of all terms and the response, clamped and scaled to lie in -1 .. 1."""
        names = (*self.terms.columns, self.terms.response)
        values = numbers(data, names)
        clamped = {name: np.clip(values[:, at], *self.ranges[name])
                   for at, name in enumerate(names)}
        low, high = self._ends().T
        scaled = (self.terms.table(clamped) - (low + high) / 2) / ((high - low) / 2)
        return np.asarray(np.clip(scaled, -1.0, 1.0))

    def _ends(self) -> Floats:
        """Return the ends of every term and of the response; a product's follow from its two."""
        ends = [self.ranges[name] for name in self.terms.columns]
        for one, other in self.terms.products:
            corners = [a * b for a in self.ranges[one] for b in self.ranges[other]]
            ends.append((min(corners), max(corners)))
        return np.array([*ends, self.ranges[self.terms.response]], np.float64)

    def units(self, table: Floats) -> Ints:
        """Return an owner's sums in units of 2^-24, without noise: rows, columns, products."""
        steps = np.rint(np.clip(table, -1.0, 1.0) * 2.0**STEPS) / 2.0**STEPS
        ones = np.column_stack([np.ones(len(steps)), steps])
        sums = (ones.T @ ones)[np.triu_indices(self._size + 1)]
        return np.rint(sums * 2.0**BITS).astype(np.int64)

    def noisy(self, table: Floats) -> Ints:
        """Return an owner's sums with its part of the noise."""
        return with_part(self.units(table), self.scale())

    def model(self, sums: Floats) -> LinearModel:
        """Return the model of opened sums."""
        whole = symmetric(sums, self._size + 1)
        count = max(float(whole[0, 0]), 1.0)
        means = np.clip(whole[0, 1:] / count, -1.0, 1.0)
        low, high = self._ends().T
        half = (high - low) / 2
        slopes = scaled_slopes(means, whole[1:, 1:] / count, self.deviation / count,
                               self.ridge / half[:-1] ** 2 / count)
        coefficients = slopes * half[-1] / half[:-1]
        centre = (low + high) / 2 + means * half
        return LinearModel(self.terms.response, self.terms.features,
                           float(centre[-1] - coefficients @ centre[:-1]), coefficients,
                           round(count), np.zeros(0), ridge=self.ridge)


def noisy_model(parameters: Mapping[str, Any], terms: RegressionTerms,
                owners: int) -> NoisyRegression:
    """Return what a study with an epsilon adds up; what does not go with noise is refused."""
    settings = RegressionSettings.of(parameters)
    refuse_bare([name for name in (*terms.columns, terms.response) if name not in settings.ranges])
    for name, low_high in settings.ranges.items():
        _check_range(name, low_high, terms)
    if settings.inference or settings.select or settings.smaller:
        raise StudyError("With 'epsilon' coefficients alone come out: standard errors, tests and "
                         "selections would need more than the noisy sums. Add --set "
                         "inference=false, and leave 'select' and 'smaller' out.")
    ranges = {name: (float(ends[0]), float(ends[1])) for name, ends in settings.ranges.items()}
    return NoisyRegression(terms, ranges, settings.parted, owners, settings.ridge)


def _check_range(name: str, ends: tuple[float, ...], terms: RegressionTerms) -> None:
    if name not in (*terms.columns, terms.response):
        raise StudyError(explain(f"Parameter 'range.{name}'", "about a column or the response",
                                 "another name"))
    if not ends[0] < ends[1] or max(map(abs, ends)) > FARTHEST or ends[1] - ends[0] < 1 / FARTHEST:
        raise StudyError(explain(f"Parameter 'range.{name}'", "[lowest, highest], within "
                                 f"{FARTHEST:g} of 0", list(ends)))


class NoisyRowsStudy:
    """The program of a study over rows with noise in parts."""

    def __init__(self, study: Study, plan: NoisyRegression) -> None:
        self.plan, self.receivers = plan, study.having("receiver")
        self.disclosures = study.disclosures

    async def __call__(self, party: Party, data: Floats | None) -> LinearModel | None:
        """Open noisy sums, and return the model to the receivers."""
        sums = await open_noisy(party, self._own(party, data), BITS, because=NOISY,
                                to=self.receivers)
        return None if sums is None else self.plan.model(np.asarray(sums, np.float64))

    def _own(self, party: Party, data: Floats | None) -> Ints:
        if party.name not in party.roles.owners:
            return np.zeros(self.plan.numbers, np.int64)
        wanted = len(self.plan.terms.features) + 1
        if data is None or data.ndim != 2 or data.shape[1] != wanted or np.isnan(data).any():
            raise DataError(explain(f"The rows of '{party.name}'", f"a table of {wanted} columns "
                                    "with a number everywhere", "something else"))
        return self.plan.noisy(data)


def noisy_disclosures(study: Study) -> tuple[Disclosure, ...]:
    """Return all that is opened."""
    return (Disclosure(NOISY, study.having("receiver")),)
