"""Privacy breaches and what excludes them (vcz2006 section 6.1.3).

An upward breach from rho1 to rho2: a property that had probability rho1 at most has rho2 or more
after one answer. Whatever was believed before, none can happen if the mechanism amplifies by less
than gamma = rho2 (1 - rho1) / (rho1 (1 - rho2)). Definition 6.3 as printed skips values from which
an answer is impossible, and so finds uniform noise harmless; here a zero beside a non-zero makes
gamma infinite. Bounded uniform and Gaussian noise have no gamma, Laplace noise has exp(range / b).
The logarithm of gamma is the epsilon of local differential privacy.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.errors import InputError, explain
from unspoken.methods.distortion.noise_laws import Noise
from unspoken.methods.distortion.response_matrices import amplification
from unspoken.numerics.breach_bound import largest_gamma

EXHAUSTIVE = 12


@dataclass(frozen=True)
class Breach:
    """The worst property found: its values, the answer, and its probability before and after."""

    values: tuple[int, ...]
    answer: int
    before: float
    after: float


def gamma_of(mechanism: Noise | Floats, spread: float | None = None) -> float:
    """Return the amplification of a response matrix, or of noise on values `spread` apart."""
    if isinstance(mechanism, Noise):
        if spread is None or spread < 0:
            raise InputError(explain("'spread'", "the width of the range of the values", spread))
        return mechanism.amplification(float(spread))
    return amplification(np.asarray(mechanism, np.float64))


def epsilon_of(mechanism: Noise | Floats, spread: float | None = None) -> float:
    """Return ln gamma: local differential privacy."""
    gamma = gamma_of(mechanism, spread)
    return math.log(gamma) if math.isfinite(gamma) else math.inf


def excludes(mechanism: Noise | Floats, before: float, after: float,
             spread: float | None = None) -> bool:
    """Return True if amplification alone excludes the breach, upward and downward."""
    return gamma_of(mechanism, spread) < largest_gamma(before, after)


def worst_upward(matrix: Floats, prior: Floats, before: float) -> Breach | None:
    """Return the property of at most probability `before` that an answer makes likeliest.

    Up to 12 values every property is tried; beyond, for each answer the values are taken in the
    order in which the answer speaks for them, as long as they fit.
    """
    matrix, prior = np.asarray(matrix, np.float64), np.asarray(prior, np.float64)
    reported = prior @ matrix
    breaches: list[Breach] = []
    for answer in np.flatnonzero(reported > 0).tolist():
        posterior = prior * matrix[:, answer] / reported[answer]
        for values in _properties(matrix[:, answer], prior, before):
            chosen = list(values)
            breaches.append(Breach(values, answer, float(prior[chosen].sum()),
                                   float(posterior[chosen].sum())))
    return max(breaches, key=lambda one: one.after, default=None)


def worst_downward(matrix: Floats, prior: Floats, before: float) -> Breach | None:
    """Return the property of at least probability `before` that an answer makes unlikeliest."""
    up = worst_upward(matrix, prior, 1 - before)
    if up is None:
        return None
    rest = tuple(v for v in range(len(np.asarray(prior))) if v not in up.values)
    return Breach(rest, up.answer, 1 - up.before, 1 - up.after)


def _properties(speaks: Floats, prior: Floats, before: float) -> Any:
    slack = before + 1e-12
    if prior.size <= EXHAUSTIVE:
        sizes = range(1, prior.size)
        for values in itertools.chain.from_iterable(
                itertools.combinations(range(prior.size), size) for size in sizes):
            if 0 < prior[list(values)].sum() <= slack:
                yield values
        return
    chosen: list[int] = []
    for value in np.argsort(-speaks, kind="stable").tolist():
        if prior[value] > 0 and prior[[*chosen, value]].sum() <= slack:
            chosen.append(value)
    if chosen:
        yield tuple(chosen)
