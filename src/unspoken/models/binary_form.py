"""A tree whose questions have many answers, as one of yes and no that predicts the same.

The categories of a column are numbers there. A question with several answers becomes a chain:
neighbouring numbers that lead to the same child are one step, "number <= last of them". A missing
or unknown category leaves the chain at the step of the child that most records went to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby

import numpy as np

from unspoken.models.categorical_tree import CategoricalTree
from unspoken.models.tree import Tree


@dataclass
class _Grown:
    """The nodes of the binary tree, in the order in which they are written."""

    feature: list[int] = field(default_factory=list)
    threshold: list[float] = field(default_factory=list)
    left: list[int] = field(default_factory=list)
    right: list[int] = field(default_factory=list)
    missing_left: list[bool] = field(default_factory=list)
    source: list[int] = field(default_factory=list)

    def add(self, source: int) -> int:
        """Add a leaf that stands for a node of the other tree, and return its number."""
        for column, value in ((self.feature, -1), (self.left, -1), (self.right, -1)):
            column.append(value)
        self.threshold.append(-2.0)
        self.missing_left.append(False)
        self.source.append(source)
        return len(self.source) - 1

    def ask(self, node: int, feature: int, threshold: float, missing_left: bool) -> None:
        """Make a node a question; its children are set later."""
        self.feature[node], self.threshold[node] = feature, threshold
        self.missing_left[node] = missing_left


def binary_form(tree: CategoricalTree) -> Tree:
    """Return the tree of yes and no; its categories are numbered as `matrix` has them."""
    grown = _Grown()
    todo = [(0, grown.add(0))]
    while todo:
        source, node = todo.pop()
        if tree.feature[source] >= 0:
            todo += _parted(tree, grown, source, node)
    at, asked = np.array(grown.source), np.unique(tree.feature[tree.feature >= 0])
    # Columns that are never asked about are not needed; one without any question has all.
    kept = asked if asked.size else np.arange(len(tree.features))
    names = tuple(tree.features[place] for place in kept.tolist())
    groups = {name: tuple(() if value is None else (value,) for value in values)
              for name, values in tree.categories.items() if name in names}
    place_of = {-1: -1, **{old: new for new, old in enumerate(kept.tolist())}}
    feature = np.array([place_of[old] for old in grown.feature], np.int64)
    return Tree(tree.task, names, tree.classes, feature,
                np.array(grown.threshold), np.array(grown.left, np.int64),
                np.array(grown.right, np.int64), np.array(grown.missing_left, np.bool_),
                tree.value[at], tree.n_samples[at], tree.n_samples[at].astype(np.float64),
                tree.impurity[at], groups)


def _parted(tree: CategoricalTree, grown: _Grown, source: int, node: int) -> list[tuple[int, int]]:
    """Write one question as a chain; return the children of the other tree with their places."""
    steps = _steps(tree, source)
    unknown = _unknown(tree, source, steps)
    first, feature, places = int(tree.first_child[source]), int(tree.feature[source]), []
    for step, (last, side) in enumerate(steps[:-1]):
        numeric = not tree.route[source]
        grown.ask(node, feature, last, bool(tree.missing_left[source]) if numeric
                  else step == unknown)
        grown.left[node] = grown.add(first + side)
        places.append((first + side, grown.left[node]))
        ends = step == len(steps) - 2
        grown.right[node] = grown.add(first + steps[-1][1] if ends else source)
        node = grown.right[node]
    places.append((first + steps[-1][1], node))
    return places


def _steps(tree: CategoricalTree, source: int) -> list[tuple[float, int]]:
    """Return the highest number of each step, and the child to which it leads."""
    if not tree.route[source]:
        return [(float(tree.threshold[source]), 0), (np.inf, 1)]
    runs = [list(run) for _, run in groupby(enumerate(tree.route[source]), lambda pair: pair[1])]
    return [(run[-1][0] + 0.5, run[0][1]) for run in runs]


def _unknown(tree: CategoricalTree, source: int, steps: Sequence[tuple[float, int]]) -> int:
    """Return the step at which what is missing or not known leaves the chain."""
    first, count = int(tree.first_child[source]), int(tree.children[source])
    child = int(np.argmax(tree.n_samples[first:first + count]))
    known = tree.categories.get(tree.features[int(tree.feature[source])], ())
    if tree.route[source] and None in known:
        child = tree.route[source][list(known).index(None)]
    return next((step for step, (_, side) in enumerate(steps) if side == child), 0)
