"""The evidence behind the pictures of an audit of codes, made once, with the audit itself."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unspoken.arrays import Floats
from unspoken.disclosure.adversary import View
from unspoken.disclosure.evidence import Evidence
from unspoken.disclosure.ground_truth import Truth, Truths
from unspoken.disclosure.knowledge import Knowledge
from unspoken.disclosure.knowledge_levels import Setting, points
from unspoken.disclosure.measures import is_recovered
from unspoken.methods.encoding.adversaries.curve_combination import tallies
from unspoken.methods.encoding.adversaries.curve_fitting import (
    CurveFitting,
    Polyline,
    RegressionLine,
    Spline,
)
from unspoken.methods.encoding.audit.encoded_truths import piecewise_truths
from unspoken.methods.encoding.code_book import PiecewiseBook
from unspoken.numerics.label_runs import Pieces
from unspoken.numerics.random import seed_from
from unspoken.release.key import Key
from unspoken.release.release import Release
from unspoken.table.table import Table

CURVES: tuple[type[CurveFitting], ...] = (RegressionLine, Spline, Polyline)
CURVE_NAMES = ("regression line", "spline", "polyline")
EXPERT = 4
MOST_GUESSES = 20_000_000


def gather(table: Table, release: Release, key: Key | None, columns: Sequence[str],
           radius: float, trials: int, random_state: int | None = None) -> tuple[Evidence, ...]:
    """Return the evidence of those columns whose codes are distinct."""
    if key is not None:
        key.fits(release)
    view = View.of(release)
    setting = Setting(radius, trials, seed_from(random_state))
    return evidence_of(piecewise_truths(table, view, key), view, key, columns, setting)


def evidence_of(truths: Truths, view: View, key: Key | None, columns: Sequence[str],
                setting: Setting, curves: int | None = None) -> tuple[Evidence, ...]:
    """Return the evidence of some columns; the first `curves` of them are attacked by curves."""
    pieces = _pieces(key)
    scored = [truths.columns[name] for name in columns if name in truths.columns]
    return tuple(_one(truth, view, pieces.get(truth.name),
                      setting if curves is None or place < curves else None)
                 for place, truth in enumerate(scored))


def _pieces(key: Key | None) -> dict[str, tuple[Floats, Pieces]]:
    if key is None:
        return {}
    return {c.name: (c.values, c.pieces) for c in PiecewiseBook.from_key(key).columns}


def _one(truth: Truth, view: View, pieces: tuple[Floats, Pieces] | None,
         setting: Setting | None) -> Evidence:
    codes = view[truth.released].codes[truth.where]
    starts, mono = np.zeros(0, np.int64), np.zeros(0, np.bool_)
    if pieces is not None:
        values, cut = pieces
        starts = np.searchsorted(truth.truth, values[cut.starts]).astype(np.int64)
        mono = cut.mono
    return Evidence(truth.name, truth.truth, codes, truth.counts, starts, mono,
                    None if setting is None else expert_venn(truth, view, setting))


def expert_venn(truth: Truth, view: View, setting: Setting) -> dict[tuple[int, ...], float] | None:
    """Return which curves of an expert recover the same values, on average over trials.

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
    recovered = [is_recovered(curve().guess(view, truth.released, known, rng), truth, radius)
                 for curve in CURVES]
    shares = tallies(recovered, truth.share).venn.mean(axis=0)
    return {tuple(i for i in range(3) if region >> i & 1): float(share)
            for region, share in enumerate(shares)}
