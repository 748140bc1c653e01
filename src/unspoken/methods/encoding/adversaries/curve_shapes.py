"""Curves through a few points, for many trials at once (bu2007 Definition 5).

Every curve is a piecewise polynomial: one row per trial. Outside the points polyline and spline go
on as straight lines, as in the setting that fits the published numbers of section 6 best.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats

_FEW = 16
"""Up to this many breaks comparing with each is faster than searching."""
_LONG = 2048
"""From this many increasing places on segments are evaluated stretch by stretch."""
_BLOCK = 1 << 15
"""Values worked on at once, so that they stay in the processor's cache."""


@dataclass(frozen=True)
class Curves:
    """Piecewise polynomials: breaks (trials, k), origins and coefficients of k + 1 segments.

    `coefficients` has the shape (degree + 1, trials, k + 1), the constant first.
    """

    breaks: Floats
    origins: Floats
    coefficients: Floats

    @property
    def trials(self) -> int:
        """Return the number of curves."""
        return int(self.origins.shape[0])

    def at(self, x: Floats) -> Floats:
        """Return the values at x: the same places for every trial, or one row per trial."""
        if x.ndim == 1 and x.size >= _LONG and bool(np.all(x[1:] >= x[:-1])):
            return self._along(x)
        wide = np.broadcast_to(x, (self.trials, x.shape[-1]))
        out = np.empty(wide.shape)
        for rows in blocks(self.trials, wide.shape[1]):
            out[rows] = self._rows(rows, wide[rows])
        return out

    def _along(self, x: Floats) -> Floats:
        """Return the values at many increasing places: every segment is one stretch of them."""
        out = np.empty((self.trials, x.size))
        ends = np.searchsorted(x, self.breaks)
        for row, stops in enumerate(ends.tolist()):
            for at, (start, stop) in enumerate(pairwise([0, *stops, x.size])):
                self._stretch(row, at, x[start:stop], out[row, start:stop])
        return out

    def _stretch(self, row: int, segment: int, x: Floats, out: Floats) -> None:
        away = x - self.origins[row, segment]
        highest, *lower = self.coefficients[::-1, row, segment].tolist()
        np.multiply(away, highest, out=out)
        out += lower[0]
        for coefficient in lower[1:]:
            out *= away
            out += coefficient

    def _rows(self, rows: slice, x: Floats) -> Floats:
        if self.origins.shape[1] == 1:
            return _horner(x - self.origins[rows], list(self.coefficients[:, rows]))
        where = _segments(x, self.breaks[rows])
        where += np.arange(x.shape[0])[:, None] * self.origins.shape[1]
        parts = [part[rows].ravel().take(where) for part in self.coefficients]
        return _horner(x - self.origins[rows].ravel().take(where), parts)


def blocks(trials: int, size: int) -> Iterator[slice]:
    """Yield slices of trials whose values fit into the cache."""
    step = max(1, _BLOCK // max(size, 1))
    for start in range(0, trials, step):
        yield slice(start, min(start + step, trials))


def _horner(x: Floats, parts: list[Floats]) -> Floats:
    out = np.array(np.broadcast_to(parts[-1], x.shape))
    for part in parts[-2::-1]:
        out *= x
        out += part
    return out


def _segments(x: Floats, breaks: Floats) -> npt.NDArray[np.intp]:
    if breaks.shape[1] > _FEW:
        places = [np.searchsorted(b, row, side="right") for b, row in zip(breaks, x, strict=True)]
        return np.array(places, np.intp)
    where = np.zeros(x.shape, np.intp)
    for index in range(breaks.shape[1]):
        where += x >= breaks[:, index, None]
    return where


def regression_lines(x: Floats, y: Floats) -> Curves:
    """Return the least squares line of each trial; x and y have one row per trial."""
    middle, level = x.mean(axis=1, keepdims=True), y.mean(axis=1, keepdims=True)
    spread = ((x - middle) ** 2).sum(axis=1, keepdims=True)
    product = ((x - middle) * (y - level)).sum(axis=1, keepdims=True)
    slope = np.divide(product, spread, out=np.zeros_like(product), where=spread > 0)
    return Curves(np.empty((x.shape[0], 0)), middle, np.array([level, slope]))


def polylines(x: Floats, y: Floats) -> Curves:
    """Return the line that joins the points of each trial; x increases strictly in every row."""
    if x.shape[1] < 2:
        return regression_lines(x, y)
    slope = np.diff(y, axis=1) / np.diff(x, axis=1)
    return Curves(x[:, 1:-1], x[:, :-1], np.array([y[:, :-1], slope]))


def natural_splines(x: Floats, y: Floats) -> Curves:
    """Return the natural cubic spline of each trial, straight beyond its end points."""
    if x.shape[1] < 3:
        return polylines(x, y)
    width = np.diff(x, axis=1)
    slope = np.diff(y, axis=1) / width
    bend = _bends(width, slope)
    first = slope - width * (2 * bend[:, :-1] + bend[:, 1:]) / 6
    third = np.diff(bend, axis=1) / (6 * width)
    last = slope[:, -1:] + width[:, -1:] * bend[:, -2:-1] / 6
    none = np.zeros((x.shape[0], 1))
    parts = [
        np.concatenate([y[:, :1], y[:, :-1], y[:, -1:]], axis=1),
        np.concatenate([first[:, :1], first, last], axis=1),
        np.concatenate([none, bend[:, :-1] / 2, none], axis=1),
        np.concatenate([none, third, none], axis=1),
    ]
    origins = np.concatenate([x[:, :1], x[:, :-1], x[:, -1:]], axis=1)
    return Curves(x, origins, np.array(parts))


def _bends(width: Floats, slope: Floats) -> Floats:
    """Solve the tridiagonal systems for the second derivatives at the points (Thomas)."""
    inner = width.shape[1] - 1
    diagonal = 2 * (width[:, :-1] + width[:, 1:])
    right = 6 * np.diff(slope, axis=1)
    for i in range(1, inner):
        factor = width[:, i] / diagonal[:, i - 1]
        diagonal[:, i] -= factor * width[:, i]
        right[:, i] -= factor * right[:, i - 1]
    bend = np.zeros((width.shape[0], inner + 2))
    for i in range(inner - 1, -1, -1):
        bend[:, i + 1] = (right[:, i] - width[:, i + 1] * bend[:, i + 2]) / diagonal[:, i]
    return bend
