"""Hiding rules by writing "unknown" into baskets, so that nothing false is said.

A rule is hidden if the least support or the least confidence that the release allows is too small:
nobody can claim the rule then. Where ones become unknown the counts that are sure fall as they do
by removal. If only ones became unknown, every unknown cell would give itself away as a one, so that
zeros become unknown as well: first in baskets that hold the left side, where nobody can distinguish
them from the others. vcz2006 section 6.3 warns that this hides nothing unless the data has many
unknown cells to begin with: their place says which rules were hidden.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from unspoken.arrays import Ints
from unspoken.methods.baskets.hiding.lost_rule_costs import Watched
from unspoken.methods.baskets.hiding.removal import ROUNDS
from unspoken.methods.baskets.hiding.thresholds import (
    Thresholds,
    holding,
    with_cells,
    without_cells,
)
from unspoken.methods.baskets.rule_counts import Pair
from unspoken.numerics.random import generator
from unspoken.table.baskets import Baskets
from unspoken.table.baskets_with_unknowns import Bounds, PartlyKnown
from unspoken.table.rule_text import Sides


@dataclass(frozen=True)
class Blanking:
    """Rules to hide, rules to keep, and how many zeros go with every one."""

    targets: Sequence[Sides]
    keep: Iterable[Pair]
    limits: Thresholds
    shown: Thresholds
    decoys: float
    seed: bytes

    def __call__(self, baskets: PartlyKnown) -> PartlyKnown:
        """Return baskets in which no target can be claimed any more."""
        blanked = baskets
        for rule in self.targets:
            blanked = self._hide(blanked, rule)
        return self._decoys(baskets, blanked)

    def needs(self, baskets: PartlyKnown, rule: Sides) -> tuple[int, bool]:
        """Return how many ones must become unknown, and whether only on the right side."""
        bounds = Bounds(baskets)
        both, left = bounds.count(tuple(sorted(rule[0] + rule[1])))[0], bounds.against(rule)
        if not self.limits.shows(both, left, len(baskets)):
            return 0, False
        by_support = self.limits.by_support(both, len(baskets))
        if not rule[1]:
            return by_support, False
        by_confidence = self.limits.by_confidence(both, left)
        return min(by_support, by_confidence), by_confidence < by_support

    def _hide(self, baskets: PartlyKnown, rule: Sides) -> PartlyKnown:
        needed, right_only = self.needs(baskets, rule)
        step = -(-needed // ROUNDS)
        while needed:
            items = rule[1] if right_only else rule[0] + rule[1]
            rows, item = self._best(baskets.sure, rule, items, min(step, needed))
            cells = rows, np.full(rows.size, item)
            baskets = PartlyKnown(without_cells(baskets.sure, *cells),
                                  with_cells(baskets.unknown, *cells))
            needed, right_only = self.needs(baskets, rule)
        return baskets

    def _best(self, sure: Baskets, rule: Sides, items: Iterable[int],
              many: int) -> tuple[Ints, int]:
        rows = np.flatnonzero(holding(sure, rule[0] + rule[1]))
        watched = Watched.of(self.keep, set(rule[0] + rule[1]), sure, self.shown)
        candidates = []
        for item in items:
            costs = watched.harm(sure, rows, [item], there=False)
            served = self._served(sure, rule, item)[rows]
            order = np.lexsort((sure.sizes[rows], costs, -served))[:many]
            candidates.append((-int(served[order].sum()), float(costs[order].sum()), item,
                               rows[order]))
        best = min(candidates, key=lambda one: one[:3])
        return best[3], best[2]

    def _served(self, sure: Baskets, rule: Sides, item: int) -> Ints:
        """Return for every basket how many other targets an unknown item serves."""
        later = self.targets[self.targets.index(rule) + 1:]
        served = np.zeros(len(sure), np.int64)
        for left, right in later:
            if item in right:
                served += holding(sure, left + right)
        return served

    def _decoys(self, before: PartlyKnown, after: PartlyKnown) -> PartlyKnown:
        """Make zeros unknown too: of each item, `decoys` for every one that became unknown."""
        marked = after.unknown.frequencies() - before.unknown.frequencies()
        rows, codes = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for item in np.flatnonzero(marked).tolist():
            chosen = self._zeros(after, item, round(self.decoys * int(marked[item])))
            rows.append(chosen)
            codes.append(np.full(chosen.size, item))
        return PartlyKnown(after.sure, with_cells(after.unknown, np.concatenate(rows),
                                                  np.concatenate(codes)))

    def _zeros(self, baskets: PartlyKnown, item: int, many: int) -> Ints:
        """Draw baskets without an item; those that hold the rest of a target go first."""
        free = ~holding(baskets.sure, (item,)) & ~holding(baskets.unknown, (item,))
        alike = np.zeros(len(baskets), np.bool_)
        for left, right in self.targets:
            rest = tuple(code for code in left + right if code != item)
            if item in left + right and rest:
                alike |= holding(baskets.sure, rest)
        rows = np.flatnonzero(free)
        chance = generator(self.seed, "decoys", item).random(rows.size)
        return np.sort(rows[np.lexsort((chance, ~alike[rows]))][:many])
