"""Decision trees from distorted records: Global, ByClass and Local (as2000 section 4).

Global reconstructs every column once, ByClass once for each class, Local again at every node. In
each case records are then put into intervals by their order, and the tree is grown on intervals.
The trees are for undistorted records: thresholds stand on the scale of the original values.

What the miner learns: class labels, and distributions by class (at every node, for Local). Global
cannot work well, because the difference between the classes is what is reconstructed away.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from tacit.core.params import OneOf, Rule, Whole, check
from tacit.core.release import Release
from tacit.core.tree import Tree
from tacit.errors import DataError, InputError, explain
from tacit.mine.columns import MAX_STEPS, Distorted, Setting, as_law, column_of, exact_column
from tacit.mine.laws import Answers, law_of
from tacit.mine.local_trees import Grower
from tacit.mine.pruning import prune
from tacit.stats.noise import Noise
from tacit.stats.reconstruct import RULES

Floats = npt.NDArray[np.float64]

STRATEGIES = ("global", "byclass", "local", "randomized", "original")


class _OrNone:
    """A rule, or None."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule

    def allowed(self) -> str:
        return f"None or {self.rule.allowed()}"

    def admits(self, value: Any) -> bool:
        return value is None or self.rule.admits(value)


_RULES: Mapping[str, tuple[Rule, str]] = {
    "strategy": (OneOf(STRATEGIES), "Use 'byclass'."),
    "criterion": (OneOf(("gini", "entropy")), ""),
    "bins": (_OrNone(Whole(2)), "Leave it out for about a hundred records an interval."),
    "max_depth": (_OrNone(Whole(1)), ""),
    "min_samples_leaf": (Whole(1), ""),
    "prune": (OneOf(("mdl", None)), ""),
    "stop": (OneOf(RULES), "Use 'held-out'."),
}


class ReconstructingTreeClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A decision tree over columns that were distorted by known laws.

    Parameters
    ----------
    noise : how columns were distorted: a Noise for all, or a sequence or mapping (by position or
        name) of Noise, response matrix (the column then holds the codes 0, 1, ...) or None.
    strategy : "byclass", "local" or "global"; "randomized" takes the reports as they are and
        "original" is the same on original values: the two baselines.
    criterion : "gini" or "entropy".
    bins : number of intervals of a noisy column.
    support : (low, high) of the true values: one for all, or a sequence or mapping.
    max_depth, min_samples_leaf : limits of growth.
    prune : "mdl" takes back splits that do not pay for their description, None takes back none.
    stop : the stopping rule of the reconstruction.
    random_state : breaks ties between equal splits and deals out randomised answers.

    Attributes
    ----------
    tree_ : a `tacit.Tree`; classes_, n_features_in_ as everywhere in scikit-learn.
    """

    reconstructs: ClassVar[bool] = True

    def __init__(  # noqa: PLR0913
        self, noise: Any = None, strategy: str = "byclass", *, criterion: str = "gini",
        bins: int | None = None, support: Any = None, max_depth: int | None = None,
        min_samples_leaf: int = 1, prune: str | None = "mdl", stop: str = "held-out",
        random_state: int | None = 0,
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
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> ReconstructingTreeClassifier:
        """Grow a tree from reports X and true classes y."""
        check("ReconstructingTreeClassifier", _RULES, self.get_params())
        data, labels = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(labels)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        if self.classes_.size < 2:
            raise DataError(explain("y", "of two classes or more", "one class",
                                    "There is nothing to learn."))
        codes = codes.reshape(-1)
        columns = self._columns(data)
        grown = self._local(columns, data, codes) if self.strategy == "local" \
            else self._once(columns, data, codes)
        self.tree_ = prune(grown, self._cuts(columns, data)) if self.prune else grown
        return self

    def _names(self, width: int) -> list[str]:
        return [str(n) for n in getattr(self, "feature_names_in_",
                                        [f"x{i}" for i in range(width)])]

    def _columns(self, data: Floats) -> list[Distorted | None]:
        names = self._names(data.shape[1])
        if self.strategy in ("randomized", "original"):
            return [None] * len(names)
        seed = self.random_state if isinstance(self.random_state, int) else 0
        setting = Setting(self.stop, MAX_STEPS, seed)
        return [column_of(data[:, i],
                          as_law(_of(self.noise, "noise", i, names), _support(self.support, i,
                                                                              names)),
                          self.bins, setting) for i, name in enumerate(names)]

    def _cuts(self, columns: Sequence[Distorted | None], data: Floats) -> list[int]:
        return [data.shape[0] if c is None else c.intervals for c in columns]

    def _once(self, columns: Sequence[Distorted | None], data: Floats, codes: Any) -> Tree:
        """Put every record into intervals once, and let scikit-learn grow the tree."""
        corrected = data.copy()
        for index, column in enumerate(columns):
            if column is not None:
                corrected[:, index] = self._corrected(column, codes)
        grower = DecisionTreeClassifier(
            criterion=self.criterion, max_depth=self.max_depth,
            min_samples_leaf=self.min_samples_leaf, random_state=self.random_state)
        grower.fit(corrected, self.classes_[codes])
        tree = Tree.from_sklearn(grower)
        return _on_values(tree, columns, tuple(self._names(data.shape[1])))

    def _corrected(self, column: Distorted, codes: Any) -> Any:
        everybody = np.arange(codes.size)
        whole = column.distribution(everybody)
        if self.strategy == "global":
            return column.assign(everybody, whole)
        out = np.empty(codes.size, np.int64)
        for label in range(self.classes_.size):
            rows = np.flatnonzero(codes == label)
            out[rows] = column.assign(rows, column.distribution(rows, whole))
        return out

    def _local(self, columns: Sequence[Distorted | None], data: Floats, codes: Any) -> Tree:
        whole = [exact_column(data[:, i], Setting()) if c is None else c
                 for i, c in enumerate(columns)]
        labels = tuple(self.classes_.tolist())
        grower = Grower(whole, codes, len(labels), self.criterion, self.max_depth,
                        self.min_samples_leaf)
        return grower.grow(labels, tuple(self._names(data.shape[1])))

    def predict_proba(self, X: Any) -> Any:
        """Return the share of each class in the leaf of each (undistorted) record."""
        check_is_fitted(self)
        data = validate_data(self, X, dtype=np.float64, reset=False)
        return self.tree_.predict_proba(data)

    def predict(self, X: Any) -> Any:
        """Return the class of each (undistorted) record."""
        check_is_fitted(self)
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def _of(given: Any, what: str, index: int, names: Sequence[str]) -> Any:
    """Return what a parameter says about one column."""
    if given is None or isinstance(given, Noise | Answers) or hasattr(given, "kernel"):
        return given
    if isinstance(given, Mapping):
        return given.get(names[index], given.get(index))
    if isinstance(given, Sequence) and not isinstance(given, str) and len(given) == len(names):
        return given[index]
    raise InputError(explain(f"ReconstructingTreeClassifier: '{what}'",
                             f"one for all, a mapping, or a sequence of {len(names)}", given))


def _support(given: Any, index: int, names: Sequence[str]) -> Any:
    if isinstance(given, tuple) and len(given) == 2 and np.isscalar(given[0]):
        return given
    return _of(given, "support", index, names)


def _on_values(tree: Tree, columns: Sequence[Distorted | None], names: tuple[str, ...]) -> Tree:
    """Replace thresholds between interval numbers by thresholds of values, and name columns."""
    threshold = tree.threshold.copy()
    for index, column in enumerate(columns):
        here = (tree.feature == index) & ~tree.shape.leaves
        if column is not None and here.any():
            threshold[here] = column.threshold(threshold[here])
    return replace(tree, threshold=threshold, features=names)


def noisy_tree(release: Release, strategy: str = "byclass", **options: Any) -> Tree:
    """Mine a tree from the release of a method that distorts; the manifest says how it did."""
    table = release.table
    names = list(release.mechanism.get("columns") or ())
    if not names:
        raise InputError(explain("The release", "of a method that distorts columns",
                                 release.mechanism.get("name")))
    if release.mechanism.get("choices"):
        raise InputError(explain("A release to grow a tree from", "one where everybody distorted",
                                 "one where people chose to tell or to withhold",
                                 "Leave out who told, or reconstruct distributions only."))
    laws = {name: law_of(release.mechanism, name) for name in names}
    data, kept = _complete(table, names, laws)
    found = ReconstructingTreeClassifier(list(laws.values()), strategy, **options)
    fitted: Tree = found.fit(data, table.labels()[kept]).tree_
    return replace(fitted, features=tuple(names))


def _complete(table: Any, names: Sequence[str], laws: Mapping[str, Any]) -> tuple[Floats, Any]:
    """Return complete records; answers become the codes of their categories."""
    rows = table.arrow(list(names))
    columns = []
    for name in names:
        law = laws[name]
        if isinstance(law, Answers):
            place = {value: float(i) for i, value in enumerate(law.values)}
            columns.append([place.get(value, np.nan) for value in rows[name].to_pylist()])
        else:
            columns.append(table.numbers([name])[:, 0])
    data = np.column_stack(columns)
    kept = ~np.isnan(data).any(axis=1)
    if not kept.any():
        raise DataError(explain("The release", "one with complete records", "none"))
    return data[kept], kept


__all__ = ["STRATEGIES", "ReconstructingTreeClassifier", "noisy_tree"]
