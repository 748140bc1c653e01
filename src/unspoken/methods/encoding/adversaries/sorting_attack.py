"""Sorting (bu2007 sections 3.3, 5.4 and 6.2.3): order alone, with the true minimum and maximum.

`RankSorting` is the attack: the guess grows evenly with the rank. `RangeSorting` is the attack
behind the formula of section 5.4: a whole number drawn from the range R_g that the rank leaves.
The worst case of Figure 11 is a formula without guesses: `rank_attack_bounds.worst_case_share`.
Codes of a visible monochromatic run have no order; they share the rank of the middle of the run.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from unspoken.arrays import Floats
from unspoken.disclosure.adversary import Adversary, ColumnView, View
from unspoken.disclosure.knowledge import Knowledge
from unspoken.errors import InputError


def bounds_of(knowledge: Knowledge) -> tuple[float, float]:
    """Return the true minimum and maximum; knowledge without them is refused."""
    if knowledge.bounds is None:
        raise InputError("Sorting needs the true minimum and maximum. The knowledge "
                         f"'{knowledge.label}' has none.")
    return knowledge.bounds


class RankSorting(Adversary):
    """Spreads the ranks evenly between the true minimum and maximum."""

    name: ClassVar[str] = "rank"
    needs: ClassVar[frozenset[str]] = frozenset({"bounds"})
    gets: ClassVar[str] = "sorts the codes and spreads them between the true minimum and maximum"

    def guess(self, view: View, column: str, knowledge: Knowledge,
              rng: np.random.Generator) -> Floats:
        """Return the same guesses in every trial: nothing here is drawn."""
        low, high = bounds_of(knowledge)
        seen = view[column]
        step = (high - low) / max(seen.last_rank, 1.0)
        return (low + seen.rank * step)[None, :]


class RangeSorting(Adversary):
    """Draws each guess from the range that the rank leaves (section 5.4)."""

    name: ClassVar[str] = "range"
    needs: ClassVar[frozenset[str]] = frozenset({"bounds"})
    gets: ClassVar[str] = "sorts the codes and draws a number from the range that the rank leaves"

    def guess(self, view: View, column: str, knowledge: Knowledge,
              rng: np.random.Generator) -> Floats:
        """Return whole numbers where the bounds are whole, else any number between them."""
        low, high = bounds_of(knowledge)
        first, last = left_by_rank(view[column], low, high)
        shape = (knowledge.trials, first.size)
        if low != round(low) or high != round(high) or np.any(last < first):
            return rng.uniform(low, high, size=shape)
        return np.floor(first + rng.random(shape) * (last - first + 1))


def left_by_rank(seen: ColumnView, low: float, high: float) -> tuple[Floats, Floats]:
    """Return R_g of every code: each value ranked ahead or after takes one whole number."""
    ahead = np.cumsum(seen.cell_values) - seen.cell_values
    after = seen.cell_values.sum() - ahead - seen.cell_values
    return low + np.floor(ahead)[seen.cells], high - np.floor(after)[seen.cells]
