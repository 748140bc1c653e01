"""Hiding rules by taking items out of baskets.

For a rule A -> B, every basket with A and B that loses an item of B lowers support and confidence;
one that loses an item of A lowers the support. No single removal does more, so that
the smaller of the two numbers of baskets needed is the least number of removals for one rule. For
several rules finding the least is NP-hard (vcz2006 section 6.3); here a basket that serves several
rules at once goes first, then one that costs the rules that should stay least.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.methods.baskets.hiding.lost_rule_costs import Watched
from unspoken.methods.baskets.hiding.thresholds import Thresholds, holding, without_cells
from unspoken.methods.baskets.rule_counts import Pair
from unspoken.table.baskets import Baskets
from unspoken.table.rule_text import Sides

ROUNDS = 8
"""Times that costs are computed again while one rule is hidden."""


@dataclass(frozen=True)
class Victim:
    """An item to take out, and the baskets to take it out of, the best first."""

    item: int
    needed: int
    rows: Ints
    served: Ints
    costs: Floats

    def worth(self) -> tuple[int, int, float]:
        """Return what is compared between victims: fewer changes, more served, less harm."""
        first = slice(0, self.needed)
        return self.needed, -int(self.served[first].sum()), float(self.costs[first].sum())


@dataclass(frozen=True)
class Removal:
    """Rules to hide, rules to keep, and the ways that are allowed."""

    targets: Sequence[Sides]
    keep: Iterable[Pair]
    limits: Thresholds
    shown: Thresholds
    lower: str = "either"

    def __call__(self, baskets: Baskets) -> Baskets:
        """Return baskets in which no target is shown any more."""
        while True:
            open_ = [rule for rule in self.targets if self._open(baskets, rule)]
            if not open_:
                return baskets
            for rule in open_:
                baskets = self._hide(baskets, rule)

    def needs(self, baskets: Baskets, rule: Sides) -> dict[int, int]:
        """Return for every item that may go how many baskets must lose it; empty if hidden."""
        left, right = rule
        both, alone = (int(holding(baskets, s).sum()) for s in (left + right, left))
        rare = dict.fromkeys(left + right, self.limits.by_support(both, len(baskets)))
        unsure = dict.fromkeys(right, self.limits.by_confidence(both, alone))
        needed = {"support": rare, "confidence": unsure}.get(self.lower) or \
            {item: min(many, unsure.get(item, many)) for item, many in rare.items()}
        least = min(needed.values())
        return {item: many for item, many in needed.items() if many == least and many}

    def _open(self, baskets: Baskets, rule: Sides) -> bool:
        return bool(self.needs(baskets, rule))

    def _hide(self, baskets: Baskets, rule: Sides) -> Baskets:
        needs = self.needs(baskets, rule)
        step = -(-max(needs.values(), default=0) // ROUNDS)
        while needs:
            changed = set(rule[0] + rule[1])
            watched = Watched.of(self.keep, changed, baskets, self.shown)
            best = min((self._victim(baskets, rule, item, many, watched)
                        for item, many in needs.items()), key=Victim.worth)
            rows = best.rows[:min(step, best.needed)]
            baskets = without_cells(baskets, rows, np.full(rows.size, best.item))
            needs = self.needs(baskets, rule)
        return baskets

    def _victim(self, baskets: Baskets, rule: Sides, item: int, needed: int,
                watched: Watched) -> Victim:
        rows = np.flatnonzero(holding(baskets, rule[0] + rule[1]))
        served = self._served(baskets, rule, item)[rows]
        costs = watched.harm(baskets, rows, [item], there=False)
        order = np.lexsort((baskets.sizes[rows], costs, -served))
        return Victim(item, needed, rows[order], served[order], costs[order])

    def _served(self, baskets: Baskets, rule: Sides, item: int) -> Ints:
        """Return for every basket how many other targets the removal of an item serves."""
        served = np.zeros(len(baskets), np.int64)
        for other in self.targets:
            if other != rule and item in self.needs(baskets, other):
                served += holding(baskets, other[0] + other[1])
        return served
