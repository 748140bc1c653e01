"""Mixture: a Gaussian mixture as a pattern, which can travel in place of data (vcz2006 7.1.1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.errors import ModelError, explain
from unspoken.models.comparison import (
    Comparison,
    compare_arrays,
    compare_scalars,
    compare_sequences,
    first_difference,
)
from unspoken.models.hostile_json import DEFAULT_LIMITS, Limits
from unspoken.models.model import Predictor
from unspoken.models.tree_text import number
from unspoken.numerics.gaussian_mixture import component_logs, log_sum

FORMAT = "unspoken-mixture"
VERSION = 1
MAX_COMPONENTS = 1000
MAX_FEATURES = 1000


@dataclass(frozen=True, eq=False)
class Mixture(Predictor):
    """Weights, means and covariances of Gaussian components over named columns.

    `records`: how many records it was fitted to; `facts`: how (public, plain data).
    """

    format = FORMAT

    features: tuple[str, ...]
    weights: Floats
    means: Floats
    covariances: Floats
    records: int
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def components(self) -> int:
        """Return the number of components."""
        return int(self.weights.size)

    def log_densities(self, data: Floats) -> Floats:
        """Return the log density of every record under every component, weights included."""
        return component_logs(data, self.weights, self.means, self.covariances)

    def log_density(self, data: Floats) -> Floats:
        """Return the log density of every record."""
        return log_sum(self.log_densities(data))

    def predict(self, data: Any) -> Ints:
        """Return the likeliest component of every record.

        Parameters
        ----------
        data : Table, frame, mapping of columns, or array
            Columns by name in any order; a bare array in the order of `features`.

        Returns
        -------
        numpy.ndarray
            The number of a component per record.
        """
        return np.asarray(self.log_densities(self._numbers(data)).argmax(axis=1))

    def sample(self, count: int, rng: np.random.Generator) -> Floats:
        """Draw records."""
        each = rng.multinomial(count, self.weights / self.weights.sum())
        parts = [rng.standard_normal((n, len(self.features))) @ np.linalg.cholesky(c).T + m
                 for n, m, c in zip(each.tolist(), self.means, self.covariances, strict=True)]
        return np.asarray(rng.permutation(np.concatenate(parts)))

    def widened(self, factor: float) -> Mixture:
        """Return the mixture with all covariances multiplied."""
        return Mixture(self.features, self.weights, self.means, self.covariances * factor,
                       self.records, self.facts)

    def _compare(self, other: Mixture) -> Comparison:
        return first_difference(
            lambda: compare_sequences("column", self.features, other.features),
            lambda: compare_scalars("number of components", self.components, other.components),
            lambda: compare_scalars("records", self.records, other.records),
            *(lambda n=name: compare_arrays("component", n, getattr(self, n), getattr(other, n))
              for name in ("weights", "means", "covariances")))

    def _lines(self, full: bool) -> list[str]:
        head = (f"Mixture of {self.components} over {', '.join(self.features)} "
                f"({self.records:,} records)")
        if full:
            return [head, *(line for place in range(self.components)
                            for line in self._component(place))]
        lines = [f"  {w:6.1%}  " + "  ".join(f"{m:.4g} ± {s:.3g}" for m, s in zip(
            mean, np.sqrt(np.diag(cov)), strict=True))
            for w, mean, cov in zip(self.weights, self.means, self.covariances, strict=True)]
        return [head, *lines]

    def _component(self, place: int) -> list[str]:
        """Return one component with all its digits."""
        mean = ", ".join(number(value, True) for value in self.means[place])
        rows = ["    " + "  ".join(number(value, True) for value in row)
                for row in self.covariances[place]]
        return [f"  weight {number(self.weights[place], True)}, mean {mean}, covariances", *rows]

    def to_json(self) -> dict[str, Any]:
        """Return the mixture as plain data."""
        return {"format": FORMAT, "version": VERSION, "features": list(self.features),
                "weights": self.weights.tolist(), "means": self.means.tolist(),
                "covariances": self.covariances.tolist(), "records": self.records,
                "facts": dict(self.facts)}

    @classmethod
    def from_json(cls, data: Any, limits: Limits = DEFAULT_LIMITS) -> Mixture:
        """Read a mixture that somebody else sent; whatever is wrong with it is named."""
        if not isinstance(data, dict) or data.get("format") != FORMAT \
                or data.get("version") != VERSION:
            raise ModelError(explain("A mixture", f"a '{FORMAT}' of version {VERSION}",
                                     str(data)[:80]))
        names = data.get("features")
        if not isinstance(names, list) or not 0 < len(names) <= MAX_FEATURES \
                or not all(isinstance(name, str) for name in names):
            raise ModelError(explain("'features' of a mixture", "a list of names", names))
        weights = _array(data, "weights", 1)
        means, covariances = _array(data, "means", 2), _array(data, "covariances", 3)
        _check_shapes(len(names), weights, means, covariances)
        records = data.get("records")
        if not isinstance(records, int) or isinstance(records, bool) or records < 1:
            raise ModelError(explain("'records' of a mixture", "a whole number >= 1", records))
        facts = data.get("facts")
        return cls(tuple(names), weights, means, covariances, records,
                   facts if isinstance(facts, dict) else {})


def _array(data: Mapping[str, Any], name: str, dimensions: int) -> Floats:
    try:
        numbers = np.array(data.get(name), np.float64)
    except (TypeError, ValueError, OverflowError):
        numbers = np.full(1, np.nan)
    if numbers.ndim != dimensions or numbers.size == 0 or not np.isfinite(numbers).all():
        raise ModelError(explain(f"'{name}' of a mixture", f"{dimensions}-dimensional finite "
                                 "numbers", str(data.get(name))[:80]))
    return numbers


def _check_shapes(width: int, weights: Floats, means: Floats, covariances: Floats) -> None:
    count = weights.size
    if count > MAX_COMPONENTS or means.shape != (count, width) \
            or covariances.shape != (count, width, width):
        raise ModelError(explain("A mixture", "weights (k), means (k, n), covariances (k, n, n)",
                                 f"{weights.shape}, {means.shape}, {covariances.shape}"))
    if weights.min() <= 0 or abs(weights.sum() - 1) > 1e-6:
        raise ModelError(explain("'weights' of a mixture", "positive with sum 1",
                                 f"sum {weights.sum():g}"))
    even = np.abs(covariances - covariances.transpose(0, 2, 1)).max()
    if even > 1e-9 * np.abs(covariances).max() or np.linalg.eigvalsh(covariances).min() <= 0:
        raise ModelError("'covariances' of a mixture must be symmetric and positive definite.")
