"""Kernels: the chance that a value of one interval is reported in another (as2000 section 3).

A kernel has a row for every interval of reported values and a column for every interval of true
values. The midpoint kernel is the text's own: distances are taken between midpoints. The
integrated kernel is exact for values spread evenly inside their interval, and its columns sum to
one where the reported intervals cover everything.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from unspoken.arrays import Floats
from unspoken.errors import InputError, explain
from unspoken.methods.distortion.noise_laws import Noise

KERNELS = ("integrated", "midpoint")
POINTS = 8
"""Gauss-Legendre points inside an interval where no closed form is at hand."""


def noise_kernel(noise: Noise, edges: Floats, reported: Floats, kind: str = "integrated") -> Floats:
    """Return the kernel of additive noise between two sets of intervals."""
    if kind not in KERNELS:
        raise InputError(explain("'kernel'", "one of " + ", ".join(KERNELS), kind))
    if kind == "midpoint":
        away = _middles(reported)[:, None] - _middles(edges)
        return noise.density(away) * np.diff(reported)[:, None]
    steps = noise.cdf_integral(reported[:, None] - edges)
    spread = -np.diff(np.diff(steps, axis=0), axis=1) / np.diff(edges)
    return np.maximum(spread, 0.0)


def conditional_kernel(cdf: Callable[[Floats, Floats], Floats], edges: Floats,
                       reported: Floats) -> Floats:
    """Return the kernel of any mechanism from P(report <= w | value = x), by quadrature in x."""
    nodes, weights = np.polynomial.legendre.leggauss(POINTS)
    inside = _middles(edges)[:, None] + np.diff(edges)[:, None] / 2 * nodes
    below = cdf(reported[:, None, None], inside[None])
    return np.maximum(np.diff(below, axis=0) @ (weights / 2), 0.0)


def reported_edges(low: float, high: float, edges: Floats, reach: float,
                   every: int = 1) -> Floats:
    """Return intervals of (`every` times) the width of `edges` that cover [low, high], aligned.

    Nothing is expected beyond the reach of the noise; what was reported there all the same is
    covered too, so that no record falls out.
    """
    step = every * float(edges[-1] - edges[0]) / (edges.size - 1)
    first = np.floor((max(low, edges[0] - reach) - edges[0]) / step)
    last = np.ceil((min(high, edges[-1] + reach) - edges[0]) / step)
    inner = edges[0] + np.arange(first, max(last, first + 1) + 1) * step
    before = [low] if low < inner[0] else []
    after = [high] if high > inner[-1] else []
    return np.concatenate([before, inner, after])


def tally(values: Floats, edges: Floats) -> Floats:
    """Count values in equal or unequal intervals; what lies outside counts at the nearest end."""
    widths = np.diff(edges)
    if np.allclose(widths, widths[0], rtol=1e-9, atol=0.0):
        return _tally_equal(values, edges)
    where = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, edges.size - 2)
    return np.bincount(where, minlength=edges.size - 1).astype(np.float64)


def _tally_equal(values: Floats, edges: Floats) -> Floats:
    """Count in blocks that stay in the cache: several times as fast as numpy.histogram."""
    bins, block = edges.size - 1, 1 << 16
    scale = bins / (edges[-1] - edges[0])
    total = np.zeros(bins, np.int64)
    buffer = np.empty(min(block, values.size))
    for start in range(0, values.size, block):
        part = values[start:start + block]
        place = buffer[: part.size]
        np.subtract(part, edges[0], out=place)
        np.multiply(place, scale, out=place)
        np.clip(place, 0, bins - 1, out=place)
        total += np.bincount(place.astype(np.intp), minlength=bins)
    return total.astype(np.float64)


def _middles(edges: Floats) -> Floats:
    return np.asarray((edges[1:] + edges[:-1]) / 2)
