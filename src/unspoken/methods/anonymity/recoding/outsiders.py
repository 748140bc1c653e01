"""The population beside a table that is recoded: k-map and delta-presence at every node.

Classes that merge hold more people of the population, and the chance that one of them is in the
table lies between those of the merged: both only get better further up the lattice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from unspoken.arrays import Bools, Ints
from unspoken.errors import DataError
from unspoken.methods.anonymity.hierarchy import Hierarchy
from unspoken.methods.anonymity.measures.population_columns import as_in_table
from unspoken.methods.anonymity.measures.presence import counted
from unspoken.methods.anonymity.recoding.collapsed_records import (
    Classes,
    Collapsed,
    LeveledColumn,
    Node,
)
from unspoken.table.category_codes import coded
from unspoken.table.table import Table


@dataclass(frozen=True)
class Outsiders:
    """The table and the population in one, and what is asked of every class."""

    joint: Collapsed
    rows: int
    k_map: int
    delta: float

    @classmethod
    def of(cls, table: Table, population: Table, trees: dict[str, Hierarchy], k_map: int,
           delta: float) -> Outsiders:
        """Read both tables by the same hierarchies."""
        columns = []
        for name, tree in trees.items():
            mine, theirs = table.arrow([name])[name], population.arrow([name])[name]
            both = coded(pa.chunked_array([*mine.chunks,
                                           *as_in_table(name, mine, theirs).chunks]))
            columns.append(LeveledColumn.of(name, both, tree))
        joint = cls(Collapsed(columns, 1), table.rows, k_map, delta)
        inside, outside = joint.people((0,) * len(columns))
        if (inside > outside).any():
            raise DataError("The table must be a part of the population. Some people of the table "
                            "are not in it, or more often in the table than in the population.")
        return joint

    def people(self, node: Node) -> tuple[Ints, Ints]:
        """Return how many people of the table and of the population stand in every class."""
        return counted(self.joint.class_of_combination(node)[self.joint.owner], self.rows)

    def poor(self, data: Collapsed, classes: Classes) -> Bools:
        """Return which classes of the table have too few people, or say too surely who is in."""
        inside, outside = self.people(classes.node)
        owner = self.joint.class_of_combination(classes.node)[self.joint.owner]
        mine = owner[data.first[classes.members]]
        return np.asarray((outside[mine] < self.k_map)
                          | (inside[mine] > self.delta * outside[mine]))


def worst(outsiders: Outsiders, owner: Ints, node: Node) -> tuple[int, float]:
    """Return k-map and the greatest chance over the classes that are released (owner >= 0)."""
    inside, outside = outsiders.people(node)
    of = outsiders.joint.class_of_combination(node)[outsiders.joint.owner][:outsiders.rows]
    shown: Sequence[int] = np.unique(of[owner >= 0]).tolist()
    return int(outside[shown].min()), float((inside[shown] / outside[shown]).max())
