"""The papers' setting: a fresh key in every trial (bu2007 section 6.1).

An audit attacks the one release at hand. Here the encoding itself is drawn again in every trial,
which shows how a method fares rather than how lucky one draw was. `draw` gives the codes of the
distinct values for some trials; `piecewise_codes` draws them as PiecewiseEncoder does, and any
other transformation can stand in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.disclosure.ground_truth import Truth
from unspoken.disclosure.knowledge import Points
from unspoken.disclosure.knowledge_levels import Setting, points
from unspoken.methods.encoding.adversaries.curve_combination import CURVES, Tallies, tallies
from unspoken.methods.encoding.adversaries.curve_fitting import CurveFitting
from unspoken.methods.encoding.draw_codes import draw_many
from unspoken.methods.encoding.draw_column import Recipe
from unspoken.numerics.label_runs import Pieces, cut_mixed, monochromatic_runs, random_pieces
from unspoken.numerics.random import generator, seed_from

Draw = Callable[[int, np.random.Generator], Floats]
"""(number of keys, generator) -> codes of the distinct values, one row per key."""

_BLOCK = 1 << 17
"""Codes worked on at once."""


def piecewise_codes(values: Floats, table: Ints | None, recipe: Recipe) -> Draw:
    """Return a function that draws keys as PiecewiseEncoder does, many at once.

    Codes start at 0: where they are placed on the axis is a shift, which no curve notices.

    Parameters
    ----------
    values : array of float
        The distinct values of the column, increasing.
    table : array of int or None
        How often each class occurs at each value; needed for monochromatic pieces.
    recipe : Recipe
        How the column is encoded.

    Returns
    -------
    callable
        (number of keys, generator) -> codes of the distinct values, one row per key.
    """
    runs = None
    if recipe.pieces == "max-mono" and table is not None:
        runs = monochromatic_runs(table, recipe.min_width)

    def draw(keys: int, rng: np.random.Generator) -> Floats:
        cuts = [_cut(runs, values.size, recipe.wanted(rng), rng) for _ in range(keys)]
        codes = draw_many(values, cuts, rng, recipe.families, recipe.tail)[0]
        if recipe.mode == "max-mono" and runs is not None:
            _permute(codes, runs, rng)
        if recipe.mode == "anti":
            codes = codes[:, -1:] - codes
        return codes.astype(np.float64)

    return draw


def _cut(runs: Pieces | None, size: int, wanted: int, rng: np.random.Generator) -> Pieces:
    if runs is not None:
        return cut_mixed(runs, wanted, rng)
    starts = random_pieces(size, wanted, rng)
    return Pieces(starts, np.zeros(starts.size, np.bool_), size)


def _permute(codes: Ints, runs: Pieces, rng: np.random.Generator) -> None:
    """Permute every key's codes inside the monochromatic runs, which are the same for all."""
    for start, length in zip(runs.starts[runs.mono], runs.lengths[runs.mono], strict=True):
        inside = codes[:, start : start + length]
        rng.permuted(inside, axis=1, out=inside)


@dataclass(frozen=True)
class FreshTrials:
    """Shares of distinct values recovered per trial, by each curve and by all together.

    Attributes
    ----------
    curves : tuple of str
        The names of the curves.
    tallies : Tallies
        What they recover, one row per trial.
    """

    curves: tuple[str, ...]
    tallies: Tallies

    def share(self, curve: str) -> Floats:
        """Return the share that one curve recovers in each trial."""
        return np.asarray(self.tallies.curve[:, self.curves.index(curve)])

    def medians(self) -> dict[str, float]:
        """Return the median over trials for each curve, as the paper reports it."""
        return {name: float(np.median(self.share(name))) for name in self.curves}


def fresh_trials(
    values: Floats,
    draw: Draw,
    count: int = 4,
    trials: int = 500,
    radius: float = 0.02,
    random_state: Any = None,
    *,
    bad: int = 0,
    curves: Sequence[type[CurveFitting]] = CURVES,
) -> FreshTrials:
    """Fit curves through knowledge points, with a fresh key in every trial (bu2007 section 6.1).

    Parameters
    ----------
    values : array of float
        The distinct values of the column, increasing.
    draw : callable
        Draws the codes of some keys; see `piecewise_codes`.
    count : int, default 4
        The number of knowledge points.
    trials : int, default 500
        The number of keys.
    radius : float, default 0.02
        How close a guess must be, as a share of the range.
    random_state : int, optional
        A seed, to repeat the experiment.
    bad : int, default 0
        How many of the points are wrong, by more than five radii.
    curves : sequence of CurveFitting classes
        The curves that are fitted.

    Returns
    -------
    FreshTrials

    Examples
    --------
    >>> fresh_trials(values, piecewise_codes(values, None, recipe)).medians()  # doctest: +SKIP
    """
    seed = seed_from(random_state)
    keys, drawn = generator(seed, "keys"), np.random.default_rng(list(seed))
    truth = _as_truth(values)
    parts = []
    for start in range(0, trials, _step(values.size)):
        some = min(_step(values.size), trials - start)
        codes = draw(some, keys)
        known = _known(truth, codes, count, Setting(radius, some), drawn, bad)
        parts.append(_recovered(truth, codes, known, radius, curves))
    venn = np.concatenate([part.venn for part in parts])
    return FreshTrials(tuple(curve.name for curve in curves), Tallies(venn))


def _step(size: int) -> int:
    return max(1, _BLOCK // max(size, 1))


def _as_truth(values: Floats) -> Truth:
    each = np.arange(values.size)
    return Truth("", "", values, each, each, np.ones(values.size, np.int64))


def _known(truth: Truth, codes: Floats, count: int, setting: Setting, rng: np.random.Generator,
           bad: int) -> Points:
    """Draw points on values, then look up the code that each trial's key gives them."""
    drawn = points(truth, truth.where.astype(np.float64), count, setting, rng, bad)
    where = drawn.codes.astype(np.int64)
    return Points(np.take_along_axis(codes, where, axis=1), drawn.values)


def _recovered(truth: Truth, codes: Floats, known: Points, radius: float,
             curves: Sequence[type[CurveFitting]]) -> Tallies:
    reach = radius * truth.width
    recovered = [np.abs(curve().curves(known).at(codes) - truth.values) <= reach
                 for curve in curves]
    return tallies(recovered, truth.weight)
