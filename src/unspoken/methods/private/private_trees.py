"""A decision tree with a stated epsilon, over declared intervals and categories.

Every level chooses its questions with noise (Friedman and Schuster 2010: Gini impurity times
records, which a row that comes raises by at most two, and never lowers); the leaves hold noisy
class counts. Scores are whole thousandths, rounded up exactly, so that they too move in one
direction.
One row that changes leaves one node of a level and enters another, so a level costs twice what a
node does. The classes and all cells are declared: nothing about the tree's shape but the noisy
choices follows from the data.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unspoken.arrays import Bools, Floats, Ints
from unspoken.errors import InputError, explain
from unspoken.methods.private.declared_columns import (
    Cells,
    Coded,
    cells_of,
    declared_names,
    refuse_names,
    unseen_cells,
    without_guesses,
)
from unspoken.methods.private.loss_split import Loss
from unspoken.models.categorical_tree import CategoricalTree
from unspoken.release.budget_costs import NONE, Cost
from unspoken.table.table import Table

LEAVES = 0.3
THOUSANDTHS = 1000
GINI_REACH = 2 * THOUSANDTHS + 1
"""How far one row that comes or goes moves a score, in thousandths that are rounded up."""


@dataclass(frozen=True)
class _Question:
    """A way to split: numbers below an edge, or one category against the rest."""

    column: int
    left: Bools = field(repr=False)
    edge: float | None


@dataclass
class _Node:
    rows: Ints
    question: _Question | None = None
    children: tuple[int, int] | None = None


@dataclass(frozen=True)
class LearnedTree:
    """A private tree, what it cost, and what was stated before it was bought."""

    model: CategoricalTree
    cost: Cost
    leaf_error: float


def private_tree(table: Table, epsilon: float = 1.0, *, edges: Any = None, values: Any = None,
                 bins: int = 16, complete: Any = (), max_depth: int = 5) -> LearnedTree:
    """Learn a tree that predicts the target of a table, with a stated epsilon.

    Nothing is booked: draw the cost from the table's budget first, or use `private_offer`.

    Parameters
    ----------
    table : Table
        The table; its target must be categorical, with classes declared in `values`.
    epsilon : float, default 1
        What the tree costs, without delta.
    edges : mapping, optional
        The limits of the intervals of numeric columns, from public knowledge.
    values : mapping, optional
        The categories of the others, the target included. Where either is silent the data's are
        taken, and the cost has no epsilon.
    bins : int, default 16
        Intervals of a numeric column that `edges` does not name.
    complete : list of str, optional
        Columns that are publicly known to miss no value: they get no cell for missing ones.
    max_depth : int, default 5
        The depth of the tree.

    Returns
    -------
    LearnedTree
        `model`, its `cost`, and `leaf_error`, the standard deviation of a class count of a leaf.
    """
    original, table = table, without_guesses(table, edges, values, complete)
    _check(table, epsilon, max_depth, values)
    names = [*table.schema.features, str(table.schema.target)]
    refuse_names(original, unseen_cells(table, names, edges, values, bins))
    cells = cells_of(table, names, edges, values, bins, complete)
    cost = Cost(epsilon) if all(one.declared for one in cells) else Cost(None, law=NONE)
    plan = TreePlan(Loss(epsilon, False), cells, table.rows, table.schema.target, max_depth)
    return LearnedTree(plan.measure(Coded(table, plan.cells)), cost, expected_leaf_error(epsilon))


class TreePlan:
    """Features and the target, which comes last, and the depth."""

    kind = "model"

    def __init__(self, loss: Loss, cells: Sequence[Cells], rows: int, target: str | None,
                 max_depth: int = 5) -> None:
        last = [one for one in cells if one.name == target and not one.edges]
        self.cells = (*(one for one in cells if one.name != target), *last)
        if not last or len(self.cells) < 2:
            raise InputError("A private tree needs a categorical target and at least one more "
                             "column. Name the target on reading.")
        if not any(_questions(k, one) for k, one in enumerate(self.cells[:-1])):
            raise InputError("A private tree needs a column with at least two intervals or "
                             "categories. No column has them. Declare more 'edges' or 'values'.")
        _check_depth(max_depth)
        self._loss, self._depth, self._rows = loss, max_depth, rows

    def expected(self) -> dict[str, float]:
        """Return the errors that can be stated before anything is measured."""
        questions = sum(len(_questions(k, one)) for k, one in enumerate(self.cells[:-1]))
        gap = _choice(self._loss, self._depth).gap(max(questions, 1), GINI_REACH, one_way=True)
        return {"deviation of a class count of a leaf": self._loss.share(LEAVES).error(),
                "impurity times records that a question may be worse than the best, in 95 of 100":
                    gap / THOUSANDTHS}

    def measure(self, coded: Coded) -> CategoricalTree:
        """Grow the tree."""
        codes = [coded[one.name] for one in self.cells]
        return _Grower(codes, self.cells, self._loss, self._depth).model()


def _choice(loss: Loss, max_depth: int) -> Loss:
    """Return what one question may spend: a row that changes is in two nodes of a level."""
    return loss.share((1 - LEAVES) / max_depth / 2)


def expected_leaf_error(epsilon: float) -> float:
    """Return the standard deviation of a class count of a leaf, before anything is bought."""
    return Loss(epsilon * LEAVES, False).error()


def _check(table: Table, epsilon: float, max_depth: int, values: Any) -> None:
    if not isinstance(epsilon, int | float) or not 0 < epsilon <= 100:
        raise InputError(explain("'epsilon'", "above 0 and up to 100", epsilon))
    _check_depth(max_depth)
    target = table.schema.target
    if target is None or (target not in declared_names([target], None, values)
                          and table.schema[target].kind != "categorical"):
        raise InputError("A private tree needs a categorical target. Name it on reading.")


def _check_depth(max_depth: Any) -> None:
    if type(max_depth) is not int or not 1 <= max_depth <= 12:
        raise InputError(explain("'max_depth'", "a whole number from 1 to 12", max_depth))


class _Grower:
    """Grows level by level; every level spends the same."""

    def __init__(self, codes: Sequence[Ints], cells: Sequence[Cells], loss: Loss,
                 max_depth: int) -> None:
        self._codes, self._cells, self._depth = codes[:-1], cells[:-1], max_depth
        self._classes, self._target = cells[-1], codes[-1]
        self._choice = _choice(loss, max_depth)
        self.leaves = loss.share(LEAVES)
        self._questions = [one for k, cell in enumerate(self._cells) for one in _questions(k, cell)]
        self._nodes = [_Node(np.arange(codes[0].size))]

    def model(self) -> CategoricalTree:
        """Grow and return the tree."""
        level = [0]
        for _ in range(self._depth):
            level = [child for at in level for child in self._split(at)]
        counts = self._leaf_counts()
        return _written(self._nodes, counts, self._cells, self._classes)

    def _split(self, at: int) -> tuple[int, int]:
        node = self._nodes[at]
        scores = self._scores(node.rows)
        node.question = self._questions[self._choice.choose_one_way(scores, GINI_REACH)]
        left = node.question.left[self._codes[node.question.column][node.rows]]
        node.children = (len(self._nodes), len(self._nodes) + 1)
        self._nodes += [_Node(node.rows[left]), _Node(node.rows[~left])]
        return node.children

    def _scores(self, rows: Ints) -> list[int]:
        """Return minus impurity times records of every question, in thousandths."""
        kinds = self._classes.size
        target = self._target[rows]
        out: list[int] = []
        for column, cell in enumerate(self._cells):
            flat = self._codes[column][rows] * kinds + target
            table = np.bincount(flat, minlength=cell.size * kinds).reshape(cell.size, kinds)
            lefts = np.array([one.left for one in self._questions if one.column == column])
            if lefts.size:
                left = lefts.astype(np.int64) @ table
                out += (-_impurity(left) - _impurity(table.sum(axis=0) - left)).tolist()
        return out

    def _leaf_counts(self) -> Floats:
        """Return noisy class counts of the leaves; together they are one table of counts."""
        leaves = [at for at, node in enumerate(self._nodes) if node.children is None]
        kinds = self._classes.size
        true = np.array([np.bincount(self._target[self._nodes[at].rows], minlength=kinds)
                         for at in leaves], np.int64)
        noisy = np.maximum(self.leaves.counts(true), 0.0)
        counts = np.zeros((len(self._nodes), kinds))
        counts[leaves] = noisy
        for at in range(len(self._nodes) - 1, -1, -1):
            children = self._nodes[at].children
            if children is not None:
                counts[at] = counts[children[0]] + counts[children[1]]
        return counts


def _impurity(counts: Any) -> Ints:
    """Return Gini impurity times records in thousandths, rounded up without floating point."""
    total = counts.sum(axis=1)
    whole, rest = np.divmod((counts**2).sum(axis=1), np.maximum(total, 1))
    return np.asarray(THOUSANDTHS * (total - whole) - THOUSANDTHS * rest // np.maximum(total, 1))


def _questions(column: int, cell: Cells) -> list[_Question]:
    size = cell.size
    if cell.edges:
        return [_Question(column, np.arange(size) < k, cell.edges[k])
                for k in range(1, len(cell.edges) - 1)]
    return [_Question(column, np.arange(size) == k, None) for k in range(len(cell.values))]


def _written(nodes: Sequence[_Node], counts: Floats, cells: Sequence[Cells],
             classes: Cells) -> CategoricalTree:
    """Return the tree as a model; a node's children follow one another already."""
    real = counts[:, : classes.known]
    total = real.sum(axis=1)
    shares = real / np.maximum(total, 1e-300)[:, None]
    shares[total == 0] = 1 / shares.shape[1]
    inner = [node.question for node in nodes]
    return CategoricalTree(
        "classification", tuple(one.name for one in cells), classes.values,
        {one.name: (*one.values, None) for one in cells if not one.edges},
        np.array([-1 if one is None else one.column for one in inner], np.int64),
        np.array([math.nextafter(one.edge, -math.inf) if one is not None and one.edge is not None
                  else 0.0 for one in inner]),
        np.zeros(len(nodes), np.bool_),
        np.array([-1 if node.children is None else node.children[0] for node in nodes], np.int64),
        np.array([0 if node.children is None else 2 for node in nodes], np.int64),
        tuple(() if one is None or one.edge is not None else
              _route(one, cells[one.column]) for one in inner),
        shares, np.rint(total).astype(np.int64), 1 - (shares**2).sum(axis=1))


def _route(question: _Question, cell: Cells) -> tuple[int, ...]:
    """Return the child of every category, and of a missing value, which may have no own cell."""
    sides = [int(not side) for side in question.left]
    return (*sides, sides[-1]) if cell.complete else tuple(sides)
