"""Randomised response: what people say at random, and how their true shares are estimated.

A response matrix P has P[x, y] = P(says y | is x); its rows sum to one. With n answers and
frequencies q of what was said, the true shares solve P' p = q. The inverse is unbiased and may
turn negative; EM stays a distribution. Warner's two questions (vcz2006 section 3.2) are the
matrix [[t, 1-t], [1-t, t]] with estimate (q + t - 1) / (2t - 1).

Privacy is gamma, the largest ratio P[x, y] / P[x', y] (vcz2006 section 6.1.3): whatever was
believed before, the odds of any property change at most gamma-fold. This is local differential
privacy with epsilon = ln gamma. A zero beside a non-zero in a column makes gamma infinite, which
Definition 6.3 as printed skips.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats
from unspoken.errors import DataError, InputError, explain
from unspoken.methods.distortion.reconstruct.iterate import reconstruct

EXHAUSTIVE = 12
"""Most values for which every circulant two-level matrix is tried."""


@dataclass(frozen=True)
class Shares:
    """Estimated shares with their covariance."""

    shares: Floats
    covariance: Floats

    @property
    def deviations(self) -> Floats:
        """Return the standard error of each share."""
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))


def warner(truth: float) -> Floats:
    """Return Warner's matrix: the first question is answered with probability `truth`."""
    if not 0 <= truth <= 1 or truth == 0.5:
        raise InputError(explain("'truth'", "a probability other than 0.5", truth,
                                 "At 0.5 the answer says nothing about anybody."))
    return np.array([[truth, 1 - truth], [1 - truth, truth]])


def keep_or_draw(values: int, truth: float) -> Floats:
    """Return the many-valued form: the truth with a probability, else another value at random."""
    if not 0 <= truth <= 1 or math.isclose(truth, 1 / values):
        raise InputError(explain("'truth'", f"a probability other than 1/{values}", truth,
                                 "There the answer says nothing about anybody."))
    other = (1 - truth) / (values - 1)
    return np.full((values, values), other) + (truth - other) * np.eye(values)


def check_matrix(matrix: Any, values: int | None = None) -> Floats:
    """Return a response matrix, or refuse it by what is wrong with it."""
    try:
        checked = np.asarray(matrix, np.float64)
    except (TypeError, ValueError):
        raise _bad("a square table of numbers", type(matrix).__name__) from None
    if checked.ndim != 2 or checked.shape[0] != checked.shape[1] or checked.shape[0] < 2:
        raise _bad("square, with two rows or more", str(checked.shape))
    if values is not None and checked.shape[0] != values:
        raise _bad(f"{values} x {values}, a row for each value", str(checked.shape))
    if not np.all(np.isfinite(checked)) or checked.min() < 0:
        raise _bad("made of probabilities", "a negative or infinite entry")
    if not np.allclose(checked.sum(axis=1), 1.0, atol=1e-9, rtol=0):
        raise _bad("one where each row sums to one",
                   f"sums {checked.sum(axis=1).round(6).tolist()}")
    if np.linalg.cond(checked) > 1e10:
        raise _bad("invertible", "a matrix from which the shares cannot be found again")
    return checked


def _bad(allowed: str, got: str) -> InputError:
    return InputError(explain("A response 'matrix'", allowed, got))


def amplification(matrix: Floats) -> float:
    """Return gamma, infinite where an answer rules a value out."""
    reached = matrix[:, matrix.max(axis=0) > 0]
    if reached.min() <= 0:
        return math.inf
    return float((reached.max(axis=0) / reached.min(axis=0)).max())


def by_inverse(counts: Floats, matrix: Floats) -> Shares:
    """Return the unbiased estimate P'^-1 q and its estimated covariance."""
    reported, n = _frequencies(counts, matrix)
    inverse = np.linalg.inv(matrix.T)
    spread = (np.diag(reported) - np.outer(reported, reported)) / max(n - 1.0, 1.0)
    return Shares(inverse @ reported, inverse @ spread @ inverse.T)


def by_em(counts: Floats, matrix: Floats) -> Floats:
    """Return the maximum-likelihood shares: never negative, summing to one."""
    _frequencies(counts, matrix)
    return reconstruct(np.asarray(counts, np.float64), np.ascontiguousarray(matrix.T),
                       "change").probabilities


def _frequencies(counts: Floats, matrix: Floats) -> tuple[Floats, float]:
    reported = np.asarray(counts, np.float64)
    if reported.shape != (matrix.shape[1],) or reported.min() < 0 or reported.sum() <= 0:
        raise DataError(explain("Counts of answers", f"{matrix.shape[1]} numbers, not all zero",
                                reported.tolist()))
    n = float(reported.sum())
    return reported / n, n


def variance(matrix: Floats, shares: Floats | None = None) -> float:
    """Return n times the summed variance of the unbiased estimate at given (or equal) shares."""
    true = np.full(matrix.shape[0], 1 / matrix.shape[0]) if shares is None else shares
    reported = matrix.T @ true
    inverse = np.linalg.inv(matrix.T)
    return float(np.trace(inverse @ (np.diag(reported) - np.outer(reported, reported)) @ inverse.T))


def least_variance(values: int, gamma: float) -> Floats:
    """Return the circulant matrix of least estimation variance (at equal shares) for a gamma.

    Every entry is a or gamma a: mixtures of two levels are the corners of what gamma allows. The
    usual choice, gamma on the diagonal alone, is best for a large gamma only; for a small one it
    pays to let each value share its answer with others (a difference set, where one exists: seven
    values and gamma 1.5 have a third less variance, eleven and 1.3 less than half). Up to 12
    values every pattern is tried; beyond, the diagonal, runs and quadratic residues are.
    """
    if values < 2:
        raise InputError(explain("'values'", "an int >= 2", values))
    if not 1 < gamma < math.inf:
        raise InputError(explain("'gamma'", "a finite number above 1", gamma,
                                 "At 1 the answer says nothing about anybody."))
    best = min(_patterns(values), key=lambda pattern: _circulant_variance(pattern, gamma))
    level = np.where(best, gamma, 1.0)
    first = level / level.sum()
    # Column 0 of the pattern is the value itself; row x is shifted by x.
    return np.array([np.roll(first, shift) for shift in range(values)])


def _circulant_variance(pattern: npt.NDArray[np.bool_], gamma: float) -> float:
    level = np.where(pattern, gamma, 1.0)
    waves = np.abs(np.fft.fft(level / level.sum())[1:]) ** 2
    return float(np.sum(1.0 / np.maximum(waves, 1e-300)) / pattern.size)


def _patterns(values: int) -> Iterator[npt.NDArray[np.bool_]]:
    """Yield patterns that say the truth; the first of equally good ones is taken."""
    if values <= EXHAUSTIVE:
        for rest in itertools.product((False, True), repeat=values - 1):
            if not all(rest):
                yield np.array((True, *rest))
        return
    place = np.arange(values)
    yield place == 0
    for width in range(2, values // 2 + 1):
        yield place < width
    residues = np.isin(place, place**2 % values)
    if not residues.all():
        yield residues
