"""What was booked so far for one recipient, or for all, and whether one more fits."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

from unspoken.release.budget_costs import NONE, Cost, total_epsilon

_AHEAD = 64


class Spending:
    """Costs by count, with what is known to fit under a limit."""

    def __init__(self, epsilon: float, delta: float) -> None:
        self.epsilon, self.delta = epsilon, delta
        self.counts: Counter[Cost] = Counter()
        self._limit = Fraction(repr(float(epsilon)))
        self._sum = Fraction(0)
        # A cost, all others by count, how many of the cost are known to fit, and if no more do.
        self._room: tuple[Cost, frozenset[tuple[Cost, int]], int, bool] = (
            Cost(None, law=NONE), frozenset(), 0, False)

    def add(self, cost: Cost) -> None:
        """Book one cost."""
        self.counts[cost] += 1
        self._sum += cost.exact or 0

    def fits(self, cost: Cost) -> bool:
        """Return True if one more cost stays within the limit."""
        if cost.law == NONE:
            return True
        if self.delta == 0:
            return cost.exact is not None and self._sum + cost.exact <= self._limit
        return self._fits_composed(cost)

    def _fits_composed(self, cost: Cost) -> bool:
        """Compose ahead: what fits many times more needs no composing for each."""
        others = frozenset(item for item in self.counts.items() if item[0] != cost)
        if self._room[:2] != (cost, others):
            self._room = (cost, others, self.counts[cost] + 1, False)
            if self._total(cost, 1) > self.epsilon:
                self._room = (cost, others, self.counts[cost], True)
        while self.counts[cost] >= self._room[2] and not self._room[3]:
            self._look_ahead(cost, others)
        return self.counts[cost] < self._room[2]

    def _look_ahead(self, cost: Cost, others: frozenset[tuple[Cost, int]]) -> None:
        """Double what fits; the first time that it does not, find the most that does."""
        count = self.counts[cost]
        ahead = max(count, _AHEAD)
        if self._total(cost, ahead) <= self.epsilon:
            self._room = (cost, others, count + ahead, False)
            return
        low, high = 0, ahead
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._total(cost, middle) <= self.epsilon \
                else (low, middle)
        self._room = (cost, others, count + low, True)

    def _total(self, cost: Cost, more: int) -> float:
        return total_epsilon(self.counts + Counter({cost: more}), self.delta)

    @property
    def total(self) -> float:
        """Return the epsilon of all that was booked."""
        return float(self._sum) if self.delta == 0 else total_epsilon(self.counts, self.delta)
