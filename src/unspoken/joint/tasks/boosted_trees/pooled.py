"""The same boosted trees from pooled rows."""

from __future__ import annotations

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.joint.tasks.boosted_trees.program_rows import Boost, gradients, reached
from unspoken.joint.tasks.boosted_trees.split_gains import RATIO, plain_best_worth, plain_ratio
from unspoken.joint.tasks.tree.level_growth import Rows, Sapling, TreeParams
from unspoken.joint.tasks.tree.params import TreeLayout
from unspoken.joint.tasks.tree.program_rows import Given
from unspoken.models.tree_ensemble import TreeSum


def pooled_boost(layout: TreeLayout, coded: Given, rules: TreeParams, boost: Boost) -> TreeSum:
    """Return the same from pooled rows."""
    scores, trees = np.zeros(coded.labels.size), []
    for _ in range(boost.rounds):
        tree, values = _pooled_tree(layout, coded, rules, boost, gradients(scores, coded.labels))
        trees.append(tree.regression(values.tolist()))
        scores = scores + reached(layout, tree, coded.codes, values)
    return TreeSum(tuple(trees), (layout.classes[0], layout.classes[1]))


def _pooled_tree(layout: TreeLayout, coded: Given, rules: TreeParams, boost: Boost,
                  numbers: Ints) -> tuple[Sapling, Floats]:
    tree, rows = Sapling(layout, rules), Rows(layout, coded.codes, coded.labels)
    node_sums = {0: numbers.sum(axis=1)}
    while nodes := tree.tested():
        place, sums = plain_best_worth(layout, rows.sums(nodes, numbers), rules, boost.penalty,
                                       tree.allowed(nodes))
        tree.split(nodes, place)
        rows.move(tree)
        above = dict(zip(nodes, sums, strict=True))
        node_sums |= {n: above[tree.parent[n]][layout.first_branch[tree.question[tree.parent[n]]]
                                               + tree.branch[n]] for n in tree.level}
    leaf = plain_ratio(np.array([node_sums[n] for n in tree.leaves]), boost.penalty)
    return tree, -boost.rate * np.ldexp(np.rint(np.ldexp(leaf, RATIO)), -RATIO)
