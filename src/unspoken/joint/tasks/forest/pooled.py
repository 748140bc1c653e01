"""The same forest from pooled rows."""

from __future__ import annotations

import numpy as np

from unspoken.joint.tasks.forest.program_rows import Attributes
from unspoken.joint.tasks.tree.level_growth import TreeParams
from unspoken.joint.tasks.tree.params import TreeLayout
from unspoken.joint.tasks.tree.pooled import grow_pooled
from unspoken.joint.tasks.tree.program_rows import Given
from unspoken.models.categorical_tree import CategoricalTree
from unspoken.models.tree_ensemble import TreeVote


def pooled_forest(layout: TreeLayout, coded: Given, rules: TreeParams, trees: int, *,
                   attributes: int = 0, seed: int = 0) -> TreeVote:
    """Return the same forest from pooled rows with their draws."""
    count = attributes or int(np.ceil(np.sqrt(len(layout.attributes))))
    grown: list[CategoricalTree] = grow_pooled(layout, coded.codes, coded.labels, rules, trees,
                                          coded.weights, Attributes(layout, count, seed))
    return TreeVote(tuple(grown))
