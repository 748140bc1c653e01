"""Who swaps with whom: pairs of records, drawn among all or among those of near values."""

from __future__ import annotations

import numpy as np

from unspoken.arrays import Ints


def swapped_rows(order: Ints, share: float, within: float | None,
                 rng: np.random.Generator) -> Ints:
    """Return for every record the record whose value it gets; partners are drawn in pairs.

    `order`: the records in the order of their values, used where partners must be `within` a
    share of the ranks of each other.
    """
    size, wanted = order.size, max(round(share * order.size), 2) // 2
    if within is None:
        chosen = rng.permutation(size)[:min(2 * wanted, size // 2 * 2)]
        first, second = chosen[0::2], chosen[1::2]
    else:
        first, second = _near_pairs(order, max(int(within * size), 1), rng)
        some = rng.permutation(first.size)[:wanted]
        first, second = first[some], second[some]
    source = np.arange(size)
    source[first], source[second] = second, first
    return source


def _near_pairs(order: Ints, reach: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Return pairs of records that lie at most `reach` ranks apart; nobody is in two."""
    # Moved by less than half of the reach, neighbours in the new order are within it.
    place = np.arange(order.size)
    mixed = np.argsort(place + rng.random(order.size) * reach / 2)[int(rng.integers(2)):]
    first, second = mixed[0:mixed.size // 2 * 2:2], mixed[1::2]
    near = np.abs(first - second) <= reach
    return order[first[near]], order[second[near]]
