"""K2 on pooled columns in one place, with the same whole-number scores and the same ties."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from unspoken.arrays import Ints
from unspoken.joint.tasks.network.log_factorials import Factorials, factorials
from unspoken.joint.tasks.network.params import NetworkParams, NetworkSite, Order
from unspoken.joint.tasks.network.parent_counts import Family, candidates
from unspoken.joint.tasks.network.program_columns import network
from unspoken.models.bayes_net import BayesNet


def pooled(
    sites: Mapping[str, NetworkSite], order: Order, rules: NetworkParams | None = None
) -> BayesNet:
    """Return the network of pooled columns."""
    codes = np.zeros((len(order.nodes), next(iter(sites.values())).codes.shape[1]), np.int64)
    for name, site in sites.items():
        codes[order.of(name)] = site.codes
    table = factorials(codes.shape[1] + max(order.sizes))
    most = (rules or NetworkParams()).max_parents
    return network(order, [_family(codes, order, node, table, most)
                           for node in range(len(order.nodes))])


def _family(codes: Ints, order: Order, node: int, table: Factorials, most: int) -> Family:
    """Add parents to one node until none makes it better."""
    family = Family((node,))
    score = plain_score(codes, order.sizes, family.places, table)
    while len(family.places) <= most and (tried := candidates(family)):
        each = [plain_score(codes, order.sizes, (*family.places, c), table) for c in tried]
        best = int(np.argmax(each))
        if each[best] <= score:
            break
        family, score = Family((*family.places, tried[best])), each[best]
    return family


def plain_score(codes: Ints, sizes: Sequence[int], places: Sequence[int],
                table: Factorials) -> int:
    """Return the score of a node, the first of `places`, with the others as parents."""
    shape = tuple(sizes[p] for p in places)
    flat = np.ravel_multi_index(tuple(codes[p] for p in places), shape)
    counts = np.bincount(flat, minlength=int(np.prod(shape))).reshape(shape[0], -1)
    totals = table.sums[counts.sum(axis=0) + shape[0] - 1] - table.sums[shape[0] - 1]
    return int(table.sums[counts].sum()) - int(totals.sum())
