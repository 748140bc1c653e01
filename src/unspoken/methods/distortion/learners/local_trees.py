"""Growing a tree with a reconstruction at every node (as2000 section 4.2, Local).

At a node every column is reconstructed for each class from the reports of the node's own records;
the best cut between intervals is taken over all columns, and the records are sent left and right
by their order in the winning column. That column keeps the intervals it has just assigned for the
nodes below: among records chosen by their reports the noise is no longer independent, so a second
reconstruction of the same column would be wrong. A class with few records at a node also keeps
what its ancestors assigned: reconstructing from few fits their noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats, Ints
from unspoken.methods.distortion.learners.interval_assignment import impurity, split_scores
from unspoken.methods.distortion.learners.learner_inputs import Column
from unspoken.models.labels import Label
from unspoken.models.tree import Tree

ENOUGH = 2000
"""Records of a class below which a node keeps the intervals that its ancestors assigned."""


@dataclass
class _Node:
    rows: Ints
    depth: int
    assigned: npt.NDArray[np.int32]
    known: dict[tuple[int, int], Floats]
    used: frozenset[int] = frozenset()
    parent: int = -1
    side: str = ""


@dataclass
class _Made:
    feature: list[int] = field(default_factory=list)
    threshold: list[float] = field(default_factory=list)
    left: list[int] = field(default_factory=list)
    right: list[int] = field(default_factory=list)
    counts: list[Floats] = field(default_factory=list)


@dataclass(frozen=True)
class Grower:
    """Grows one tree; `columns` are binned, `codes` number the classes."""

    columns: Sequence[Column]
    codes: Ints
    classes: int
    criterion: str
    max_depth: int | None
    min_leaf: int

    def grow(self, labels: tuple[Label, ...], names: tuple[str, ...]) -> Tree:
        """Return the whole tree, nodes in depth-first order."""
        size = self.codes.size
        blank = np.zeros((size, len(self.columns)), np.int32)
        root = _Node(np.arange(size), 0, blank, self._overall())
        grown, todo = _Made(), [root]
        while todo:
            node = todo.pop()
            number = self._enter(grown, node)
            best = self._best(node, grown.counts[number])
            if best is not None:
                todo += self._split(grown, node, number, *best)
        return _tree(grown, labels, names, self.criterion)

    def _overall(self) -> dict[tuple[int, int], Floats]:
        everybody = np.arange(self.codes.size)
        whole = [column.distribution(everybody) for column in self.columns]
        return {(index, label): shares for index, shares in enumerate(whole)
                for label in range(self.classes)}

    def _enter(self, grown: _Made, node: _Node) -> int:
        number = len(grown.feature)
        grown.feature.append(-1)
        grown.threshold.append(0.0)
        grown.left.append(-1)
        grown.right.append(-1)
        grown.counts.append(np.bincount(self.codes[node.rows],
                                        minlength=self.classes).astype(np.float64))
        if node.parent >= 0:
            getattr(grown, node.side)[node.parent] = number
        return number

    def _best(self, node: _Node, counts: Floats) -> tuple[int, int] | None:
        """Return the column and the cut of least impurity, or None where nothing is gained."""
        full = self.max_depth is not None and node.depth >= self.max_depth
        if full or (counts > 0).sum() < 2 or counts.sum() < 2 * self.min_leaf:
            return None
        self._place(node)
        best, chosen = impurity(counts, self.criterion) * counts.sum() - 1e-9, None
        for index, column in enumerate(self.columns):
            table = self._table(node, index, column)
            scores = split_scores(table, self.criterion)
            scores = np.where(_too_small(table, self.min_leaf), np.inf, scores)
            if scores.size and scores.min() < best:
                best, chosen = float(scores.min()), (index, int(scores.argmin()))
        return chosen

    def _place(self, node: _Node) -> None:
        """Reconstruct every column that no ancestor has split, for each class, and assign."""
        codes = self.codes[node.rows]
        for label in range(self.classes):
            here = np.flatnonzero(codes == label)
            if node.depth and here.size < ENOUGH:
                continue
            for index, column in enumerate(self.columns):
                if here.size and index not in node.used:
                    rows = node.rows[here]
                    shares = column.distribution(rows, node.known.get((index, label)))
                    node.known[index, label] = shares
                    node.assigned[here, index] = column.assign(rows, shares)

    def _table(self, node: _Node, index: int, column: Column) -> Floats:
        """Return the records by interval and class."""
        flat = node.assigned[:, index].astype(np.int64) * self.classes + self.codes[node.rows]
        table = np.bincount(flat, minlength=column.intervals * self.classes)
        return table.reshape(column.intervals, self.classes).astype(np.float64)

    def _split(self, grown: _Made, node: _Node, number: int, index: int, cut: int) -> list[_Node]:
        below = node.assigned[:, index] <= cut
        grown.feature[number] = index
        grown.threshold[number] = float(self.columns[index].threshold(np.array([cut + 0.5]))[0])
        return [_Node(node.rows[side], node.depth + 1, node.assigned[side], dict(node.known),
                      node.used | {index}, number, name)
                for side, name in ((~below, "right"), (below, "left"))]


def _too_small(table: Floats, least: int) -> Any:
    left = np.cumsum(table.sum(axis=1))[:-1]
    return (left < least) | (table.sum() - left < least)


def _tree(grown: _Made, labels: tuple[Label, ...], names: tuple[str, ...],
          criterion: str) -> Tree:
    counts = np.array(grown.counts)
    total = counts.sum(axis=1)
    leaf = np.array(grown.left) < 0
    return Tree(
        "classification", names, labels, np.where(leaf, -1, grown.feature).astype(np.int64),
        np.where(leaf, 0.0, grown.threshold), np.array(grown.left, np.int64),
        np.array(grown.right, np.int64), np.zeros(leaf.size, np.bool_), counts / total[:, None],
        total.astype(np.int64), total, np.array([impurity(c, criterion) for c in counts]))
