"""Ensembles of scikit-learn as files: what they share.

scikit-learn has no file format but pickle, which can run any code. Here an ensemble is plain data,
checked when it is read, from which the library's own estimator is built; predictions are the
estimator's own, to the last bit.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats
from unspoken.errors import DataError, ModelError
from unspoken.models.category_groups import Groups, groups_to_json
from unspoken.models.comparison import (
    SAME,
    Comparison,
    compare_arrays,
    compare_scalars,
    compare_sequences,
    first_difference,
)
from unspoken.models.estimator_params import Params
from unspoken.models.hostile_json import Fields, refuse
from unspoken.models.labels import Label, Task
from unspoken.models.model import Ensemble
from unspoken.models.node_documents import nodes_to_arrays, nodes_to_json
from unspoken.models.portable import Portable
from unspoken.models.rebuilt_estimators import estimator_labels
from unspoken.models.tree import Tree, as_rows, nodes_from_json
from unspoken.models.tree_header import header_from_json, header_to_json, same_header
from unspoken.models.tree_text import class_line, tree_sections

VERSION = 1


class EstimatorTrees(Portable, Ensemble):
    """An ensemble of scikit-learn as data; `to_sklearn` builds the estimator."""

    library: str = ""
    """The name of the estimator, without Classifier or Regressor."""
    takes_missing: bool = True
    """Whether the estimator predicts for records with missing values."""

    if TYPE_CHECKING:
        task: Task
        features: tuple[str, ...]
        classes: tuple[Label, ...]
        trees: tuple[Any, ...]
        params: Params

    @classmethod
    @abstractmethod
    def from_sklearn(cls, estimator: Any) -> Self:
        """Take over a fitted estimator."""

    @cached_property
    def _live(self) -> Any:
        return self._estimator()

    def _rows(self, data: Any) -> Floats:
        rows = as_rows(data, self.features, self.categories)
        if not self.takes_missing and np.isnan(rows).any():
            name = self.features[int(np.isnan(rows).any(axis=0).argmax())]
            raise DataError(f"The column '{name}' has missing values, or categories that the model "
                            f"has not seen, and {self.library} cannot predict without a value. "
                            "Fill them in, or leave those records out.")
        return rows

    def predict_proba(self, data: Any) -> Floats:
        """Return the probability of each class; the data as in `predict`."""
        if self.task != "classification":
            raise ModelError("A regression has no 'predict_proba'. Use predict.")
        rows = self._rows(data)
        if not len(rows):
            return np.zeros((0, len(self.classes)))
        return np.asarray(self._live.predict_proba(rows))

    def predict(self, data: Any) -> npt.NDArray[Any]:
        """Return the class, or the number, predicted for each record; columns by name."""
        rows = self._rows(data)
        if not len(rows):
            return estimator_labels(self.classes)[:0] if self.classes else np.zeros(0)
        return np.asarray(self._live.predict(rows))

    def with_categories(self, groups: Groups) -> Self:
        """Return the model with the categories that stand behind its numbers."""
        return replace(self, categories=groups)  # type: ignore[type-var]

    def _with_arrays(self) -> dict[str, Any]:
        if not all(isinstance(tree, Tree) for tree in self.trees):
            return self.to_json()
        return {**self.to_json(), "trees": [nodes_to_arrays(tree) for tree in self.trees]}

    def _arrays(self) -> Mapping[str, Floats]:
        """Return the numbers beside the trees, by name."""
        return {}

    def _compare(self, other: Self) -> Comparison:
        return first_difference(
            lambda: same_header(self, other),
            lambda: compare_scalars("categories", dict(self.categories), dict(other.categories)),
            lambda: compare_sequences("parameter", list(self.params.items()),
                                      list(other.params.items())),
            lambda: compare_scalars("number of trees", len(self.trees), len(other.trees)),
            lambda: self._same_trees(other),
            *(lambda n=n, a=a: compare_arrays("output", n, a, other._arrays()[n])
              for n, a in self._arrays().items()))

    def _same_trees(self, other: Self) -> Comparison:
        for number, (mine, theirs) in enumerate(zip(self.trees, other.trees, strict=True)):
            comparison: Comparison = mine.same_as(theirs)
            if not comparison:
                return comparison.inside(f"tree {number}")
        return SAME

    def _lines(self, full: bool) -> list[str]:
        nodes = [tree.nodes for tree in self.trees]
        head = (f"{self.library}, {self.task}: {len(nodes)} trees, {min(nodes)} to {max(nodes)} "
                f"nodes, depth up to {self.depth}")
        shown = self.features if full else self.features[:8]
        columns = f"columns: {', '.join(shown)}{', ...' * (len(shown) < len(self.features))}"
        return [head, columns, *class_line(self.classes, full), *tree_sections(self.trees, full)]

    def _head_to_json(self) -> dict[str, Any]:
        return {"format": self.format, "version": VERSION, **header_to_json(self),
                **groups_to_json(self.categories), "params": dict(self.params)}


def labelled(estimator: Any, classes: tuple[Label, ...]) -> Any:
    """Give a classifier its classes."""
    if classes:
        estimator.classes_ = estimator_labels(classes)
        estimator.n_classes_ = len(classes)
    return estimator


def sklearn_class(name: str, classes: tuple[Label, ...]) -> Any:
    """Return an ensemble class of scikit-learn by its name and what it predicts."""
    import sklearn.ensemble

    return getattr(sklearn.ensemble, name + ("Classifier" if classes else "Regressor"))


def trees_to_json(trees: tuple[Tree, ...]) -> list[dict[str, Any]]:
    """Return the node arrays of some trees."""
    return [nodes_to_json(tree) for tree in trees]


def tree_fields(fields: Fields, count: int | None = None) -> list[Fields]:
    """Return the objects in the field "trees", sizes checked before anything is read."""
    limits = fields.limits
    items = fields.items("trees", limits.max_trees)
    if not items or (count is not None and len(items) != count):
        refuse(fields.at("trees"), "at least one tree" if count is None else f"{count} trees",
               str(len(items)))
    nested = [Fields(item, f"trees[{place}]", limits) for place, item in enumerate(items)]
    total = sum(each.whole("nodes", 1, limits.max_nodes) for each in nested)
    limits.check("trees", total, limits.max_total_nodes)
    return nested


def numeric_trees(fields: Fields, features: tuple[str, ...]) -> tuple[Tree, ...]:
    """Read trees whose leaves are numbers."""
    return tuple(nodes_from_json(each, "regression", features, ()) for each in tree_fields(fields))


def header(fields: Fields) -> tuple[Task, tuple[str, ...], tuple[Label, ...]]:
    """Read task, features and classes; an ensemble of scikit-learn has at least one feature."""
    task, features, classes = header_from_json(fields)
    if not features:
        refuse("features", "at least one", "none")
    return task, features, classes
