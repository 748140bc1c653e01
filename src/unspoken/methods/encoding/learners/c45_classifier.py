"""C4.5 as a miner of releases (bu2007 section 6.4 mines with it).

It sees the order of values and which are equal, classes and categories, and nothing else: gains,
minima of records, the fine for many cuts and pruning are counts. So codes that keep the order give
the tree of the original, and since cuts are values of the column, the key alone decodes it. Only
Quinlan's choice of the cut, below the middle of two values, looks at distances
(`threshold="middle"`); with it no identity is promised.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from unspoken.arrays import Floats, Ints
from unspoken.errors import DataError, InputError, explain
from unspoken.models.categorical_tree import CategoricalTree
from unspoken.models.category_groups import Groups
from unspoken.models.labels import Label
from unspoken.models.tree_from_c45 import C45Inputs, Members, tree_from_c45
from unspoken.numerics.c45_tree import C45, C45Node, SplitColumn

CUTS = ("value", "middle")


class C45Classifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """C4.5 (release 8): gain ratio, one branch for each category, pessimistic pruning.

    Parameters
    ----------
    min_records : records that at least two branches of a split must have (Quinlan's -m).
    confidence : the share at which errors are estimated for pruning (Quinlan's -c); less prunes
        more.
    prune : whether the tree is pruned.
    raise_branches : whether pruning may put the largest branch of a node in its place.
    threshold : where a cut between two values lies: at the lower "value", the same in any units,
        or at the largest value of the column below their "middle", as Quinlan's.
    categories : how many categories each column has, 0 for numbers; None: all are numbers.
    """

    def __init__(
        self, min_records: int = 2, confidence: float = 0.25, *, prune: bool = True,
        raise_branches: bool = True, threshold: str = "value",
        categories: Sequence[int] | None = None,
    ) -> None:
        self.min_records = min_records
        self.confidence = confidence
        self.prune = prune
        self.raise_branches = raise_branches
        self.threshold = threshold
        self.categories = categories

    def fit(self, X: Any, y: Any) -> C45Classifier:
        """Grow a tree; categories are numbers 0, 1, ..., a missing one is a category of its own."""
        self._check()
        data, labels = validate_data(self, X, y, dtype=np.float64, ensure_all_finite="allow-nan")
        self.classes_, codes = np.unique(labels, return_inverse=True)
        self.columns_ = [_column(data[:, place], size)
                         for place, size in enumerate(self._sizes(data.shape[1]))]
        self.root_ = C45(self.columns_, codes.astype(np.int64), self.classes_.size,
                         int(self.min_records), float(self.confidence), bool(self.prune),
                         bool(self.raise_branches), self.threshold == "middle").grow()
        return self

    def _check(self) -> None:
        if self.threshold not in CUTS:
            raise InputError(explain("'threshold'", "'value' or 'middle'", self.threshold))
        if type(self.min_records) is not int or self.min_records < 1:
            raise InputError(explain("'min_records'", "a whole number from 1", self.min_records))
        if isinstance(self.confidence, bool) or not 0 < self.confidence <= 0.5:
            raise InputError(explain("'confidence'", "above 0 and at most 0.5", self.confidence))

    def _sizes(self, width: int) -> Sequence[int]:
        return [0] * width if self.categories is None else list(self.categories)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the class of each record; an unknown category takes the largest branch."""
        check_is_fitted(self)
        data = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False)
        narrow = data.astype(np.float32).astype(np.float64)
        best = np.zeros(data.shape[0], np.int64)
        waiting = [(self.root_, np.arange(data.shape[0]), self.root_.majority)]
        while waiting:
            node, rows, before = waiting.pop()
            commonest = int(node.counts.argmax()) if node.rows.size else before
            best[rows] = commonest
            if node.branches:
                side = self._side(node, narrow[rows, node.column])
                waiting += [(one, rows[side == place], commonest)
                            for place, one in enumerate(node.branches)]
        return np.asarray(self.classes_[best])

    def _side(self, node: C45Node, values: Floats) -> Ints:
        known = self.columns_[node.column].values
        if known is not None:
            return np.asarray(values > known[node.cut], np.int64)
        sizes = [one.rows.size for one in node.branches]
        numbers = self._sizes(self.n_features_in_)[node.column]
        # Missing categories have the last branch, if there were any to learn from.
        missing = numbers if len(sizes) > numbers else int(np.argmax(sizes))
        return np.asarray(np.where(np.isnan(values), missing, np.nan_to_num(values)), np.int64)

    def pattern(self, names: Sequence[str], groups: Groups) -> CategoricalTree:
        """Return the tree over named columns, with the categories behind their numbers."""
        check_is_fitted(self)
        members = [self._members(place, groups.get(name, ())) for place, name in enumerate(names)]
        classes: tuple[Label, ...] = tuple(self.classes_.tolist())
        return tree_from_c45(self.root_, C45Inputs(tuple(names), self.columns_, members), classes)

    def _members(self, place: int, known: Sequence[tuple[str, ...]]) -> Members:
        column = self.columns_[place]
        if column.values is not None:
            return ()
        return (*known, (None,)) if column.size > len(known) else tuple(known)


def _column(data: Floats, size: int) -> SplitColumn:
    """Return a column as float32 values, which are what codes stand for, or as categories."""
    missing = np.isnan(data)
    if size:
        codes = np.where(missing, size, np.nan_to_num(data)).astype(np.int32)
        return SplitColumn(codes, size + int(missing.any()))
    if missing.any():
        raise DataError("C4.5 is mined from complete numbers. Some are missing: leave their "
                        "records or their column out, or use the learner 'tree'.")
    # Adding zero turns -0.0 into 0.0: which of the two a column holds first is chance.
    return SplitColumn.numbers(data.astype(np.float32).astype(np.float64) + 0.0)
