"""What the pictures of an audit need, which only the custodian has: values beside their codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats, Ints
from unspoken.attack import (
    CurveFitting,
    Knowledge,
    Polyline,
    RegressionLine,
    Spline,
    View,
    tallies,
)
from unspoken.disclosure.ground_truth import Truth, truths_of
from unspoken.disclosure.knowledge_levels import Setting, points
from unspoken.disclosure.measures import cracks
from unspoken.methods.encoding.code_book import MECHANISM, PiecewiseBook
from unspoken.numerics.label_runs import Pieces
from unspoken.numerics.random import seed_from
from unspoken.release.key import Key
from unspoken.release.release import Release
from unspoken.table.table import Table

CURVES: tuple[type[CurveFitting], ...] = (RegressionLine, Spline, Polyline)
CURVE_NAMES = ("regression line", "spline", "polyline")
EXPERT = 4
MOST_GUESSES = 20_000_000


@dataclass(frozen=True)
class Evidence:
    """One column: values (increasing), the code of each, its records, its pieces.

    `starts` are positions among the values; `venn` holds the shares of values that are cracked
    by exactly the curves named, see `plots.venn_regions`.
    """

    name: str
    values: Floats
    codes: Floats
    records: Ints
    starts: Ints
    mono: npt.NDArray[np.bool_]
    venn: Mapping[tuple[int, ...], float] | None


def gather(table: Table, release: Release, key: Key | None, columns: Sequence[str],
           radius: float, trials: int, random_state: int | None = None) -> tuple[Evidence, ...]:
    """Return the evidence of those columns whose codes can be told apart."""
    if key is not None:
        key.fits(release)
    view = View.of(release)
    truths = truths_of(table, release, view, key).columns
    pieces = _pieces(key)
    setting = Setting(radius, trials, seed_from(random_state))
    return tuple(_one(truths[name], view, pieces.get(name), setting)
                 for name in columns if name in truths)


def _pieces(key: Key | None) -> dict[str, tuple[Floats, Pieces]]:
    if key is None or key.mechanism != MECHANISM:
        return {}
    return {c.name: (c.values, c.pieces) for c in PiecewiseBook.from_key(key).columns}


def _one(truth: Truth, view: View, pieces: tuple[Floats, Pieces] | None,
         setting: Setting) -> Evidence:
    codes = view[truth.released].codes[truth.where]
    starts, mono = np.zeros(0, np.int64), np.zeros(0, np.bool_)
    if pieces is not None:
        values, found = pieces
        starts = np.searchsorted(truth.truth, values[found.starts]).astype(np.int64)
        mono = found.mono
    return Evidence(truth.name, truth.truth, codes, truth.counts, starts, mono,
                    expert_venn(truth, view, setting))


def expert_venn(truth: Truth, view: View, setting: Setting) -> dict[tuple[int, ...], float] | None:
    """Return which curves of an expert crack the same values, on average over trials.

    bu2007 Figure 10; None for a column with fewer values than knowledge points.
    """
    if truth.values.size <= EXPERT:
        return None
    seen = view[truth.released]
    trials = int(max(1, min(setting.trials, MOST_GUESSES // max(seen.codes.size, 1))))
    some = Setting(setting.radius, trials, setting.seed)
    rng = some.rng("report", "venn", truth.name)
    radius = some.radius * truth.width
    known = Knowledge("expert", radius, (float(truth.values[0]), float(truth.values[-1])),
                      points=points(truth, seen.codes, EXPERT, some, rng))
    found = [cracks(curve().guess(view, truth.released, known, rng), truth, radius)
             for curve in CURVES]
    shares = tallies(found, truth.share).venn.mean(axis=0)
    return {tuple(i for i in range(3) if region >> i & 1): float(share)
            for region, share in enumerate(shares)}
