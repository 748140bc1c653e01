"""The pattern Forest: trees, and what is needed to draw their in-bag rows again.

A forest decodes exactly only if each tree is replayed on its own in-bag rows (bu2007 has no
forests). scikit-learn draws them from one seed per tree, so the seed, the
number of draws and whether weights entered the draw are kept with the trees.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats
from unspoken.errors import ModelError
from unspoken.models.category_groups import Groups, groups_from_json, groups_to_json
from unspoken.models.comparison import SAME, Comparison, compare_scalars, first_difference
from unspoken.models.hostile_json import DEFAULT_LIMITS, Fields, Limits, refuse
from unspoken.models.labels import Label, Task, label_array
from unspoken.models.model import Ensemble
from unspoken.models.node_documents import nodes_to_arrays, nodes_to_json
from unspoken.models.portable import Portable
from unspoken.models.rebuilt_estimators import forest_estimator
from unspoken.models.sklearn_fields import (
    check_fitted,
    class_labels,
    feature_names,
    node_arrays,
    task_of,
)
from unspoken.models.tree import (
    Tree,
    as_rows,
    check_format,
    nodes_from_json,
)
from unspoken.models.tree_header import header_from_json, header_to_json, same_header
from unspoken.models.tree_text import tree_sections
from unspoken.numerics.treewalk import apply

ClassWeight = str | tuple[tuple[Label, float], ...] | None

FORMAT = "unspoken-forest"
VERSION = 1


@dataclass(frozen=True)
class Bootstrap:
    """How scikit-learn drew the in-bag rows: one seed per tree and the number of draws.

    `weighted` says that sample or class weights entered the draw; `class_weight` repeats the
    parameter ("balanced", or pairs of label and weight), so that it can be drawn again.
    """

    seeds: tuple[int, ...]
    draws: int
    weighted: bool = False
    class_weight: ClassWeight = None


@dataclass(frozen=True, eq=False)
class Forest(Portable, Ensemble):
    """A random forest: the mean of its trees.

    Attributes
    ----------
    task : {"classification", "regression"}
        What is predicted.
    features : tuple of str
        The names of the inputs.
    classes : tuple
        The class labels; empty for regression.
    trees : tuple of Tree
        The trees.
    bootstrap : Bootstrap or None, default None
        How the rows of each tree were drawn; None: every tree saw every row.
    categories : mapping, default none
        Columns of categories: the categories behind each number that the trees ask about.

    Examples
    --------
    >>> Forest.from_sklearn(fitted).predict(rows)  # doctest: +SKIP
    """

    format = FORMAT

    task: Task
    features: tuple[str, ...]
    classes: tuple[Label, ...]
    trees: tuple[Tree, ...]
    bootstrap: Bootstrap | None = None
    categories: Groups = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse trees that do not belong together."""
        if not self.trees:
            refuse("trees", "at least one tree", "none")
        if self.bootstrap is not None and len(self.bootstrap.seeds) != len(self.trees):
            refuse("bootstrap.seeds", f"{len(self.trees)} long", f"{len(self.bootstrap.seeds)}")
        for tree in self.trees:
            if (tree.task, tree.features, tree.classes) != self._header():
                refuse("trees", "of the forest's task, features and classes", "another")

    def _header(self) -> tuple[Task, tuple[str, ...], tuple[Label, ...]]:
        return self.task, self.features, self.classes

    def _mean(self, data: Any) -> Floats:
        rows = as_rows(data, self.features, self.categories)
        total = np.zeros((rows.shape[0], len(self.classes) or 1))
        # One by one, as scikit-learn sums with a single job: another order, other last bits.
        for tree in self.trees:
            total += tree.value[apply(tree.shape, tree.splits, rows)]
        return total / len(self.trees)

    def predict_proba(self, data: Any) -> Floats:
        """Return the mean share of each class over the trees; the data as in `predict`."""
        if self.task != "classification":
            raise ModelError("A regression forest has no 'predict_proba'. Use predict.")
        return self._mean(data)

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
            return np.asarray(label_array(self.classes)[self._mean(data).argmax(axis=1)])
        return np.asarray(self._mean(data)[:, 0])

    def _compare(self, other: Forest) -> Comparison:
        header = first_difference(
            lambda: same_header(self, other),
            lambda: compare_scalars("categories", dict(self.categories), dict(other.categories)),
            lambda: compare_scalars("number of trees", len(self.trees), len(other.trees)),
        )
        return header and self._same_trees(other)

    def _same_trees(self, other: Forest) -> Comparison:
        for number, (mine, theirs) in enumerate(zip(self.trees, other.trees, strict=True)):
            comparison = mine.same_as(theirs)
            if not comparison:
                return comparison.inside(f"tree {number}")
        return SAME

    def _lines(self, full: bool) -> list[str]:
        nodes = [tree.nodes for tree in self.trees]
        bag = f", {self.bootstrap.draws} rows drawn for each" if self.bootstrap else ""
        head = (f"{self.task} forest: {len(nodes)} trees{bag}, {min(nodes)} to {max(nodes)} "
                f"nodes, depth up to {max(tree.depth for tree in self.trees)}")
        return [head, *tree_sections(self.trees, full)]

    def _estimator(self) -> Any:
        return forest_estimator(self)

    def with_categories(self, groups: Groups) -> Forest:
        """Return the forest with the categories that stand behind its numbers."""
        trees = tuple(tree.with_categories(groups) for tree in self.trees)
        return replace(self, trees=trees, categories=groups)

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready object that `from_json` reads back bit for bit."""
        return self._document([nodes_to_json(tree) for tree in self.trees])

    def _with_arrays(self) -> dict[str, Any]:
        return self._document([nodes_to_arrays(tree) for tree in self.trees])

    def _document(self, trees: list[dict[str, Any]]) -> dict[str, Any]:
        return {
            "format": FORMAT, "version": VERSION, **header_to_json(self),
            **groups_to_json(self.categories),
            "bootstrap": _bootstrap_to_json(self.bootstrap), "trees": trees,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any], limits: Limits = DEFAULT_LIMITS) -> Forest:
        """Read `to_json`'s object; anything malformed is a ModelError naming the field."""
        fields = Fields(data, limits=limits)
        check_format(fields, FORMAT)
        header = header_from_json(fields)
        items = fields.items("trees", limits.max_trees)
        if not items:
            refuse("trees", "at least one tree", "none")
        nested = [Fields(item, f"trees[{i}]", limits) for i, item in enumerate(items)]
        total = sum(each.whole("nodes", 1, limits.max_nodes) for each in nested)
        limits.check("trees", total, limits.max_total_nodes)
        trees = tuple(nodes_from_json(each, *header) for each in nested)
        forest = cls(*header, trees, _bootstrap_from_json(fields, len(trees)))
        return forest.with_categories(groups_from_json(fields, forest.features))

    @classmethod
    def from_sklearn(cls, estimator: Any) -> Forest:
        """Take over a fitted RandomForestClassifier or RandomForestRegressor."""
        check_fitted(estimator, "estimators_", "a fitted scikit-learn random forest")
        task, features, classes = (task_of(estimator), feature_names(estimator),
                                   class_labels(estimator))
        trees = tuple(Tree(task, features, classes, **node_arrays(each.tree_))
                      for each in estimator.estimators_)
        return cls(task, features, classes, trees, _bootstrap(estimator))


def _bootstrap(estimator: Any) -> Bootstrap | None:
    if not estimator.bootstrap:
        return None
    seeds = tuple(int(tree.random_state) for tree in estimator.estimators_)
    weighted = getattr(estimator, "_sample_weight", None) is not None
    return Bootstrap(seeds, int(estimator._n_samples_bootstrap), weighted,
                     class_weight_of(getattr(estimator, "class_weight", None)))


def class_weight_of(weight: Any) -> ClassWeight:
    """Return the parameter class_weight as plain data."""
    if weight is None or weight == "balanced_subsample":
        # balanced_subsample weighs after the draw: it changes no in-bag row.
        return None
    if isinstance(weight, str):
        return weight
    return tuple((_plain(label), float(number)) for label, number in weight.items())


def _plain(label: Any) -> Label:
    plain: Label = label.item() if isinstance(label, np.generic) else label
    return plain


def _bootstrap_to_json(bootstrap: Bootstrap | None) -> dict[str, Any] | None:
    if bootstrap is None:
        return None
    weight = bootstrap.class_weight
    pairs = weight if isinstance(weight, str | None) else [list(pair) for pair in weight]
    return {"seeds": list(bootstrap.seeds), "draws": bootstrap.draws,
            "weighted": bootstrap.weighted, "class_weight": pairs}


def _bootstrap_from_json(fields: Fields, trees: int) -> Bootstrap | None:
    if fields.raw("bootstrap") is None:
        return None
    bootstrap = fields.fields("bootstrap")
    weighted = bootstrap.raw("weighted")
    if not isinstance(weighted, bool):
        refuse("bootstrap.weighted", "true or false", weighted)
    seeds = bootstrap.ints("seeds", trees, 0, 2**32 - 1)
    # More draws than any table has rows would make the replay a memory attack.
    draws = bootstrap.whole("draws", 1, 2**31 - 1)
    return Bootstrap(tuple(seeds.tolist()), draws, weighted, read_class_weight(bootstrap))


def read_class_weight(weights: Fields) -> ClassWeight:
    """Read the field "class_weight": null, "balanced", or pairs of label and number."""
    weight = weights.raw("class_weight")
    if weight is None or weight == "balanced":
        return None if weight is None else "balanced"
    pairs = weights.items("class_weight", weights.limits.max_classes)
    for pair in pairs:
        if not (isinstance(pair, list) and len(pair) == 2 and _is_pair(*pair)):
            refuse(weights.at("class_weight"), "pairs of label and number", pair)
    return tuple((label, float(number)) for label, number in pairs)


def _is_pair(label: Any, number: Any) -> bool:
    return (type(label) in (str, int, float, bool) and type(number) in (int, float)
            and 0 <= number < 1e300)
