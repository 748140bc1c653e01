"""Baskets whose items are spread among owners."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from support.basket_data import NAMES, SHOPS
from unspoken.joint.tasks.rules.params import RuleParams
from unspoken.table.baskets import Baskets

ALL = [one for shop in SHOPS for one in shop]
GROUPS = {"north": "acg", "south": "bdh", "east": "ef"}
ITEMS = tuple("acgbdhef")
TERMS = RuleParams(ITEMS, 0.25, 0.75, most=1000)


def columns(lists=None, groups=None):
    """Return each owner's part of the same baskets."""
    return {name: Baskets.of([[i for i in one if i in items] for one in lists or ALL],
                             tuple(items)) for name, items in (groups or GROUPS).items()}


@st.composite
def spread(draw):
    """Baskets, how their items are spread among 2 to 4 owners, and thresholds."""
    owners, rows = draw(st.integers(2, 4)), draw(st.integers(1, 70))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rate = draw(st.sampled_from([0.3, 0.6, 0.8]))
    lists = [[name for name in NAMES[:7] if random.random() < rate] for _ in range(rows)]
    order = random.permutation(list(NAMES[:7]))
    groups = {f"p{i}": "".join(part) for i, part in enumerate(np.array_split(order, owners))}
    return lists, groups, draw(st.sampled_from([0.1, 0.25, 0.5])), draw(st.sampled_from([0.5, 0.9]))
