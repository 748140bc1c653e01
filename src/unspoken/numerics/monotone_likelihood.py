"""Lining up ordered groups of records with the places of a grid, as likely as can be.

Group i holds n_i of N records, place g holds m_g of the M records of a sample. If both show one
rate, drawn from a Gamma law around the expected share of the place, the logarithm of the ratio to
"nobody is there" is

    lgamma(a + n + m) - lgamma(a + m) - n log(b + N + M),   b = a / expected share,

up to what depends on n alone. Increasing assignments are searched by dynamic programming over
groups and places; long grids are searched in a band around the place that the ranks suggest.
Many samples are lined up at once, one row each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats, Ints
from unspoken.numerics.value_grid import LOOSE, SHAPES, Grid

BAND = 256
"""Places that are tried for a group."""
_NEVER = -1e300
_TABLE_STEP = 1 << 12


@dataclass(frozen=True)
class Places:
    """The grids of several samples as one table each; what pads a row is never chosen."""

    values: Floats
    counts: Ints
    share: Floats
    shape: Ints
    sizes: Ints

    @classmethod
    def of(cls, grids: Sequence[Grid]) -> Places:
        """Put grids under each other; shapes are kept as their number in `SHAPES`."""
        sizes = np.array([grid.values.size for grid in grids])
        whole = (len(grids), int(sizes.max()))
        out = cls(np.full(whole, np.nan), np.zeros(whole, np.int64), np.full(whole, 1e-9),
                  np.zeros(whole, np.int64), sizes)
        for row, grid in enumerate(grids):
            out.values[row, : grid.values.size] = grid.values
            out.counts[row, : grid.values.size] = grid.counts
            out.share[row, : grid.values.size] = grid.share
            out.shape[row, : grid.values.size] = np.searchsorted(SHAPES, grid.shape)
        return out


class Gains:
    """What the assignment of a group to a place adds to the log-likelihood, sample by sample."""

    def __init__(self, places: Places, records: int) -> None:
        """Prepare the gains of groups of `records` in all."""
        sample = int(places.counts.sum(axis=1).max())
        # One table serves all columns of a release: their samples hardly differ in size.
        width = -(-(records + sample + 1) // _TABLE_STEP) * _TABLE_STEP
        self.table = _log_gammas(width)
        self.offset = places.shape * width + places.counts
        total = records + places.counts.sum(axis=1, keepdims=True)
        self.log_rate = np.log(np.array(SHAPES)[places.shape] / places.share + total)
        self.base = self.table[self.offset]
        self.rows = np.arange(places.counts.shape[0])[:, None] * places.counts.shape[1]

    def at(self, size: int, where: Ints) -> Floats:
        """Return the gain of a group of `size` records at some places of every sample."""
        cells = self.rows + where
        gain: Floats = self.table.take(self.offset.take(cells) + size)
        gain -= self.base.take(cells)
        gain -= size * self.log_rate.take(cells)
        return gain


@lru_cache(maxsize=1)
def _log_gammas(width: int) -> Floats:
    """Return log-gamma of every shape plus 0, 1, ... below `width`, shape after shape."""
    from scipy.special import gammaln

    return np.asarray(gammaln(np.array(SHAPES)[:, None] + np.arange(width)).reshape(-1))


def pairwise_gains(groups: Ints, held: Ints, share: Floats, totals: tuple[int, int],
                   shape: float = LOOSE) -> Floats:
    """Return the gain of every group at every place, where order says nothing."""
    from scipy.special import gammaln

    n, m = groups[:, None], held[None, :]
    rate = np.log(shape / share + sum(totals))[None, :]
    return np.asarray(gammaln(shape + n + m) - gammaln(shape + m) - n * rate)


def align(groups: Ints, places: Places) -> Ints:
    """Return the place of every ordered group in every sample: (samples, groups), increasing.

    Every sample must have at least as many places as there are groups.
    """
    gains = Gains(places, int(groups.sum()))
    samples, longest = places.counts.shape
    width = min(BAND, longest)
    starts = _starts(groups, places, width)
    back = np.empty((groups.size, samples, width), np.int16)
    best = _gained(gains, int(groups[0]), starts[0], width, places.sizes)
    for group in range(1, groups.size):
        top, back[group] = _below(best, starts[group] - starts[group - 1])
        best = top + _gained(gains, int(groups[group]), starts[group], width, places.sizes)
    return _trace(best, back, starts)


def _gained(gains: Gains, size: int, start: Ints, width: int, sizes: Ints) -> Floats:
    where = start[:, None] + np.arange(width)
    inside = where < sizes[:, None]
    return np.where(inside, gains.at(size, np.minimum(where, gains.offset.shape[1] - 1)), _NEVER)


def _below(best: Floats, moved: Ints) -> tuple[Floats, npt.NDArray[np.int16]]:
    """Return for every place the best of the places below it, in the earlier group's band."""
    top = np.maximum.accumulate(best, axis=1)
    samples, width = best.shape
    each = np.arange(width, dtype=np.int16)
    owner = np.zeros((samples, width), np.int16)
    np.multiply(best[:, 1:] > top[:, :-1], each[1:], out=owner[:, 1:])
    np.maximum.accumulate(owner, axis=1, out=owner)
    place = np.arange(width) + moved[:, None] - 1
    cells = np.clip(place, 0, width - 1) + np.arange(samples)[:, None] * width
    value = top.take(cells)
    value[place < 0] = _NEVER
    return value, owner.take(cells)


def _trace(best: Floats, back: npt.NDArray[np.int16], starts: Ints) -> Ints:
    rows = np.arange(best.shape[0])
    out = np.empty((best.shape[0], starts.shape[0]), np.int64)
    place = best.argmax(axis=1)
    for group in range(starts.shape[0] - 1, -1, -1):
        out[:, group] = starts[group] + place
        place = back[group][rows, place].astype(np.int64) if group else place
    return out


def _starts(groups: Ints, places: Places, width: int) -> Ints:
    """Return where the band of every group begins: around its rank, and wide enough for all."""
    each = np.arange(groups.size)
    middle = (np.cumsum(groups) - groups / 2) / groups.sum()
    out = np.empty((groups.size, places.sizes.size), np.int64)
    for row, size in enumerate(places.sizes.tolist()):
        held = np.cumsum(places.counts[row, :size] + places.share[row, :size])
        centre = np.searchsorted(held / held[-1], middle)
        centre = each + np.maximum.accumulate(np.maximum(centre - each, 0))
        centre = np.minimum(centre, size - groups.size + each)
        out[:, row] = np.clip(centre - width // 2, 0, max(size - width, 0))
    return out
