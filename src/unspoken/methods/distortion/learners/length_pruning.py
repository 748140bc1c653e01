"""Pruning by description length: a split stays if it pays for its own description.

The pruning phase of as2000 section 4.1. A leaf costs the bits that state its records' classes, a
split the bits that name its column and threshold; from the leaves upward a subtree is replaced by a
leaf wherever the leaf is shorter (Mehta, Rissanen and Agrawal's cost, as in SLIQ and SPRINT).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import lgamma, log, log2, pi

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats
from unspoken.models.tree import Tree


def description_length(counts: Floats) -> Floats:
    """Return the bits that state the classes of the records of each node."""
    total = np.maximum(counts.sum(axis=1), 1.0)
    classes = counts.shape[1]
    share = np.where(counts > 0, counts / total[:, None], 1.0)
    data = -(counts * np.log2(share)).sum(axis=1)
    model = (classes - 1) / 2 * np.log2(np.maximum(total / 2, 1.0))
    constant = (classes / 2 * log(pi) - lgamma(classes / 2)) / log(2)
    return np.asarray(data + model + max(constant, 0.0))


def prune(tree: Tree, cuts: Sequence[int]) -> Tree:
    """Return the tree without splits that do not pay; `cuts`: possible thresholds by column."""
    counts = tree.value * tree.weighted_n_samples[:, None]
    leaf = 1.0 + description_length(counts)
    best, keep = leaf.copy(), np.zeros(tree.nodes, np.bool_)
    for node in np.argsort(-tree.shape.depth, kind="stable").tolist():
        left, right = int(tree.left[node]), int(tree.right[node])
        if left < 0:
            continue
        named = log2(max(len(tree.features), 1)) + log2(max(cuts[int(tree.feature[node])], 1))
        split = 1.0 + named + best[left] + best[right]
        keep[node] = split < leaf[node]
        best[node] = min(split, leaf[node])
    return _cut(tree, keep)


def _cut(tree: Tree, keep: npt.NDArray[np.bool_]) -> Tree:
    order, todo = [], [0]
    while todo:
        node = todo.pop()
        order.append(node)
        if keep[node]:
            todo += [int(tree.right[node]), int(tree.left[node])]
    kept = np.array(order)
    place = np.full(tree.nodes, -1, np.int64)
    place[kept] = np.arange(kept.size)
    inner = keep[kept]
    return replace(
        tree, left=np.where(inner, place[tree.left[kept]], -1),
        right=np.where(inner, place[tree.right[kept]], -1),
        feature=np.where(inner, tree.feature[kept], -1),
        threshold=np.where(inner, tree.threshold[kept], 0.0),
        missing_left=tree.missing_left[kept] & inner, value=tree.value[kept],
        n_samples=tree.n_samples[kept], weighted_n_samples=tree.weighted_n_samples[kept],
        impurity=tree.impurity[kept])
