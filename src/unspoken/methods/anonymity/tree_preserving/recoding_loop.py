"""The loop of fu2010 Figures 2 and 4: grow, recode, measure, and stop before it is too much."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from unspoken.methods.anonymity.method import LEAF_MERGE
from unspoken.methods.anonymity.tree_preserving.cells import (
    BlockCache,
    Cells,
    classes_of,
    differing_column,
    grow_again,
    make_cells,
    same_tree,
)
from unspoken.methods.anonymity.tree_preserving.kept_trees import Grown, Kept, Question
from unspoken.methods.anonymity.tree_preserving.leaf_merge import Merge, leaves_of, witnesses
from unspoken.methods.anonymity.tree_preserving.privacy_targets import Needs, Reached
from unspoken.methods.anonymity.tree_preserving.recoding_rules import Recoder, Recoding
from unspoken.numerics.random import generator
from unspoken.numerics.splitting import NUMERIC
from unspoken.table.integer_columns import Coded

_ROUNDS = 4


@dataclass(frozen=True)
class Candidate:
    """A table that will do: after how many steps of each tree, and how it is recoded."""

    steps: tuple[int, ...]
    recodings: Mapping[str, Recoding]
    cells: Cells
    reached: Reached
    moved: int = 0


@dataclass
class Search:
    """Grows all trees together and keeps the last table that meets the needs."""

    trees: Sequence[Kept]
    columns: Mapping[str, Coded]
    needs: Needs
    quasi: Sequence[str]
    response: Sequence[npt.NDArray[np.integer]]
    rule: str
    seed: bytes

    def __post_init__(self) -> None:
        self.recoder = Recoder(self.columns, self.rule)
        self.rows = self.trees[0].learning.rows
        self.why = "every tree is fully grown"
        self.careful = False
        self.culprit: str | None = None
        self._blocks: BlockCache = {}

    def root(self) -> Candidate:
        """Return the table of one node: every predictor suppressed."""
        cells = make_cells(self.columns, {}, self.rows)
        reached = self.needs.measure(classes_of(cells, self.quasi, self.response))
        return Candidate((0,) * len(self.trees), {}, cells, reached)

    def run(self) -> list[Candidate]:
        """Return every table that meets the needs, the root first, the largest trees last."""
        return self._grown(self._steps())

    def carefully(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Run again over the same steps, with groups taken back that let in another split."""
        self.careful = True
        return self._grown(iter([each.steps for each in candidates[1:]]))

    def _steps(self) -> Iterator[tuple[int, ...]]:
        while any([tree.step() for tree in self.trees]):
            yield tuple(tree.steps for tree in self.trees)

    def _grown(self, steps: Iterator[tuple[int, ...]]) -> list[Candidate]:
        candidates = [self.root()]
        while candidates[-1].reached.met:
            after = next(steps, None)
            next_ = None if after is None else self.at(after)
            if next_ is None or not next_.reached.met:
                break
            candidates.append(next_)
        return candidates

    def at(self, steps: tuple[int, ...]) -> Candidate | None:
        """Return the table that keeps the trees after these steps; None if none was found."""
        asked = [tree.questions(step) for tree, step in zip(self.trees, steps, strict=True)]
        recodings, cells = self._recoded(asked, steps)
        reached = self.reached_by(cells)
        candidate = Candidate(steps, recodings, cells, reached)
        if not reached.met:
            self.why = f"the next step reaches only {reached}"
        if reached.met or self.rule != LEAF_MERGE:
            return candidate
        return self.merged(candidate)

    def reached_by(self, cells: Cells) -> Reached:
        """Measure K, L and t of freshly made cells."""
        # Freshly made cells are the classes themselves where every column counts.
        plain = not self.response and set(cells.names) <= set(self.quasi)
        owner = cells.of_row if plain else classes_of(cells, self.quasi, self.response)
        return self.needs.measure(owner)

    def _recoded(self, asked: Sequence[Sequence[Question]], steps: tuple[int, ...]
                 ) -> tuple[dict[str, Recoding], Cells]:
        """Recode, and take back groups of categories that let in a better split.

        Groups of categories are candidates that the categories themselves were not. With two
        classes, or a number, none is better than the best (but it may tie); with more classes or
        the gain ratio one can be. That is rare: only if the verification finds it the search runs
        again, carefully.
        """
        everything = [question for tree in asked for question in tree]
        while True:
            recodings = self.recoder.recode(everything)
            cells = make_cells(self.columns, recodings, self.rows, self._blocks)
            merged = self._merged_groups(recodings) if self.careful else []
            if not merged or not self.differs(steps, recodings, cells):
                return recodings, cells
            self.recoder.whole.add(self._culprit(merged, everything, steps))

    def _culprit(self, merged: Sequence[str], asked: Sequence[Question],
                 steps: tuple[int, ...]) -> str:
        """Return the column whose groups alone must be taken back; the first if none will do."""
        for name in merged:
            self.recoder.whole.add(name)
            recodings = self.recoder.recode(asked)
            why = self.differs(steps, recodings, make_cells(self.columns, recodings, self.rows))
            self.recoder.whole.discard(name)
            if not why:
                return name
        return merged[0]

    def _merged_groups(self, recodings: Mapping[str, Recoding]) -> list[str]:
        return [name for name, recoding in recodings.items()
                if self.columns[name].kind != NUMERIC and name not in self.recoder.whole
                and recoding.count < self.columns[name].size]

    def differs(self, steps: tuple[int, ...], recodings: Mapping[str, Recoding], cells: Cells
                ) -> str:
        """Return where a tree of unspoken's own learner would not be found again."""
        for tree, step in zip(self.trees, steps, strict=True):
            if isinstance(tree, Grown):
                again = grow_again(tree, cells, recodings, step)
                why = same_tree(tree, step, again, cells, recodings)
                if why:
                    self.culprit = differing_column(tree, step, again, cells)
                    return why
        return ""

    def near_means(self, candidate: Candidate) -> Candidate:
        """Return the same table with blocks as near to their means as thresholds allow."""
        asked = [q for tree, step in zip(self.trees, candidate.steps, strict=True)
                 for q in tree.questions(step)]
        return replace(candidate, recodings={
            name: self.recoder.near_means(name, recoding, asked)
            for name, recoding in candidate.recodings.items()})

    def merged(self, before: Candidate, ways: Sequence[bool] = (False, True)) -> Candidate | None:
        """Move rows inside their leaves until the needs are met and the trees are the same.

        `ways`: whether rows go to the nearest cell (True) or to the largest, in turn.
        """
        asked = [tree.questions(step)
                 for tree, step in zip(self.trees, before.steps, strict=True)]
        recodings = dict(before.recodings)
        by_tree = [tree.leaf_of_row(step)
                   for tree, step in zip(self.trees, before.steps, strict=True)]
        leaves = leaves_of(before.cells, by_tree)
        needed = witnesses(before.cells, leaves, asked, recodings)
        ordered = tuple(self.columns[name].kind == NUMERIC for name in before.cells.names)
        for nearest in ways:
            rng = generator(self.seed, "move", sum(before.steps), int(nearest))
            merge = Merge(before.cells, leaves.of_cell, self.needs.k, rng, nearest, ordered)
            candidate = self._attempt(before, merge, needed)
            if candidate is not None:
                return candidate
        return None

    def _attempt(self, before: Candidate, merge: Merge, needed: Sequence[npt.NDArray[np.bool_]]
                 ) -> Candidate | None:
        plain = not self.response and set(before.cells.names) <= set(self.quasi)
        owner = (before.cells.of_row if plain
                 else classes_of(before.cells, self.quasi, self.response))
        bad = ~before.reached.ok[owner]
        ok = np.bincount(before.cells.of_row[bad], minlength=before.cells.count) == 0
        for _ in range(_ROUNDS):
            of_row = merge.run(ok, needed)
            cells = before.cells.moved_to(of_row)
            owner = classes_of(cells, self.quasi, self.response)
            reached = self.needs.measure(owner)
            if reached.met:
                self.why = self.differs(before.steps, before.recodings, cells)
                moved = int((of_row != before.cells.of_row).sum())
                return None if self.why else Candidate(before.steps, before.recodings, cells,
                                                       reached, moved)
            self.why = f"the next step reaches only {reached}, moved rows included"
            worse = np.bincount(of_row[~reached.ok[owner]], minlength=cells.count) > 0
            ok = ok & ~worse
        return None
