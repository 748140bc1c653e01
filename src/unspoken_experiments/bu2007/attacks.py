"""Knowledge points and curve fitting, trial by trial in one go (bu2007 sections 3.3 and 6.1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from unspoken.arrays import Bools, Floats
from unspoken.methods.encoding.adversaries.curve_shapes import (
    Curves,
    natural_splines,
    polylines,
    regression_lines,
)
from unspoken.numerics.random import generator, seed_from
from unspoken_experiments.bu2007.coding import draw, some_of
from unspoken_experiments.bu2007.setting import RADIUS, SEED, TRIALS, Attribute

BAD = 5.0
"""A bad knowledge point is off by more than this many radii (section 6.1)."""


def rng_for(*purpose: str | int) -> np.random.Generator:
    """Return the generator of one named part of the experiment."""
    return generator(seed_from(SEED), "bu2007", *purpose)


def knowledge(attribute: Attribute, codes: Floats, points: int, radius: float,
              rng: np.random.Generator, bad: int = 0) -> tuple[Floats, Floats]:
    """Return codes and guessed values of knowledge points, sorted by code, a row a trial.

    Points are uniform over the distinct values, good ones off by a uniform error within the
    radius; the first `bad` are uniform over the part of the range more than five radii away.
    """
    chosen = some_of(attribute.values.size, points, codes.shape[0], rng)
    values = attribute.values[chosen] + rng.uniform(-radius, radius, chosen.shape)
    if bad:
        values[:, :bad] = _far_off(attribute, attribute.values[chosen[:, :bad]], radius, rng)
    known = np.take_along_axis(codes, chosen, axis=1)
    order = np.argsort(known, axis=1)
    known, values = (np.take_along_axis(part, order, axis=1) for part in (known, values))
    for column in range(1, known.shape[1]):
        # Very narrow pieces may fall together in float64; a curve needs different places.
        above = np.nextafter(known[:, column - 1], np.inf)
        known[:, column] = np.maximum(known[:, column], above)
    return known, values


def _far_off(attribute: Attribute, truth: Floats, radius: float,
             rng: np.random.Generator) -> Floats:
    low, high = attribute.values[0], attribute.values[-1]
    below = np.maximum(truth - BAD * radius - low, 0.0)
    above = np.maximum(high - truth - BAD * radius, 0.0)
    place = rng.random(truth.shape) * (below + above)
    far = np.where(place < below, low + place, truth + BAD * radius + place - below)
    return np.asarray(far)


def spline_through(x: Floats, y: Floats) -> Curves:
    """Return MATLAB's spline (not-a-knot) through four points: one cubic, straight outside.

    The paper's experiments ran in MATLAB; `unspoken.attack` uses the natural spline, which cracks
    more.
    """
    origin = x[:, :1]
    powers = (x - origin) / (x[:, -1:] - origin)
    parts = np.linalg.solve(powers[:, :, None] ** np.arange(4), y[:, :, None])[:, :, 0]
    inner = parts / (x[:, -1:] - origin) ** np.arange(4)
    length = x[:, -1] - x[:, 0]
    slope = inner[:, 1] + length * (2 * inner[:, 2] + 3 * length * inner[:, 3])
    none = np.zeros_like(slope)
    level = np.stack([y[:, 0], inner[:, 0], y[:, -1]], axis=1)
    first = np.stack([inner[:, 1], inner[:, 1], slope], axis=1)
    second = np.stack([none, inner[:, 2], none], axis=1)
    third = np.stack([none, inner[:, 3], none], axis=1)
    places = np.stack([x[:, 0], x[:, 0], x[:, -1]], axis=1)
    return Curves(x[:, [0, -1]], places, np.array([level, first, second, third]))


CURVES: dict[str, Callable[[Floats, Floats], Curves]] = {
    "Linear regression": regression_lines,
    "Spline attack": spline_through,
    "Natural spline": natural_splines,
    "Polyline attack": polylines,
}


def cracked(attribute: Attribute, guesses: Floats, radius: float) -> Bools:
    """Return which values are cracked (Definition 1), a row a trial."""
    return np.asarray(np.abs(guesses - attribute.values) <= radius)


def polyline_recovered(attribute: Attribute, method: str, points: int, rng: np.random.Generator,
                       trials: int = TRIALS, bad: int = 0, heavy: bool = True,
                       law: str = "fitted") -> Bools:
    """Return which values the polyline cracks under fresh codes in every trial."""
    codes = draw(attribute, method, trials, rng, heavy=heavy, law=law)
    radius = attribute.radius(RADIUS)
    known = knowledge(attribute, codes, points, radius, rng, bad)
    return cracked(attribute, polylines(*known).at(codes), radius)


@dataclass(frozen=True)
class Median:
    """The median of shares over trials with a distribution-free 95% interval, in percent."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, shares: Floats) -> Median:
        """Take the order statistics that hold the median with 95% confidence."""
        ranked = np.sort(100.0 * np.asarray(shares))
        reach = 0.98 * np.sqrt(ranked.size)
        low = max(0, int(np.floor(ranked.size / 2 - reach)) - 1)
        high = min(ranked.size - 1, int(np.ceil(ranked.size / 2 + reach)))
        return cls(float(np.median(ranked)), float(ranked[low]), float(ranked[high]))

    def text(self, digits: int = 1) -> str:
        """Return the median and its interval."""
        return f"{self.value:.{digits}f} [{self.low:.{digits}f}, {self.high:.{digits}f}]"
