"""Many hidden trees that vote: what is public about a forest over columns, and the same pooled.

All trees grow in the same messages. The class site draws as many records as there are, with
replacement, for every tree, and shares its classes times the draws, which never leave it. Which
questions count at a node is drawn from a public seed among the slots of all sites, so that it
says nothing about how many questions a site has. Votes are counted on shares; the class that most
trees say comes out, the first among equals.

  discloses: what one hidden tree does; not even how many trees said so.
  cost: the rounds of one tree; the bytes of all, but for the answers, which are shared once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unspoken.arrays import Bools, Ints
from unspoken.joint.tasks.param_rules import Between
from unspoken.joint.tasks.task_params import agreed, check_declared
from unspoken.joint.tasks.tree.level_growth import Sapling
from unspoken.joint.tasks.tree.params import TreeLayout, TreeParams
from unspoken.joint.tasks.tree.pooled import grow_pooled
from unspoken.joint.tasks.tree.tree_sites import TreeShape
from unspoken.models.tree_ensemble import TreeVote
from unspoken.release.parameters import Whole

MOST_TREES = 1000
TREES = agreed(Between(1, MOST_TREES), "the number of trees", "Use 10.")
SEED = agreed(Whole(0), "public: what counts at which node", "Use 0.")


@dataclass(frozen=True)
class HiddenForest:
    """How many trees vote, and how many questions count at a node (0: half of all slots)."""

    trees: int = field(default=10, metadata=TREES)
    questions: int = field(default=0, metadata=agreed(
        Whole(0), "how many slots count at a node", "0: half of all slots."))
    seed: int = field(default=0, metadata=SEED)

    def __post_init__(self) -> None:
        check_declared("A forest", self)

    def count(self, slots: int) -> int:
        """Return how many of all slots count at a node."""
        return min(slots, self.questions or -(-slots // 2))

    def allowed(self, level: int, nodes: Sequence[int], slots: int) -> Bools:
        """Return (nodes, slots): which count; a node's place in the full tree is public."""
        out = np.zeros((len(nodes), slots), np.bool_)
        for row, node in zip(out, nodes, strict=True):
            random = np.random.default_rng([self.seed, level, node])
            row[random.permutation(slots)[:self.count(slots)]] = True
        return out


def pooled_forest_columns(layout: TreeLayout, columns: Mapping[str, Any], rules: TreeParams,
                           forest: HiddenForest, draws: Ints, shape: TreeShape,
                           places: Sequence[Sequence[int]]) -> TreeVote:
    """Return the same forest from pooled columns, given the draws (trees, records).

    `places`: for every site, which of the layout's questions are its own, slot by slot.
    """
    slot = {question: number * shape.slots + place for number, own in enumerate(places)
            for place, question in enumerate(own)}
    order, slots = [slot[q] for q in range(len(layout.questions))], len(places) * shape.slots

    def counting(tree: Sapling, nodes: Sequence[int]) -> Bools:
        full = [_place(tree, node, shape.branches) for node in nodes]
        return forest.allowed(tree.depth, full, slots)[:, order]

    codes, labels = layout.codes(columns), layout.labels(columns[layout.target])
    return TreeVote(tuple(grow_pooled(layout, codes, labels, rules, forest.trees, draws,
                                       counting)))


def _place(tree: Sapling, node: int, arity: int) -> int:
    """Return where a node is on its level of the full trees."""
    if tree.parent[node] < 0:
        return node
    return _place(tree, tree.parent[node], arity) * arity + tree.branch[node]
