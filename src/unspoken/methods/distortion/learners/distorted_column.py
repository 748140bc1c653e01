"""A distorted column as a tree learner sees it: intervals, estimated counts, and assignment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.errors import DataError, InputError, explain
from unspoken.methods.distortion.known_laws import Additive, Answers, Law
from unspoken.methods.distortion.learners.interval_assignment import by_order, by_posterior
from unspoken.methods.distortion.noise_laws import Noise
from unspoken.methods.distortion.reconstruct.iterate import reconstruct
from unspoken.methods.distortion.response_matrices import check_matrix

MAX_STEPS = 1000
PER_INTERVAL, FEWEST, MOST = 100, 10, 100
"""as2000: about a hundred records per interval, ten to a hundred intervals."""


@dataclass(frozen=True)
class Setting:
    """How columns are reconstructed."""

    stop: str = "held-out"
    steps: int = MAX_STEPS
    seed: int = 0


@dataclass(frozen=True)
class Distorted:
    """One column: `values` as reported, `where` the interval of each report.

    `kernel` is None for a column that was not distorted; its intervals are exact. `ordered` says
    whether records are assigned by order or, for randomised answers, by posterior.
    """

    values: Floats
    where: Ints
    edges: Floats
    kernel: Floats | None
    ordered: bool
    setting: Setting

    @property
    def intervals(self) -> int:
        """Return the number of intervals of true values."""
        return int(self.edges.size - 1)

    @property
    def table(self) -> Floats:
        """Return the chance of every kind of report (row) by interval."""
        return np.eye(self.intervals) if self.kernel is None else self.kernel

    @property
    def exact(self) -> Ints | None:
        """Return the interval of records that are known exactly, None if none is."""
        return self.where if self.kernel is None else None

    def distribution(self, rows: Any, start: Floats | None = None) -> Floats:
        """Return the estimated shares of the intervals among some records.

        `start`: the shares among more records. Where these records do not clearly differ the
        estimate stays with them; otherwise columns that say nothing about the class would seem
        to, because the two classes' estimates differ by chance.
        """
        if self.kernel is None:
            counts = np.bincount(self.where[rows], minlength=self.intervals).astype(np.float64)
            return np.asarray(counts / counts.sum())
        counts = np.bincount(self.where[rows], minlength=self.kernel.shape[0]).astype(np.float64)
        return reconstruct(counts, self.kernel, self.setting.stop, self.setting.steps,
                           self.setting.seed, start).probabilities

    def assign(self, rows: Any, shares: Floats) -> Ints:
        """Return the interval into which each of some records is put."""
        if self.kernel is None:
            return np.asarray(self.where[rows])
        if self.ordered:
            return by_order(self.values[rows], shares)
        return by_posterior(self.where[rows], shares, self.kernel,
                            np.random.default_rng(self.setting.seed))

    def threshold(self, place: Floats) -> Floats:
        """Turn thresholds between interval numbers into thresholds of values.

        A record on an edge belongs to the interval on its right, so the threshold is the last
        float32 before the edge.
        """
        edge = np.interp(place + 0.5, np.arange(self.edges.size), self.edges)
        return np.nextafter(edge.astype(np.float32), np.float32(-np.inf)).astype(np.float64)


def column_of(values: Floats, law: Any, bins: int | None, setting: Setting) -> Distorted | None:
    """Bin one column by its law; None for a column that is taken as it is."""
    if law is None:
        return None
    if isinstance(law, Answers):
        return _answers(values, law, setting)
    count = bins or int(np.clip(values.size // PER_INTERVAL, FEWEST, MOST))
    edges = law.edges(count)
    if edges is None:
        low, high = _likely(values, law)
        edges = np.linspace(low, high, count + 1)
    if values.size < edges.size - 1:
        raise DataError(f"There are fewer records ({values.size}) than intervals "
                        f"({edges.size - 1}). Use fewer bins.")
    reported = law.reported(float(values.min()), float(values.max()), edges)
    where = np.clip(np.searchsorted(reported, values, side="right") - 1, 0, reported.size - 2)
    return Distorted(values, where, edges, law.kernel(edges, reported, "integrated"), True,
                     setting)


def exact_column(values: Floats, setting: Setting) -> Distorted:
    """Bin a column that was not distorted, for the strategy that works on intervals only."""
    inner = np.unique(np.quantile(values, np.linspace(0, 1, MOST + 1)[1:-1]))
    edges = np.unique(np.r_[values.min() - 1.0, inner, values.max() + 1.0])
    where = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, edges.size - 2)
    return Distorted(values, where, edges.astype(np.float64), None, True, setting)


def _answers(values: Floats, law: Answers, setting: Setting) -> Distorted:
    codes, size = np.rint(values).astype(np.int64), len(law.values)
    if np.any(codes != values) or codes.min() < 0 or codes.max() >= size:
        raise DataError(f"A column of randomised answers must hold the codes 0 to {size - 1} "
                        "only.")
    edges = np.arange(size + 1, dtype=np.float64) - 0.5
    return Distorted(values, codes, edges, np.ascontiguousarray(law.matrix.T),
                     False, setting)


def _likely(values: Floats, law: Law) -> tuple[float, float]:
    assert isinstance(law, Additive)
    left = max(float(values.var()) - law.noise.deviation**2, 0.01 * float(values.var()))
    middle, half = float(values.mean()), max(4 * left**0.5, 1e-12)
    return max(float(values.min()), middle - half), min(float(values.max()), middle + half)


def as_law(law: Any, support: Any) -> Any:
    """Read what a user says about a column: nothing, a Noise, a law, or a response matrix."""
    if law is None or isinstance(law, Answers) or hasattr(law, "kernel"):
        return law
    if isinstance(law, Noise):
        return Additive(law, *(support or (None, None)))
    if isinstance(law, list | tuple | np.ndarray):
        matrix = check_matrix(law)
        return Answers(tuple(range(matrix.shape[0])), matrix)
    raise InputError(explain("'noise' of a column", "None, a Noise or a response matrix", law))


__all__ = ["Distorted", "Setting", "as_law", "column_of", "exact_column"]
