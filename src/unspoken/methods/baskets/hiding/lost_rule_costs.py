"""What changing a basket does to rules that should stay.

A rule that should stay has two slacks: baskets that its support may lose, and how far the count of
both sides lies above the confidence asked of its left side. A change that takes from a slack costs
the more the less of it is left. Rules that are lost already cost nothing more.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Bools, Floats, Ints
from unspoken.methods.baskets.hiding.thresholds import Thresholds, dense
from unspoken.methods.baskets.rule_counts import Pair, least_count
from unspoken.numerics.packed_bits import bit_counts
from unspoken.table.baskets import Baskets

MOST = 400
"""Most rules that are watched: those with the least slack."""
ROWS = 1 << 14
"""Baskets rated at a time."""


@dataclass(frozen=True)
class Watched:
    """Rules that should stay, as columns of 0 and 1 over the items they use."""

    items: Ints
    left: npt.NDArray[np.float32]
    both: npt.NDArray[np.float32]
    support_slack: Floats
    confidence_slack: Floats
    share: float

    @classmethod
    def of(cls, rules: Iterable[Pair], changed: set[int], baskets: Baskets,
           limits: Thresholds) -> Watched:
        """Watch those of the rules that a change of some items could lose."""
        near = [rule for rule in rules if changed & {*rule[0], *rule[1]}]
        counts = _counts(baskets, {one for rule in near for one in (rule[0], _both(rule))})
        sure = np.array([[counts[_both(rule)], counts[rule[0]]] for rule in near],
                        np.float64).reshape(-1, 2)
        support = sure[:, 0] - least_count(limits.min_support, len(baskets))
        confidence = sure[:, 0] - limits.min_confidence * sure[:, 1]
        alive = np.flatnonzero((support >= 0) & (confidence >= 0))
        tight = alive[np.argsort(np.minimum(support, confidence)[alive], kind="stable")][:MOST]
        return cls._of([near[i] for i in tight], support[tight], confidence[tight],
                       limits.min_confidence)

    @classmethod
    def _of(cls, rules: list[Pair], support: Floats, confidence: Floats, share: float) -> Watched:
        items = np.unique(np.array([c for rule in rules for c in _both(rule)], np.int64))
        left, both = (np.zeros((items.size, len(rules)), np.float32) for _ in range(2))
        for column, rule in enumerate(rules):
            left[np.searchsorted(items, rule[0]), column] = 1
            both[np.searchsorted(items, _both(rule)), column] = 1
        return cls(items, left, both, support, confidence, share)

    def harm(self, baskets: Baskets, rows: Ints, codes: Iterable[int], there: bool) -> Floats:
        """Return what it costs to take some items out of each of these rows, or to put them in."""
        if self.support_slack.size == 0:
            return np.zeros(rows.size)
        where = np.flatnonzero(np.isin(self.items, list(codes)))
        parts = [self._part(dense(baskets, rows[at:at + ROWS], self.items), where, there)
                 for at in range(0, rows.size, ROWS)]
        return np.concatenate([np.zeros(0), *parts])

    def _part(self, table: Bools, changed: Ints, there: bool) -> Floats:
        after = table.copy()
        after[:, changed] = there
        both = _held(after, self.both) - _held(table, self.both)
        left = _held(after, self.left) - _held(table, self.left)
        lost = np.maximum(self.share * left - both, 0.0) / (1 + self.confidence_slack)
        return np.asarray((lost + np.maximum(-both, 0.0) / (1 + self.support_slack)).sum(axis=1))


def _both(rule: Pair) -> tuple[int, ...]:
    return tuple(sorted(rule[0] + rule[1]))


def _counts(baskets: Baskets, sets: set[tuple[int, ...]]) -> dict[tuple[int, ...], int]:
    """Return in how many baskets each set is."""
    codes = sorted({code for one in sets for code in one})
    words = dict(zip(codes, baskets.bitmaps(codes), strict=True))
    return {one: int(bit_counts(np.bitwise_and.reduce([words[code] for code in one])))
            for one in sets}


def _held(table: Bools, sets: npt.NDArray[np.float32]) -> Floats:
    """Return 1 where a row holds the whole of a set."""
    return np.asarray(table.astype(np.float32) @ sets == sets.sum(axis=0), np.float64)
