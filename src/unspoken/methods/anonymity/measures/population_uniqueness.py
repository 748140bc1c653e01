"""How many people of a population are unique, estimated from the class sizes of a sample.

Two standard ways. `pitman` (Hoshino 2001) takes the population's classes as a draw of the
Ewens-Pitman model with discount a and concentration b, fitted by maximum likelihood to the sizes in
the sample; the model is closed under sampling, so the same a and b hold for the population. It
is made for small sampling fractions. `zayatz` (1991) takes the sample's share of classes of each
size for the population's and asks how likely a sampled single comes from a single; it is only
good where a large part of the population was sampled.

The individual risk is that of Benedetti and Franconi (1998): given f in the sample, the class in
the population is f plus a negative binomial number, and E[1/F | f] = p^f/f 2F1(f, f; f+1; 1-p).
It is computed as p/f 2F1(1, 1; f+1; 1-p): the same number, without underflow.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats

Codes = npt.NDArray[np.integer]
_SERIES_FROM = 40


@dataclass(frozen=True)
class Pitman:
    """The Ewens-Pitman model: 0 <= discount < 1, concentration > -discount."""

    discount: float
    concentration: float

    def unique_share(self, population: int) -> float:
        """Return the expected share of people who are unique in a population of a size."""
        from scipy.special import gammaln

        a, b = self.discount, self.concentration
        logs = (gammaln(a + b + population - 1) - gammaln(a + b)
                + gammaln(b + 1) - gammaln(b + population))
        return float(np.exp(logs))

    def stays_unique(self, sample: int, population: int) -> float:
        """Return the chance that a person unique in the sample is unique in the population."""
        from scipy.special import gammaln

        a, b = self.discount, self.concentration
        logs = (gammaln(population + b - 1 + a) - gammaln(population + b)
                - gammaln(sample + b - 1 + a) + gammaln(sample + b))
        return float(min(np.exp(logs), 1.0))


def fit_pitman(sizes: Codes) -> Pitman | None:
    """Fit the model to class sizes; None where they say nothing (one class, or all single)."""
    from scipy.optimize import minimize

    counts = np.bincount(np.asarray(sizes, np.int64))
    if sizes.size < 2 or int(sizes.max()) < 2:
        return None

    def loss(at: Floats) -> float:
        return -_likelihood(_model(at), counts)

    starts = [np.array([-2.0, np.log(max(sizes.size / 2, 1.0))]), np.array([1.0, 0.0])]
    best = min((minimize(loss, start, method="Nelder-Mead",
                         options={"xatol": 1e-6, "fatol": 1e-8, "maxiter": 2000})
                for start in starts), key=lambda one: float(one.fun))
    return _model(best.x)


def _model(at: Floats) -> Pitman:
    discount = float(1.0 / (1.0 + np.exp(-np.clip(at[0], -30, 30))))
    return Pitman(discount, float(np.exp(np.clip(at[1], -30, 60))) - discount)


def _likelihood(model: Pitman, counts: Codes) -> float:
    """Return the log likelihood of a partition, given how many classes there are of each size."""
    from scipy.special import gammaln

    a, b = model.discount, model.concentration
    size, total = int(counts.sum()), int((counts * np.arange(counts.size)).sum())
    held = np.flatnonzero(counts[1:]) + 1
    inside = float((counts[held] * (gammaln(held - a) - gammaln(1 - a))).sum())
    grown = float(np.log(b + a * np.arange(1, size)).sum())
    return grown - float(gammaln(b + total) - gammaln(b + 1)) + inside


def zayatz(sizes: Codes, population: int) -> float:
    """Return the chance that a person unique in the sample is unique in the population."""
    from scipy.special import gammaln

    counts = np.bincount(np.asarray(sizes, np.int64)).astype(np.float64)
    sample = int(np.sum(sizes))
    held = np.flatnonzero(counts[1:]) + 1
    # The chance that of a class of h exactly one is sampled, hypergeometric, on a log scale.
    rest, drawn = population - held, sample - 1
    fits = rest >= drawn
    held, rest = held[fits], rest[fits]
    logs = np.log(held) + gammaln(rest + 1) - gammaln(rest - drawn + 1)
    if held.size == 0 or held[0] != 1:
        return 0.0
    weights = counts[held] * np.exp(logs - logs.max())
    return float(weights[0] / weights.sum())


def individual_risk(sizes: Codes, fraction: float) -> Floats:
    """Return E[1/F | f] for every class, the population sampled at random at a fraction."""
    from scipy.special import hyp2f1

    held = np.asarray(sizes, np.float64)
    if fraction >= 1.0:
        return 1.0 / held
    few = np.minimum(held, _SERIES_FROM)
    risk = np.where(held < _SERIES_FROM, hyp2f1(1.0, 1.0, few + 1, 1.0 - fraction),
                    _series(np.maximum(held, _SERIES_FROM), 1.0 - fraction))
    return np.asarray(fraction / held * risk)


def _series(held: Floats, rest: float) -> Floats:
    """Return 2F1(1, 1; f+1; rest) term by term: scipy's has no value for large f."""
    total, term = np.ones(held.size), np.ones(held.size)
    for k in range(1, 200):
        term = term * k * rest / (held + k)
        total = total + term
    return total
