"""The patterns TreeVote and TreeSum: several mixed trees that vote, or whose numbers add up.

Trees of several owners carry no counts, and split categories as well as numbers, so that Forest,
whose trees are binary and hold shares of classes, does not fit them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats
from unspoken.errors import ModelError
from unspoken.models.categorical_tree import CategoricalTree
from unspoken.models.comparison import SAME, Comparison
from unspoken.models.hostile_json import DEFAULT_LIMITS, Fields, Limits, refuse
from unspoken.models.json_files import JsonFile
from unspoken.models.tree import check_format

VOTE, SUM = "unspoken-tree-vote", "unspoken-tree-sum"
VERSION = 1


@dataclass(frozen=True, eq=False)
class TreeVote(JsonFile):
    """A random forest: the class that most trees say, the first among equals."""

    trees: tuple[CategoricalTree, ...]

    def __post_init__(self) -> None:
        """Refuse trees that do not belong together."""
        _check(self.trees, "classification")

    @property
    def classes(self) -> tuple[Any, ...]:
        """Return the classes."""
        return self.trees[0].classes

    def votes(self, columns: Mapping[str, npt.ArrayLike]) -> Floats:
        """Return the share of trees for each class."""
        found = [tree.value[tree.apply(columns)] for tree in self.trees]
        return np.asarray(np.sum(found, axis=0) / len(self.trees))

    def predict(self, columns: Mapping[str, npt.ArrayLike]) -> npt.NDArray[Any]:
        """Return the class of each row."""
        return np.asarray(np.array(self.classes, object)[self.votes(columns).argmax(axis=1)])

    def same_as(self, other: object) -> Comparison:
        """Compare with another forest and say where they first differ."""
        return _same(self, other)

    def summary(self) -> str:
        """Return a few lines: sizes, and the first tree."""
        return f"vote of {_sizes(self.trees)}\nfirst: {self.trees[0].summary()}"

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready object that `from_json` reads back."""
        return {"format": VOTE, "version": VERSION, "trees": [t.to_json() for t in self.trees]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], limits: Limits = DEFAULT_LIMITS) -> TreeVote:
        """Read `to_json`'s object; anything malformed is a ModelError naming the field."""
        fields = Fields(data, limits=limits)
        check_format(fields, VOTE)
        return cls(_trees(fields))


@dataclass(frozen=True, eq=False)
class TreeSum(JsonFile):
    """Boosted trees: start plus the trees' numbers is the log-odds of the second class."""

    trees: tuple[CategoricalTree, ...]
    classes: tuple[str, str]
    start: float = 0.0

    def __post_init__(self) -> None:
        """Refuse trees that do not belong together."""
        _check(self.trees, "regression")
        if len(self.classes) != 2 or not np.isfinite(self.start):
            refuse("classes, start", "two classes and a number", "others")

    def decision(self, columns: Mapping[str, npt.ArrayLike]) -> Floats:
        """Return the log-odds of each row."""
        return np.asarray(self.start + sum(tree.predict(columns) for tree in self.trees))

    def predict_proba(self, columns: Mapping[str, npt.ArrayLike]) -> Floats:
        """Return the probabilities of the two classes."""
        second = 1.0 / (1.0 + np.exp(-np.clip(self.decision(columns), -500, 500)))
        return np.column_stack([1.0 - second, second])

    def predict(self, columns: Mapping[str, npt.ArrayLike]) -> npt.NDArray[Any]:
        """Return the likelier class of each row; the first where both are equal."""
        return np.asarray(np.array(self.classes, object)[(self.decision(columns) > 0).astype(int)])

    def same_as(self, other: object) -> Comparison:
        """Compare with another model and say where they first differ."""
        if isinstance(other, TreeSum) and (self.classes, self.start) != (other.classes,
                                                                         other.start):
            return Comparison("classes or start")
        return _same(self, other)

    def summary(self) -> str:
        """Return a few lines: sizes, and the first tree."""
        return f"sum of {_sizes(self.trees)}\nfirst: {self.trees[0].summary()}"

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready object that `from_json` reads back."""
        return {"format": SUM, "version": VERSION, "classes": list(self.classes),
                "start": self.start, "trees": [t.to_json() for t in self.trees]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], limits: Limits = DEFAULT_LIMITS) -> TreeSum:
        """Read `to_json`'s object; anything malformed is a ModelError naming the field."""
        fields = Fields(data, limits=limits)
        check_format(fields, SUM)
        names = fields.items("classes", 2)
        if len(names) != 2 or not all(isinstance(n, str) for n in names):
            refuse("classes", "two texts", "something else")
        if type(fields.raw("start")) not in (int, float):
            refuse("start", "a number", fields.raw("start"))
        return cls(_trees(fields), (names[0], names[1]), float(fields.raw("start")))


def _trees(fields: Fields) -> tuple[CategoricalTree, ...]:
    limits = fields.limits
    items = fields.items("trees", limits.max_trees)
    nested = [Fields(item, f"trees[{i}]", limits) for i, item in enumerate(items)]
    limits.check("trees", sum(each.whole("nodes", 1, limits.max_nodes) for each in nested),
                 limits.max_total_nodes)
    return tuple(CategoricalTree.from_json(item, limits) for item in items)


def _check(trees: tuple[CategoricalTree, ...], task: str) -> None:
    if not trees:
        raise ModelError("Several trees must be at least one. Got none.")
    first = trees[0]
    for tree in trees:
        if (tree.task, tree.features, tree.classes) != (task, first.features, first.classes):
            refuse("trees", f"for {task}, of one set of features and classes", "others")


def _sizes(trees: tuple[CategoricalTree, ...]) -> str:
    nodes = [tree.nodes for tree in trees]
    return f"{len(nodes)} trees, {min(nodes)} to {max(nodes)} nodes"


def _same(mine: TreeVote | TreeSum, other: object) -> Comparison:
    if not isinstance(other, type(mine)):
        return Comparison(f"kind: {type(mine).__name__} and {type(other).__name__}")
    if len(mine.trees) != len(other.trees):
        return Comparison(f"number of trees: {len(mine.trees)} and {len(other.trees)}")
    for number, (one, two) in enumerate(zip(mine.trees, other.trees, strict=True)):
        found = one.same_as(two)
        if not found:
            return found.inside(f"tree {number}")
    return SAME
