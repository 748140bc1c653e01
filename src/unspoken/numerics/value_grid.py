"""The values that a column can take, guessed from a sample of them.

Whole numbers, tenths and hundredths lie on a grid whose step a few hundred values disclose.
Where the range has far more steps than values were seen, the values seen are kept and a few
places between them stand for those that were not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unspoken.arrays import Floats, Ints

MOST_STEPS = 4096
"""A grid of more places is not spelled out."""
LOOSE = 0.5
"""Shape where nothing is known about a place."""
SHAPES = (0.2, LOOSE, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0)
_WIDTHS = (0.7, 1.0, 1.5, 2.5, 4.0, 7.0, 12.0)
_LEAST = 1e-12
_DECIMALS = 4
_BETWEEN = 3
"""Places between two neighbouring values of a sample whose grid is too fine."""


@dataclass(frozen=True)
class Grid:
    """Places in increasing order, how often the sample holds each, and what to expect there.

    `share` is the expected share of records, `shape` how much that is to be trusted (the shape
    of a Gamma law around it).
    """

    values: Floats
    counts: Ints
    share: Floats
    shape: Floats


def step_of(values: Floats) -> float | None:
    """Return the step of the grid that distinct values lie on, or None for free fractions."""
    for decimals in range(_DECIMALS + 1):
        scaled = values * 10.0**decimals
        whole = np.rint(scaled)
        if np.abs(whole).max(initial=0.0) < 2**52 and np.allclose(scaled, whole, 0.0, 1e-6):
            gaps = np.diff(whole.astype(np.int64))
            if gaps.size and gaps.min() < 1:
                # Different values within the tolerance of one whole number: finer than any grid.
                continue
            return float(np.gcd.reduce(gaps)) / 10.0**decimals if gaps.size else 1.0
    return None


def grid_of(sample: Floats, places: int) -> Grid | None:
    """Return the grid of a sample with room for `places` values; None where it has no grid."""
    values, counts = np.unique(sample, return_counts=True)
    step = step_of(values) if values.size else None
    if step is None:
        return None
    steps = round(float(values[-1] - values[0]) / step) + 1
    if steps > min(MOST_STEPS, 4 * places + 64):
        return _between(values, counts, places)
    room = min(places, max(8, places - steps + 8))
    place = np.rint((values - values[0]) / step).astype(np.int64)
    inside = np.zeros(steps, np.int64)
    inside[place] = counts
    share, shape = expected(inside)
    tails = [_tail(run, room) for run in (inside[::-1], inside)]
    return Grid(values[0] + (np.arange(steps + 2 * room) - room) * step,
                np.pad(inside, room), np.r_[tails[0][::-1], share, tails[1]],
                np.pad(np.full(steps, shape), room, constant_values=LOOSE))


def _between(values: Floats, counts: Ints, places: int) -> Grid | None:
    """Return the values seen, with places for rare ones between them and at both ends."""
    extra = max(_BETWEEN, -(-places // values.size))
    if values.size < 2 or values.size * (extra + 1) > MOST_STEPS:
        return None
    gap = np.diff(values, append=2 * values[-1] - values[-2])
    inside = (values[:, None] + gap[:, None] * np.arange(extra + 1) / (extra + 1)).reshape(-1)
    before = values[0] - gap[0] * np.arange(extra, 0, -1) / (extra + 1)
    held = np.zeros((values.size, extra + 1), np.int64)
    held[:, 0] = counts
    whole = np.r_[np.zeros(extra, np.int64), held.reshape(-1)]
    share = (whole + 0.3 / (extra + 1)) / (counts.sum() + 0.3 * values.size)
    return Grid(np.r_[before, inside], whole, share, np.full(whole.size, LOOSE))


def _tail(counts: Ints, room: int) -> Floats:
    """Return the expected shares of the places beyond the last: one record more, thinning out."""
    total, last = int(counts.sum()), np.repeat(np.arange(counts.size), counts)[-6:]
    ratio = np.exp(-1.0 / (0.5 + (last[-1] - last[0]) / 5))
    fall = ratio ** np.arange(room)
    return np.asarray(np.maximum(fall / fall.sum() / (total + 1), _LEAST))


def expected(counts: Ints) -> tuple[Floats, float]:
    """Return smoothed shares and how far they are to be trusted.

    Width of the kernel and shape of the Gamma law are those under which every count is most
    likely, given the counts of the other places.
    """
    from scipy.special import gammaln

    alone = {shape: float(np.sum(gammaln(shape + counts) - gammaln(shape) + shape * np.log(shape)))
             for shape in SHAPES}
    best: tuple[float, Floats, float] | None = None
    for width in _WIDTHS:
        if best is not None and width > counts.size:
            break
        mean = _kernel(counts, width) + 1e-3
        hit = float(counts @ np.log(mean))
        for shape in SHAPES:
            fit = alone[shape] + hit - float((shape + counts) @ np.log(shape + mean))
            if best is None or fit > best[0]:
                best = fit, mean, shape
    assert best is not None
    return np.asarray(best[1] / max(int(counts.sum()), 1)), best[2]


def _kernel(counts: Ints, width: float) -> Floats:
    """Return the weighted mean of the other places, the nearer the heavier."""
    reach = np.arange(-int(4 * width) - 1, int(4 * width) + 2)
    kernel = np.exp(-0.5 * (reach / width) ** 2)
    kernel[reach == 0] = 0.0
    middle = slice(int(reach[-1]), int(reach[-1]) + counts.size)
    total = np.convolve(np.ones(counts.size), kernel)[middle]
    return np.asarray(np.convolve(counts, kernel)[middle] / np.maximum(total, 1e-12))
