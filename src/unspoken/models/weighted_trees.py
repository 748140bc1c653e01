"""The pattern WeightedTrees: scikit-learn's AdaBoostClassifier over decision trees as a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.errors import ModelError
from unspoken.models.category_groups import Groups, groups_from_json
from unspoken.models.estimator_params import COUNT, SEED, Params, Rule, read_params, taken_params
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
from unspoken.models.sklearn_fields import check_fitted, class_labels, feature_names, node_arrays
from unspoken.models.tree import Tree, check_format, nodes_from_json

FORMAT = "unspoken-weighted-trees"
_RULES = {"learning_rate": Rule(0.0, 1e6), "n_estimators": COUNT, "random_state": SEED}


@dataclass(frozen=True, eq=False)
class WeightedTrees(EstimatorTrees):
    """AdaBoost: each tree votes for one class with its own weight.

    Attributes
    ----------
    task, features, classes, categories
        As in `Tree`; the task is classification.
    trees : tuple of Tree
        The trees, round by round.
    weights, errors : array
        The vote of each tree, and its weighted share of wrong training rows.
    params : mapping
        The learning rate, and how many rounds were asked for.
    """

    format = FORMAT
    library = "AdaBoost"
    takes_missing = False

    task: Task
    features: tuple[str, ...]
    classes: tuple[Label, ...]
    trees: tuple[Tree, ...]
    weights: Floats
    errors: Floats
    params: Params
    categories: Groups = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse parts that do not belong together."""
        if len(self.classes) < 2:
            refuse("classes", "at least two", str(len(self.classes)))
        if np.any(self.weights < 0) or not self.weights.sum() > 0:
            refuse("weights", "numbers of which none is below 0 and one is above", "others")
        for name in ("weights", "errors"):
            if getattr(self, name).shape != (len(self.trees),):
                refuse(name, f"a list of {len(self.trees)}", str(getattr(self, name).size))

    def _arrays(self) -> Mapping[str, Floats]:
        return {"weight": self.weights, "error": self.errors}

    def _estimator(self) -> Any:
        model = labelled(sklearn_class(self.library, self.classes)(**self.params), self.classes)
        model.n_features_in_ = len(self.features)
        model.estimators_ = [tree_estimator(tree) for tree in self.trees]
        model.estimator_ = model.estimators_[0]
        model.estimator_weights_, model.estimator_errors_ = self.weights, self.errors
        return model

    @classmethod
    def from_sklearn(cls, estimator: Any) -> WeightedTrees:
        """Take over a fitted AdaBoostClassifier over DecisionTreeClassifiers."""
        check_fitted(estimator, "estimators_", "a fitted AdaBoostClassifier")
        if not all(hasattr(each, "tree_") for each in estimator.estimators_):
            raise ModelError("A model file holds AdaBoost over decision trees. Got "
                             f"{type(estimator.estimators_[0]).__name__}.")
        features, classes = feature_names(estimator), class_labels(estimator)
        trees = tuple(Tree("classification", features, classes, **node_arrays(each.tree_))
                      for each in estimator.estimators_)
        return cls("classification", features, classes, trees,
                   estimator.estimator_weights_[: len(trees)].copy(),
                   estimator.estimator_errors_[: len(trees)].copy(),
                   taken_params(estimator, _RULES))

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready object that `from_json` reads back bit for bit."""
        return {**self._head_to_json(), "weights": self.weights.tolist(),
                "errors": self.errors.tolist(), "trees": trees_to_json(self.trees)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], limits: Limits = DEFAULT_LIMITS) -> WeightedTrees:
        """Read `to_json`'s object; anything malformed is a ModelError naming the field."""
        fields = Fields(data, limits=limits)
        check_format(fields, FORMAT)
        task, features, classes = header(fields)
        trees = tuple(nodes_from_json(each, task, features, classes)
                      for each in tree_fields(fields))
        return cls(task, features, classes, trees, fields.floats("weights", len(trees)),
                   fields.floats("errors", len(trees)), read_params(fields, _RULES),
                   groups_from_json(fields, features))
