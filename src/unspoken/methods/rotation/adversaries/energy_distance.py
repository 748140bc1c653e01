"""The energy distance of two samples, and the search for signs that make it small (liu2006).

Of 2 E|X-Y| - E|X-X'| - E|Y-Y'| a change of signs touches the first term only, so candidates are
compared by the mean distance between the samples, without p-values. Flipping one axis changes all
squared distances by a rank-1 term: in the order of a Gray code every candidate costs one pass.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from unspoken.arrays import Floats

_BLOCK = 1 << 15
"""Squared distances held at once: they should stay in the second cache."""
MAX_AXES = 24
"""All signs of more axes are not tried one by one."""


def mean_distance(x: Floats, y: Floats) -> float:
    """Return the mean distance between the rows of two arrays."""
    step = max(1, (8 * _BLOCK) // max(y.shape[0], 1))
    total = 0.0
    for start in range(0, x.shape[0], step):
        total += float(np.sqrt(_squares(x[start:start + step], y)).sum())
    return float(total / (x.shape[0] * y.shape[0]))


def energy_distance(x: Floats, y: Floats) -> float:
    """Return the energy statistic of two samples: zero for equal laws, never negative."""
    return 2 * mean_distance(x, y) - mean_distance(x, x) - mean_distance(y, y)


def _squares(x: Floats, y: Floats) -> Floats:
    squares = (x**2).sum(axis=1)[:, None] + (y**2).sum(axis=1) - 2 * x @ y.T
    return np.asarray(np.maximum(squares, 0.0))


def gray_flips(axes: int) -> Iterator[int]:
    """Yield the axis that each step of a Gray code flips: all 2^axes signs, each once."""
    for step in range(1, 1 << axes):
        yield (step & -step).bit_length() - 1


def all_signs(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Return the signs d with the least mean |d x - y|, and that mean for every candidate.

    Candidates stand in the order of the Gray code, beginning with all signs positive.
    """
    axes = x.shape[1]
    total = np.zeros(1 << axes)
    rows = max(1, _BLOCK // y.shape[0])
    flips = list(gray_flips(axes))
    for start in range(0, x.shape[0], rows):
        _add_block(total, x[start:start + rows], y, flips)
    best = int(np.argmin(total))
    return signs_at(best, axes), total / (x.shape[0] * y.shape[0])


def _add_block(total: Floats, x: Floats, y: Floats, flips: list[int]) -> None:
    square = _squares(x, y)
    # A floor far below any distance that matters keeps rounding from going below zero.
    square += 1e-12 * float(square.max(initial=0.0))
    terms = [4.0 * np.outer(x[:, axis], y[:, axis]) for axis in range(x.shape[1])]
    signs = [1.0] * x.shape[1]
    root = np.sqrt(square)
    total[0] += root.sum()
    for number, axis in enumerate(flips, 1):
        if signs[axis] > 0:
            np.add(square, terms[axis], out=square)
        else:
            np.subtract(square, terms[axis], out=square)
        signs[axis] = -signs[axis]
        np.sqrt(square, out=root)
        total[number] += root.sum()


def signs_at(position: int, axes: int) -> Floats:
    """Return the signs at a position of the Gray code."""
    code = position ^ (position >> 1)
    return np.array([-1.0 if code >> axis & 1 else 1.0 for axis in range(axes)])


def moment_signs(x: Floats, y: Floats, *starts: Floats, limit: int = 1000) -> Floats:
    """Find signs fast: by the mean and the skewness of each axis, then flips that lower energy.

    The moment that says more (in standard errors of the smaller sample) decides; then axes are
    flipped one at a time as long as the mean distance between parts of the samples falls. Other
    `starts` may be passed; the one that ends lowest wins.
    """
    first = np.where(sign_evidence(x, y) < 0, -1.0, 1.0)
    ends = [_descended(x[:limit], y[:limit], start) for start in (first, *starts)]
    return min(ends, key=lambda end: end[1])[0]


def _descended(x: Floats, y: Floats, start: Floats) -> tuple[Floats, float]:
    """Flip signs one by one while that lowers the sum of distances; single precision is enough."""
    signs = start.copy()
    own, other = (x**2).sum(axis=1), (y**2).sum(axis=1)
    # The floor keeps rounding in single precision from going below zero.
    own += 1e-5 * (float(own.max(initial=0.0)) + float(other.max(initial=0.0)))
    square = (-2.0 * x * signs).astype(np.float32) @ y.T.astype(np.float32)
    square += own[:, None].astype(np.float32)
    square += other.astype(np.float32)
    root = np.sqrt(square)
    least = float(root.sum(axis=1).sum(dtype=np.float64))
    left, right = (4.0 * x).astype(np.float32), y.astype(np.float32)
    for _ in range(2):
        before = least
        for axis in range(x.shape[1]):
            flipped = np.outer(np.float32(signs[axis]) * left[:, axis], right[:, axis])
            flipped += square
            np.sqrt(flipped, out=root)
            energy = float(root.sum(axis=1).sum(dtype=np.float64))
            if energy < least:
                least, square = energy, flipped
                signs[axis] = -signs[axis]
        if least == before:
            break
    return signs, least


def sign_evidence(x: Floats, y: Floats) -> Floats:
    """Return for each axis a number whose sign says same or mirrored, from the stronger moment."""
    parts = []
    for data in (x, y):
        mean, spread = data.mean(axis=0), data.std(axis=0)
        spread = np.where(spread > 0, spread, 1.0)
        unit = (data - mean) / spread
        skew = (unit * unit * unit).mean(axis=0)
        size = np.sqrt(data.shape[0])
        parts.append((mean / spread * size, skew * size / np.sqrt(6.0)))
    by_mean = np.sign(parts[0][0] * parts[1][0]) * np.minimum(*np.abs([p[0] for p in parts]))
    by_skew = np.sign(parts[0][1] * parts[1][1]) * np.minimum(*np.abs([p[1] for p in parts]))
    return np.asarray(np.where(np.abs(by_mean) >= np.abs(by_skew), by_mean, by_skew))
