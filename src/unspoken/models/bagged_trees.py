"""The pattern BaggedTrees: scikit-learn's Bagging over decision trees as a file.

Every tree has its own rows, drawn from its seed, and may have some of the columns only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.errors import ModelError
from unspoken.models.category_groups import Groups, groups_from_json
from unspoken.models.estimator_params import COUNT, FLAG, Params, read_params
from unspoken.models.estimator_trees import (
    EstimatorTrees,
    header,
    labelled,
    sklearn_class,
    tree_fields,
    trees_to_json,
)
from unspoken.models.hostile_json import DEFAULT_LIMITS, Fields, Limits, refuse
from unspoken.models.labels import Label, Task
from unspoken.models.rebuilt_estimators import tree_estimator
from unspoken.models.sklearn_fields import (
    check_fitted,
    class_labels,
    feature_names,
    node_arrays,
    task_of,
)
from unspoken.models.tree import Tree, check_format, nodes_from_json

FORMAT = "unspoken-bagged-trees"
MOST_DRAWS = 100
"""How often a bag may be larger than the rows it is drawn from."""
_RULES = {"bootstrap": FLAG, "rows": COUNT, "drawn_rows": COUNT, "drawn_columns": COUNT,
          "weighted": FLAG}


@dataclass(frozen=True, eq=False)
class BaggedTrees(EstimatorTrees):
    """Bagging: the mean of trees, each grown on rows and columns of its own.

    Attributes
    ----------
    task, features, classes, categories
        As in `Tree`.
    trees : tuple of Tree
        The trees; each has the names of its own columns.
    seeds : array of int
        The seed from which the rows and columns of each tree were drawn.
    params : mapping
        How many rows and columns were drawn, and out of how many rows.
    """

    format = FORMAT
    library = "Bagging"

    task: Task
    features: tuple[str, ...]
    classes: tuple[Label, ...]
    trees: tuple[Tree, ...]
    seeds: Ints
    params: Params
    categories: Groups = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse parts that do not belong together."""
        if self.seeds.shape != (len(self.trees),):
            refuse("seeds", f"a list of {len(self.trees)}", str(self.seeds.size))
        if len(set(self.features)) != len(self.features):
            refuse("features", "different names", "one twice")
        self._check_draws()

    def _check_draws(self) -> None:
        """Refuse numbers of columns and rows that no seed can have drawn."""
        drawn, params = self.params["drawn_columns"], self.params
        if any(len(tree.features) != drawn for tree in self.trees):
            refuse("params.drawn_columns", "the number of columns of every tree", drawn)
        most = params["rows"] * (MOST_DRAWS if params["bootstrap"] else 1)
        if params["drawn_rows"] > most:
            refuse("params.drawn_rows", f"at most {most}", params["drawn_rows"])

    def _arrays(self) -> Mapping[str, Floats]:
        return {"seed": self.seeds.astype(np.float64)}

    def places(self, tree: Tree) -> Ints:
        """Return the columns of one tree among those of the model."""
        where = {name: place for place, name in enumerate(self.features)}
        return np.array([where[name] for name in tree.features], np.int64)

    def _estimator(self) -> Any:
        model = sklearn_class(self.library, self.classes)(
            n_estimators=len(self.trees), bootstrap=self.params["bootstrap"])
        labelled(model, self.classes).n_features_in_ = len(self.features)
        inside = np.arange(len(self.classes))
        model.estimators_ = [tree_estimator(tree, inside) for tree in self.trees]
        model.estimator_ = model.estimators_[0]
        model.estimators_features_ = [self.places(tree) for tree in self.trees]
        model._seeds, model._n_samples = self.seeds, self.params["rows"]
        model._max_samples = self.params["drawn_rows"]
        model._max_features = self.params["drawn_columns"]
        model._sample_weight = None
        return model

    @classmethod
    def from_sklearn(cls, estimator: Any) -> BaggedTrees:
        """Take over a fitted BaggingClassifier or BaggingRegressor over decision trees."""
        check_fitted(estimator, "estimators_", "a fitted Bagging estimator")
        if not all(hasattr(each, "tree_") for each in estimator.estimators_):
            raise ModelError("A model file holds bagging over decision trees. Got "
                             f"{type(estimator.estimators_[0]).__name__}.")
        names, classes, task = (feature_names(estimator), class_labels(estimator),
                                task_of(estimator))
        if any(len(set(places)) != len(places) for places in estimator.estimators_features_):
            raise ModelError("A model file holds bagging with bootstrap_features=False.")
        trees = tuple(
            Tree(task, tuple(names[place] for place in places), classes, **node_arrays(each.tree_))
            for each, places in zip(estimator.estimators_, estimator.estimators_features_,
                                    strict=True))
        params = {"bootstrap": bool(estimator.bootstrap), "rows": int(estimator._n_samples),
                  "drawn_rows": int(estimator._max_samples),
                  "drawn_columns": int(estimator._max_features),
                  "weighted": estimator._sample_weight is not None}
        return cls(task, names, classes, trees, np.asarray(estimator._seeds, np.int64), params)

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready object that `from_json` reads back bit for bit."""
        return {**self._head_to_json(), "seeds": self.seeds.tolist(),
                "columns": [self.places(tree).tolist() for tree in self.trees],
                "trees": trees_to_json(self.trees)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], limits: Limits = DEFAULT_LIMITS) -> BaggedTrees:
        """Read `to_json`'s object; anything malformed is a ModelError naming the field."""
        fields = Fields(data, limits=limits)
        check_format(fields, FORMAT)
        task, features, classes = header(fields)
        nested = tree_fields(fields)
        columns = fields.items("columns", len(nested))
        if len(columns) != len(nested):
            refuse("columns", f"a list of {len(nested)}", str(len(columns)))
        inside = Fields({str(n): each for n, each in enumerate(columns)}, "columns", limits)
        chosen = [_names(inside, str(place), features) for place in range(len(nested))]
        trees = tuple(nodes_from_json(each, task, names, classes)
                      for each, names in zip(nested, chosen, strict=True))
        return cls(task, features, classes, trees,
                   fields.ints("seeds", len(trees), 0, 2**32 - 1), read_params(fields, _RULES),
                   groups_from_json(fields, features))


def _names(inside: Fields, place: str, features: tuple[str, ...]) -> tuple[str, ...]:
    inside.items(place, len(features))
    places = inside.ints(place, None, 0, len(features) - 1).tolist()
    if len(set(places)) != len(places) or not places:
        refuse(inside.at(place), "different columns, at least one", "others")
    return tuple(features[each] for each in places)
