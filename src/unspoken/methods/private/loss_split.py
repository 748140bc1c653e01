"""How a stated epsilon is divided among the steps of a release.

With a delta every step is zero-concentrated and shares a rho that costs epsilon at delta (Canonne,
Kamath and Steinke 2020); without one every step has its own epsilon. Noise and choices come from
OpenDP, whose own maps confirm each step.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.numerics.concentrated_loss import rho_of
from unspoken.numerics.private_noise import (
    gaussian_error,
    gaussian_noise,
    laplace_error,
    laplace_noise,
    noisy_choice,
    noisy_choice_concentrated,
)

MOVED = 2
"""Cells of a table of counts that change when one row changes: one loses, one gains."""


@dataclass(frozen=True)
class Reach:
    """How far one row moves several numbers: the sum of all moves, and that of their squares."""

    total: int
    squares: int

    @property
    def length(self) -> float:
        """Return the root of the squares, rounded up."""
        return math.nextafter(math.sqrt(self.squares), math.inf)


@dataclass(frozen=True)
class Loss:
    """A share of the stated loss: of a rho where there is a delta, else of epsilon."""

    amount: float
    concentrated: bool

    @classmethod
    def whole(cls, epsilon: float, delta: float) -> Loss:
        """Return all that a stated epsilon and delta allow."""
        return cls(rho_of(epsilon, delta), True) if delta else cls(epsilon, False)

    def share(self, part: float) -> Loss:
        """Return a part of it."""
        return Loss(self.amount * part, self.concentrated)

    def counts(self, cells: Ints, moved: int = MOVED) -> Floats:
        """Return counts with noise; one row moves `moved` of them by one each."""
        flat = cells.reshape(-1).tolist()
        drawn = gaussian_noise(flat, math.sqrt(moved), self.amount) if self.concentrated \
            else laplace_noise(flat, moved, self.amount)
        return np.array(drawn, np.float64).reshape(cells.shape)

    def error(self, moved: int = MOVED) -> float:
        """Return the standard deviation of that noise."""
        return gaussian_error(math.sqrt(moved), self.amount) if self.concentrated \
            else laplace_error(moved, self.amount)

    def numbers(self, values: Sequence[int], reach: Reach) -> list[int]:
        """Return whole numbers with noise, of which one row moves all together by `reach`."""
        return gaussian_noise(values, reach.length, self.amount) if self.concentrated \
            else laplace_noise(values, reach.total, self.amount)

    def spread(self, reach: Reach) -> float:
        """Return the standard deviation of that noise."""
        return gaussian_error(reach.length, self.amount) if self.concentrated \
            else laplace_error(reach.total, self.amount)

    def gap(self, options: int, reach: int, one_way: bool = False) -> float:
        """Return how far below the best the chosen score may lie, in 95 of 100 choices."""
        scale = reach / math.sqrt(2 * self.amount) if self.concentrated \
            else (1 if one_way else 2) * reach / self.amount
        return scale * math.log(options / 0.05)

    def choose(self, scores: Sequence[float], reach: int) -> int:
        """Return the place of a high score; one row moves each score by at most `reach`."""
        # Scores become whole numbers of thousandths, rounded: two rounded scores can be one more
        # thousandth apart than the scores were.
        whole = [round(score * 1000) for score in scores]
        chosen = noisy_choice_concentrated if self.concentrated else noisy_choice
        return chosen(whole, reach * 1000 + 1, self.amount)

    def choose_one_way(self, scores: Sequence[int], reach: int) -> int:
        """Return the place of a high score, of whole scores and without a delta.

        A row that comes lowers scores only, and one that goes raises them only, by at most `reach`.
        """
        return noisy_choice(scores, reach, self.amount, True)
