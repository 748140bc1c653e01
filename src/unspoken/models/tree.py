"""The pattern Tree: a binary threshold tree as flat arrays (bu2007 section 3.1).

Encoded trees, decoded trees and trees mined jointly are all this type. An inner node asks
`float32(x[feature]) <= threshold`, compared in float64, and sends missing values where
`missing_left` says; predictions equal scikit-learn's bit for bit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Bools, Floats, Ints
from unspoken.errors import DataError, ModelError
from unspoken.models.category_groups import (
    NONE,
    Groups,
    answer_of,
    groups_from_json,
    groups_to_json,
)
from unspoken.models.comparison import Comparison, compare_arrays, compare_scalars, first_difference
from unspoken.models.hostile_json import DEFAULT_LIMITS, Fields, Limits, refuse
from unspoken.models.labels import Label, Task, label_array
from unspoken.models.model import TreeLike
from unspoken.models.named_columns import number_rows
from unspoken.models.node_documents import NODE_ARRAYS, nodes_to_arrays, nodes_to_json
from unspoken.models.portable import Portable
from unspoken.models.rebuilt_estimators import tree_estimator
from unspoken.models.sklearn_fields import (
    check_fitted,
    class_labels,
    feature_names,
    node_arrays,
    task_of,
)
from unspoken.models.tree_header import check_header, header_from_json, header_to_json, same_header
from unspoken.models.tree_text import (
    SHOWN,
    Drawing,
    class_line,
    leaf_text,
    number,
    threshold_answer,
)
from unspoken.numerics.treewalk import Shape, ShapeError, Splits, apply, check_shape

FORMAT = "unspoken-tree"
VERSION = 1


@dataclass(frozen=True, eq=False)
class Tree(Portable, TreeLike):
    """A decision or regression tree as arrays; node 0 is the root, leaves have children -1.

    Attributes
    ----------
    task : {"classification", "regression"}
        What is predicted.
    features : tuple of str
        The names of the inputs.
    classes : tuple
        The class labels; empty for regression.
    feature, threshold : array
        The question of each node: rows with feature <= threshold go left; feature -1 at leaves.
    left, right : array of int
        The children of each node.
    missing_left : array of bool
        True if missing values go left.
    value : array of float, (nodes, outputs)
        One row per node: the share of each class, or the one predicted number.
    n_samples, weighted_n_samples, impurity : array
        The training records of each node, their weight, and their impurity.
    categories : mapping, default none
        Columns of categories: the categories behind each number that the tree asks about.

    Examples
    --------
    >>> Tree.from_sklearn(fitted).predict(rows)  # doctest: +SKIP
    """

    format = FORMAT

    task: Task
    features: tuple[str, ...]
    classes: tuple[Label, ...]
    feature: Ints
    threshold: Floats
    left: Ints
    right: Ints
    missing_left: Bools
    value: Floats
    n_samples: Ints
    weighted_n_samples: Floats
    impurity: Floats
    categories: Groups = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse arrays that are no tree; afterwards nothing else has to be checked."""
        check_header(self.task, self.classes)
        size, outputs = self.left.size, len(self.classes) or 1
        for name in NODE_ARRAYS:
            wanted = (size, outputs) if name == "value" else (size,)
            if getattr(self, name).shape != wanted:
                refuse(name, f"of shape {wanted}", str(getattr(self, name).shape))
        self._check_splits()

    def _check_splits(self) -> None:
        inner = ~self.shape.leaves
        feature = self.feature[inner]
        if feature.size and (feature.min() < 0 or feature.max() >= len(self.features)):
            refuse("feature", f"from 0 to {len(self.features) - 1} at inner nodes", "others")
        if np.isnan(self.threshold).any():
            refuse("threshold", "a list of numbers", "NaN")

    @cached_property
    def shape(self) -> Shape:
        """Return children, parents and depths, checked to form one tree."""
        try:
            return check_shape(self.left, self.right)
        except ShapeError as error:
            refuse("left, right", "the children of one binary tree", str(error))

    @property
    def splits(self) -> Splits:
        """Return what the inner nodes ask."""
        return Splits(self.feature, self.threshold, self.missing_left)

    @property
    def nodes(self) -> int:
        """Return the number of nodes."""
        return int(self.left.size)

    @property
    def depth(self) -> int:
        """Return the depth of the deepest leaf; a single node has depth 0."""
        return int(self.shape.depth.max())

    @property
    def leaves(self) -> int:
        """Return the number of leaves."""
        return int(self.shape.leaves.sum())

    def apply(self, data: Any) -> Ints:
        """Return the leaf that each record reaches; the data as in `predict`."""
        return apply(self.shape, self.splits, as_rows(data, self.features, self.categories))

    def predict_proba(self, data: Any) -> Floats:
        """Return the share of each class in the leaf of each record; the data as in `predict`."""
        if self.task != "classification":
            raise ModelError("A regression tree has no 'predict_proba'. Use predict.")
        return self.value[self.apply(data)]

    def predict(self, data: Any) -> npt.NDArray[Any]:
        """Return the class, or the number, predicted for each record.

        Parameters
        ----------
        data : Table, frame, mapping of columns, or array
            Columns by name in any order; a bare array in the order of `features`.

        Returns
        -------
        numpy.ndarray
            One class or number per record, as scikit-learn predicts it.
        """
        if self.task == "classification":
            best = self.predict_proba(data).argmax(axis=1)
            return np.asarray(label_array(self.classes)[best])
        return np.asarray(self.value[self.apply(data), 0])

    def _compare(self, other: Tree) -> Comparison:
        header = first_difference(
            lambda: same_header(self, other),
            lambda: compare_scalars("categories", dict(self.categories), dict(other.categories)),
            lambda: compare_scalars("number of nodes", self.nodes, other.nodes),
        )
        return header and self._same_nodes(other)

    def _same_nodes(self, other: Tree) -> Comparison:
        return first_difference(*(
            lambda n=name: compare_arrays("node", n, getattr(self, n), getattr(other, n))
            for name in NODE_ARRAYS
        ))

    def _lines(self, full: bool) -> list[str]:
        head = (f"{self.task} tree: {self.nodes} nodes, {self.leaves} leaves, "
                f"depth {self.depth}, {int(self.n_samples[0])} rows")
        return [head, *class_line(self.classes, full),
                *self.drawing(full).lines(None if full else SHOWN)]

    def drawing(self, full: bool = False) -> Drawing:
        """Return the tree as something that can be drawn."""
        left, right = self.left, self.right
        return Drawing(
            self.nodes,
            lambda node: [] if left[node] < 0 else [int(left[node]), int(right[node])],
            lambda node, side: self._answer(node, side, full),
            lambda node: leaf_text(self.classes, self.value[node].tolist(),
                                   int(self.n_samples[node]), full))

    def _answer(self, node: int, side: int, full: bool) -> str:
        name, missing = self.features[int(self.feature[node])], bool(self.missing_left[node])
        if name not in self.categories:
            return threshold_answer(name, side, number(self.threshold[node], full), missing)
        groups = self.categories[name]
        below = np.arange(len(groups)) <= self.threshold[node]
        return answer_of(name, groups, below if side == 0 else ~below, missing == (side == 0), full)

    def _estimator(self) -> Any:
        return tree_estimator(self)

    def with_categories(self, groups: Groups) -> Tree:
        """Return the tree with the categories that stand behind its numbers."""
        return replace(self, categories=groups)

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready object that `from_json` reads back bit for bit."""
        return self._document(nodes_to_json(self))

    def _with_arrays(self) -> dict[str, Any]:
        return self._document(nodes_to_arrays(self))

    def _document(self, nodes: Mapping[str, Any]) -> dict[str, Any]:
        head = {"format": FORMAT, "version": VERSION}
        return {**head, **header_to_json(self), **groups_to_json(self.categories), **nodes}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], limits: Limits = DEFAULT_LIMITS) -> Tree:
        """Read `to_json`'s object; anything malformed is a ModelError naming the field."""
        fields = Fields(data, limits=limits)
        check_format(fields, FORMAT)
        tree = nodes_from_json(fields, *header_from_json(fields))
        return tree.with_categories(groups_from_json(fields, tree.features))

    @classmethod
    def from_sklearn(cls, estimator: Any) -> Tree:
        """Take over a fitted scikit-learn DecisionTreeClassifier or DecisionTreeRegressor."""
        check_fitted(estimator, "tree_", "a fitted scikit-learn decision tree")
        return cls(task_of(estimator), feature_names(estimator), class_labels(estimator),
                   **node_arrays(estimator.tree_))


def as_rows(data: Any, features: tuple[str, ...], groups: Groups = NONE) -> Floats:
    """Return records as scikit-learn's trees see them: float32 values, held in float64."""
    with np.errstate(over="ignore"):
        narrow = number_rows(data, features, groups).astype(np.float32)
    if np.isinf(narrow).any():
        raise DataError("The data holds an infinite value. Values must be finite in float32, or "
                        "missing.")
    # float64 again: numpy 2 would compare float32 with a Python float in float32.
    return narrow.astype(np.float64)


def check_format(fields: Fields, wanted: str) -> None:
    """Refuse another format, or a version written by a newer unspoken."""
    if fields.text("format") != wanted:
        refuse("format", repr(wanted), fields.text("format"))
    fields.whole("version", 1, VERSION)


def nodes_from_json(
    fields: Fields, task: Task, features: tuple[str, ...], classes: tuple[Label, ...]
) -> Tree:
    """Read the node arrays of one tree."""
    size = fields.whole("nodes", 1, fields.limits.max_nodes)
    outputs, most = len(classes) or 1, 2**62
    left = fields.ints("left", size, -1, size - 1)
    right = fields.ints("right", size, -1, size - 1)
    try:
        check_shape(left, right, fields.limits.max_depth)
    except ShapeError as error:
        refuse(fields.at("left, right"), "the children of one binary tree", str(error))
    return Tree(
        task, features, classes,
        feature=fields.ints("feature", size, -1, len(features) - 1),
        threshold=fields.floats("threshold", size, infinite=True),
        left=left,
        right=right,
        missing_left=fields.flags("missing_left", size),
        value=fields.floats("value", size * outputs).reshape(size, outputs),
        n_samples=fields.ints("n_samples", size, 0, most),
        weighted_n_samples=fields.floats("weighted_n_samples", size),
        impurity=fields.floats("impurity", size),
    )
