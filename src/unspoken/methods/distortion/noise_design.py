"""Designing noise: which law loses least at equal privacy (vcz2006 section 3.2, as2000 section 2).

Privacy is held equal by one of two measures: the width of the interval that holds a value with some
confidence (as2000), or two to the entropy of the noise, the length of a range that hides as much
(vcz2006 section 2.2). What a law costs is how many people have to be asked so that an estimate is
as exact as from one person who tells the truth: for the mean, and for the shares of equal
intervals. The latter is the ratio of the traces of two inverse information matrices, so it is what
no estimator can do without in large surveys. Nothing here looks at data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.errors import InputError, explain
from unspoken.methods.distortion.noise_laws import FAMILIES, Noise, for_width
from unspoken.methods.distortion.reconstruct.kernels import noise_kernel, reported_edges

MEASURES = ("width", "entropy")
FINE = 16
"""Intervals of reports in each interval of values."""
HOPELESS = 1e9
"""So many people are called infinitely many: rounding decides beyond."""


@dataclass(frozen=True)
class NoiseDesign:
    """One law at the wanted privacy, and how many people it takes to stand in for one truth."""

    noise: Noise
    width: float
    hidden: float
    people_for_mean: float
    people_for_shares: float

    def to_json(self) -> dict[str, Any]:
        """Return the design as plain data; what cannot be reached at all is None."""
        shares = self.people_for_shares
        return {**self.noise.to_json(), "width": self.width, "hidden": self.hidden,
                "people_for_mean": self.people_for_mean,
                "people_for_shares": shares if np.isfinite(shares) else None}


def design_noise(privacy: float, support: tuple[float, float], *, measure: str = "width",
                 confidence: float = 0.95, bins: int = 10) -> tuple[NoiseDesign, ...]:
    """Return every law with that privacy, the one that loses least of the shares first.

    Values are taken to be spread evenly over the support.
    """
    if measure not in MEASURES:
        raise InputError(explain("'measure'", "'width' or 'entropy'", measure))
    low, high = support
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise InputError(explain("'support'", "two finite numbers, the smaller one first", support))
    if not 0 < privacy <= 1000 * (high - low):
        raise InputError(explain("'privacy'", "above 0, and at most a thousand ranges of the "
                                 "values", privacy))
    if not 2 <= bins <= 50:
        raise InputError(explain("'bins'", "from 2 to 50", bins))
    edges = np.linspace(low, high, bins + 1)
    designs = [_designed(_with(family, privacy, measure, confidence), edges, confidence)
               for family in FAMILIES]
    return tuple(sorted(designs, key=lambda one: (one.people_for_shares, one.people_for_mean)))


def _with(family: str, privacy: float, measure: str, confidence: float) -> Noise:
    if measure == "width":
        return for_width(family, privacy, confidence)
    return Noise(family, privacy / Noise(family, 1.0).law.volume)


def _designed(noise: Noise, edges: Floats, confidence: float) -> NoiseDesign:
    spread = float(edges[-1] - edges[0]) ** 2 / 12
    return NoiseDesign(noise, noise.width(confidence), 2.0**noise.entropy,
                       1 + noise.deviation**2 / spread, people_for_shares(noise, edges))


def people_for_shares(noise: Noise, edges: Floats) -> float:
    """Return how many distorted reports tell as much about the shares as one true value."""
    bins = edges.size - 1
    fine = np.linspace(edges[0], edges[-1], FINE * bins + 1)
    reach = noise.reach
    kernel = noise_kernel(noise, edges, reported_edges(edges[0] - reach, edges[-1] + reach, fine,
                                                       reach))
    reports = kernel.mean(axis=1)
    seen = reports > 0
    information = kernel[seen].T @ (kernel[seen] / reports[seen, None])
    # Shares sum to one: only directions along which they do are free.
    free = np.linalg.qr(np.eye(bins) - 1.0 / bins)[0][:, : bins - 1]
    inner = np.linalg.eigvalsh(free.T @ information @ free)
    # The truth itself has information `bins` in every one of them.
    ratio = float(np.mean(bins / np.maximum(inner, 1e-300)))
    return ratio if inner[0] > 0 and ratio < HOPELESS else float("inf")
