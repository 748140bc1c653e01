"""Decision trees from distorted records: Global, ByClass, Local (as2000 section 4), and refined.

Global reconstructs every column once, ByClass once for each class, Local again at every node. In
each case records are then put into intervals by their order, and the tree is grown on intervals.
"refined" goes on from ByClass: records are put into intervals again, by all of their reports
together (`posterior_refinement`). The trees are for undistorted records: thresholds stand on the
scale of the values.

What the miner learns: class labels, and distributions by class (at every node, for Local). Global
cannot work well, because the difference between the classes is what is reconstructed away.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import check_is_fitted, validate_data

from unspoken.arrays import Floats
from unspoken.methods.distortion.learners.category_order import (
    category_names,
    in_order_of_classes,
)
from unspoken.methods.distortion.learners.distorted_column import (
    MAX_STEPS,
    Setting,
    exact_column,
)
from unspoken.methods.distortion.learners.learner_inputs import (
    Column,
    LearnerInputs,
    examples,
    records_of,
)
from unspoken.methods.distortion.learners.length_pruning import prune
from unspoken.methods.distortion.learners.local_trees import Grower
from unspoken.methods.distortion.learners.posterior_refinement import (
    LEAST,
    LEAVES,
    ROUNDS,
    SHARE,
    TENTH,
    Refiner,
    blurred,
)
from unspoken.methods.distortion.reconstruct.iterate import RULES
from unspoken.models.sklearn_fields import feature_names
from unspoken.models.tree import Tree
from unspoken.release.parameters import OneOf, OrNone, Rule, Whole, check
from unspoken.release.release import Release

STRATEGIES = ("refined", "byclass", "local", "global", "randomized", "original")


_RULES: Mapping[str, tuple[Rule, str]] = {
    "strategy": (OneOf(STRATEGIES), "Use 'refined'."),
    "criterion": (OneOf(("gini", "entropy")), ""),
    "bins": (OrNone(Whole(2)), "Leave it out for about a hundred records per interval."),
    "max_depth": (OrNone(Whole(1)), ""),
    "min_samples_leaf": (Whole(1), ""),
    "prune": (OneOf(("mdl", None)), ""),
    "rounds": (Whole(1), "Use strategy='byclass' for the paper's, which has none."),
    "stop": (OneOf(RULES), "Use 'held-out'."),
}


class ReconstructingTreeClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A decision tree over columns that were distorted by known laws.

    Parameters
    ----------
    noise : how columns were distorted: a Noise for all, or a sequence or mapping (by position or
        name) of Noise, response matrix (the column then holds the codes 0, 1, ...) or None.
    strategy : "byclass", "local" or "global" as in the paper, or "refined", which is ByClass with
        rounds; "randomized" takes the reports as they are and
        "original" is the same on original values: the two baselines.
    criterion : "gini" or "entropy".
    bins : number of intervals of a noisy column.
    support : (low, high) of the true values: one for all, or a sequence or mapping.
    max_depth, min_samples_leaf : limits of growth.
    prune : "mdl" takes back splits that do not pay for their description, None takes back none.
    stop : the stopping rule of the reconstruction.
    rounds : how often "refined" puts records into intervals again by all of their reports together,
        where the noise is wide; where it is narrow, one time is enough.
    random_state : breaks ties between equal splits and deals out randomised answers.

    Attributes
    ----------
    tree_ : a `unspoken.Tree`; classes_, n_features_in_ as everywhere in scikit-learn.

    Examples
    --------
    >>> learner = ReconstructingTreeClassifier(Noise("gaussian", 5.0))  # doctest: +SKIP
    >>> learner.fit(reports, labels).predict(records)  # doctest: +SKIP
    """

    reconstructs: ClassVar[bool] = True

    def __init__(  # noqa: PLR0913
        self, noise: Any = None, strategy: str = "refined", *, criterion: str = "gini",
        bins: int | None = None, support: Any = None, max_depth: int | None = None,
        min_samples_leaf: int = 1, prune: str | None = "mdl", stop: str = "held-out",
        rounds: int = ROUNDS, random_state: int | None = 0,
    ) -> None:
        self.noise = noise
        self.strategy = strategy
        self.criterion = criterion
        self.bins = bins
        self.support = support
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.prune = prune
        self.stop = stop
        self.rounds = rounds
        self.random_state = random_state

    def fit(self, X: Any, y: Any, choices: Any = None) -> ReconstructingTreeClassifier:
        """Grow a tree from reports X and true classes y.

        `choices`: an array like X of "distort", "truth" and "withhold", where people chose; what
        was withheld may be NaN.
        """
        check("ReconstructingTreeClassifier", _RULES, self.get_params())
        data, self.classes_, codes = examples(self, X, y, choices)
        columns = self._columns(data, choices)
        grown = self._grown(columns, data, codes)
        self.tree_ = prune(grown, self._cuts(columns, data)) if self.prune else grown
        return self

    @property
    def _seed(self) -> int:
        return self.random_state if isinstance(self.random_state, int) else 0

    def _columns(self, data: Floats, choices: Any) -> list[Column | None]:
        names = feature_names(self)
        if self.strategy in ("randomized", "original"):
            return [None] * len(names)
        inputs = LearnerInputs("ReconstructingTreeClassifier", names, self.noise,
                               self.support, self.bins)
        return inputs.columns(data, choices, Setting(self.stop, MAX_STEPS, self._seed))

    def _cuts(self, columns: Sequence[Column | None], data: Floats) -> list[int]:
        return [data.shape[0] if c is None else c.intervals for c in columns]

    def _grown(self, columns: Sequence[Column | None], data: Floats, codes: Any) -> Tree:
        if self.strategy == "local":
            return self._local(_binned(columns, data), codes)
        noisy = [column for column in columns if column is not None]
        if self.strategy == "refined" and blurred(noisy):
            return self._refined(_binned(columns, data), codes)
        return self._once(columns, data, codes)

    def _once(self, columns: Sequence[Column | None], data: Floats, codes: Any) -> Tree:
        """Put every record into intervals once, and let scikit-learn grow the tree."""
        corrected = data.copy()
        for index, column in enumerate(columns):
            if column is not None:
                corrected[:, index] = self._corrected(column, codes)[0]
        tree = self._sklearn(corrected, codes)
        return _on_values(tree, columns, feature_names(self))

    def _sklearn(self, data: Any, codes: Any, most: int | None = None, least: int = 1) -> Tree:
        grower = DecisionTreeClassifier(
            criterion=self.criterion, max_depth=self.max_depth, max_leaf_nodes=most,
            min_samples_leaf=max(self.min_samples_leaf, least), random_state=self.random_state)
        return Tree.from_sklearn(grower.fit(data, self.classes_[codes]))

    def _corrected(self, column: Column, codes: Any) -> tuple[Any, Floats]:
        """Return everybody's interval, and the distributions behind it, one row per class."""
        everybody = np.arange(codes.size)
        whole = column.distribution(everybody)
        if self.strategy == "global":
            return column.assign(everybody, whole), whole[None]
        out, shares = np.empty(codes.size, np.int64), []
        for label in range(self.classes_.size):
            rows = np.flatnonzero(codes == label)
            shares.append(column.distribution(rows, whole))
            out[rows] = column.assign(rows, shares[-1])
        return out, np.array(shares)

    def _refined(self, columns: list[Column], codes: Any) -> Tree:
        corrected = [self._corrected(column, codes) for column in columns]
        least = max(min(LEAST, codes.size // TENTH), codes.size // SHARE, 1)

        def grow(draws: Sequence[Any]) -> Tree:
            return self._sklearn(np.concatenate(draws), np.tile(codes, len(draws)), LEAVES,
                                 least * len(draws))

        refiner = Refiner(columns, codes, [shares for _, shares in corrected], grow, self._seed)
        tree = refiner.refined(np.column_stack([where for where, _ in corrected]), self.rounds)
        return _on_values(tree, columns, feature_names(self))

    def _local(self, columns: list[Column], codes: Any) -> Tree:
        labels = tuple(self.classes_.tolist())
        grower = Grower(columns, codes, len(labels), self.criterion, self.max_depth,
                        self.min_samples_leaf)
        return grower.grow(labels, feature_names(self))

    def predict_proba(self, X: Any) -> Any:
        """Return the share of each class in the leaf of each (undistorted) record."""
        check_is_fitted(self)
        data = validate_data(self, X, dtype=np.float64, reset=False)
        return self.tree_.predict_proba(data)

    def predict(self, X: Any) -> Any:
        """Return the class of each (undistorted) record."""
        check_is_fitted(self)
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def _binned(columns: Sequence[Column | None], data: Floats) -> list[Column]:
    """Return the columns with intervals for those that were not distorted, too."""
    return [exact_column(data[:, i], Setting()) if column is None else column
            for i, column in enumerate(columns)]


def _on_values(tree: Tree, columns: Sequence[Column | None], names: tuple[str, ...]) -> Tree:
    """Replace thresholds between interval numbers by thresholds of values, and name columns."""
    threshold = tree.threshold.copy()
    for index, column in enumerate(columns):
        here = (tree.feature == index) & ~tree.shape.leaves
        if column is not None and here.any():
            threshold[here] = column.threshold(threshold[here])
    return replace(tree, threshold=threshold, features=names)


def noisy_tree(release: Release, strategy: str = "refined", **options: Any) -> Tree:
    """Mine a tree from the release of a method that distorts (as2000 section 4).

    The manifest says how columns were distorted. Where people chose, reported, distorted and
    withheld values are each treated as such; missing and withheld values are distributed like the
    others of their class. Columns of categories are asked about by name, such as
    `marital-status in {Divorced, Widowed}`, and records to predict hold the categories themselves.

    Parameters
    ----------
    release : Release
        A release of a method that distorts columns, with class labels.
    strategy : str, default "refined"
        "refined", "byclass", "local", "global", "randomized" or "original".
    **options
        Further parameters of ReconstructingTreeClassifier, such as `max_depth`.

    Returns
    -------
    Tree

    Examples
    --------
    >>> from unspoken import mine
    >>> mine.noisy_tree(release).predict(records)  # doctest: +SKIP
    """
    records = in_order_of_classes(records_of(release))
    learner = ReconstructingTreeClassifier(list(records.laws.values()), strategy, **options)
    fitted: Tree = learner.fit(records.data, records.labels, records.said).tree_
    return replace(fitted, features=records.names, categories=category_names(records))


__all__ = ["STRATEGIES", "ReconstructingTreeClassifier", "noisy_tree"]
