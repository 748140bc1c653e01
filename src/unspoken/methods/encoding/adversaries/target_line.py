"""Undoing the secret units of a numeric target: a straight line has two unknowns.

Whoever knows two targets, or the smallest and the largest, solves it. A sample of similar data
gives mean and spread, which is nearly as good. Whole numbers that were multiplied have a common
step, which is the multiplier itself; then one known target is enough.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from unspoken.arrays import Floats
from unspoken.disclosure.adversary import View
from unspoken.methods.encoding.adversaries.release_adversary import ReleaseAdversary
from unspoken.methods.encoding.target_units import KINDS
from unspoken.release.release import Release


class _OfTarget(ReleaseAdversary):
    """An adversary of releases whose target is in secret units."""

    def applies(self, release: Release | View) -> bool:
        """Return True if the release says that its target was encoded."""
        return release.mechanism.get("target") in KINDS


class TwoTargets(_OfTarget):
    """Lays a straight line through two known targets."""

    name: ClassVar[str] = "target-line"
    levels: ClassVar[tuple[str, ...]] = ("two targets", "bounds", "sample")
    gets: ClassVar[str] = "lays a straight line through two known targets"

    def read(self, released: Floats, codes: tuple[float, float],
             values: tuple[float, float]) -> Floats:
        """Return the value of every released number, from two pairs of number and value."""
        slope = (values[1] - values[0]) / (codes[1] - codes[0])
        return np.asarray(values[0] + slope * (released - codes[0]))


class CommonStep(_OfTarget):
    """Takes the common step of the released numbers for one unit."""

    name: ClassVar[str] = "common-step"
    levels: ClassVar[tuple[str, ...]] = ("smallest",)
    gets: ClassVar[str] = ("takes the common step of the released targets for one whole number, "
                           "and knows the smallest target")

    def read(self, released: Floats, smallest: float) -> Floats:
        """Return the value of every released number, counted in steps from the smallest."""
        step = int(np.gcd.reduce((released - released.min()).astype(np.int64)))
        return np.asarray(smallest + (released - released.min()) / max(step, 1))
