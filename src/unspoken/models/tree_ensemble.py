"""The patterns TreeVote and TreeSum: several mixed trees that vote, or whose numbers add up.

Trees of several owners carry no counts, and split categories as well as numbers, so that Forest,
whose trees are binary and hold shares of classes, does not fit them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats
from unspoken.errors import ModelError
from unspoken.models.categorical_tree import CategoricalTree
from unspoken.models.comparison import (
    SAME,
    Comparison,
    compare_scalars,
    compare_sequences,
    first_difference,
)
from unspoken.models.hostile_json import DEFAULT_LIMITS, Fields, Limits, refuse
from unspoken.models.model import Ensemble, Predictor
from unspoken.models.named_columns import by_name
from unspoken.models.tree import check_format
from unspoken.models.tree_text import number, tree_sections

VOTE, SUM = "unspoken-tree-vote", "unspoken-tree-sum"
VERSION = 1


class _MixedTrees(Predictor, Ensemble):
    """What several mixed trees share."""

    if TYPE_CHECKING:

        @property
        def trees(self) -> tuple[CategoricalTree, ...]: ...

    @property
    def features(self) -> tuple[str, ...]:
        """Return the columns that the trees were mined from."""
        return self.trees[0].features

    def _compare(self, other: Self) -> Comparison:
        if len(self.trees) != len(other.trees):
            return Comparison(f"number of trees: {len(self.trees)} and {len(other.trees)}")
        for place, (one, two) in enumerate(zip(self.trees, other.trees, strict=True)):
            compared = one.same_as(two)
            if not compared:
                return compared.inside(f"tree {place}")
        return SAME


@dataclass(frozen=True, eq=False)
class TreeVote(_MixedTrees):
    """A random forest: the class that most trees say, the first among equals."""

    format = VOTE

    trees: tuple[CategoricalTree, ...]

    def __post_init__(self) -> None:
        """Refuse trees that do not belong together."""
        _check(self.trees, "classification")

    @property
    def classes(self) -> tuple[Any, ...]:
        """Return the classes."""
        return self.trees[0].classes

    def votes(self, data: Any) -> Floats:
        """Return the share of trees for each class; the data as in `predict`."""
        columns = by_name(data, self.features)
        leaves = [tree.value[tree.apply(columns)] for tree in self.trees]
        return np.asarray(np.sum(leaves, axis=0) / len(self.trees))

    def predict(self, data: Any) -> npt.NDArray[Any]:
        """Return the class of each record.

        Parameters
        ----------
        data : Table, frame, mapping of columns, or array
            Columns by name in any order; categories as texts, missing ones as None.

        Returns
        -------
        numpy.ndarray
            One class per record: the first of those that most trees say.
        """
        return np.asarray(np.array(self.classes, object)[self.votes(data).argmax(axis=1)])

    def _lines(self, full: bool) -> list[str]:
        return [f"vote of {_sizes(self.trees)}", *tree_sections(self.trees, full)]

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
class TreeSum(_MixedTrees):
    """Boosted trees: start plus the trees' numbers is the log-odds of the second class."""

    format = SUM

    trees: tuple[CategoricalTree, ...]
    classes: tuple[str, str]
    start: float = 0.0

    def __post_init__(self) -> None:
        """Refuse trees that do not belong together."""
        _check(self.trees, "regression")
        if len(self.classes) != 2 or not np.isfinite(self.start):
            refuse("classes, start", "two classes and a number", "others")

    def decision(self, data: Any) -> Floats:
        """Return the log-odds of each record; the data as in `predict`."""
        columns = by_name(data, self.features)
        return np.asarray(self.start + sum(tree.predict(columns) for tree in self.trees))

    def predict_proba(self, data: Any) -> Floats:
        """Return the probabilities of the two classes; the data as in `predict`."""
        second = 1.0 / (1.0 + np.exp(-np.clip(self.decision(data), -500, 500)))
        return np.column_stack([1.0 - second, second])

    def predict(self, data: Any) -> npt.NDArray[Any]:
        """Return the likelier class of each record; the first where both are equal.

        Parameters
        ----------
        data : Table, frame, mapping of columns, or array
            Columns by name in any order; categories as texts, missing ones as None.

        Returns
        -------
        numpy.ndarray
            One class per record.
        """
        return np.asarray(np.array(self.classes, object)[(self.decision(data) > 0).astype(int)])

    def _compare(self, other: TreeSum) -> Comparison:
        return first_difference(
            lambda: compare_sequences("class", self.classes, other.classes),
            lambda: compare_scalars("start", self.start, other.start),
            lambda: super(TreeSum, self)._compare(other))

    def _lines(self, full: bool) -> list[str]:
        return [f"sum of {_sizes(self.trees)}, from {number(self.start, full)}: the log-odds of "
                f"{self.classes[1]} against {self.classes[0]}", *tree_sections(self.trees, full)]

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

