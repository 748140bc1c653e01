"""What each column of a tree-preserving release may be used for beside the trees."""

from __future__ import annotations

from collections.abc import Mapping

from unspoken.methods.anonymity.tree_preserving.recoding_loop import Candidate
from unspoken.methods.anonymity.tree_preserving.recoding_rules import Recoding
from unspoken.table.integer_columns import Coded

USABLE_SHIFT = 0.1
"""A mean that moved by more of the column's deviation is called not usable."""


def column_uses(columns: Mapping[str, Coded], recoded: Candidate) -> dict[str, str]:
    """Return a sentence for every column: what is left of it."""
    return {name: _use(name, column, recoded) for name, column in columns.items()}


def _use(name: str, column: Coded, recoded: Candidate) -> str:
    recoding = recoded.recodings.get(name)
    if recoding is None:
        return "suppressed: every row shows the column's mean, usable for nothing else" \
            if column.values is not None else "suppressed: usable for nothing"
    if recoding.representatives is None:
        return (f"{recoding.count} groups of {column.size} categories: counts of groups, not of "
                "single categories")
    shift = _shift(column, recoding, recoded, name)
    means = "means are usable" if abs(shift) <= USABLE_SHIFT else \
        f"means are not usable (they moved by {shift:+.2f} deviations)"
    return (f"{recoding.representatives.size} blocks of {column.size} values: {means}; deviations "
            "and single values are not")


def _shift(column: Coded, recoding: Recoding, recoded: Candidate, name: str) -> float:
    """Return how far the mean moved, in deviations of the original."""
    assert column.values is not None
    assert recoding.representatives is not None
    cells = recoded.cells
    block = cells.blocks[:, cells.names.index(name)][cells.of_row]
    known = column.codes < column.size
    before = column.values[column.codes[known]]
    there = block < recoding.representatives.size
    after = recoding.representatives[block[there]]
    spread = float(before.std()) if before.size else 0.0
    return float(after.mean() - before.mean()) / (spread or 1.0) if after.size else 0.0

