"""The same rules from all baskets in one place."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unspoken.joint.tasks.rules.item_sites import Sites, together
from unspoken.joint.tasks.rules.params import RuleParams, own_baskets
from unspoken.joint.tasks.rules.program_rows import from_counts
from unspoken.models.associations import Associations
from unspoken.table.baskets import Baskets


def pooled(parts: Sequence[Baskets], terms: RuleParams) -> Associations:
    """Return the same from all baskets in one place, by the miner of one place."""
    from unspoken.numerics.frequent_sets import frequent

    offsets = np.r_[0, np.cumsum(np.concatenate([part.sizes for part in parts]))]
    codes = np.concatenate([own_baskets(part, terms)[0].codes for part in parts])  # type: ignore[union-attr]
    total = offsets.size - 1
    num, den = terms.support.as_integer_ratio()
    levels = frequent(offsets, codes, len(terms.items), max(-(-num * total // den), 1),
                      terms.longest)
    sets = tuple(tuple(one) for level, _ in levels for one in level.tolist())
    counts = np.concatenate([many for _, many in levels])
    return from_counts(terms, sets, counts, total)


def pooled_columns(parts: Sequence[Baskets], terms: RuleParams, sites: Sites) -> Associations:
    """Return the same from parts of the same baskets."""
    return pooled([together(parts, sites)], terms)
