"""The same trees grown in one place from pooled rows: what the joint programs are compared with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from unspoken.arrays import Ints
from unspoken.joint.tasks.tree.level_growth import Rows, Sapling, TreeParams
from unspoken.joint.tasks.tree.params import TreeLayout
from unspoken.joint.tasks.tree.question_scores import plain_best, plain_classes
from unspoken.models.categorical_tree import CategoricalTree


def pooled(layout: TreeLayout, columns: Mapping[str, Any],
           rules: TreeParams | None = None) -> CategoricalTree:
    """Grow the tree of pooled columns, the class among them, with the same rule for ties."""
    codes, labels = layout.codes(columns), layout.labels(columns[layout.target])
    return grow_pooled(layout, codes, labels, rules or TreeParams())[0]


def grow_pooled(layout: TreeLayout, codes: Ints, labels: Ints, rules: TreeParams, trees: int = 1,
                 weights: Ints | None = None,
                 allowed: Any = None) -> list[CategoricalTree]:
    """Grow one tree or several from coded rows; `allowed(nodes)` says which questions count."""
    tree, rows = Sapling(layout, rules, trees), Rows(layout, codes, labels, trees, weights)
    totals = rows.histograms(tree.level)[:, :layout.attributes[0].cells].sum(axis=1)
    parents, counted = totals, {n: (totals[n], totals[n]) for n in tree.level}
    while nodes := tree.tested():
        mask = None if allowed is None else allowed(tree, nodes)
        places, counts = plain_best(layout, rows.histograms(nodes), rules.min_records, mask)
        tree.split(nodes, places)
        rows.move(tree)
        above = {node: counts[i] for i, node in enumerate(nodes)}
        for node in tree.level:
            count = above[tree.parent[node]]
            question = tree.question[tree.parent[node]]
            counted[node] = (count[layout.first_branch[question] + tree.branch[node]], count[-1])
    counts = np.array([counted[n][0] for n in tree.leaves])
    parents = np.array([counted[n][1] for n in tree.leaves])
    return tree.patterns(plain_classes(counts, parents).tolist())
