"""Measures of disclosure (bu2007 section 3.2), each with its spread over trials.

Domain disclosure (Definition 1) is the share of distinct values that are guessed within the
radius; the same share of records says more about people, because rare values are hard to guess
and belong to few. Subspace association is in `subspaces`, pattern disclosure in `paths`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from unspoken.arrays import Bools, Floats, Ints
from unspoken.disclosure.audit_rows import Row
from unspoken.disclosure.ground_truth import Truth

LOW, HIGH = 2.5, 97.5
"""An interval holds 95% of the trials."""


@dataclass(frozen=True)
class Estimate:
    """The median over trials, and the interval in which 95% of the trials lie.

    Attributes
    ----------
    value : float
        The median.
    low, high : float
        The interval.
    trials : int
        The number of trials.
    """

    value: float
    low: float
    high: float
    trials: int


def estimate(shares: Floats) -> Estimate:
    """Return the median of one share per trial, with its interval.

    Parameters
    ----------
    shares : array of float
        One number per trial.

    Returns
    -------
    Estimate

    Examples
    --------
    >>> import numpy as np
    >>> estimate(np.array([0.1, 0.2, 0.3])).value
    0.2
    """
    low, middle, high = np.percentile(shares, [LOW, 50.0, HIGH])
    return Estimate(float(middle), float(low), float(high), int(shares.size))


def is_recovered(guesses: Floats, truth: Truth, radius: float) -> Bools:
    """Return which pairs are recovered: |g(v') - f^-1(v')| <= rho (bu2007 Definition 1).

    Parameters
    ----------
    guesses : array of float, (trials, codes)
        A guess for every released code.
    truth : Truth
        What the codes stand for.
    radius : float
        How near a guess must be, in units of the column.

    Returns
    -------
    array of bool, (trials, pairs)
    """
    return np.asarray(off_by(guesses, truth) <= radius)


def off_by(guesses: Floats, truth: Truth) -> Floats:
    """Return how far guesses are off, pair by pair: (trials, pairs)."""
    spread = guesses if truth.one_each else guesses.take(truth.where, axis=1)
    # One array in place of two: pages of memory cost more than the arithmetic.
    off = np.subtract(spread, truth.truth)
    return np.abs(off, out=off)


def domain(recovered: Bools, truth: Truth) -> Floats:
    """Return the share of distinct values that are recovered in each trial (bu2007 Definition 1).

    Parameters
    ----------
    recovered : array of bool, (trials, pairs)
        What `is_recovered` returned.
    truth : Truth
        What the codes stand for.

    Returns
    -------
    array of float, (trials,)
    """
    return both_shares(recovered, truth)[0]


def records(recovered: Bools, truth: Truth) -> Floats:
    """Return the share of records whose value is recovered in each trial.

    Parameters
    ----------
    recovered : array of bool, (trials, pairs)
        What `is_recovered` returned.
    truth : Truth
        What the codes stand for.

    Returns
    -------
    array of float, (trials,)
    """
    return both_shares(recovered, truth)[1]


def both_shares(recovered: Bools, truth: Truth) -> tuple[Floats, Floats]:
    """Return the shares of distinct values and of records, in one pass.

    Whole numbers are summed and divided once, so that all is exactly 1.
    """
    size, total = max(truth.values.size, 1), max(int(truth.counts.sum()), 1)
    if truth.counts.size == size:
        values = np.count_nonzero(recovered, axis=1).astype(np.float64)
        sums = values if total == size else recovered @ truth.counts_as_float
        return values / size, np.asarray(sums / total)
    both = np.asarray(recovered @ np.column_stack([truth.weight, truth.counts]), np.float64)
    return np.minimum(both[:, 0] / size, 1.0), np.asarray(both[:, 1] / total)


def blind_shares(constants: Floats, truth: Truth, radius: float) -> tuple[float, float]:
    """Return the median shares of values and of records recovered by one guess for all codes."""
    start, end = _reached(constants, truth.values, radius)
    before = np.r_[0, np.cumsum(truth.by_value)]
    by_record = (before[end] - before[start]) / max(int(before[-1]), 1)
    return float(np.median((end - start) / truth.values.size)), float(np.median(by_record))


def _reached(constants: Floats, values: Floats, radius: float) -> tuple[Ints, Ints]:
    """Return from where to where sorted values lie within the radius of each constant.

    A difference is rounded, the end of a reach is rounded otherwise: values at the ends are asked.
    """
    ends = np.searchsorted(values, constants - radius, side="left"), np.searchsorted(
        values, constants + radius, side="right")
    tried = np.arange(-3, 3)
    start, end = (np.clip(one[:, None] + tried, 0, values.size - 1) for one in ends)
    held = [np.abs(constants[:, None] - values[one]) <= radius for one in (start, end)]
    first = np.where(held[0].any(axis=1), start[np.arange(start.shape[0]), held[0].argmax(axis=1)],
                     ends[0])
    last = np.where(held[1].any(axis=1), end[np.arange(end.shape[0]), tried.size - 1
                                             - held[1][:, ::-1].argmax(axis=1)] + 1, ends[1])
    return first, np.maximum(first, last)


def blind_recovered(constants: Floats, truth: Truth, radius: float) -> Bools:
    """Return which pairs are recovered by one guess for all codes, one row per constant."""
    return (np.abs(constants[:, None] - truth.values) <= radius).take(truth.owner, axis=1)


MAX_TRIALS = 5000
"""The most trials that a wanted precision may ask for."""


def trials_for(rows: Iterable[Row], precision: float) -> int:
    """Return how many trials bring every median within `precision`, with 95% confidence.

    A row's interval holds 95% of its trials, 3.92 standard deviations of a normal law; a median
    of n trials has the standard error 1.253 deviations / sqrt(n).
    """
    spread = max((row.high - row.low for row in rows if row.trials > 1), default=0.0) / 3.92
    return min(MAX_TRIALS, math.ceil((1.96 * 1.253 * spread / precision) ** 2))
