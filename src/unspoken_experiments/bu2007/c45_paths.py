"""The miner of section 6.4: C4.5 on the ten attributes, as arrays that `paths` walks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.numerics.c45_tree import C45, SplitColumn
from unspoken_experiments.bu2007.setting import Data


@dataclass(frozen=True, eq=False)
class ArrayTree:
    """A binary tree in arrays, parents before children; leaves have no children (-1)."""

    children_left: Ints
    children_right: Ints
    feature: Ints
    threshold: Floats

    @property
    def node_count(self) -> int:
        """Return the number of nodes."""
        return int(self.feature.size)


def grow_c45(data: Data) -> ArrayTree:
    """Return the tree of C4.5 with its own defaults (two records a branch, confidence 25%)."""
    columns = [SplitColumn(where.astype(np.int32), one.values.size, one.values)
               for one, where in zip(data.attributes, data.where, strict=True)]
    root = C45(columns, data.aspen.astype(np.int64), 2).grow()
    nodes = [node for _, node in root.walk()]
    place = {id(node): number for number, node in enumerate(nodes)}
    sides = np.array([[place[id(one)] for one in node.branches] or [-1, -1] for node in nodes])
    feature = np.array([node.column for node in nodes])
    threshold = np.array([data.attributes[node.column].values[node.cut] if node.branches else -2.0
                          for node in nodes])
    return ArrayTree(sides[:, 0], sides[:, 1], feature, threshold)
