"""Angles at which trigonometric polynomials are large enough, found exactly (vcz2006 7.1.1).

Rotating two columns by theta changes the variances of (7.3) as a0 + a1 cos + b1 sin + a2 cos 2 +
b2 sin 2 of theta. Its zeros are angles of the roots of a quartic in exp(i theta), so the set where
it reaches a threshold is a union of arcs whose ends are known; nothing is tried at random.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats

_TURN = 2 * np.pi


@dataclass(frozen=True)
class Trig:
    """a0 + a1 cos t + b1 sin t + a2 cos 2t + b2 sin 2t."""

    a0: float
    a1: float = 0.0
    b1: float = 0.0
    a2: float = 0.0
    b2: float = 0.0

    def at(self, angle: npt.ArrayLike) -> Floats:
        """Return the value at some angles."""
        t = np.asarray(angle, np.float64)
        return np.asarray(self.a0 + self.a1 * np.cos(t) + self.b1 * np.sin(t)
                          + self.a2 * np.cos(2 * t) + self.b2 * np.sin(2 * t))

    def minus(self, other: Trig, times: float = 1.0) -> Trig:
        """Return the difference to a multiple of another."""
        return Trig(self.a0 - times * other.a0, self.a1 - times * other.a1,
                    self.b1 - times * other.b1, self.a2 - times * other.a2,
                    self.b2 - times * other.b2)

    def slope(self) -> Trig:
        """Return the derivative."""
        return Trig(0.0, self.b1, -self.a1, 2 * self.b2, -2 * self.a2)

    def cuts(self) -> Floats:
        """Return angles among which all zeros are; more than those do no harm."""
        quartic = np.array([self.a2 - 1j * self.b2, self.a1 - 1j * self.b1, 2 * self.a0,
                            self.a1 + 1j * self.b1, self.a2 + 1j * self.b2])
        # A leading coefficient that is only rounding would send roots beyond all numbers.
        quartic[np.abs(quartic) <= 1e-15 * np.abs(quartic).max()] = 0.0
        return np.asarray(np.angle(np.roots(quartic)) % _TURN, np.float64)

    def largest(self) -> tuple[float, float]:
        """Return the largest value and an angle where it is reached."""
        places = np.r_[0.0, self.slope().cuts()]
        values = self.at(places)
        best = int(np.argmax(values))
        return float(values[best]), float(places[best])


def admissible(polynomials: Sequence[Trig], thresholds: Sequence[float]) -> Floats:
    """Return the arcs (start, end) on which every polynomial reaches its threshold.

    Arcs lie in [0, 4 pi) with start < 2 pi; an arc over the whole circle is (0, 2 pi).
    """
    lifted = [p.minus(Trig(rho)) for p, rho in zip(polynomials, thresholds, strict=True)]
    ends = np.unique(np.concatenate([p.cuts() for p in lifted]))
    if ends.size == 0:
        good = all(float(p.at(0.0)) >= 0 for p in lifted)
        return np.array([[0.0, _TURN]]) if good else np.empty((0, 2))
    arcs = np.column_stack([ends, np.r_[ends[1:], ends[0] + _TURN]])
    middle = arcs.mean(axis=1)
    good_arcs = np.logical_and.reduce([p.at(middle) >= 0 for p in lifted])
    return np.asarray(arcs[good_arcs])


def drawn(arcs: Floats, rng: np.random.Generator) -> float:
    """Draw an angle uniformly from arcs, a hair away from their ends."""
    widths = arcs[:, 1] - arcs[:, 0]
    chosen = int(rng.choice(widths.size, p=widths / widths.sum()))
    place = 1e-9 + (1 - 2e-9) * rng.random()
    return float((arcs[chosen, 0] + place * widths[chosen]) % _TURN)


def joint_reach(first: Trig, second: Trig, rho: tuple[float, float]) -> tuple[float, float]:
    """Return the largest factor by which both thresholds can be met at once, and where.

    The least of two smooth functions is largest at a peak of one or where they cross.
    """
    places = np.concatenate([[0.0], first.slope().cuts(), second.slope().cuts(),
                             first.minus(second, rho[0] / rho[1]).cuts()])
    least = np.minimum(first.at(places) / rho[0], second.at(places) / rho[1])
    best = int(np.argmax(least))
    return float(least[best]), float(places[best])
