"""Small baskets for the tests of rules, and mining them by trying everything."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
from hypothesis import strategies as st

from unspoken.table.baskets import Baskets

NAMES = tuple("abcdefgh")
# The baskets of three shops; a, b, c and d are bought together, the rest is rare.
SHOPS = [["abc", "abc", "abcd", "ae", "b"], ["abcd", "ab", "acd", "bcd", "f"],
         ["abcd", "cd", "abc", "gh", "a", "abcd", "ab"]]


def shops(items=NAMES):
    return [Baskets.of([list(one) for one in shop], items) for shop in SHOPS]


def by_hand(lists, support, confidence):
    """Return frequent sets with their counts and sure rules, by counting every subset."""
    least = Fraction(str(support)) * len(lists)
    items = sorted({item for one in lists for item in one})
    count = {}
    for size in range(1, len(items) + 1):
        for one in combinations(items, size):
            held = sum(set(one) <= set(basket) for basket in lists)
            if held and held >= least:
                count[one] = held
    rules = {(left, tuple(i for i in one if i not in left)) for one in count
             for size in range(1, len(one)) for left in combinations(one, size)
             if count[one] >= Fraction(str(confidence)) * count[left]}
    return count, rules


def as_sets(found):
    """Return the names of sets and rules of some associations."""
    return ({found.names(one) for one in found.sets},
            {(found.names(a), found.names(b)) for a, b in zip(found.left, found.right,
                                                              strict=True)})


@st.composite
def spread(draw):
    """Baskets, who owns which (2 to 5 owners, each at least one), and thresholds."""
    owners = draw(st.integers(2, 5))
    rows = draw(st.integers(owners, 24))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rate = draw(st.sampled_from([0.2, 0.5, 0.8]))
    lists = [[name for name in NAMES[:6] if random.random() < rate] for _ in range(rows)]
    owner = np.r_[np.arange(owners), random.integers(0, owners, rows - owners)]
    support = draw(st.sampled_from([0.05, 0.125, 0.25, 0.333333, 0.5, 1.0]))
    confidence = draw(st.sampled_from([0.25, 0.5, 0.666667, 0.9, 1.0]))
    return lists, owner, support, confidence


def in_bits(columns):
    """Return 0/1 columns as packed bits, one row each."""
    flags = np.asarray(columns, bool).T
    packed = np.packbits(flags, axis=1, bitorder="little")
    out = np.zeros((flags.shape[0], -(-flags.shape[1] // 64) * 8), np.uint8)
    out[:, :packed.shape[1]] = packed
    return out.view(np.uint64)
