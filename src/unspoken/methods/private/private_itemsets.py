"""Frequent itemsets with a stated epsilon, from a few items that are chosen with noise.

First frequent items are chosen, one by one and with noise: a basket that changes moves every
support by at most one, however large it is. Then baskets are counted by which of the chosen items
they hold, with noise; a changed basket moves two of these counts by one each, and the support of
any set of chosen items is a sum of them (Li, Qardaji, Su and Cao 2012).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.errors import InputError, explain
from unspoken.methods.private.loss_split import Loss
from unspoken.models.itemsets import Itemsets
from unspoken.table.baskets import Baskets

CHOICE = 0.7
_CLEAR = 2.0
"""A set is listed from this many deviations on."""


class ItemsetsPlan:
    """How many items are chosen, and from which support on sets are listed."""

    kind = "model"

    def __init__(self, loss: Loss, baskets: Baskets, chosen: Any = 8,
                 min_support: Any = 0.01) -> None:
        if type(chosen) is not int or not 1 <= chosen <= min(12, len(baskets.items)):
            raise InputError(explain("'chosen'", "a whole number from 1 to 12, and at most as many "
                                     "as there are items", chosen))
        if not isinstance(min_support, int | float) or not 0 < min_support <= 1:
            raise InputError(explain("'min_support'", "above 0 and up to 1", min_support))
        self._baskets, self._chosen, self._least = baskets, chosen, float(min_support)
        self._choice, self._counts = loss.share(CHOICE / chosen), loss.share(1 - CHOICE)

    def _deviation(self, size: int) -> float:
        cells = 2 ** (self._chosen - size)
        return self._counts.error() * math.sqrt(cells) / max(len(self._baskets), 1)

    def expected(self) -> dict[str, float]:
        """Return the errors that can be stated before anything is measured."""
        gap = self._choice.gap(len(self._baskets.items), 1) / max(len(self._baskets), 1)
        return {"support that a missed item may have above a chosen one, in 95 of 100 choices": gap,
                **{f"deviation of the support of a set of {size}": self._deviation(size)
                   for size in range(1, self._chosen + 1)}}

    def measure(self) -> Itemsets:
        """Choose items, count, and list the sets that are frequent and clear of the noise."""
        picked = self._picked()
        counts = self.noisy_patterns(picked)
        supports = _supports(counts) / max(len(self._baskets), 1)
        listed = [(held, float(supports[mask])) for mask, held in _sets(picked)
                  if supports[mask] >= max(self._least, _CLEAR * self._deviation(len(held)))]
        return Itemsets(self._baskets.items, tuple(held for held, _ in listed),
                        np.array([support for _, support in listed]), len(self._baskets),
                        np.array([self._deviation(len(held)) for held, _ in listed]),
                        facts={"min_support": self._least, "chosen": len(picked)})

    def noisy_patterns(self, picked: list[int]) -> Floats:
        """Return with noise how many baskets hold exactly each subset of chosen items."""
        return self._counts.counts(self._patterns(picked))

    def _picked(self) -> list[int]:
        left, picked = self._baskets.frequencies().astype(np.float64), []
        options = list(range(left.size))
        for _ in range(self._chosen):
            place = self._choice.choose([left[one] for one in options], 1)
            picked.append(options.pop(place))
        return sorted(picked)

    def _patterns(self, picked: list[int]) -> Ints:
        """Return how many baskets hold exactly each subset of the chosen items."""
        masks = np.zeros(len(self._baskets), np.int64)
        starts, rows = self._baskets.columns
        for place, item in enumerate(picked):
            masks[rows[starts[item]:starts[item + 1]]] |= 1 << place
        return np.bincount(masks, minlength=1 << len(picked)).astype(np.int64)


def only_items(baskets: Baskets, items: Sequence[Any]) -> Baskets:
    """Return baskets over the declared items; others are dropped without a word about them."""
    names = tuple(str(name) for name in items)
    place = {name: code for code, name in enumerate(names)}
    codes = np.array([place.get(name, -1) for name in baskets.items], np.int64)[baskets.codes]
    kept = codes >= 0
    return Baskets.from_rows(baskets.rows[kept], codes[kept], len(baskets), names)


def _supports(counts: Floats) -> Floats:
    """Return, for every subset, the sum of the counts of all that contain it."""
    out = counts.copy()
    for place in range(int(out.size).bit_length() - 1):
        pairs = out.reshape(-1, 2, 1 << place)
        pairs[:, 0] += pairs[:, 1]
    return out


def _sets(picked: list[int]) -> list[tuple[int, tuple[int, ...]]]:
    return [(sum(1 << place for place in places), tuple(picked[place] for place in places))
            for size in range(1, len(picked) + 1)
            for places in combinations(range(len(picked)), size)]
