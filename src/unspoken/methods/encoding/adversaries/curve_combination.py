"""All curves at once (bu2007 section 6.2.2, Figure 10).

The paper counts values recovered by three curves in three ways; `tallies` does that. As an actual
attack the middle one of the three guesses is taken: wherever two curves recover a value, the middle
one lies between them and recovers it as well, so this attack gets at least what "two or more agree"
counts, without knowing which curve is right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Bools, Floats
from unspoken.disclosure.adversary import Adversary, View
from unspoken.disclosure.ground_truth import Truth
from unspoken.disclosure.knowledge import Knowledge
from unspoken.disclosure.measures import is_recovered
from unspoken.methods.encoding.adversaries.curve_fitting import (
    CurveFitting,
    Polyline,
    RegressionLine,
    Spline,
)

WEIGHTS = np.array([0.0, 1 / 3, 1 / 2, 1.0])
"""Expected value of 0, 1, 2, 3 agreeing curves; the published 12.5% needs 1/2, not 2/3, for two."""
CURVES: tuple[type[CurveFitting], ...] = (RegressionLine, Spline, Polyline)


class Combination(Adversary):
    """Takes the middle one of the guesses of line, spline and polyline."""

    name: ClassVar[str] = "combination"
    needs: ClassVar[frozenset[str]] = frozenset({"points"})
    gets: ClassVar[str] = "takes the middle one of the guesses of three curves"

    def guess(self, view: View, column: str, knowledge: Knowledge,
              rng: np.random.Generator) -> Floats:
        """Return the middle guess for every code."""
        return middle(*(curve().guess(view, column, knowledge, rng) for curve in CURVES))

    def guess_at(self, view: View, column: str, knowledge: Knowledge, places: Floats,
                 rng: np.random.Generator) -> Floats:
        """Return the middle guess at any place."""
        return middle(*(curve().guess_at(view, column, knowledge, places, rng)
                        for curve in CURVES))

    def further_shares(self, view: View, truth: Truth, knowledge: Knowledge,
                       rng: np.random.Generator) -> dict[str, Floats]:
        """Return the shares as the paper counts them (section 6.2.2)."""
        hits = [is_recovered(curve().guess(view, truth.released, knowledge, rng), truth,
                             knowledge.radius) for curve in CURVES]
        counted = tallies(hits, truth.weight)
        return {"any curve": counted.total, "two or more": counted.two_or_more,
                "expected": counted.expected}


def middle(first: Floats, second: Floats, third: Floats) -> Floats:
    """Return the median of three arrays, place by place."""
    low, high = np.minimum(first, second), np.maximum(first, second)
    return np.asarray(np.maximum(low, np.minimum(high, third)))


@dataclass(frozen=True)
class Tallies:
    """Shares of recovered values by trial, in the three ways of bu2007 section 6.2.2.

    Attributes
    ----------
    venn : array of shape (trials, 2**curves)
        The regions of the Venn diagram: a column for each subset of the curves, bit i set where
        curve i recovers the value.
    """

    venn: Floats

    @property
    def curve(self) -> Floats:
        """Return the share that each curve recovers: (trials, curves)."""
        return self.venn @ _members(self.venn.shape[1])

    @property
    def total(self) -> Floats:
        """Return the share that any curve recovers."""
        return np.asarray(1.0 - self.venn[:, 0])

    @property
    def two_or_more(self) -> Floats:
        """Return the share that at least two curves recover."""
        return np.asarray(self.venn @ (_members(self.venn.shape[1]).sum(axis=1) >= 2))

    @property
    def expected(self) -> Floats:
        """Return the expected share with the weights 1/3, 1/2, 1."""
        return np.asarray(self.venn @ WEIGHTS[_members(self.venn.shape[1]).sum(axis=1)])


def _members(regions: int) -> npt.NDArray[np.int64]:
    bits = regions.bit_length() - 1
    return (np.arange(regions)[:, None] >> np.arange(bits)) & 1


def tallies(hits: Sequence[Bools], weight: Floats) -> Tallies:
    """Count what up to three curves recover together (bu2007 Figure 10).

    Parameters
    ----------
    hits : sequence of arrays of shape (trials, values)
        For each curve, which values it recovers in each trial.
    weight : array of shape (values,)
        How much each value counts.

    Returns
    -------
    Tallies

    Examples
    --------
    >>> one = np.array([[True, False]])
    >>> tallies([one, one], np.ones(2)).two_or_more
    array([0.5])
    """
    mask = np.zeros(hits[0].shape, np.uint8)
    for bit, recovered in enumerate(hits):
        mask |= recovered.astype(np.uint8) << np.uint8(bit)
    size = 1 << len(hits)
    return Tallies(np.array([np.bincount(row, weight, size) for row in mask]) / weight.sum())
