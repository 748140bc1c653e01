"""The pattern GradientTrees: scikit-learn's GradientBoosting as a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.errors import ModelError
from unspoken.models.category_groups import Groups, groups_from_json
from unspoken.models.estimator_params import COUNT, SEED, SHARE, Params, Rule, read_params
from unspoken.models.estimator_params import taken_params as taken
from unspoken.models.estimator_trees import (
    EstimatorTrees,
    header,
    labelled,
    numeric_trees,
    sklearn_class,
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
from unspoken.models.tree import Tree, check_format

FORMAT = "unspoken-gradient-trees"
_RULES = {
    "learning_rate": Rule(0.0, 1e6), "subsample": SHARE, "n_estimators": COUNT,
    "n_iter_no_change": Rule(1, 2**31, True, (None,)), "validation_fraction": Rule(1e-9, 0.999999),
    "tol": Rule(0.0, 1e300), "random_state": SEED, "init": Rule(1, 0, words=(None, "zero")),
}
_LEAST = Rule(1e-300, 2.0**31)
_GROWTH = {
    "criterion": Rule(1, 0, words=("friedman_mse", "squared_error", "deprecated")),
    "max_depth": Rule(1, 2**31, True, (None,)), "max_leaf_nodes": Rule(2, 2**31, True, (None,)),
    "max_features": Rule(1e-300, 2.0**31, words=(None, "sqrt", "log2")),
    "min_samples_leaf": _LEAST, "min_samples_split": _LEAST,
    "min_weight_fraction_leaf": Rule(0.0, 0.5), "min_impurity_decrease": Rule(0.0, 1e300),
    "ccp_alpha": Rule(0.0, 1e300),
}
"""How trees are grown, which decoding needs where training on the original goes on differently."""
_LOSSES = {"classification": ("log_loss", "exponential"),
           "regression": ("squared_error", "absolute_error", "huber", "quantile")}


def _rules(task: str) -> dict[str, Rule]:
    alpha = {"alpha": Rule(1e-9, 1 - 1e-9)} if task == "regression" else {}
    return {"loss": Rule(1, 0, words=_LOSSES[task]), **alpha, **_RULES, **_GROWTH}


@dataclass(frozen=True, eq=False)
class GradientTrees(EstimatorTrees):
    """Gradient boosting: a start plus the trees' numbers, one tree per round and output.

    Attributes
    ----------
    task, features, classes, categories
        As in `Tree`.
    trees : tuple of Tree
        Regression trees, round by round.
    start : array
        The shares of classes, or the number, from which boosting starts; empty for zero.
    params : mapping
        Loss, learning rate and how rows were drawn.
    """

    format = FORMAT
    library = "GradientBoosting"
    takes_missing = False

    task: Task
    features: tuple[str, ...]
    classes: tuple[Label, ...]
    trees: tuple[Tree, ...]
    start: Floats
    params: Params
    categories: Groups = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse trees and a start that do not belong together."""
        wanted = 0 if self.params["init"] == "zero" else len(self.classes) or 1
        if self.start.shape != (wanted,):
            refuse("start", f"a list of {wanted}", str(self.start.size))
        if len(self.classes) == 1 or len(self.trees) % self.outputs or not self.trees:
            refuse("trees", f"{self.outputs} a round", str(len(self.trees)))
        if self.params["loss"] == "exponential" and len(self.classes) != 2:
            refuse("params.loss", "'log_loss' for other than two classes", "exponential")

    @property
    def outputs(self) -> int:
        """Return how many trees a round has."""
        return 1 if len(self.classes) <= 2 else len(self.classes)

    def _arrays(self) -> Mapping[str, Floats]:
        return {"start": self.start}

    def _estimator(self) -> Any:
        model = labelled(sklearn_class(self.library, self.classes)(**self.params), self.classes)
        rounds = len(self.trees) // self.outputs
        model.n_features_in_ = model.max_features_ = len(self.features)
        model.n_estimators_, model.n_trees_per_iteration_ = rounds, self.outputs
        cells = np.empty(len(self.trees), dtype=object)
        cells[:] = [tree_estimator(tree) for tree in self.trees]
        model.estimators_ = cells.reshape(rounds, self.outputs)
        model.train_score_ = np.zeros(rounds)
        model._loss = model._get_loss(sample_weight=None)
        model.init_ = "zero" if self.params["init"] == "zero" else self._start()
        return model

    def _start(self) -> Any:
        from sklearn.dummy import DummyClassifier, DummyRegressor

        if not self.classes:
            number = DummyRegressor(strategy="mean")
            number.constant_, number.n_outputs_ = self.start.reshape(1, 1), 1
            return number
        shares = DummyClassifier(strategy="prior")
        shares.class_prior_, shares.n_outputs_, shares._strategy = self.start, 1, "prior"
        shares.classes_, shares.n_classes_ = np.arange(len(self.classes)), len(self.classes)
        shares.sparse_output_ = False
        return shares

    @classmethod
    def from_sklearn(cls, estimator: Any) -> GradientTrees:
        """Take over a fitted GradientBoostingClassifier or GradientBoostingRegressor."""
        check_fitted(estimator, "estimators_", "a fitted GradientBoosting estimator")
        features, task = feature_names(estimator), task_of(estimator)
        params = taken(estimator, _rules(task))
        trees = tuple(Tree("regression", features, (), **node_arrays(each.tree_))
                      for each in estimator.estimators_.ravel())
        return cls(task, features, class_labels(estimator), trees, _start_of(estimator), params)

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready object that `from_json` reads back bit for bit."""
        return {**self._head_to_json(), "start": self.start.tolist(),
                "trees": trees_to_json(self.trees)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], limits: Limits = DEFAULT_LIMITS) -> GradientTrees:
        """Read `to_json`'s object; anything malformed is a ModelError naming the field."""
        fields = Fields(data, limits=limits)
        check_format(fields, FORMAT)
        task, features, classes = header(fields)
        params = read_params(fields, _rules(task))
        start = fields.floats("start", None)
        if classes and (np.any(start < 0) or np.any(start > 1)):
            refuse("start", "shares from 0 to 1", "others")
        return cls(task, features, classes, numeric_trees(fields, features), start, params,
                   groups_from_json(fields, features))


def _start_of(estimator: Any) -> Floats:
    first = estimator.init_
    if isinstance(first, str):
        return np.zeros(0)
    if not type(first).__name__.startswith("Dummy"):
        raise ModelError("A model file holds gradient boosting that starts from a constant. Got "
                         f"init={type(first).__name__}.")
    kept = first.class_prior_ if hasattr(first, "class_prior_") else first.constant_
    return np.asarray(kept, np.float64).ravel()
