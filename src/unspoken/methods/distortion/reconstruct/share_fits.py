"""The best distribution over places that explains reports: weighted equations, none negative."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from unspoken.arrays import Floats
from unspoken.methods.distortion.reconstruct.iterate import Part

PENALTY = 1e4
"""Weight of the equations that must hold exactly, the system's own norm being one."""
UNSEEN = 0.01
"""Directions in which a distribution moves reports by less than this many deviations."""


@dataclass(frozen=True)
class Places:
    """Groups of reports over finer places: which place belongs to which interval, and how much.

    `sums` has a row per interval and a column per place of every group: the weight of the group
    where the place lies in the interval. `whole` has a row per group: ones at its places.
    """

    parts: Sequence[Part]
    expected: Sequence[Floats]
    sums: Floats
    whole: Floats


@dataclass(frozen=True)
class Fit:
    """The equations of reports and shares, and how the best distribution is found."""

    left: Floats
    """The equations: of the reports, and below them those that must hold."""
    onto: Floats
    """Takes the shares of reports to the right side of the equations."""
    scale: float
    """What the equations of the reports were divided by."""
    kernels: Sequence[Floats] = ()
    """Of every group what places report."""

    def expected(self, best: Floats) -> list[Floats]:
        """Return the reports of every group that a distribution over places makes expected."""
        ends = np.cumsum([kernel.shape[1] for kernel in self.kernels])[:-1]
        reports = [np.maximum(kernel @ shares, 0.0)
                   for kernel, shares in zip(self.kernels, np.split(best, ends), strict=True)]
        return [one / one.sum() for one in reports]

    def fixed(self, row: Floats) -> Fit:
        """Return the equations for distributions whose share of one interval is given."""
        return replace(self, left=np.vstack([self.left, PENALTY * row]))

    def target(self, counts: Sequence[Floats]) -> Floats:
        """Return the right side of the equations for these reports."""
        return np.asarray(self.onto @ np.concatenate([one / one.sum() for one in counts]))

    def solve(self, target: Floats, share: float | None = None) -> tuple[Floats, float]:
        """Return the best distribution, its interval's share being given, and its misfit."""
        from scipy.optimize import nnls

        must = np.full(self.left.shape[0] - target.size, PENALTY)
        if share is not None:
            must[-1] *= share
        best, _ = nnls(self.left, np.concatenate([target, must]),
                       maxiter=100 * self.left.shape[1])
        return best, float(((self.left[: target.size] @ best - target) ** 2).sum())


def fit_of(places: Places) -> Fit:
    """Return the weighted equations, reduced to what the reports can see of a distribution."""
    from scipy.linalg import block_diag

    rows, weights = [], []
    for part, expected in zip(places.parts, places.expected, strict=True):
        total = part.counts.sum()
        weight = np.sqrt(total / np.maximum(expected / expected.sum(), 0.5 / total))
        rows.append(np.asarray(part.kernel) * weight[:, None])
        weights.append(weight)
    turn, sizes, axes = np.linalg.svd(block_diag(*rows), full_matrices=False)
    seen = sizes > UNSEEN
    scale = max(float(sizes[0]), 1e-300)
    left = np.vstack([sizes[seen, None] / scale * axes[seen], PENALTY * places.whole])
    return Fit(left, turn[:, seen].T * np.concatenate(weights) / scale, scale,
                [np.asarray(part.kernel) for part in places.parts])


def reweighted(places: Places) -> Places:
    """Expect what the best distribution over all places does: the estimate has no spikes inside."""
    fit = fit_of(places)
    best, _ = fit.solve(fit.target([part.counts for part in places.parts]))
    ends = np.cumsum([np.asarray(part.kernel).shape[1] for part in places.parts])
    fitted = [np.asarray(part.kernel) @ shares
              for part, shares in zip(places.parts, np.split(best, ends[:-1]), strict=True)]
    return replace(places, expected=fitted)
