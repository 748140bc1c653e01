"""Alignment by likelihood: the grid of values and a small sample give exact values.

Quantile matching uses the ranks alone. Here every group of codes is lined up with a value of the
grid that the sample's values lie on (whole numbers, tenths), so that ranks, frequencies and gaps
speak together. With 400 outsiders nearly every age of a census release comes out exactly. Inside
a visible monochromatic run, where codes have no order, codes are matched with the run's values by
frequency; with a code per record the most frequent value of the run is guessed.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.disclosure.adversary import Adversary, ColumnView, View
from unspoken.disclosure.knowledge import Knowledge
from unspoken.errors import InputError
from unspoken.methods.encoding.adversaries.quantile_matching import QuantileMatching
from unspoken.numerics.monotone_likelihood import Places, align, pairwise_gains
from unspoken.numerics.value_grid import LOOSE, Grid, grid_of

MOST_VALUES = 1024
"""With more distinct values ranks alone say nearly all, and quantile matching is tried."""
_CELLS = 1 << 24
"""Back pointers held at once."""


class MonotoneAlignment(Adversary):
    """Lines codes up with the value grid by maximum likelihood; else matches quantiles."""

    name: ClassVar[str] = "alignment"
    needs: ClassVar[frozenset[str]] = frozenset({"sample"})
    measures: ClassVar[tuple[str, ...]] = ("domain", "records", "exact", "exact records")
    gets: ClassVar[str] = ("lines the codes up with the values that a sample of similar data "
                           "shows to be possible, as likely as can be")

    def guess(self, view: View, column: str, knowledge: Knowledge,
              rng: np.random.Generator) -> Floats:
        """Return the value that every code is lined up with, one row per sample."""
        seen, sample = view[column], knowledge.sample
        if sample is None or sample.shape[1] == 0:
            raise InputError("Alignment needs a sample with values. The knowledge "
                             f"'{knowledge.label}' has none.")
        plain = QuantileMatching().guess(view, column, knowledge, rng)
        places = _pseudo_groups(seen)[0].size
        if not 1 < places <= MOST_VALUES:
            return plain
        grids = [grid_of(row, places) for row in sample]
        fit = [row for row, grid in enumerate(grids)
               if grid is not None and grid.values.size >= places]
        plain = plain.copy() if fit else plain
        for some in _chunks(fit, places):
            plain[some] = lined_up(seen, [grid for row in some if (grid := grids[row])])
        return plain


def _chunks(rows: list[int], places: int) -> list[list[int]]:
    step = max(1, _CELLS // (places * 256))
    return [rows[start : start + step] for start in range(0, len(rows), step)]


def _pseudo_groups(seen: ColumnView) -> tuple[Ints, Ints]:
    """Return records of ordered groups, and the cell of each: a run of k values is k equal ones."""
    sizes = np.maximum(np.rint(seen.cell_values), 1).astype(np.int64)
    owner = np.repeat(np.arange(sizes.size), sizes)
    inside = np.arange(owner.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    whole, rest = np.divmod(seen.cell_records, sizes)
    return whole[owner] + (inside < rest[owner]), owner


def lined_up(seen: ColumnView, grids: list[Grid]) -> Floats:
    """Return a value for every code, one row per grid."""
    groups, owner = _pseudo_groups(seen)
    places = Places.of(grids)
    place = align(groups, places)
    values = np.take_along_axis(places.values, place, axis=1)
    first = np.searchsorted(owner, np.arange(owner[-1] + 1))
    out = values[:, first][:, seen.cells]
    if np.any(seen.cell_codes > 1):
        for row, grid in enumerate(grids):
            _inside_runs(seen, owner, place[row], grid, out[row])
    return out


def _inside_runs(seen: ColumnView, owner: Ints, place: Ints, grid: Grid, out: Floats) -> None:
    """Match the codes of every run without order with the values of its places, in `out`."""
    from scipy.optimize import linear_sum_assignment

    totals = int(seen.counts.sum()), int(grid.counts.sum())
    for cell in np.flatnonzero(seen.cell_codes > 1):
        codes, held = np.flatnonzero(seen.cells == cell), place[owner == cell]
        if codes.size != held.size:
            rate = grid.counts[held] + LOOSE * grid.share[held]
            out[codes] = grid.values[held[rate.argmax()]]
            continue
        gains = pairwise_gains(seen.counts[codes], grid.counts[held], grid.share[held], totals)
        one, other = linear_sum_assignment(gains, maximize=True)
        out[codes[one]] = grid.values[held[other]]
