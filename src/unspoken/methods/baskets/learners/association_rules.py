"""Association rules out of itemsets."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from unspoken.methods.baskets.learners.discoveries import FALSE_DISCOVERY, discovered, p_values
from unspoken.models.itemsets import Itemsets
from unspoken.models.rules import Rules
from unspoken.release.parameters import Real, check

Placed = tuple[int, int, int]
"""Where both sides of a rule together, its left side and its right side stand."""

_RULES = {"min_confidence": (Real(-1e-12, 1.0 + 1e-12), "It is a share, such as 0.5.")}


def rules(itemsets: Itemsets, min_confidence: float) -> Rules:
    """Return the rules of confidence `min_confidence` or more, the surest first.

    Both sides of a rule must be among the itemsets, as they are if these were counted. Estimated
    itemsets need not contain all their subsets; rules that cannot be rated are left out, and their
    number is in `facts`. Of estimated rules only those are reported that stand out of the noise,
    with the share of false discoveries that the itemsets were mined with: a rule is tested by
    s(AB) - c s(A), whose deviation is at most the sum of the two. The intervals of their measures
    are in `Rules.interval`.

    Parameters
    ----------
    itemsets : Itemsets
        Counted or estimated itemsets.
    min_confidence : float
        Least confidence, as a share.

    Returns
    -------
    Rules

    Examples
    --------
    >>> from unspoken import mine
    >>> mine.rules(mine.itemsets(baskets, 0.01), 0.5)  # doctest: +SKIP
    """
    check("rules", _RULES, {"min_confidence": min_confidence})
    # Counts where there are any: their ratios meet a threshold such as 0.8 exactly.
    size = (itemsets.supports if itemsets.estimated else itemsets.counts).tolist()
    rated, missing = [], 0
    for both, left, right in _splits(itemsets):
        if left is None or right is None:
            missing += 1
        else:
            rated.append((both, left, right))
    kept = [rule for rule in rated if size[rule[0]] / size[rule[1]] >= min_confidence]
    facts = {"min_confidence": float(min_confidence), "not_rated": missing}
    if itemsets.estimated:
        kept = _standing_out(itemsets, kept, len(rated), min_confidence)
        facts |= {"tested": len(rated), "false_discovery": _share(itemsets)}
    order = sorted(kept, key=lambda r: (-size[r[0]] / size[r[1]], -size[r[0]], r))
    return _pattern(itemsets, order, facts)


def _share(itemsets: Itemsets) -> float:
    return float(itemsets.facts.get("false_discovery", FALSE_DISCOVERY))


def _standing_out(itemsets: Itemsets, kept: list[Placed], tested: int,
                  min_confidence: float) -> list[Placed]:
    """Return the rules whose confidence reaches the threshold beyond the noise."""
    assert itemsets.deviations is not None
    at = np.array(kept, np.int64).reshape(-1, 3)
    values, spread = itemsets.supports[at], itemsets.deviations[at]
    p = p_values(values[:, 0] - min_confidence * values[:, 1],
                 spread[:, 0] + min_confidence * spread[:, 1])
    chosen = discovered(p, tested, _share(itemsets))
    return [rule for rule, one in zip(kept, chosen.tolist(), strict=True) if one]


def _splits(itemsets: Itemsets) -> Iterator[tuple[int, int | None, int | None]]:
    """Yield the places of every set and of its two parts, for every way to part it."""
    places = itemsets.places
    for both, codes in enumerate(itemsets.sets):
        for size in range(1, len(codes)):
            for left in combinations(codes, size):
                right = tuple(code for code in codes if code not in left)
                yield both, places.get(left), places.get(right)


def _pattern(itemsets: Itemsets, kept: list[Placed], facts: dict[str, float]) -> Rules:
    at = np.array(kept, np.int64).reshape(-1, 3)
    support = itemsets.supports[at]
    # Nobody has both sides without having each: estimates may say otherwise.
    support[:, 0] = support.min(axis=1, initial=np.inf)
    bounds = [None if ends is None else ends[at] for ends in (itemsets.low, itemsets.high)]
    return Rules(itemsets.items, tuple(itemsets.sets[i] for i in at[:, 1].tolist()),
                 tuple(itemsets.sets[i] for i in at[:, 2].tolist()), support[:, 0], support[:, 1],
                 support[:, 2], itemsets.baskets, bounds[0], bounds[1], facts)
