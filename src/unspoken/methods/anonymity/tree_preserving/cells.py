"""Cells: records with the same released values. Everything after counting works on them.

There are few of them, so a tree is quickly grown again from the cells, exactly as a miner
would grow it from the released rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Ints
from unspoken.methods.anonymity.measures.equivalence_classes import classes
from unspoken.methods.anonymity.tree_preserving.kept_trees import Grown
from unspoken.methods.anonymity.tree_preserving.recoding_rules import Recoding
from unspoken.models.tree_growth_rule import Learning
from unspoken.numerics.splitting import NUMERIC, Split
from unspoken.numerics.tree_grower import Attribute, Growing, Parts
from unspoken.table.integer_columns import Coded, small

_DIRECT = 1 << 22


@dataclass(frozen=True)
class Cells:
    """The cell of every row, and the block of every cell in every used column."""

    of_row: npt.NDArray[np.integer]
    names: tuple[str, ...]
    blocks: Ints

    @property
    def count(self) -> int:
        """Return the number of cells, empty ones included."""
        return int(self.blocks.shape[0])

    def sizes(self) -> Ints:
        """Return the number of rows in each cell."""
        return np.bincount(self.of_row, minlength=self.count).astype(np.int64)

    def moved_to(self, of_row: npt.NDArray[np.integer]) -> Cells:
        """Return the cells after rows were moved."""
        return replace(self, of_row=of_row)


BlockCache = dict[str, tuple[Recoding, npt.NDArray[np.integer]]]


def make_cells(columns: Mapping[str, Coded], recodings: Mapping[str, Recoding], rows: int,
               known: BlockCache | None = None) -> Cells:
    """Number the combinations of blocks that occur; `known` keeps columns for the next step."""
    names = tuple(recodings)
    if not names:
        return Cells(np.zeros(rows, np.uint8), (), np.zeros((1, 0), np.int64))
    counts = [recodings[name].count for name in names]
    possible = math.prod(counts)
    if possible > max(_DIRECT, 4 * rows):
        return _sorted_cells(columns, recodings, names)
    kind = np.min_scalar_type(possible)
    key = np.zeros(rows, kind)
    for name in names:
        key *= kind.type(recodings[name].count)
        key += _blocks(name, recodings[name], columns[name], {} if known is None else known)
    there = np.bincount(key, minlength=possible) > 0
    present = np.flatnonzero(there)
    rank = np.cumsum(there) - 1
    blocks = np.stack(np.unravel_index(present, counts), axis=1)
    return Cells(small(rank, present.size).take(key), names, blocks)


def _blocks(name: str, recoding: Recoding, column: Coded, known: BlockCache
            ) -> npt.NDArray[np.integer]:
    if name not in known or known[name][0] is not recoding:
        known[name] = (recoding, recoding.owner.take(column.codes))
    return known[name][1]


def _sorted_cells(columns: Mapping[str, Coded], recodings: Mapping[str, Recoding],
                  names: tuple[str, ...]) -> Cells:
    taken = [recodings[name].owner[columns[name].codes] for name in names]
    of_row = classes(taken)
    _, first = np.unique(of_row, return_index=True)
    blocks = np.stack([t[first] for t in taken], axis=1).astype(np.int64)
    return Cells(small(of_row, first.size), names, blocks)


def classes_of(cells: Cells, quasi: Sequence[str], response: Sequence[npt.NDArray[np.integer]]
               ) -> Ints:
    """Return the equivalence class of every row over the quasi-identifiers."""
    used = [i for i, name in enumerate(cells.names) if name in quasi]
    if not used and not response:
        return np.zeros(cells.of_row.size, np.int64)
    inside = classes([cells.blocks[:, i] for i in used])[cells.of_row] if used else None
    return classes([*([] if inside is None else [inside]), *response])


def grow_again(tree: Grown, cells: Cells, recodings: Mapping[str, Recoding], steps: int
               ) -> Growing:
    """Grow a tree from the cells, as a miner grows it from the released rows."""
    learning = tree.learning
    kinds = {c.name: c.kind for c in learning.columns}
    attributes = []
    for place, name in enumerate(cells.names):
        recoding = recodings[name]
        known = (recoding.count if recoding.representatives is None
                 else int(recoding.representatives.size))
        attributes.append(Attribute(cells.blocks[:, place], known, kinds.get(name, NUMERIC)))
    return learning.start(Parts(_parts(learning, cells), learning.rows), attributes).grow(
        steps=steps)


def _parts(learning: Learning, cells: Cells) -> Ints:
    if learning.steps is None:
        assert learning.labels is not None
        width = len(learning.classes)
        joined = cells.of_row.astype(np.int64) * width
        joined += learning.labels
        return np.bincount(joined, minlength=cells.count * width).reshape(-1, width)
    rows = learning.steps.parts
    return np.stack([np.bincount(cells.of_row, column, cells.count) for column in rows.T],
                    axis=1).astype(np.int64)


def same_tree(tree: Grown, step: int, again: Growing, cells: Cells,
              recodings: Mapping[str, Recoding]) -> str:
    """Return where a tree grown from cells differs from the original; None if nowhere."""
    mine, theirs = tree.growing.inner(step), again.inner()
    if [i for i, _ in mine] != [i for i, _ in theirs]:
        return "other leaves were expanded"
    for (index, node), (_, other) in zip(mine, theirs, strict=True):
        assert node.split is not None
        assert other.split is not None
        name = tree.learning.columns[node.split.attribute].name
        if cells.names[other.split.attribute] != name:
            return f"node {index} asks about '{cells.names[other.split.attribute]}', not '{name}'"
        if not _same_split(node.split, other.split, recodings[name]):
            return f"node {index} divides '{name}' differently"
        if not np.array_equal(node.total, other.total):
            return f"node {index} holds other records"
    return ""


def differing_column(tree: Grown, step: int, again: Growing, cells: Cells) -> str | None:
    """Return the column of the first split that a tree grown from cells has and the other not."""
    mine = {index: node for index, node in tree.growing.inner(step)}
    for index, other in again.inner():
        assert other.split is not None
        name, node = cells.names[other.split.attribute], mine.get(index)
        same = node is not None and node.split is not None and (
            tree.learning.columns[node.split.attribute].name == name
            and np.array_equal(node.total, other.total))
        if not same:
            return name
    return None


def _same_split(mine: Split, theirs: Split, recoding: Recoding) -> bool:
    if mine.route is not None:
        return (theirs.route is not None and mine.children == theirs.children
                and np.array_equal(theirs.route[recoding.owner], mine.route))
    assert mine.cut is not None
    wanted = tuple(int(recoding.owner[code]) for code in mine.cut)
    return theirs.cut == wanted and theirs.missing_left == mine.missing_left
