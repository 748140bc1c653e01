"""Rules as counts: which ones a threshold shows, and how far each is from it.

Shares are compared as quotients of counts, never as products, so that a threshold such as 0.8 is
met by 8 of 10 exactly.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Ints
from unspoken.numerics.frequent_sets import frequent

Codes = npt.NDArray[np.int32]
Set = tuple[int, ...]
Pair = tuple[Set, Set]


def least_count(share: float, count: int) -> int:
    """Return the smallest number, from 1 on, that is at least that share of `count`."""
    least = int(np.ceil(share * count))
    return max(least - 1 if count and (least - 1) / count >= share else least, 1)


def most_below(share: float, count: int) -> int:
    """Return the largest number that is less than that share of `count`; -1 if none is."""
    if count == 0:
        return 0
    most = int(np.ceil(share * count)) + 1
    while most >= 0 and most / count >= share:
        most -= 1
    return most


def counted_sets(offsets: Ints, codes: Codes, items: int, least: int) -> dict[Set, int]:
    """Return all sets that are in at least `least` baskets, with their counts."""
    levels = frequent(offsets, codes, items, least, items + 1)
    return {tuple(one): many for sets, counts in levels
            for one, many in zip(sets.tolist(), counts.tolist(), strict=True)}


def shown_rules(sets: Mapping[Set, int], min_confidence: float) -> dict[Pair, tuple[int, int]]:
    """Return the rules of enough confidence with the counts of both sides and of the left."""
    shown = {}
    for both, many in sets.items():
        for size in range(1, len(both)):
            for left in combinations(both, size):
                if many / sets[left] >= min_confidence:
                    right = tuple(code for code in both if code not in left)
                    shown[left, right] = (many, sets[left])
    return shown
