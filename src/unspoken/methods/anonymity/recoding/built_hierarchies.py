"""Hierarchies for columns that have none, coarse enough for the lattice to be searched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from unspoken.errors import InputError
from unspoken.methods.anonymity.hierarchy import Hierarchy
from unspoken.methods.anonymity.hierarchy_builders import build_hierarchy
from unspoken.methods.anonymity.recoding.collapsed_records import LeveledColumn
from unspoken.table.arrow_arrays import is_number
from unspoken.table.category_codes import coded

MAX_NODES = 1 << 22
MAX_BUILT = 50_000
"""Hierarchies that were built are thinned out to fewer nodes: every second level, finest first."""
CLUSTERED = 500
"""Categories of more values are told apart or not; merging them one by one would be slow."""


def built(column: Any, target: Any) -> Hierarchy:
    """Return the hierarchy of a column that nobody wrote one for."""
    values = coded(column)
    if values.missing == 0:
        return Hierarchy.of([["", "*"]])
    few = values.missing <= CLUSTERED
    known = few or is_number(column.type)
    return build_hierarchy(column, None if known else "flat", target=target)


def thinned(trees: Mapping[str, Hierarchy], names: Sequence[str]) -> dict[str, Hierarchy]:
    """Leave out levels of the named hierarchies, which were built, until all can be searched."""
    out = dict(trees)
    while prod(tree.levels + 1 for tree in out.values()) > MAX_BUILT:
        name = max(names, key=lambda one: out[one].levels, default=None)
        if name is None or out[name].levels < 2:
            return out
        last = out[name].levels
        kept = [0, *sorted(range(last, 0, -2))]
        out[name] = Hierarchy(tuple(tuple(row[level] for level in kept)
                                    for row in out[name].rows))
    return out


def refuse_too_many(owner: str, columns: Sequence[LeveledColumn]) -> None:
    """Refuse hierarchies whose levels have more combinations than are searched."""
    nodes = int(np.prod([float(column.levels) for column in columns]))
    if nodes > MAX_NODES:
        raise InputError(f"{owner}: the hierarchies have {nodes:,} combinations of levels, and at "
                         f"most {MAX_NODES:,} are searched. Name fewer 'columns', or use "
                         "hierarchies of fewer levels.")
