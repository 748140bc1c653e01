"""Choosing terms on shares: forward, backward, stepwise and best subset (vcz2006 section 5.2.2).

The book refits model after model and opens each, or its residuals. Here one matrix of scaled
moments is swept on shares (Goodnight's sweep): a term enters or leaves by one pivot, and what each
candidate would do to the residual sum of squares stands in its row. The criteria are linear in
that sum, with public factors:

    aic, bic, adjusted: RSS f(k) for k terms;   cp: RSS + 2 k s^2, s^2 of the model of all terms

so that one argmin on shares decides, and its place is all that is opened: which term moves, or that
none does. Best subset eliminates column by column for all subsets side by side (2^p of them), and
opens one number.

  discloses, to all: at each step which term enters or leaves, or that none does; or which subset is
    best. Each step stands in the ledger. Never a sum of squares of a model that was not chosen.
  among equals: no step, then the first term; sums are compared to 2^-56 of the response's.
  cost: about 70 rounds a step; best subset 53 for each column, and 12 2^p products.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil, log, log2

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats
from unspoken.errors import InputError, explain
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.multi_limb import FINE, Wide, join_wide, public_wide
from unspoken.joint.mpc.ops.argmin import argmin
from unspoken.joint.mpc.ops.limb_products import wide_multiply
from unspoken.joint.mpc.ops.limb_sharing import narrow, rescale
from unspoken.joint.mpc.ops.sharing import reveal
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared
from unspoken.joint.tasks.regression.fitting import ROOM, Scaled, fit
from unspoken.joint.tasks.regression.params import RegressionParams, RegressionTerms
from unspoken.joint.tasks.regression.sweep import (
    GREATEST,
    LEAST_PIVOT,
    eliminated,
    reciprocals,
    sweep,
)
from unspoken.release.parameters import OneOf, check

METHODS = ("forward", "backward", "stepwise", "best")
CRITERIA = ("aic", "bic", "adjusted", "cp")
STEP = "which term enters or leaves at a step of the selection, or that none does"
BEST = "which terms are the best subset"
MOST_SUBSETS = 10
_RULES = {"method": (OneOf(METHODS), "Use 'stepwise'."),
          "criterion": (OneOf(CRITERIA), "Use 'bic'.")}


@dataclass(frozen=True)
class Selection:
    """How terms are chosen; `keep` names terms that are always in the model."""

    method: str = "stepwise"
    criterion: str = "bic"
    keep: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        """Refuse unknown words."""
        check("selection", _RULES, vars(self))
        if self.keep and self.method == "best":
            raise InputError("'keep' must be empty for method 'best'. It is not.")


def selection_disclosures(selection: Selection, columns: int) -> list[Disclosure]:
    """Return what a selection discloses; all parties learn it."""
    if selection.method == "best" and columns > MOST_SUBSETS:
        raise InputError(explain("Method 'best'", f"given at most {MOST_SUBSETS} terms", columns,
                                 "Use 'stepwise'."))
    return [Disclosure(BEST if selection.method == "best" else STEP)]


@dataclass(frozen=True)
class Score:
    """A criterion: RSS factor(k) + extra(k) RSS of all terms; the least wins."""

    criterion: str
    records: int
    terms: int

    def factor(self, k: int) -> float:
        """Return what the residual sum of squares is multiplied with."""
        n = self.records
        weigh = {"aic": 2.0, "bic": log(n)}.get(self.criterion)
        if weigh is not None:
            return float(np.exp(weigh * k / n))
        return (n - 1) / (n - k - 1) if self.criterion == "adjusted" else 1.0

    def added(self, k: int) -> float:
        """Return how often the residual sum of squares of all terms is added."""
        return 2 * k / (self.records - self.terms - 1) if self.criterion == "cp" else 0.0

    def most(self) -> float:
        """Return a bound on scores."""
        return ROOM * (self.factor(self.terms) + self.added(self.terms)) + 1


async def choose(party: Party, moments: Scaled, rules: RegressionParams, selection: Selection,
                 terms: RegressionTerms) -> list[int]:
    """Return the places of the chosen terms, in their order."""
    if rules.ridge or rules.condition > LEAST_PIVOT**-1 / 4:
        raise RefusedError("Terms are chosen by least squares with a condition of at most 2^22. "
                           "Fit a ridge to the chosen terms afterwards.")
    # The model of all terms comes first: it refuses what depends on each other.
    full = (await fit(party, moments, rules)).rss
    score = Score(selection.criterion, moments.records, len(terms.features))
    if selection.method == "best":
        return await _best(party, moments, score, full)
    return await _stepwise(party, moments, score, full,
                           _Path(selection, len(terms.features),
                                 tuple(terms.place(name) for name in selection.keep)))


class _Path:
    """Which terms are in, and which may move; all of it public."""

    def __init__(self, selection: Selection, terms: int, keep: Sequence[int]) -> None:
        self.method, self.terms, self.keep = selection.method, terms, tuple(keep)
        self.chosen = list(range(terms)) if self.method == "backward" else sorted(self.keep)

    def candidates(self) -> list[int]:
        """Return the terms that may enter or leave now."""
        leave = [j for j in self.chosen if j not in self.keep] if self.method != "forward" else []
        enter = ([j for j in range(self.terms) if j not in self.chosen]
                 if self.method != "backward" else [])
        return sorted(leave + enter)

    def after(self, place: int) -> int:
        """Return how many terms there are when this one has moved."""
        return len(self.chosen) + (-1 if place in self.chosen else 1)

    def move(self, place: int) -> None:
        """Let a term enter or leave."""
        inside = place in self.chosen
        self.chosen = [j for j in self.chosen if j != place] if inside else sorted(
            [*self.chosen, place])


async def _stepwise(party: Party, moments: Scaled, score: Score, full: Wide,
                    path: _Path) -> list[int]:
    """Move terms until none makes it better."""
    swept = moments.matrix
    for place in path.chosen:
        one = await reciprocals(party, swept[place, place].reshape(1))
        swept = await sweep(party, swept, place, one, False)
    for _ in range(2 * path.terms):
        if not (places := path.candidates()):
            break
        values, turned = await _changes(party, swept, places, path)
        step = await _step(party, score, swept, full, places, values, path)
        if step is None:
            break
        at = places.index(step)
        swept = await sweep(party, swept, step, turned[at:at + 1], step in path.chosen)
        path.move(step)
    return path.chosen


async def _changes(party: Party, swept: Wide, places: Sequence[int],
                   path: _Path) -> tuple[Wide, Wide]:
    """Return by how much each candidate changes RSS, and the reciprocals of their pivots."""
    at, inside = np.array(places), np.array([j in path.chosen for j in places])
    height = ceil(log2(1 / LEAST_PIVOT))
    pivots = swept[at, at]
    # Pivots of terms in the model are those of the inverse with a minus, and may be large.
    parts = [await rescale(party, pivots[np.flatnonzero(~inside)], FINE),
             await rescale(party, (-pivots[np.flatnonzero(inside)]).shifted(height), FINE)]
    order = np.argsort(np.concatenate([np.flatnonzero(~inside), np.flatnonzero(inside)]))
    turned = await reciprocals(party, join_wide(parts)[order])
    down = await rescale(party, turned[np.flatnonzero(inside)].shifted(height), FINE)
    turned = join_wide([turned[np.flatnonzero(~inside)], down])[order]
    side = swept[at, -1]
    square = (await wide_multiply(party, side, side, FINE)).within(GREATEST)
    return (await wide_multiply(party, square, turned, FINE)).within(2), turned


async def _step(party: Party, score: Score, swept: Wide, full: Wide, places: Sequence[int],
                values: Wide, path: _Path) -> int | None:
    """Open which candidate is best, None if no step is better than the best one."""
    rss = swept[-1, -1].reshape(1)
    signs = np.array([1 if j in path.chosen else -1 for j in places])
    changed = _signed(values, signs)
    sums = join_wide([rss, *[rss] * len(places)]) + join_wide([rss - rss, changed])
    sizes = [len(path.chosen), *(path.after(j) for j in places)]
    scores = await _scores(party, score, sums, full, sizes)
    place, _ = await argmin(party, scores)
    best = int(await reveal(party, place, because=STEP))
    return None if best == 0 else places[best - 1]


def _signed(values: Wide, signs: npt.NDArray[np.int64]) -> Wide:
    """Return values with signs; those are public."""
    parts = [values[i:i + 1] if sign > 0 else -values[i:i + 1] for i, sign in enumerate(signs)]
    return join_wide(parts)


async def _scores(party: Party, score: Score, sums: Wide, full: Wide,
                  sizes: Sequence[int]) -> Shared:
    """Return the criterion of several models, ready to be compared."""
    factors = public_wide(party, np.array([score.factor(k) for k in sizes]))
    criteria = await wide_multiply(party, await rescale(party, sums, FINE), factors, FINE)
    if score.criterion == "cp":
        extra = public_wide(party, np.array([score.added(k) for k in sizes]))
        all_ = join_wide([await rescale(party, full.reshape(1), FINE)] * len(sizes))
        criteria = criteria + await wide_multiply(party, all_, extra, FINE)
    return await narrow(party, criteria, 58 - ceil(log2(score.most())), score.most())


async def _best(party: Party, moments: Scaled, score: Score, full: Wide) -> list[int]:
    """Open which of all subsets has the least score."""
    p = moments.matrix.shape[0] - 1
    stacked = moments.matrix.reshape(1, p + 1, p + 1)
    for _ in range(p):
        stacked = join_wide([stacked[:, 1:, 1:], await eliminated(party, stacked)])
    sizes = [bin(subset).count("1") for subset in range(1 << p)]
    scores = await _scores(party, score, stacked.reshape(1 << p), full, sizes)
    place, _ = await argmin(party, scores)
    best = int(await reveal(party, place, because=BEST))
    return [j for j in range(p) if best >> j & 1]


def plain_choice(table: Floats, selection: Selection, terms: RegressionTerms) -> list[int]:
    """Return the same choice on pooled data: the response is the last column of the table."""
    p = len(terms.features)
    score = Score(selection.criterion, table.shape[0], p)
    centred = table - table.mean(axis=0)
    full = _plain_rss(centred, range(p))

    def value(chosen: Sequence[int]) -> float:
        k = len(chosen)
        return _plain_rss(centred, chosen) * score.factor(k) + full * score.added(k)

    if selection.method == "best":
        subsets = [[j for j in range(p) if i >> j & 1] for i in range(1 << p)]
        return min(subsets, key=value)
    path = _Path(selection, p, [terms.place(name) for name in selection.keep])
    while places := path.candidates():
        moved = [[*(j for j in path.chosen if j != place)] if place in path.chosen
                 else sorted([*path.chosen, place]) for place in places]
        values = [value(path.chosen), *map(value, moved)]
        best = int(np.argmin(values))
        if best == 0:
            break
        path.move(places[best - 1])
    return path.chosen


def _plain_rss(centred: Floats, chosen: Sequence[int]) -> float:
    x, y = centred[:, list(chosen)], centred[:, -1]
    rest = y - x @ np.linalg.lstsq(x, y, rcond=None)[0] if len(chosen) else y
    return float(rest @ rest)
