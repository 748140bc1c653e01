"""Hiding rules by putting items into baskets.

A basket that has not all of B and gains what it misses of A counts for the left side of A -> B
only: the confidence falls, the support stays. One such basket lowers the confidence as much as any
other, so those that miss the fewest items of A are the fewest insertions for one rule. It fails
where too few baskets lack B, and the error names the rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from unspoken.arrays import Bools, Ints
from unspoken.errors import NotCoveredError
from unspoken.methods.baskets.hiding.lost_rule_costs import Watched
from unspoken.methods.baskets.hiding.removal import ROUNDS
from unspoken.methods.baskets.hiding.thresholds import Thresholds, dense, holding, with_cells
from unspoken.methods.baskets.rule_counts import Pair
from unspoken.table.baskets import Baskets
from unspoken.table.rule_text import Sides, write_rule

RATED = 5
"""Baskets looked at for each one that is needed."""


@dataclass(frozen=True)
class Insertion:
    """Rules to hide and rules to keep."""

    targets: Sequence[Sides]
    keep: Iterable[Pair]
    limits: Thresholds
    shown: Thresholds

    def __call__(self, baskets: Baskets) -> Baskets:
        """Return baskets in which no target is shown any more, or refuse."""
        while True:
            open_ = [rule for rule in self.targets if self.needs(baskets, rule)]
            if not open_:
                return baskets
            for rule in open_:
                baskets = self._hide(baskets, rule)

    def needs(self, baskets: Baskets, rule: Sides) -> int:
        """Return how many baskets must gain the left side; 0 if the rule is hidden."""
        both, left = (int(holding(baskets, s).sum()) for s in (rule[0] + rule[1], rule[0]))
        if not self.limits.shows(both, left, len(baskets)):
            return 0
        return self.limits.by_dilution(both, left)

    def _hide(self, baskets: Baskets, rule: Sides) -> Baskets:
        needed = self.needs(baskets, rule)
        step = -(-needed // ROUNDS)
        while needed:
            rows = self._rows(baskets, rule, needed)
            if rows.size < needed:
                raise NotCoveredError(
                    f"The rule '{write_rule(rule, baskets.items)}' cannot be hidden by insertion: "
                    f"{needed} baskets must gain its left side, {rows.size} can. Hide it by "
                    "removal or by unknown values.")
            baskets = _complete(baskets, rows[:min(step, needed)], rule[0])
            needed = self.needs(baskets, rule)
        return baskets

    def _rows(self, baskets: Baskets, rule: Sides, needed: int) -> Ints:
        """Return baskets that may gain the left side, the best first."""
        left = rule[0]
        rows = np.flatnonzero(~holding(baskets, left) & ~self._completes(baskets, rule))
        missing = len(left) - dense(baskets, rows, np.array(left)).sum(axis=1)
        # Small baskets make few new combinations: of many only those are looked at closely.
        near = np.lexsort((baskets.sizes[rows], missing))[:RATED * needed]
        rows, missing = rows[near], missing[near]
        watched = Watched.of(self.keep, set(left), baskets, self.shown)
        costs = watched.harm(baskets, rows, left, there=True)
        return rows[np.lexsort((baskets.sizes[rows], costs, missing))]

    def _completes(self, baskets: Baskets, rule: Sides) -> Bools:
        """Return the baskets in which the left side would complete a target, this or another."""
        completed = np.zeros(len(baskets), np.bool_)
        for left, right in self.targets:
            rest = tuple(item for item in left + right if item not in rule[0])
            if len(rest) < len(left + right):
                completed |= holding(baskets, rest) & ~holding(baskets, left + right)
        return completed


def _complete(baskets: Baskets, rows: Ints, codes: tuple[int, ...]) -> Baskets:
    return with_cells(baskets, np.repeat(rows, len(codes)), np.tile(np.array(codes), rows.size))
