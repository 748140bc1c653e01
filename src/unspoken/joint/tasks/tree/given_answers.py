"""What sites give again while a tree grows, claimed to be what they shared in the beginning.

Where shares have tags, this is tested before the next opening (`mpc/authentic/given_again`): a site
that deviates could otherwise give another question, more children or other answers than its own,
and the tree would be one that no table has.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from unspoken.arrays import Ints
from unspoken.joint.mpc.ops.again_claims import (
    must_be_zero,
    must_choose,
    must_repeat,
    tests_again,
)
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared
from unspoken.joint.tasks.tree.tree_sites import TreeShape

BySite = Iterable[tuple[int, str, Ints]]


class GivenAnswers:
    """The questions of one level: `order` are its nodes, `picked` the rows that choose theirs."""

    def __init__(self, party: Party, shape: TreeShape, order: Ints, picked: Shared) -> None:
        self.party, self.shape, self.order, self.picked = party, shape, order, picked
        self._tested = tests_again(party)

    def questions(self, by_site: BySite, place: Any) -> None:
        """Claim that each site gave the question that was opened to it."""
        for number, name, nodes in by_site if self._tested else ():
            must_choose(self.party, self.picked[self._rows(nodes)],
                        place[nodes] - (1 + number * self.shape.slots), name)

    def children(self, by_site: BySite, counts: Shared, arity: Ints) -> None:
        """Claim that no record has an answer beyond those that a site told of."""
        for _, name, nodes in by_site if self._tested else ():
            for node, row in zip(nodes.tolist(), self._rows(nodes).tolist(), strict=True):
                must_be_zero(self.party, counts[row, int(arity[node]):], name)

    def answers(self, by_site: BySite, bits: Shared, node: Ints, branch: Ints,
                table: Shared) -> None:
        """Claim that each site gave the answers of its records to the question of its node."""
        start, step = 0, self.shape.branches - 1
        for number, name, each in by_site if self._tested else ():
            first = step * self.shape.slots * number + branch[each][:, None]
            must_repeat(self.party, bits[start:start + each.size],
                        self.picked[self._rows(node[each])], table,
                        first + step * np.arange(self.shape.slots), name)
            start += each.size

    def _rows(self, nodes: Ints) -> Ints:
        """Return where nodes stand in the order of the level."""
        back = np.argsort(self.order)
        return np.asarray(back[np.searchsorted(self.order[back], nodes)])
