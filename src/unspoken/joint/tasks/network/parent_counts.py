"""Counts of every node with every candidate parent, on shares: one matrix product a step.

Every site makes, for each open node, one column for each combination of the values of its own
nodes among the node and its parents; products over sites make the combinations of all. Their
matrix product with the values of all nodes gives every count that a step needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unspoken.arrays import Ints
from unspoken.joint.mpc.ops.products import multiply
from unspoken.joint.mpc.ops.sharing import share
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared, concatenate
from unspoken.joint.tasks.naive_bayes.class_tallies import one_hot
from unspoken.joint.tasks.network.params import Order


@dataclass(frozen=True)
class Family:
    """A node with its parents so far: their places, the node first."""

    places: tuple[int, ...]

    def cells(self, order: Order) -> int:
        """Return how many combinations of values there are."""
        return int(np.prod([order.sizes[p] for p in self.places]))


def own_columns(order: Order, family: Family, codes: dict[int, Ints]) -> Ints:
    """Return (rows, cells): 1 where a site's own nodes of a family agree with a combination.

    Nodes of others agree with everything. Combinations run as numpy's, the node's value slowest.
    """
    rows = next(iter(codes.values())).size
    product = np.ones((rows, 1), np.int64)
    for place in family.places:
        size = order.sizes[place]
        part = one_hot(codes[place][None], (size,)) if place in codes else np.ones(
            (rows, size), np.int64)
        product = (product[:, :, None] * part[:, None, :]).reshape(rows, -1)
    return product


async def combinations(party: Party, order: Order, families: Sequence[Family],
                       codes: dict[int, Ints], rows: int) -> Shared:
    """Return (rows, cells of all families) as shares; a product for each further site."""
    cells = sum(family.cells(order) for family in families)
    product: Shared | None = None
    for site in order.sites:
        mine = np.hstack([own_columns(order, family, codes) for family in families]) \
            if site == party.name else None
        part = await share(party, mine, site, (rows, cells), 0, 1)
        product = part if product is None else (await multiply(party, product, part)).within(0, 1)
    assert product is not None
    return product


async def values(party: Party, order: Order, codes: dict[int, Ints], rows: int) -> Shared:
    """Return (rows, values of all nodes) as shares, in the order of the nodes."""
    parts: dict[int, Shared] = {}
    for site in order.sites:
        places = order.of(site)
        sizes = tuple(order.sizes[p] for p in places)
        mine = one_hot(np.array([codes[p] for p in places]), sizes) if site == party.name else None
        shared = await share(party, mine, site, (rows, sum(sizes)), 0, 1)
        ends = np.cumsum([0, *sizes])
        parts |= {p: shared[:, ends[i]:ends[i + 1]] for i, p in enumerate(places)}
    return concatenate([parts[p] for p in range(len(order.nodes))], 1)


def candidates(family: Family) -> list[int]:
    """Return the nodes that may become a parent: those before the node that are none yet."""
    return [place for place in range(family.places[0]) if place not in family.places]
