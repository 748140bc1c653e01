"""The estimate of one column from its reports, with error bars.

True and distorted reports are estimated apart and added up, because choosing is not
done at random; pooled, one distribution stands behind both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.errors import DataError
from unspoken.methods.distortion.known_laws import Additive, Answers, Law, Product
from unspoken.methods.distortion.random_factors import LOGNORMAL
from unspoken.methods.distortion.reconstruct.error_bars import Column, error_bars
from unspoken.methods.distortion.reconstruct.iterate import (
    MAX_STEPS,
    Part,
    Solution,
    stacked,
)
from unspoken.methods.distortion.reconstruct.iterate import reconstruct as solve
from unspoken.methods.distortion.reconstruct.kernels import tally
from unspoken.methods.distortion.reconstruct.reports import Reports, likely_support, spread
from unspoken.methods.distortion.response_matrices import Shares, by_inverse
from unspoken.models.distribution import Categories, Distribution

METHODS = ("em", "bayes")


@dataclass(frozen=True)
class How:
    """The settings of a reconstruction."""

    bins: int = 50
    method: str = "em"
    kernel: str | None = None
    stop: str = "smoothed"
    steps: int = MAX_STEPS
    confidence: float | None = None
    pooled: bool = False
    seed: int = 0

    def kernel_of(self, law: Law, edges: Floats, reported: Floats) -> Floats:
        """Return the kernel of the method: EM wants columns that are distributions."""
        kind = self.kernel or ("integrated" if self.method == "em" else "midpoint")
        kernel = law.kernel(edges, reported, kind)
        if self.method == "em" and kind == "midpoint":
            return np.asarray(kernel / np.maximum(kernel.sum(axis=0), 1e-300))
        return kernel


def numbers(reports: Reports, law: Law, how: How, name: str, facts: dict[str, Any],
            support: Any) -> Distribution:
    """Return the distribution behind reports of a numeric column."""
    if how.stop == "smoothed" and isinstance(law, Product) and law.form == LOGNORMAL:
        # Mixing by one share suits noise that is about as wide everywhere.
        how = replace(how, stop="held-out")
    edges = _edges(reports, law, how, support)
    groups = _groups(reports, law, how, edges)
    total = sum(part.counts.sum() for part in groups)
    estimates = [_estimate(part, how) for part in groups]
    weights = [part.counts.sum() / total for part in groups]
    mixed = normal(sum(w * f.probabilities for w, f in zip(weights, estimates, strict=True)))
    low, high = _bars(Column(reports, law, edges, how.pooled), how, mixed)
    description = {"method": how.method, "stop": how.stop, "steps": max(f.steps for f in estimates),
                   "truthful": int(reports.truthful.size), "withheld": reports.withheld, **facts}
    return Distribution(edges, mixed, name, int(total), low, high, description)


def normal(values: Any) -> Floats:
    """Return shares that sum to one."""
    return np.asarray(values / values.sum())


def _edges(reports: Reports, law: Law, how: How, support: Any) -> Floats:
    edges = law.edges(how.bins) if support is None else spread(support, how.bins)
    bins = how.bins if edges is None else edges.size - 1
    if reports.size < bins:
        raise DataError(f"There are fewer reports ({reports.size}) than intervals ({bins}). "
                        "Use fewer bins.")
    if edges is not None:
        return edges
    assert isinstance(law, Additive)
    return spread(likely_support(reports, law.noise), how.bins)


def _groups(reports: Reports, law: Law, how: How, edges: Floats) -> list[Part]:
    parts = []
    if reports.distorted.size:
        values = reports.distorted
        reported = law.reported(float(values.min()), float(values.max()), edges)
        parts.append(Part(tally(values, reported), how.kernel_of(law, edges, reported)))
    if reports.truthful.size:
        parts.append(Part(tally(reports.truthful, edges), np.eye(edges.size - 1)))
    return [stacked(parts)] if how.pooled else parts


def _estimate(part: Part, how: How) -> Solution:
    kernel = np.asarray(part.kernel)
    if kernel.shape[0] == kernel.shape[1] and np.array_equal(kernel, np.eye(kernel.shape[0])):
        return Solution(part.counts / part.counts.sum(), 1, 0.0)
    return solve(part.counts, part.kernel, how.stop, how.steps, how.seed)


def _bars(column: Column, how: How, mixed: Floats) -> tuple[Floats | None, Floats | None]:
    """Return bounds of the true shares, the estimate among them, where they are wanted."""
    if how.confidence is None:
        return None, None
    low, high = error_bars(column, how.confidence, how.seed)
    return np.minimum(low, mixed), np.maximum(high, mixed)


def shares(answers: Sequence[Any], choices: Any, law: Answers, name: str,
           pooled: bool = False) -> Categories:
    """Return the shares behind randomised answers; true answers count as they are."""
    counted = counted_answers(answers, choices, law)
    groups = [(row, matrix) for row, matrix in zip(counted, (law.matrix, None), strict=True)
              if row.sum() > 0]
    if not groups:
        raise DataError(f"Column '{name}' has no answers.")
    total = sum(row.sum() for row, _ in groups)
    unbiased = spreads = likely = np.zeros(len(law.values))
    for row, matrix in groups:
        weight = row.sum() / total
        straight = _straight(row, matrix)
        unbiased = unbiased + weight * straight.shares
        # True and distorted answers are groups of fixed size: their variances add up.
        spreads = spreads + weight**2 * straight.deviations**2
        likely = likely + weight * _likely([(row, matrix)])
    if pooled:
        likely = _likely(groups)
    return Categories(law.values, normal(likely), unbiased, np.sqrt(spreads), name, int(total))


def counted_answers(answers: Sequence[Any], choices: Any, law: Answers) -> tuple[Floats, Floats]:
    """Return how often each category was answered at random, and how often truthfully."""
    place = {value: index for index, value in enumerate(law.values)}
    codes = np.array([place.get(value, -1) for value in answers], np.int64)
    true = np.zeros(codes.size, np.bool_) if choices is None else \
        np.asarray(choices, dtype=object) == "truth"
    size = len(law.values)
    random, exact = (np.bincount(codes[(codes >= 0) & which], minlength=size).astype(np.float64)
                     for which in (~true, true))
    return random, exact


def _straight(counts: Floats, matrix: Floats | None) -> Shares:
    return by_inverse(counts, np.eye(counts.size) if matrix is None else matrix)


def _likely(groups: Sequence[tuple[Floats, Floats | None]]) -> Floats:
    parts = [Part(row, np.eye(row.size) if matrix is None else np.ascontiguousarray(matrix.T))
             for row, matrix in groups]
    whole = stacked(parts)
    return solve(whole.counts, whole.kernel, "change").probabilities
