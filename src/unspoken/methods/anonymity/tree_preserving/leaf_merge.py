"""leaf-merge: records of small cells take the values of another cell of their leaf.

Beyond fu2010. A record that stays in its leaf (in the leaf of every tree) leaves every split that
the trees use as it is; only splits that they do not use change, and whether one of those has become
better is seen by growing the trees again. Beside every threshold, and in every group that would
else be routed elsewhere, some record must stay: a witness.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Bools, Ints
from unspoken.methods.anonymity.measures.equivalence_classes import dense
from unspoken.methods.anonymity.tree_preserving.cells import Cells
from unspoken.methods.anonymity.tree_preserving.kept_trees import Question
from unspoken.methods.anonymity.tree_preserving.recoding_rules import Recoding

Rows = npt.NDArray[np.integer]


@dataclass(frozen=True)
class Leaves:
    """The leaf, over all trees together, of every cell; and each tree's leaf of every cell."""

    of_cell: Ints
    by_tree: tuple[Ints, ...]


def leaves_of(cells: Cells, by_tree: Sequence[npt.NDArray[np.integer]]) -> Leaves:
    """Return the leaves of cells; all rows of a cell reach the same ones."""
    first = np.zeros(cells.count, np.int64)
    first[cells.of_row] = np.arange(cells.of_row.size)
    leaves = tuple(np.asarray(leaf[first], np.int64) for leaf in by_tree)
    joined = np.zeros(cells.count, np.int64)
    for leaf in leaves:
        joined = dense(joined * (int(leaf.max()) + 1) + leaf)
    return Leaves(joined, leaves)


def witnesses(cells: Cells, leaves: Leaves, asked: Sequence[Sequence[Question]],
              recodings: dict[str, Recoding]) -> list[Bools]:
    """Return for each witness that must stay the cells that can be it."""
    rows = []
    for tree, questions in zip(leaves.by_tree, asked, strict=True):
        for question in questions:
            place = cells.names.index(question.column)
            blocks, recoding = cells.blocks[:, place], recodings[question.column]
            for child, block in _needed(question, recoding):
                inside = np.isin(tree, list(question.below[child]))
                rows.append(inside & (blocks == block))
    return [cellset for cellset in rows if cellset.any()]


def _needed(question: Question, recoding: Recoding) -> list[tuple[int, int]]:
    """Return (child, block) that must not become empty."""
    if question.cut is not None:
        low, high = (int(recoding.owner[code]) for code in question.cut)
        missing = int(recoding.owner[-1])
        return [(0, low), (1, high), (0 if question.missing_left else 1, missing)]
    assert question.route is not None
    pairs = zip(question.route.tolist(), recoding.owner.tolist(), strict=True)
    return sorted({(int(child), int(block)) for child, block in pairs})


@dataclass
class Merge:
    """One attempt: which cells stay, and where the rows of the others go."""

    cells: Cells
    leaf: Ints
    k: int
    rng: np.random.Generator
    nearest: bool = False
    ordered: tuple[bool, ...] = ()

    def run(self, ok: Bools, needed: Sequence[Bools]) -> Rows:
        """Return the new cell of every row."""
        sizes = self.cells.sizes()
        stay = self._staying(ok, sizes, needed)
        of_row = self.cells.of_row.copy()
        leaving = np.flatnonzero(~stay[of_row])
        leaving = leaving[self.rng.permutation(leaving.size)]
        sizes = np.where(stay, sizes, 0)
        for leaf in np.unique(self.leaf):
            members = np.flatnonzero(stay & (self.leaf == leaf))
            rows = leaving[self.leaf[self.cells.of_row[leaving]] == leaf]
            rows = self._fill(of_row, rows, members, sizes)
            self._rest(of_row, rows, members, sizes)
            self._borrow(of_row, members, sizes)
        return of_row

    def _staying(self, ok: Bools, sizes: Ints, needed: Sequence[Bools]) -> Bools:
        """Keep what is large enough, a witness wherever one is needed, and one cell per leaf."""
        stay = ok & (sizes > 0)
        open_ = [cellset for cellset in needed if not (stay & cellset).any()]
        while open_:
            use = np.sum(open_, axis=0)
            best = int(np.lexsort((sizes, use))[-1])
            stay[best] = True
            open_ = [cellset for cellset in open_ if not cellset[best]]
        for leaf in np.unique(self.leaf):
            inside = self.leaf == leaf
            if not (stay & inside).any():
                stay[np.flatnonzero(inside)[np.argmax(sizes[inside])]] = True
        return stay

    def _fill(self, of_row: Rows, rows: Ints, members: Ints, sizes: Ints) -> Ints:
        """Give rows to cells that are too small, and return those that are left."""
        for cell in members[np.argsort(-sizes[members], kind="stable")].tolist():
            lack = min(max(self.k - int(sizes[cell]), 0), rows.size)
            of_row[rows[:lack]] = cell
            sizes[cell] += lack
            rows = rows[lack:]
        return rows

    def _rest(self, of_row: Rows, rows: Ints, members: Ints, sizes: Ints) -> None:
        if rows.size == 0:
            return
        largest = members[np.argmax(sizes[members])]
        goal = np.full(rows.size, largest)
        if self.nearest:
            source, back = np.unique(self.cells.of_row[rows], return_inverse=True)
            goal = np.array([members[self._closest(cell, members, sizes)]
                             for cell in source.tolist()])[back.reshape(-1)]
        of_row[rows] = goal
        sizes += np.bincount(goal, minlength=sizes.size)

    def _closest(self, cell: int, members: Ints, sizes: Ints) -> int:
        """Return which member is nearest: numbers by blocks in between, categories by equality."""
        apart = np.abs(self.cells.blocks[members] - self.cells.blocks[cell]).astype(np.float64)
        width = np.maximum(np.ptp(self.cells.blocks, axis=0), 1)
        ordered = np.array(self.ordered or (False,) * apart.shape[1])
        away = np.where(ordered, apart / width, apart > 0).sum(axis=1)
        return int(np.lexsort((-sizes[members], away))[0])

    def _borrow(self, of_row: Rows, members: Ints, sizes: Ints) -> None:
        """Take rows of the largest cell of the leaf for cells that are still too small."""
        for cell in members.tolist():
            lack = self.k - int(sizes[cell])
            giver = int(members[np.argmax(sizes[members])])
            if lack <= 0 or giver == cell or sizes[giver] - lack < self.k:
                continue
            taken = self.rng.permutation(np.flatnonzero(of_row == giver))[:lack]
            of_row[taken] = cell
            sizes[giver] -= lack
            sizes[cell] += lack
