"""Error bars of a reconstructed column: where its values may sit, and what it is likely like."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from unspoken.arrays import Floats
from unspoken.methods.distortion.known_laws import Classes, Law
from unspoken.methods.distortion.reconstruct.iterate import Part, reconstruct, stacked
from unspoken.methods.distortion.reconstruct.kernels import tally
from unspoken.methods.distortion.reconstruct.reports import Reports
from unspoken.methods.distortion.reconstruct.share_bounds import (
    Likely,
    ShareTest,
    misfit,
    share_tests,
)
from unspoken.methods.distortion.reconstruct.share_fits import Places

PLACES = 100
"""Places inside the intervals, in all, among which bounds look for distributions."""
MOST_PLACES = 5
"""Most narrow ones inside one interval."""
NARROW = 0.01
"""Width of a narrow place, the interval being one wide."""
FINER = (1, 2, 4)
"""Intervals of reports for each interval of values: the first that no distribution fits exactly."""
EXACT = 1e-3
"""A smaller sum of squared deviations is an exact fit."""
CELLS = 4
"""Equal cells inside an interval, over which a likely distribution is estimated."""


@dataclass(frozen=True)
class Column:
    """The reports of a column, the law that they came by, and the intervals of its values."""

    reports: Reports
    law: Law
    edges: Floats
    pooled: bool = False
    finer: int = 1

    @property
    def bins(self) -> int:
        """Return the number of intervals."""
        return int(self.edges.size - 1)

    def _finer(self) -> Floats:
        """Return the edges that the intervals of reports follow, inside the intervals, too."""
        at = np.arange(self.finer * self.bins + 1) / self.finer
        return np.interp(at, np.arange(self.bins + 1), self.edges)

    def over(self, inside: Floats) -> tuple[list[Part], Floats]:
        """Return the groups over pieces of the intervals, and which piece is in which interval.

        `inside` says where pieces begin inside an interval of length one.
        """
        at = np.append((np.arange(self.bins)[:, None] + inside).reshape(-1), self.bins)
        pieces = np.interp(at, np.arange(self.bins + 1), self.edges)
        belongs = np.kron(np.eye(self.bins), np.ones(inside.size)).astype(np.float64)
        parts = []
        if self.reports.distorted.size:
            values = self.reports.distorted
            reported = self.law.reported(float(values.min()), float(values.max()), self._finer())
            kernel = self.law.kernel(pieces, reported, "integrated")
            parts.append(Part(tally(values, reported), kernel))
        if self.reports.truthful.size:
            parts.append(Part(tally(self.reports.truthful, self.edges), belongs))
        return ([_as_one(parts)] if self.pooled else parts), belongs


def error_bars(column: Column, confidence: float, seed: int) -> tuple[Floats, Floats]:
    """Return bounds of every interval's share."""
    ends = [test.ends() for test in bar_tests(column, confidence, seed)]
    return np.array([low for low, _ in ends]), np.array([high for _, high in ends])


def bar_tests(column: Column, confidence: float, seed: int) -> list[ShareTest]:
    """Return for every interval the test that says which shares are possible.

    Where a distribution fits the reports exactly, so do many, and nothing tells them apart: there
    reports are counted in finer intervals.
    """
    for finer in FINER:
        column = replace(column, finer=finer)
        places = places_of(column)
        if misfit(places) > EXACT:
            break
    return share_tests(places, confidence, likely_of(column, seed), seed)


def _as_one(parts: Sequence[Part]) -> Part:
    """Return true and distorted reports as one group: each kind is expected as often as it came."""
    total = sum(part.counts.sum() for part in parts)
    return stacked([Part(part.counts, np.asarray(part.kernel) * (part.counts.sum() / total))
                    for part in parts])


def places_of(column: Column) -> Places:
    """Return the groups over places inside the intervals; classes have no inside."""
    whole = isinstance(column.law, Classes)
    parts, belongs = column.over(np.zeros(1) if whole else _inside(column.bins))
    sums = np.hstack([weight * belongs for weight in _weights(parts)])
    ones = np.kron(np.eye(len(parts)), np.ones(belongs.shape[1])).astype(np.float64)
    return Places(parts, [part.counts + 0.5 for part in parts], sums, ones)


def _weights(parts: Sequence[Part]) -> list[float]:
    total = sum(part.counts.sum() for part in parts)
    return [float(part.counts.sum() / total) for part in parts]


def _inside(bins: int) -> Floats:
    """Return where places begin inside an interval of length one: narrow ones, and the gaps.

    Spikes sit anywhere, at the very ends of intervals too: narrow places stand for them.
    """
    spikes = int(np.clip(PLACES // (2 * bins), 2, MOST_PLACES))
    first = np.linspace(0.0, 1.0 - NARROW, spikes)
    return np.sort(np.concatenate([first, first[:-1] + NARROW]))


def likely_of(column: Column, seed: int) -> Likely:
    """Return a distribution that reports like these may come from, estimated over equal cells."""
    cells = 1 if isinstance(column.law, Classes) else CELLS
    parts, belongs = column.over(np.arange(cells) / cells)
    estimates = [reconstruct(part.counts, part.kernel, "smoothed", seed=seed).probabilities
                 for part in parts]
    return Likely(parts, estimates, _weights(parts), belongs)
