"""The pattern HistogramTrees: scikit-learn's HistGradientBoosting as a file.

Columns stand in the order of its bins: categories first, then numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.errors import ModelError
from unspoken.models.category_groups import Groups, groups_from_json
from unspoken.models.comparison import Comparison, compare_arrays, first_difference
from unspoken.models.estimator_params import COUNT, FLAG, SEED, Params, Rule, read_params
from unspoken.models.estimator_trees import (
    EstimatorTrees,
    header,
    labelled,
    sklearn_class,
    tree_fields,
)
from unspoken.models.forest import ClassWeight, class_weight_of, read_class_weight
from unspoken.models.histogram_fields import (
    Bins,
    read_bins,
    taken_bins,
    taken_histogram_params,
)
from unspoken.models.histogram_nodes import HistogramTree, from_predictor, read_tree
from unspoken.models.hostile_json import DEFAULT_LIMITS, Fields, Limits, refuse
from unspoken.models.labels import Label, Task
from unspoken.models.named_columns import number_rows
from unspoken.models.sklearn_fields import check_fitted, class_labels, feature_names, task_of
from unspoken.models.tree import check_format

FORMAT = "unspoken-histogram-trees"
_RULES = {
    "learning_rate": Rule(0.0, 1e6), "max_iter": COUNT, "max_bins": Rule(2, 255, True),
    "scoring": Rule(1, 0, words=("loss", None)), "tol": Rule(0.0, 1e300),
    "validation_fraction": Rule(1e-9, 2**31, words=(None,)),
    "n_iter_no_change": Rule(1, 2**31, True), "seed": SEED, "stopped_early": FLAG,
    "weighted": FLAG,
}
_GROWTH = {
    "max_leaf_nodes": Rule(2, 2**31, True, (None,)), "max_depth": Rule(1, 2**31, True, (None,)),
    "min_samples_leaf": Rule(1, 2**31, True, (None,)), "max_features": Rule(1e-300, 1.0),
    "l2_regularization": Rule(0.0, 1e300), "random_state": SEED, "constrained": FLAG,
}
"""How further rounds would be grown, which decoding needs where the original stops later."""
_LOSSES = {"classification": ("log_loss",),
           "regression": ("squared_error", "absolute_error", "gamma", "poisson", "quantile")}
_STATE = ("seed", "stopped_early", "weighted", "constrained")


def _rules(task: str) -> dict[str, Rule]:
    quantile = {"quantile": Rule(0.0, 1.0, words=(None,))} if task == "regression" else {}
    return {"loss": Rule(1, 0, words=_LOSSES[task]), **quantile, **_RULES, **_GROWTH}


@dataclass(frozen=True, eq=False)
class HistogramTrees(EstimatorTrees):
    """Histogram boosting: a start plus the trees' numbers, on bins and sets of categories.

    Attributes
    ----------
    task, features, classes, categories
        As in `Tree`; categories come first.
    trees : tuple of HistogramTree
        The trees, round by round.
    start : array
        The raw prediction before the first round, one number an output.
    bins : Bins
        The edges of every column, or how many categories it has.
    params : mapping
        Loss, learning rate, and what early stopping needs.
    class_weight : None, "balanced", or pairs of label and weight
        The parameter.
    """

    format = FORMAT
    library = "HistGradientBoosting"

    task: Task
    features: tuple[str, ...]
    classes: tuple[Label, ...]
    trees: tuple[HistogramTree, ...]
    start: Floats
    bins: Bins
    params: Params
    class_weight: ClassWeight = None
    categories: Groups = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse parts that do not belong together."""
        if len(self.classes) == 1 or len(self.trees) % self.outputs:
            refuse("trees", f"{self.outputs} a round", str(len(self.trees)))
        if self.start.shape != (self.outputs,):
            refuse("start", f"a list of {self.outputs}", str(self.start.size))
        pairs = self.class_weight if isinstance(self.class_weight, tuple) else ()
        known_classes = set(self.classes)
        if any(label not in known_classes for label, _ in pairs):
            refuse("class_weight", "pairs of one of the classes and a number", "others")
        places = {name: place for place, name in enumerate(self.features)}
        for name, groups in self.categories.items():
            known = int(self.bins.sizes[places[name]])
            if known and known != len(groups):
                refuse("categories", f"{known} for '{name[:40]}'", str(len(groups)))

    @property
    def outputs(self) -> int:
        """Return how many trees a round has."""
        return 1 if len(self.classes) <= 2 else len(self.classes)

    def _rows(self, data: Any) -> Floats:
        """Return rows of numbers; one that is no category of its column counts as missing."""
        rows = number_rows(data, self.features, self.categories)
        for place in np.flatnonzero(self.bins.sizes).tolist():
            column, size = rows[:, place], int(self.bins.sizes[place])
            known = (column >= 0) & (column < size) & (np.floor(column) == column)
            if not known.all():
                rows = rows.copy()
                rows[:, place] = np.where(known, column, np.nan)
        return rows

    def _arrays(self) -> Mapping[str, Floats]:
        return {"start": self.start}

    def _compare(self, other: HistogramTrees) -> Comparison:
        pairs = zip(self.bins.edges, other.bins.edges, strict=False)
        return first_difference(
            lambda: super(HistogramTrees, self)._compare(other),
            lambda: compare_arrays("feature", "number of categories", self.bins.sizes,
                                   other.bins.sizes),
            *(lambda n=n, a=a, b=b: compare_arrays("bin", "edge", a, b, False)
              .inside(f"feature {n}") for n, (a, b) in enumerate(pairs)))

    def _estimator(self) -> Any:
        plain = {name: value for name, value in self.params.items() if name not in _STATE}
        model = sklearn_class(self.library, self.classes)(**plain)
        labelled(model, self.classes)
        if self.classes:
            weight = self.class_weight
            model.class_weight = dict(weight) if isinstance(weight, tuple) else weight
        sets = self.bins.sizes > 0
        model.n_features_in_ = model._n_features = len(self.features)
        model.is_categorical_ = sets if sets.any() else None
        model._preprocessor, model._is_categorical_remapped = None, model.is_categorical_
        model._constrained = self.params["constrained"]
        model._random_seed, model._fitted_with_sw = self.params["seed"], self.params["weighted"]
        model.do_early_stopping_ = self.params["stopped_early"]
        model._bin_mapper = self.bins.mapper(self.params["max_bins"], self.params["seed"])
        model._baseline_prediction = self.start.reshape(1, -1)
        model.n_trees_per_iteration_, model._in_fit = self.outputs, False
        cells = [tree.predictor() for tree in self.trees]
        model._predictors = [cells[at:at + self.outputs]
                             for at in range(0, len(cells), self.outputs)]
        model.train_score_ = model.validation_score_ = np.zeros(len(model._predictors) + 1)
        model._loss = model._get_loss(sample_weight=None)
        return model

    @classmethod
    def from_sklearn(cls, estimator: Any, groups: Groups | None = None,
                     columns: tuple[str, ...] | None = None) -> HistogramTrees:
        """Take over a fitted HistGradientBoosting estimator.

        `groups`: the categories behind the numbers that it was fitted on, if it was; `columns`:
        the names of its columns, if it was fitted on an array.
        """
        check_fitted(estimator, "_predictors", "a fitted HistGradientBoosting estimator")
        names, task = columns or feature_names(estimator), task_of(estimator)
        bins, order, inside = taken_bins(estimator)
        features = tuple(names[place] for place in order)
        params = taken_histogram_params(estimator, _rules(task))
        trees = tuple(from_predictor(each, features)
                      for stage in estimator._predictors for each in stage)
        return cls(task, features, class_labels(estimator), trees,
                   estimator._baseline_prediction.ravel().astype(np.float64), bins, params,
                   class_weight_of(getattr(estimator, "class_weight", None)),
                   _behind(features, inside, groups or {}, bins.sizes))

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready object that `from_json` reads back bit for bit."""
        weight = self.class_weight
        pairs = [list(pair) for pair in weight] if isinstance(weight, tuple) else weight
        return {**self._head_to_json(), "class_weight": pairs, "start": self.start.tolist(),
                **self.bins.to_json(), "trees": [tree.to_json() for tree in self.trees]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], limits: Limits = DEFAULT_LIMITS) -> HistogramTrees:
        """Read `to_json`'s object; anything malformed is a ModelError naming the field."""
        fields = Fields(data, limits=limits)
        check_format(fields, FORMAT)
        task, features, classes = header(fields)
        params = read_params(fields, _rules(task))
        bins = read_bins(fields, len(features), params["max_bins"])
        trees = tuple(read_tree(each, features, bins.sizes) for each in tree_fields(fields))
        return cls(task, features, classes, trees, fields.floats("start", None), bins, params,
                   read_class_weight(fields), groups_from_json(fields, features))


def _behind(features: tuple[str, ...], inside: list[list[Any]], groups: Groups,
            sizes: Ints) -> Groups:
    """Return the categories behind each number of the model's own numbering."""
    known = {name: groups[name] for name in features if name in groups}
    for place, values in enumerate(inside):
        name = features[place]
        if all(isinstance(value, str) for value in values):
            known[name] = tuple((value,) for value in values)
        elif name in groups:
            known[name] = tuple(groups[name][int(value)] for value in values)
        elif values != list(range(int(sizes[place]))):
            raise ModelError(f"HistGradientBoosting: the categories of '{name[:60]}' must be texts "
                             "or the numbers 0, 1, ... Number them so before fitting.")
    return known
