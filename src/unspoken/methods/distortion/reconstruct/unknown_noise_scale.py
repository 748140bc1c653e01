"""The scale of noise that is known by its family only, with its uncertainty.

Reports that reach beyond the support of the true values can only come from noise, and a density
that is too smooth for its noise cannot: both ends of the scale are seen in the likelihood. For
each candidate the distribution is reconstructed and its likelihood taken; the best scale is the
estimate, and its interval holds the scales whose likelihood is within what chance allows (half of
the 99% point of chi-square: the distribution is estimated too, and takes up some of the noise).

Uniform and Laplace scales are found within a few percent. A Gaussian one is weakly identified,
because values may themselves be smooth: from 10,000 reports the estimate was 11% too small on
average, and only the interval should be relied on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unspoken.arrays import Floats
from unspoken.errors import DataError
from unspoken.methods.distortion.noise_laws import LAWS, Noise, check_family
from unspoken.methods.distortion.reconstruct.iterate import checked, iterate
from unspoken.methods.distortion.reconstruct.kernels import noise_kernel, tally

CANDIDATES = 24
STEPS = 400
DROP = 6.635 / 2


@dataclass(frozen=True)
class Scale:
    """The likeliest scale, and the interval of those nearly as likely."""

    value: float
    low: float
    high: float


def estimate_scale(values: Floats, family: str, edges: Floats) -> Scale:
    """Estimate the scale of additive noise on values whose intervals are known."""
    check_family(family)
    if values.size < edges.size:
        raise DataError(f"At least {edges.size} reports are needed to estimate a scale. Got "
                        f"{values.size}.")
    reported = _grid(values, edges)
    counts = tally(values, reported)
    unit = Noise(family, 1.0).deviation
    spread = float(values.std()) / unit
    low, high = spread / 200, spread * 1.5
    if LAWS[family].bounded:
        # Bounded noise must reach the farthest report.
        beyond = max(edges[0] - values.min(), values.max() - edges[-1], 0.0)
        low, high = max(low, float(beyond)), max(high, float(beyond) * 1.5)
    for _ in range(2):
        scales = np.geomspace(low, high, CANDIDATES)
        likely = np.array([_likelihood(counts, Noise(family, s), edges, reported) for s in scales])
        best = int(np.argmax(likely))
        near = np.flatnonzero(likely >= likely[best] - 4 * DROP)
        low, high = (float(scales[max(near[0] - 1, 0)]),
                     float(scales[min(near[-1] + 1, CANDIDATES - 1)]))
    near = np.flatnonzero(likely >= likely[best] - DROP)
    return Scale(float(scales[best]), float(scales[max(near[0] - 1, 0)]),
                 float(scales[min(near[-1] + 1, CANDIDATES - 1)]))


def _grid(values: Floats, edges: Floats) -> Floats:
    step = float(np.diff(edges).mean())
    first = np.floor((min(values.min(), edges[0]) - edges[0]) / step)
    last = np.ceil((max(values.max(), edges[-1]) - edges[0]) / step)
    return np.asarray(edges[0] + np.arange(first, last + 1) * step)


def _likelihood(counts: Floats, noise: Noise, edges: Floats, reported: Floats) -> float:
    kernel = noise_kernel(noise, edges, reported)
    shares = iterate(counts[:, None], checked(counts, kernel), STEPS)[:, 0]
    return float(counts @ np.log(np.maximum(kernel @ shares, 1e-300)))
