"""Bounds of reconstructed shares, one interval at a time, calibrated for the column at hand.

Resampling an estimate shows how far it moves, not how far smoothing has moved it: on spiky columns
such 95% bars held the truth in 15 to 68% of the cases. The bounds here come from a test that knows
no smoothing. A share of an interval is held possible if some distribution with that share explains
the reports nearly as well as the best of all,

    sum_k (n_k - n (A p)_k)^2 / (n e_k)  <=  smallest such sum + room,

p not negative and of sum one, with several places inside every interval, because values may sit
anywhere (one-at-a-time strict bounds: Rust and Burrus 1972). e_k is the expected share of reports
in interval k, taken from the best fit itself.

How much room? The 95% point of chi-square with one degree, 3.84, is too much: all that the noise
blurs is free on both sides, so that the difference of the two sums is mostly far below it (its own
95% point is 0.1 to 0.7 on the columns of the bench), and bars with that room held
in 99.9 to 100% of the cases. How large the difference is by chance depends on the distribution and
on the share. So for every share that is tried it is simulated: reports are drawn anew and anew from
a distribution with that share, and like the one sought in all else, and the room is the second
largest of 39 such differences for 95% (a test by parametric bootstrap, turned into an interval:
hybrid resampling, Chuang and Lai 2000; the rank makes it exact where the distribution is the true
one). The likely distribution decides how much room is left, never where the bounds lie: a smooth
one does not pull them.

Beyond 20 intervals two things differ. The room is the largest of 19: as exact, in half the time,
with bars that are some 5% wider. And reports are drawn from the best fit with that share, spikes
and all: in narrow intervals a smooth distribution leaves mass beside a spike, and the bar of a
spike of two thirds held in 52% of the cases.

Each bar covers the share of its own interval; that all bars of a column hold at once is not said.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats
from unspoken.methods.distortion.reconstruct.iterate import Part
from unspoken.methods.distortion.reconstruct.share_fits import Fit, Places, fit_of, reweighted

ROUNDS = 2
"""How often expected reports are taken anew from the best fit, before bounds are."""
PRECISION = 1e-4
"""Shares are found to within this."""
MOST_DRAWS = 399
"""Beyond what so many draws can show, bounds have the room of chi-square."""
FEW_BARS = 20
"""More intervals have the largest of half as many draws."""
TIGHTENED = 2
"""How often an end is moved to the room that is left there, from outside."""


@dataclass(frozen=True)
class Likely:
    """A distribution like the one sought, over cells: of every group its kernel, shares and weight.

    `belongs` has a row per interval: ones at its cells.
    """

    parts: Sequence[Part]
    cells: Sequence[Floats]
    weights: Sequence[float]
    belongs: Floats

    def with_share(self, interval: int, share: float) -> tuple[list[Floats], float]:
        """Return the reports expected of every group if an interval had this share, and the share.

        All groups move alike, as far as shares can.
        """
        inside = self.belongs[interval] > 0
        own = [float(one[inside].sum()) for one in self.cells]
        step = share - float(np.dot(self.weights, own))
        wanted = [min(max(one + step, 0.0), 1.0) for one in own]
        moved = [_with_mass(one, inside, mass)
                 for one, mass in zip(self.cells, wanted, strict=True)]
        expected = [np.asarray(part.kernel) @ one
                    for part, one in zip(self.parts, moved, strict=True)]
        return [one / one.sum() for one in expected], float(np.dot(self.weights, [
            one[inside].sum() for one in moved]))


def _with_mass(cells: Floats, inside: npt.NDArray[np.bool_], mass: float) -> Floats:
    """Return shares of cells of which those inside have this mass.

    Mass that comes in is spread evenly, because nothing says where it sits; all else keeps its
    shape.
    """
    own, count = float(cells[inside].sum()), int(inside.sum())
    if inside.all():
        return cells
    out = cells * ((1.0 - mass) / (1.0 - own)) if own < 1.0 - 1e-9 else np.full(
        cells.size, (1.0 - mass) / (cells.size - count))
    kept = min(own, mass)
    out[inside] = (kept / own * cells[inside] if own > 0 else 0.0) + (mass - kept) / count
    return np.asarray(out)


def share_bounds(places: Places, confidence: float, likely: Likely | None = None,
                 seed: int = 0) -> tuple[Floats, Floats]:
    """Return the least and the largest share of every interval.

    Without a likely distribution the room is that of chi-square: never too small to our knowledge,
    and mostly too large.
    """
    tests = share_tests(places, confidence, likely, seed)
    ends = [test.ends() for test in tests]
    return np.array([low for low, _ in ends]), np.array([high for _, high in ends])


def misfit(places: Places) -> float:
    """Return the squared deviations, in all, of the reports from what the best distribution says.
    """
    for _ in range(ROUNDS):
        places = reweighted(places)
    fit = fit_of(places)
    return fit.solve(fit.target([part.counts for part in places.parts]))[1] * fit.scale**2


def share_tests(places: Places, confidence: float, likely: Likely | None = None,
                seed: int = 0) -> list[ShareTest]:
    """Return for every interval the test that says which shares are possible."""
    for _ in range(ROUNDS):
        places = reweighted(places)
    free = fit_of(places)
    seen = free.target([part.counts for part in places.parts])
    best, smallest = free.solve(seen)
    return [ShareTest(free, free.fixed(row), seen, smallest, float(row @ best),
                      _Draws(number, [round(part.counts.sum()) for part in places.parts],
                             likely, confidence, seed, 2 if len(places.sums) <= FEW_BARS else 1))
            for number, row in enumerate(places.sums)]


@dataclass(frozen=True)
class _Draws:
    """What reports of one interval are drawn anew from."""

    interval: int
    sizes: Sequence[int]
    likely: Likely | None
    confidence: float
    seed: int
    rank: int = 2

    @property
    def count(self) -> int:
        """Return how many draws show the confidence by the second largest of them, or largest."""
        return ceil(round(self.rank / (1.0 - self.confidence), 6)) - 1


@dataclass(frozen=True)
class ShareTest:
    """Says of one interval which shares are possible; `best` is the share of the best fit."""

    free: Fit
    fixed: Fit
    seen: Floats
    smallest: float
    best: float
    draws: _Draws

    def possible(self, share: float) -> bool:
        """Return True if the interval may have this share; most need a few of the draws."""
        excess, draws = self._excess(share), self.draws
        if draws.likely is None or draws.count > MOST_DRAWS:
            return excess <= self._chi_square()
        if excess <= self._least_room():
            return True
        above = 0
        for difference in self._differences(draws.likely, share):
            above += difference >= excess
            if above == draws.rank:
                return True
        return False

    def ends(self) -> tuple[float, float]:
        """Return the least and the largest possible share."""
        return self._end(0.0), self._end(1.0)

    def _end(self, limit: float) -> float:
        """Return the end towards a limit; it starts outside, where there is more room."""
        wide = end = self._end_with(self._chi_square(), limit)
        if self.draws.likely is None or self.draws.count > MOST_DRAWS:
            return wide
        for _ in range(TIGHTENED):
            moved = self._end_with(self.room(end), wide)
            if moved == end:
                break
            end = moved
        return end

    def room(self, share: float) -> float:
        """Return how far above the best fit a distribution of this share lies by chance."""
        draws, likely = self.draws, self.draws.likely
        if likely is None or draws.count > MOST_DRAWS:
            return self._chi_square()
        differences = np.sort(list(self._differences(likely, share)))
        return max(float(differences[-draws.rank]), self._least_room())

    def _differences(self, likely: Likely, share: float) -> Iterator[float]:
        """Draw reports of a distribution with this share; yield how far above the best it lies."""
        expected, null = likely.with_share(self.draws.interval, share)
        if self.draws.rank == 1:
            expected, null = self.fixed.expected(self.fixed.solve(self.seen, share)[0]), share
        rng = np.random.default_rng(self.draws.seed)
        for _ in range(self.draws.count):
            seen = self.free.target([rng.multinomial(size, one).astype(np.float64)
                                     for size, one in zip(self.draws.sizes, expected, strict=True)])
            yield self.fixed.solve(seen, null)[1] - self.free.solve(seen)[1]

    def _least_room(self) -> float:
        return 1e-6 / self.free.scale**2

    def _chi_square(self) -> float:
        from scipy.stats import chi2

        return float(chi2.ppf(self.draws.confidence, 1)) / self.free.scale**2

    def _excess(self, share: float) -> float:
        return self.fixed.solve(self.seen, share)[1] - self.smallest

    def _end_with(self, room: float, limit: float) -> float:
        """Return the last possible share towards a limit, given the room."""
        from scipy.optimize import brentq

        if self.best == limit or self._excess(limit) <= room:
            return limit
        return float(brentq(lambda share: self._excess(share) - room, *sorted((limit, self.best)),
                            xtol=PRECISION))
