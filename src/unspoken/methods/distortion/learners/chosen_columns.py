"""A column where people chose: to distort their value, to report it, or to withhold it.

Every report is treated as what it is. True reports stand in their own interval; those who distorted
are reconstructed apart, and only they are put into intervals by their order; those who withheld
are dealt out like the others of their class, which is right if withholding does not depend on the
value once the class is known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.errors import DataError
from unspoken.methods.distortion.known_laws import Answers
from unspoken.methods.distortion.learners.distorted_column import (
    FEWEST,
    MOST,
    Distorted,
    Setting,
    column_of,
    exact_column,
)
from unspoken.methods.distortion.learners.interval_assignment import whole_counts

DISTORTED, TOLD, WITHHELD = -1, 0, -2


@dataclass(frozen=True)
class Mixed:
    """One column: `state` holds the interval of a true report, -1 if distorted, -2 if withheld.

    `inner` is the column of those who distorted, `place` everybody's row in it.
    """

    state: Ints
    place: Ints
    inner: Distorted | None
    edges: Floats
    setting: Setting

    @property
    def intervals(self) -> int:
        """Return the number of intervals of true values."""
        return int(self.edges.size - 1)

    @property
    def table(self) -> Floats:
        """Return the chance of every kind of report by interval: distorted, true, withheld."""
        exact = np.vstack([np.eye(self.intervals), np.ones(self.intervals)])
        return exact if self.inner is None else np.vstack([self.inner.table, exact])

    @property
    def exact(self) -> Ints:
        """Return the interval of true reports, below zero for others."""
        return self.state

    @property
    def where(self) -> Ints:
        """Return the row of `table` that belongs to everybody's report."""
        first = 0 if self.inner is None else self.inner.table.shape[0]
        out = np.where(self.state >= 0, first + self.state, first + self.intervals)
        if self.inner is not None:
            distorted = self.state == DISTORTED
            out[distorted] = self.inner.where[self.place[distorted]]
        return np.asarray(out, np.int64)

    def distribution(self, rows: Any, start: Floats | None = None) -> Floats:
        """Return the shares of the intervals: true and distorted reports apart, added up."""
        counts = self._truthful_counts(rows)
        inner = self._inner(rows)
        if self.inner is not None and inner.size:
            counts = counts + inner.size * self.inner.distribution(inner, start)
        if counts.sum() <= 0:
            even = np.full(self.intervals, 1.0 / self.intervals)
            return even if start is None else start
        return np.asarray(counts / counts.sum())

    def assign(self, rows: Any, shares: Floats) -> Ints:
        """Return an interval for everybody: as reported, by order, or dealt out."""
        state = self.state[rows]
        out = np.maximum(state, 0)
        inner, distorted = self._inner(rows), state == DISTORTED
        if self.inner is not None and inner.size:
            true = self._truthful_counts(rows)
            rest = np.maximum(shares * (true.sum() + inner.size) - true, 0.0)
            usable = rest if rest.sum() > 0 else shares
            out[distorted] = self.inner.assign(inner, usable / usable.sum())
        withheld = np.flatnonzero(state == WITHHELD)
        dealt = np.repeat(np.arange(self.intervals), whole_counts(shares, withheld.size))
        out[withheld] = np.random.default_rng(self.setting.seed).permutation(dealt)
        return np.asarray(out)

    def threshold(self, place: Floats) -> Floats:
        """Turn thresholds between interval numbers into thresholds of values."""
        edge = np.interp(place + 0.5, np.arange(self.edges.size), self.edges)
        return np.nextafter(edge.astype(np.float32), np.float32(-np.inf)).astype(np.float64)

    def _inner(self, rows: Any) -> Ints:
        return np.asarray(self.place[rows][self.state[rows] == DISTORTED], np.int64)

    def _truthful_counts(self, rows: Any) -> Floats:
        state = self.state[rows]
        return np.bincount(state[state >= 0], minlength=self.intervals).astype(np.float64)


def mixed_column(values: Floats, choices: Any, law: Any, bins: int | None,
                 setting: Setting) -> Mixed:
    """Bin a column whose people chose; without a law, every value not withheld is true."""
    withheld = (choices == "withhold") | np.isnan(values)
    distorted = (choices == "distort") & ~withheld & (law is not None)
    known = values[~withheld]
    if known.size == 0:
        raise DataError("Everybody withheld this column: there is nothing to learn from it.")
    inner = column_of(values[distorted], law, bins, setting) if distorted.any() else None
    edges = _edges(known, law, bins, setting) if inner is None else inner.edges
    exact = np.clip(np.searchsorted(edges, np.where(withheld, edges[0], values), side="right") - 1,
                    0, edges.size - 2)
    state = np.where(withheld, WITHHELD, np.where(distorted, DISTORTED, exact))
    return Mixed(state.astype(np.int64), np.cumsum(distorted) - 1, inner, edges, setting)


def _edges(known: Floats, law: Any, bins: int | None, setting: Setting) -> Floats:
    if law is None:
        return exact_column(known, setting).edges
    if isinstance(law, Answers):
        return np.arange(len(law.values) + 1, dtype=np.float64) - 0.5
    edges = law.edges(bins or int(np.clip(known.size // 100, FEWEST, MOST)))
    return exact_column(known, setting).edges if edges is None else np.asarray(edges)
