"""The trees that a release keeps, grown side by side by any learner (fu2010 section 3.4).

Both kinds answer the same questions: what a tree asks of each column after a step, and which leaf
each record reaches. scikit-learn's tree is fitted once; grown best-first, its smaller trees are
the first nodes of the largest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from unspoken.errors import DataError
from unspoken.models.categorical_tree import CategoricalTree
from unspoken.models.relearn_tree import estimator_for, fitted, matrix, response_of
from unspoken.models.tree import Tree
from unspoken.models.tree_from_growth import pattern
from unspoken.models.tree_growth_rule import SKLEARN, Growth, Learning
from unspoken.numerics.tree_grower import advance
from unspoken.numerics.treewalk import LeafGroups, apply
from unspoken.table.table import Table

Leaves = npt.NDArray[np.int32]
_EXACT = 2.0**53


@dataclass(frozen=True)
class Question:
    """What one node asks of a column: a cut between two codes, or the child of each category.

    `below` are the leaves under each of its children.
    """

    column: str
    cut: tuple[int, int] | None
    missing_left: bool
    route: npt.NDArray[np.integer] | None
    below: tuple[frozenset[int], ...]


class Kept(Protocol):
    """A tree that grows in steps."""

    growth: Growth
    learning: Learning

    @property
    def steps(self) -> int:
        """Return the number of steps taken."""

    def step(self) -> bool:
        """Grow once more; False if the tree is finished."""

    def leaves(self, step: int) -> int:
        """Return the number of leaves after a step."""

    def leaf_of_row(self, step: int) -> Leaves:
        """Return the leaf of every row after a step."""

    def questions(self, step: int) -> list[Question]:
        """Return what the tree asks after a step."""

    def pattern(self, step: int) -> Tree | CategoricalTree:
        """Return the tree after a step."""


class Grown:
    """A tree of unspoken's own learner."""

    def __init__(self, learning: Learning) -> None:
        self.learning, self.growth = learning, learning.growth
        self.growing = learning.start()
        self._leaf, self._at = np.zeros(learning.rows, np.int32), 0

    @property
    def steps(self) -> int:
        """Return the number of steps taken."""
        return self.growing.steps

    def step(self) -> bool:
        """Grow once more, up to the largest size allowed."""
        if self.growing.leaves() >= self.growth.max_leaves:
            return False
        return self.growing.step()

    def leaves(self, step: int) -> int:
        """Return the number of leaves after a step."""
        return self.growing.leaves(step)

    def leaf_of_row(self, step: int) -> Leaves:
        """Return the leaf of every row; going on costs only what changed."""
        if step < self._at:
            self._leaf, self._at = np.zeros(self.learning.rows, np.int32), 0
        advance(self.growing, self._leaf, self._at, step)
        self._at = step
        return self._leaf

    def questions(self, step: int) -> list[Question]:
        """Return what the inner nodes ask."""
        inner = self.growing.inner(step)
        below = leaves_below({i: node.children for i, node in inner},
                             self.growing.sizes[step])
        questions = []
        for _, node in inner:
            assert node.split is not None
            name = self.learning.columns[node.split.attribute].name
            questions.append(Question(name, node.split.cut, node.split.missing_left,
                                      node.split.route, tuple(below[c] for c in node.children)))
        return questions

    def pattern(self, step: int) -> CategoricalTree:
        """Return the tree after a step."""
        return pattern(self.growing, self.learning, step)


class Fitted:
    """A tree of scikit-learn's learner."""

    def __init__(self, learning: Learning, response: npt.NDArray[Any]) -> None:
        self.learning, self.growth = learning, learning.growth
        if learning.steps is not None:
            _refuse_inexact(str(self.growth.target), response)
        estimator = estimator_for(self.growth, max(self.growth.max_leaves, 2), learning.rows)
        self.whole = fitted(estimator, learning, response)
        self._data = matrix(learning)
        self._most = int((self.whole.left < 0).sum()) - 1
        self.steps = 0

    def step(self) -> bool:
        """Grow once more."""
        if self.steps >= min(self._most, self.growth.max_leaves - 1):
            return False
        self.steps += 1
        return True

    def leaves(self, step: int) -> int:
        """Return the number of leaves after a step."""
        return step + 1

    def leaf_of_row(self, step: int) -> Leaves:
        """Return the leaf of every row after a step."""
        tree = self.pattern(step)
        return apply(tree.shape, tree.splits, self._data.astype(np.float64)).astype(np.int32)

    def questions(self, step: int) -> list[Question]:
        """Return what the inner nodes ask, with the values beside each threshold in codes."""
        tree = self.pattern(step)
        groups = LeafGroups(tree.shape, self.leaf_of_row(step).astype(np.int64))
        inner = np.flatnonzero(tree.left >= 0).tolist()
        children = {n: (int(tree.left[n]), int(tree.right[n])) for n in inner}
        below = leaves_below(children, tree.nodes)
        ranges = {int(f): groups.ranges(self._data[:, f].astype(np.float64))
                  for f in np.unique(tree.feature[inner])}
        questions = []
        for node in inner:
            column = self.learning.columns[int(tree.feature[node])]
            of = ranges[int(tree.feature[node])]
            assert column.values is not None
            left, right = children[node]
            cut = (_code(column.values, of.high[left]), _code(column.values, of.low[right]))
            questions.append(Question(column.name, cut, bool(tree.missing_left[node]), None,
                                      (below[left], below[right])))
        return questions

    def pattern(self, step: int) -> Tree:
        """Return the tree after a step: later nodes are cut off."""
        return first_nodes(self.whole, 2 * step + 1)


def leaves_below(children: Mapping[int, Sequence[int]], nodes: int) -> list[frozenset[int]]:
    """Return the leaves below every node; children come after their parents."""
    below = [frozenset([node]) for node in range(nodes)]
    for node in sorted(children, reverse=True):
        below[node] = frozenset().union(*(below[child] for child in children[node]))
    return below


def first_nodes(tree: Tree, size: int) -> Tree:
    """Return the tree of the first nodes of one that was grown best-first."""
    inner = (tree.left[:size] >= 0) & (tree.left[:size] < size)
    return Tree(tree.task, tree.features, tree.classes,
                feature=np.where(inner, tree.feature[:size], -1),
                threshold=np.where(inner, tree.threshold[:size], 0.0),
                left=np.where(inner, tree.left[:size], -1),
                right=np.where(inner, tree.right[:size], -1),
                missing_left=inner & tree.missing_left[:size], value=tree.value[:size],
                n_samples=tree.n_samples[:size],
                weighted_n_samples=tree.weighted_n_samples[:size],
                impurity=tree.impurity[:size])


def _code(values: npt.NDArray[np.float64], value: float) -> int:
    """Return the code of a value; a side of nothing but missing values has the last one."""
    return int(values.size) if np.isnan(value) else int(np.searchsorted(values, value))


def _refuse_inexact(target: str, response: npt.NDArray[Any]) -> None:
    """scikit-learn sums in the order of its sort; only whole numbers give the same bits."""
    numbers = np.asarray(response, np.float64)
    whole = bool(np.array_equal(numbers, np.rint(numbers)))
    if not whole or float((numbers * numbers).sum()) >= _EXACT:
        raise DataError(f"scikit-learn's regression tree is kept only for whole numbers whose "
                        f"squares sum below 2**53: its sums depend on the order of the records. "
                        f"'{target}' is not such a column. Use learner='unspoken'.")


def kept_tree(learning: Learning, table: Table) -> Kept:
    """Return the tree that a growth asks for, at its root."""
    if learning.growth.learner != SKLEARN:
        return Grown(learning)
    return Fitted(learning, response_of(table, learning.growth))
