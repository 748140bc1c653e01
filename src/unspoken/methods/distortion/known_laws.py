"""How a column was distorted, as the miner knows it from the manifest.

A law says over which intervals the true values lie, and with which chance a true value of one
interval is reported in another. Every distorting method has one; reconstruction, learners,
adversaries and measures all work through it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from unspoken.arrays import Floats
from unspoken.errors import InputError, ReleaseError, SchemaError, explain
from unspoken.methods.distortion.method import NAMES
from unspoken.methods.distortion.noise_laws import Noise
from unspoken.methods.distortion.random_factors import check_form, product_cdf
from unspoken.methods.distortion.reconstruct.kernels import (
    conditional_kernel,
    noise_kernel,
    reported_edges,
)
from unspoken.release.method import method_of, name_in
from unspoken.release.release import Release


class Law(Protocol):
    """What every law of a numeric column can do."""

    def edges(self, bins: int) -> Floats | None:
        """Return the intervals of the true values, None if their range is not known."""

    def reported(self, low: float, high: float, edges: Floats) -> Floats:
        """Return the intervals of the reports, which lie between low and high."""

    def kernel(self, edges: Floats, reported: Floats, kind: str) -> Floats:
        """Return the chance of every reported interval (row) for every true one (column)."""


@dataclass(frozen=True)
class Additive:
    """The value plus noise; the range of the values where it is public."""

    noise: Noise
    low: float | None = None
    high: float | None = None

    def edges(self, bins: int) -> Floats | None:
        """Return equal intervals over the range."""
        if self.low is None or self.high is None:
            return None
        return np.linspace(self.low, self.high, bins + 1)

    def reported(self, low: float, high: float, edges: Floats) -> Floats:
        """Return intervals as wide as the true ones, or an eighth of a Gaussian's deviation.

        A smooth density shows nothing finer, and fewer intervals are fewer steps of work.
        """
        smooth = self.noise.scale * self.noise.law.smooth_step
        every = max(1, int(smooth * (edges.size - 1) / (edges[-1] - edges[0])))
        return reported_edges(low, high, edges, self.noise.reach, every)

    def kernel(self, edges: Floats, reported: Floats, kind: str) -> Floats:
        """Return the integrated or the midpoint kernel."""
        return noise_kernel(self.noise, edges, reported, kind)


@dataclass(frozen=True)
class Product:
    """The value times a factor around one (liu2006 section 5)."""

    form: str
    deviation: float
    cut: float
    low: float
    high: float

    def __post_init__(self) -> None:
        """Refuse an unknown form, by name."""
        check_form(self.form)

    def edges(self, bins: int) -> Floats:
        """Return equal intervals over the range."""
        return np.linspace(self.low, self.high, bins + 1)

    def reported(self, low: float, high: float, edges: Floats) -> Floats:
        """Return intervals as wide as the true ones over all that was reported."""
        return reported_edges(low, high, edges, np.inf)

    def kernel(self, edges: Floats, reported: Floats, kind: str) -> Floats:
        """Return the kernel by quadrature, whatever the kind."""
        return conditional_kernel(
            lambda w, x: product_cdf(w, x, self.form, self.deviation, self.cut), edges, reported)


@dataclass(frozen=True)
class Classes:
    """The number of the class that a value belongs to."""

    cuts: Floats

    def edges(self, bins: int) -> Floats:
        """Return the classes themselves: nothing finer was reported."""
        return self.cuts

    def reported(self, low: float, high: float, edges: Floats) -> Floats:
        """Return an interval around every class number."""
        return np.arange(self.cuts.size, dtype=np.float64) - 0.5

    def kernel(self, edges: Floats, reported: Floats, kind: str) -> Floats:
        """Return the share of every true interval that lies in each class."""
        outer = np.r_[-np.inf, self.cuts[1:-1], np.inf]
        common = np.minimum(outer[1:, None], edges[1:]) - np.maximum(outer[:-1, None], edges[:-1])
        return np.asarray(np.maximum(common, 0.0) / np.diff(edges))


@dataclass(frozen=True)
class Answers:
    """Categories answered at random by a matrix (rows: the true category)."""

    values: tuple[Any, ...]
    matrix: Floats


def law_of(mechanism: Mapping[str, Any], column: str) -> Law | Answers:
    """Read the law of a column from a public mechanism."""
    make = method_of(mechanism).law
    if make is None:
        raise InputError(explain("The release", "of a method that distorts: " + ", ".join(NAMES),
                                 name_in(mechanism)))
    columns = mechanism.get("columns")
    if not isinstance(columns, Mapping) or column not in columns:
        raise SchemaError(f"Column '{column}' is not a distorted column of the release. "
                          f"Distorted: {list(columns or ())[:20]}.")
    try:
        law: Law | Answers = make(columns[column])
        return law
    except (KeyError, TypeError, ValueError) as error:
        raise ReleaseError(f"The law of column '{column}' in the manifest is not complete: "
                           f"{error!r}.") from None


def additive_law(law: Mapping[str, Any]) -> Additive:
    """Read the law of a column of a release by 'noise'."""
    return Additive(Noise(law["family"], law["scale"]), float(law["low"]), float(law["high"]))


def product_law(law: Mapping[str, Any]) -> Product:
    """Read the law of a column of a release by 'multiplicative-noise'."""
    return Product(law["form"], float(law["deviation"]), float(law["cut"]), float(law["low"]),
                   float(law["high"]))


def class_law(law: Mapping[str, Any]) -> Classes:
    """Read the law of a column of a release by 'discretize'."""
    return Classes(np.asarray(law["edges"], np.float64))


def answer_law(law: Mapping[str, Any]) -> Answers:
    """Read the law of a column of a release by 'randomized-response'."""
    from unspoken.methods.distortion.response_matrices import check_matrix

    return Answers(tuple(law["values"]), check_matrix(law["matrix"], len(law["values"])))


def marker_of(release: Release, column: str) -> str | None:
    """Return the released column that holds everybody's choice for a column, if there is one."""
    choices = release.mechanism.get("choices")
    marker = choices.get(column) if isinstance(choices, Mapping) else None
    return marker if isinstance(marker, str) else None
