"""Drawing without replacement, for many trials at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats, Ints

_ROUNDS = 20


def distinct_choices(
    weight: Floats, count: int, trials: int, rng: np.random.Generator
) -> Ints:
    """Return `count` different positions a trial, drawn one after the other by weight.

    If there are fewer positions than asked for, all of them are returned.
    """
    count = min(count, weight.size)
    if weight.size <= 4 * count:
        return _by_keys(weight, count, rng.random((trials, weight.size)))
    edges = np.cumsum(weight)
    drawn = _draw(edges, (trials, count), rng)
    for _ in range(_ROUNDS):
        again = _repeated(drawn)
        if not again.any():
            return drawn
        drawn[again] = _draw(edges, (int(again.sum()), count), rng)
    again = _repeated(drawn)
    keys = rng.random((int(again.sum()), weight.size))
    drawn[again] = _by_keys(weight, count, keys)
    return drawn


def _draw(edges: Floats, shape: tuple[int, int], rng: np.random.Generator) -> Ints:
    places = np.searchsorted(edges, rng.random(shape) * edges[-1], side="right")
    return np.asarray(np.minimum(places, edges.size - 1), np.int64)


def _repeated(drawn: Ints) -> npt.NDArray[np.bool_]:
    ordered = np.sort(drawn, axis=1)
    return np.asarray((ordered[:, 1:] == ordered[:, :-1]).any(axis=1))


def _by_keys(weight: Floats, count: int, uniform: Floats) -> Ints:
    """Take the smallest exponential clocks: the same law as drawing one after the other."""
    with np.errstate(divide="ignore"):
        clocks = -np.log1p(-uniform) / weight
    return np.asarray(np.argsort(clocks, axis=1)[:, :count], np.int64)


def record_samples(counts: Ints, size: int, trials: int, rng: np.random.Generator) -> Ints:
    """Return sorted positions of the values of `size` records a trial, without replacement."""
    edges = np.cumsum(counts)
    total = int(edges[-1]) if counts.size else 0
    size = min(size, total)
    out = np.empty((trials, size), np.int64)
    for trial in range(trials):
        drawn = np.sort(rng.choice(total, size, replace=False, shuffle=False))
        out[trial] = np.searchsorted(edges, drawn, side="right")
    return out
