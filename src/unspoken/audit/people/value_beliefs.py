"""What found records say about one column of people, as a probability of every possible value.

A released label or number is taken for what it stood for in records that the adversary knows in
full: how far released numbers lie from true ones, which label goes with which category. That covers
noise, codes, groups and random answers alike, and two releases can be put together: what both say
is multiplied, and what is known without either divided out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unspoken.arrays import Bools, Floats, Ints
from unspoken.audit.people.comparable import Labels, Numbers, Values
from unspoken.audit.people.facts import Attacked

BINS = 200
_LEAST = 1e-4
"""The share of a belief that is always left to values that nothing speaks for."""

Records = Sequence[Ints]


@dataclass(frozen=True)
class Domain:
    """The values that a column can have, how common they are, and when a guess counts as right."""

    truth: Values
    prior: Floats
    low: float
    step: float
    reach: float

    def places(self, values: Floats) -> Ints:
        """Return the bins of numbers; missing ones have the last."""
        held = np.nan_to_num(values, nan=0.0, posinf=np.finfo(float).max, neginf=-1e300)
        bins = np.clip((held - self.low) / self.step, 0, BINS - 1).astype(np.int64)
        return np.where(np.isnan(values), BINS, bins)

    def known(self, rows: Ints) -> Ints:
        """Return the true place of people; a missing category comes last."""
        if isinstance(self.truth, Numbers):
            return self.places(self.truth.middle[rows])
        return np.where(self.truth.codes[rows] < 0, self.prior.size - 1, self.truth.codes[rows])

    def hits(self, belief: Floats, rows: Ints) -> Bools:
        """Return who is guessed correctly: the likeliest category, the likeliest stretch."""
        if isinstance(self.truth, Labels):
            return np.asarray(belief.argmax(axis=1) == self.known(rows))
        start = self._stretches(belief).argmax(axis=1)
        missing = belief[:, BINS] > 0.5
        guess = self.low + self.step * (start + self._span / 2)
        values = self.truth.middle[rows]
        near = np.abs(guess - values) <= self.reach
        return np.asarray(np.where(missing, np.isnan(values), near))

    def sureness(self, belief: Floats) -> Floats:
        """Return how likely everybody's likeliest category or stretch is."""
        if isinstance(self.truth, Labels):
            return np.asarray(belief.max(axis=1))
        return np.asarray(np.maximum(self._stretches(belief).max(axis=1), belief[:, BINS]))

    @property
    def _span(self) -> int:
        return max(1, round(2 * self.reach / self.step) - 1)

    def _stretches(self, belief: Floats) -> Floats:
        """Return how likely the stretch is that starts at each bin."""
        span = self._span
        sums = np.cumsum(np.pad(belief[:, :BINS], ((0, 0), (1, span))), axis=1)
        return np.asarray(sums[:, span:BINS + span] - sums[:, :BINS])


def domain_of(truth: Values, radius: float) -> Domain:
    """Return the possible values of a column of the original; a place for missing ones is last."""
    if isinstance(truth, Labels):
        places = np.where(truth.codes < 0, len(truth.names), truth.codes)
        counts = np.bincount(places, minlength=len(truth.names) + 1) + 0.01
        return Domain(truth, counts / counts.sum(), 0.0, 1.0, 0.0)
    held = truth.middle[np.isfinite(truth.middle)]
    low, high = (float(held.min()), float(held.max())) if held.size else (0.0, 1.0)
    step = (high - low) / BINS * (1 + 1e-9) or 1.0
    empty = Domain(truth, np.ones(BINS + 1), low, step, radius * ((high - low) or 1.0))
    counts = np.bincount(empty.places(truth.middle), minlength=BINS + 1) + 0.01
    return Domain(truth, counts / counts.sum(), low, step, empty.reach)


def beliefs(attacked: Attacked, name: str, domain: Domain, records: Records,
            learned: tuple[Ints, Records]) -> Floats:
    """Return (people, values): what the found records of each say, by what known records teach."""
    column = attacked.reading.release.columns[name]
    if isinstance(column, Numbers) and not column.plain:
        every = _within(column, domain)
    elif isinstance(column, Numbers):
        every = _around(column, domain, learned)
    else:
        every = _named(attacked, name, column, domain, learned)
    rows = _index(column, domain)
    told = np.stack([every[rows[some]].mean(axis=0) for some in records])
    shares = told / told.sum(axis=1, keepdims=True)
    return np.asarray((1 - _LEAST) * shares + _LEAST * domain.prior)


def _index(column: Values, domain: Domain) -> Ints:
    """Return which line of the table of meanings a released record has."""
    if isinstance(column, Labels):
        return np.where(column.codes < 0, len(column.names), column.codes)
    if column.plain:
        return domain.places(column.low)
    _, where = _stretches(column)
    return where


def _stretches(column: Numbers) -> tuple[Floats, Ints]:
    both = np.nan_to_num(np.column_stack([column.low, column.high]), nan=-1.5e300)
    ends, where = np.unique(both, axis=0, return_inverse=True)
    return ends, where.reshape(-1)


def _within(column: Numbers, domain: Domain) -> Floats:
    """Return for every interval the common values inside it."""
    ends, _ = _stretches(column)
    start, end = domain.places(ends[:, 0]), domain.places(ends[:, 1])
    bins = np.arange(BINS + 1)
    inside = (bins >= start[:, None]) & (bins <= end[:, None]) & (bins < BINS)
    missing = ends[:, 0] == -1.5e300
    inside[missing] = bins == BINS
    return np.asarray(inside * domain.prior)


def _around(column: Numbers, domain: Domain, learned: tuple[Ints, Records]) -> Floats:
    """Return for every released bin how likely each value is, by how far known ones lay apart."""
    people, records = learned
    shown = domain.places(np.array([np.nanmedian(column.low[some]) if
                                    np.isfinite(column.low[some]).any() else np.nan
                                    for some in records]))
    true = domain.known(people)
    held = (shown < BINS) & (true < BINS)
    law = _smoothed((shown - true)[held])
    bins = np.arange(BINS)
    out = np.zeros((BINS + 1, BINS + 1))
    out[:BINS, :BINS] = law[bins[:, None] - bins[None, :] + BINS] * domain.prior[:BINS]
    out[:BINS, BINS] = domain.prior[BINS] * _LEAST
    out[BINS] = domain.prior if held.all() and not (true == BINS).any() else 0.0
    out[BINS, BINS] += float((true[shown == BINS] == BINS).sum()) + 1e-9
    return out


def _smoothed(differences: Ints) -> Floats:
    """Return the law of a difference of bins, smoothed as far as its spread suggests.

    Values that many records show as they are stay a peak, however far the others lie off.
    """
    size = 2 * BINS + 1
    counts = np.bincount(np.clip(differences, -BINS, BINS) + BINS, minlength=size).astype(float)
    if not differences.size:
        return np.full(size, 1.0 / size)
    same = _unchanged(counts)
    counts[BINS] -= same
    moved = differences if not same else differences[differences != 0]
    spread = float(np.subtract(*np.percentile(moved, [84, 16]))) / 2 if moved.size else 0.0
    width = 0.9 * spread * max(moved.size, 1) ** -0.2
    if width > 0:
        at = np.arange(-BINS, BINS + 1)
        kernel = np.exp(-0.5 * (at / max(width, 0.5)) ** 2)
        counts = np.convolve(counts, kernel / kernel.sum(), "same")
    counts[BINS] += same
    return np.asarray(counts / counts.sum() + _LEAST / size)


def _unchanged(counts: Floats) -> float:
    """Return how many more differences are none than a smooth law would leave there."""
    beside = np.delete(counts[BINS - 3:BINS + 4], 3)
    rest = float(counts[BINS] - 2 * beside.max())
    return rest if rest > 5 else 0.0


def _named(attacked: Attacked, name: str, column: Labels, domain: Domain,
           learned: tuple[Ints, Records]) -> Floats:
    """Return for every released label how likely each category is."""
    size, scale = domain.prior.size, attacked.reading.scales[name]
    out = np.zeros((len(column.names) + 1, size))
    if scale.agree is not None and scale.reads is None:
        known = min(scale.agree.shape[0], size - 1)
        out[:-1, :known] = scale.agree[:known].T * domain.prior[:known]
        out /= np.maximum(out.sum(axis=1, keepdims=True), 1e-12)
    if scale.agree is None:
        np.fill_diagonal(out[:-1], 1.0)
    people, records = learned
    shown = np.array([_commonest(column.codes[some]) for some in records], np.int64)
    shown = np.where(shown < 0, len(column.names), shown)
    np.add.at(out, (shown, domain.known(people)), 1.0)
    return np.asarray(out + 0.01 * domain.prior)


def _commonest(codes: Ints) -> int:
    return int(np.bincount(codes + 2).argmax()) - 2


def combined(one: Floats, other: Floats, domain: Domain) -> Floats:
    """Return what two releases say together."""
    both = one * other / domain.prior
    return np.asarray(both / both.sum(axis=1, keepdims=True))
