"""C4.5 (Quinlan, release 8; the choices of Weka's J48): gain ratio and pessimistic pruning.

A column is split by the gain ratio among those whose gain is at least the average of all columns.
Numbers are cut in two where the gain is largest, and pay log2(cuts tried)/n for the choice;
categories get a branch each. A branch needs `least` records, a cut of numbers up to 25. Then
subtrees that make no fewer errors than a leaf are collapsed, and pruned where a leaf, or their
largest branch in their place, has no more errors at the upper end of a `confidence` interval.

Where a cut lies between two values of a node is seen by other records only: by new ones, and by
those of a larger node that a raised branch gets. Quinlan takes the largest value of the whole
column below the middle of the two (`middle`), which is another value if the column is encoded; the
lower of the two is the same in any units.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import inf, log2, sqrt

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats, Ints

_SLACK = 1e-3
_NEAR = 1e-6
_CLOSE = 0.1
_WIDEST = 25.0
Rows = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class SplitColumn:
    """A column as the number of each record's value; `values` is None for categories."""

    codes: npt.NDArray[np.integer]
    size: int
    values: Floats | None = None

    @classmethod
    def numbers(cls, data: npt.ArrayLike) -> SplitColumn:
        """Return a column of numbers."""
        values, codes = np.unique(np.asarray(data, np.float64), return_inverse=True)
        return cls(codes.astype(np.int32), values.size, values)

    @classmethod
    def categories(cls, data: npt.ArrayLike) -> SplitColumn:
        """Return a column of categories, numbered in sorted order."""
        labels, codes = np.unique(np.asarray(data), return_inverse=True)
        return cls(codes.astype(np.int32), labels.size)

    def branch(self, rows: Rows, cut: int) -> npt.NDArray[np.integer]:
        """Return the branch of records: their category, or the side of the cut."""
        codes = self.codes[rows]
        return codes if self.values is None else (codes > cut).astype(np.int32)


@dataclass(eq=False)
class C45Node:
    """A node: counts by class, and for inner nodes the column, the cut and the branches."""

    rows: Rows
    counts: Ints
    column: int = -1
    cut: int = -1
    branches: list[C45Node] = field(default_factory=list)

    @property
    def wrong(self) -> int:
        """Return how many records are not of the commonest class."""
        return int(self.counts.sum() - self.counts.max())

    def walk(self) -> Iterator[tuple[int, C45Node]]:
        """Yield depth and node, parents first."""
        waiting = [(0, self)]
        while waiting:
            depth, node = waiting.pop()
            yield depth, node
            waiting += [(depth + 1, one) for one in reversed(node.branches)]

    @cached_property
    def majority(self) -> int:
        """Return the commonest class."""
        return int(self.counts.argmax())


@dataclass(frozen=True)
class _Split:
    column: int
    gain: float
    ratio: float
    cut: int = -1


def added_errors(count: float, wrong: float, confidence: float = 0.25) -> float:
    """Return by how many errors the upper limit exceeds those that were counted."""
    from scipy.stats import norm

    if wrong < 1:
        base: float = count * (1 - confidence ** (1 / count))
        return base if wrong == 0 else base + wrong * (added_errors(count, 1, confidence) - base)
    if wrong + 0.5 >= count:
        return max(count - wrong, 0.0)
    z, share = float(norm.ppf(1 - confidence)), (wrong + 0.5) / count
    spread = z * sqrt(share / count - share**2 / count + z**2 / (4 * count**2))
    return float((share + z**2 / (2 * count) + spread) / (1 + z**2 / count) * count - wrong)


@dataclass(frozen=True, eq=False)
class C45:
    """Grow and prune a tree over columns; `labels` are class numbers."""

    columns: Sequence[SplitColumn]
    labels: npt.NDArray[np.integer]
    classes: int
    least: int = 2
    confidence: float = 0.25
    prune: bool = True
    raising: bool = True
    """Whether the largest branch of a node may take its place."""
    middle: bool = True
    """Whether cuts lie below the middle of two values, as Quinlan's, or at the lower one."""

    def grow(self) -> C45Node:
        """Return the tree."""
        root = self._grown(np.arange(self.labels.size, dtype=np.int32))
        if self.prune:
            _collapse(root)
            self._prune(root)
        return root

    def _node(self, rows: Rows) -> C45Node:
        return C45Node(rows, np.bincount(self.labels[rows], minlength=self.classes))

    def _grown(self, rows: Rows) -> C45Node:
        """Grow without recursion: trees of real data are deeper than Python's stack."""
        root = self._node(rows)
        waiting = [root]
        while waiting:
            node = waiting.pop()
            split = self._best(node)
            if split is not None:
                self._divide(node, split.column, split.cut)
                waiting += node.branches
        return root

    def _divide(self, node: C45Node, column: int, cut: int) -> None:
        node.column, node.cut = column, cut
        side = self.columns[column].branch(node.rows, cut)
        width = self.columns[column].size if cut < 0 else 2
        node.branches = [self._node(node.rows[side == one]) for one in range(width)]

    def _best(self, node: C45Node) -> _Split | None:
        size = int(node.counts.sum())
        if size < 2 * self.least or node.counts.max() == size:
            return None
        tried = [one for place in range(len(self.columns))
                 if (one := self._split(place, node)) is not None]
        if not tried:
            return None
        average = sum(one.gain for one in tried) / len(tried)
        chosen: _Split | None = None
        for one in tried:
            good = one.gain >= average - _SLACK
            if good and one.ratio > (chosen.ratio if chosen else 0.0) + _NEAR:
                chosen = one
        return chosen

    def _split(self, place: int, node: C45Node) -> _Split | None:
        column = self.columns[place]
        codes = column.codes[node.rows]
        present, table = _table(codes, column.size, self.labels[node.rows], self.classes)
        if present.size < 2:
            return None
        if column.values is None:
            return self._categories(place, table)
        return self._numbers(place, present, table)

    def _categories(self, place: int, table: Ints) -> _Split | None:
        sizes = table.sum(axis=1)
        if (sizes >= self.least).sum() < 2:
            return None
        total = float(sizes.sum())
        gain = (_bits(table.sum(axis=0)) - _bits(table).sum()) / total
        return _Split(place, gain, gain / (_bits(sizes) / total)) if gain > _NEAR else None

    def _numbers(self, place: int, present: Ints, table: Ints) -> _Split | None:
        left = np.cumsum(table, axis=0)[:-1]
        whole = table.sum(axis=0)
        sizes, total = left.sum(axis=1), float(whole.sum())
        narrow = min(max(0.1 * total / self.classes, self.least), _WIDEST)
        fits = np.flatnonzero((sizes >= narrow) & (total - sizes >= narrow))
        if fits.size == 0:
            return None
        left = left[fits]
        gains = (_bits(whole) - _bits(left) - _bits(whole - left)) / total
        at = int(np.argmax(gains >= gains.max() - _NEAR))
        gain = float(gains[at]) - log2(fits.size) / total
        parts = np.array([sizes[fits[at]], total - sizes[fits[at]]])
        ratio = gain / float(_bits(parts) / total)
        cut = self._cut(place, present[fits[at]:fits[at] + 2])
        return _Split(place, gain, ratio, cut) if gain > _NEAR else None

    def _cut(self, place: int, around: Ints) -> int:
        """Return where a cut between two values of a node lies among those of the column."""
        if not self.middle:
            return int(around[0])
        values = self.columns[place].values
        assert values is not None
        return int(np.searchsorted(values, values[around].mean(), "right")) - 1

    def _prune(self, node: C45Node) -> None:
        for one in node.branches:
            self._prune(one)
        if not node.branches:
            return
        largest = max(node.branches, key=lambda one: one.rows.size)
        raised = self._errors_in(largest, node.rows) if self.raising else inf
        leaf, tree = self._upper(node.counts), self._errors(node)
        if leaf <= tree + _CLOSE and leaf <= raised + _CLOSE:
            _make_leaf(node)
        elif raised <= tree + _CLOSE:
            node.column, node.cut, node.branches = largest.column, largest.cut, largest.branches
            self._refill(node)
            self._prune(node)

    def _upper(self, counts: Ints) -> float:
        size = int(counts.sum())
        wrong = size - int(counts.max())
        return wrong + added_errors(size, wrong, self.confidence) if size else 0.0

    def _errors(self, node: C45Node) -> float:
        return sum(self._upper(one.counts) for _, one in node.walk() if not one.branches)

    def _errors_in(self, node: C45Node, rows: Rows) -> float:
        """Return the errors of a subtree for other records than its own."""
        if not node.branches:
            return self._upper(np.bincount(self.labels[rows], minlength=self.classes))
        side = self.columns[node.column].branch(rows, node.cut)
        return sum(self._errors_in(one, rows[side == place])
                   for place, one in enumerate(node.branches))

    def _refill(self, node: C45Node) -> None:
        """Send a node's records down the branches that were raised into it."""
        if not node.branches:
            return
        side = self.columns[node.column].branch(node.rows, node.cut)
        for place, one in enumerate(node.branches):
            fresh = self._node(node.rows[side == place])
            one.rows, one.counts = fresh.rows, fresh.counts
            self._refill(one)


def _table(codes: npt.NDArray[np.integer], size: int, labels: npt.NDArray[np.integer],
           classes: int) -> tuple[Ints, Ints]:
    """Return the values that occur, by number, and their counts by class."""
    if 4 * codes.size < size:
        present, codes = np.unique(codes, return_inverse=True)
        size = present.size
    else:
        present = np.arange(size)
    cell = codes.astype(np.int64) * classes + labels
    table = np.bincount(cell, minlength=size * classes).reshape(size, classes)
    kept = table.any(axis=1)
    return np.asarray(present[kept]), table[kept]


def _bits(counts: npt.NDArray[np.number]) -> npt.NDArray[np.float64]:
    """Return entropy times size, in bits, along the last axis."""
    some = np.asarray(counts, np.float64)
    size = some.sum(axis=-1)
    terms = some * np.log2(np.where(some > 0, some, 1.0))
    return np.asarray(size * np.log2(np.where(size > 0, size, 1.0)) - terms.sum(axis=-1))


def _make_leaf(node: C45Node) -> None:
    node.column, node.cut, node.branches = -1, -1, []


def _collapse(node: C45Node) -> None:
    """Replace subtrees that err no less on the training data than a leaf would."""
    for _, one in reversed(list(node.walk())):
        leaves = sum(leaf.wrong for _, leaf in one.walk() if not leaf.branches)
        if one.branches and leaves >= one.wrong - _SLACK:
            _make_leaf(one)
