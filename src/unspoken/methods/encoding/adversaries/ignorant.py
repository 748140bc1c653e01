"""The adversary who knows nothing (bu2007 section 6.1): the floor of every table."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from unspoken.arrays import Floats
from unspoken.disclosure.adversary import Adversary, View
from unspoken.disclosure.knowledge import Knowledge


class Ignorant(Adversary):
    """Guesses every code at random in the plausible range.

    The range is given to it: an adversary who does not even know the range recovers less.
    """

    name: ClassVar[str] = "ignorant"
    gets: ClassVar[str] = "guesses at random in the range of the column"

    def guess(self, view: View, column: str, knowledge: Knowledge,
              rng: np.random.Generator) -> Floats:
        """Return numbers drawn from the plausible range, whatever the codes are."""
        low, high = knowledge.plausible
        return rng.uniform(low, high, size=(knowledge.trials, view[column].codes.size))


def chance(values: Floats, low: float, high: float, radius: float) -> Floats:
    """Return the probability that a number drawn from [low, high] recovers each value.

    Parameters
    ----------
    values : array of float
        The true values.
    low, high : float
        The range that guesses are drawn from.
    radius : float
        How close a guess must be, in the unit of the values.

    Returns
    -------
    array of float

    Examples
    --------
    >>> chance(np.array([0.0, 5.0]), 0.0, 10.0, 1.0)
    array([0.1, 0.2])
    """
    if high <= low:
        return np.asarray((np.abs(values - low) <= radius).astype(np.float64))
    common = np.minimum(high, values + radius) - np.maximum(low, values - radius)
    return np.asarray(np.maximum(common, 0.0) / (high - low))
