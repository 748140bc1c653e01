"""Decoding scikit-learn's AdaBoost and Bagging over decision trees: replay, tree by tree.

AdaBoost weighs all rows anew in every round by where the tree before went wrong. A strict encoding
sends every row the same way, so the weights, and with them the trees, are the original's; they are
computed again from the labels, and leaves are compared with them. Bagging draws rows and columns
from one seed per tree, which draws the same again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.errors import DecodeError
from unspoken.methods.encoding.decode.decoder_protocol import Codebook
from unspoken.methods.encoding.decode.node_replay import foreign
from unspoken.methods.encoding.decode.sklearn_replay import (
    check_model,
    decoded_tree,
    inner_trees,
    leaves_of,
    rebuilt,
)
from unspoken.methods.encoding.decode.training_rows import Rows, original_label
from unspoken.methods.encoding.decode.tree_bags import Bag
from unspoken.models.labels import label_array

LEAST = np.finfo(np.float64).eps
"""What a row weighs at least in a round of AdaBoost."""


def decode_votes(model: Any, rows: Rows) -> Any:
    """Decode an AdaBoostClassifier over decision trees."""
    _check_trees(model)
    check_model(model, rows)
    if rows.permuted or not rows.book.increasing:
        raise DecodeError("AdaBoostClassifier is exact on strictly increasing codes only: its "
                          "weights are rounded sums. Protect with mode='strict'.")
    numbers = rows.numbers_of(tuple(model.classes_.tolist()))
    weight = np.ones(rows.count) if rows.weight is None else rows.weight
    if np.any(weight <= 0):
        raise DecodeError("AdaBoostClassifier: rows of weight zero are still predicted in every "
                          "round, and may fall between two values. Leave those rows out instead.")
    codes, everything, decoded = rows.codes.astype(np.float32), np.arange(rows.count), []
    for number, tree in enumerate(inner_trees(model)):
        # As scikit-learn does: rows that are always right would weigh nothing after many rounds.
        weight = np.maximum(weight / weight.sum(), LEAST)
        where = f"tree {number}"
        classes = leaves_of(model.estimators_[number])
        decoded.append(decoded_tree(tree, rows, Bag(everything, weight), where, False, classes))
        wrong = tree.predict(codes).reshape(rows.count, -1).argmax(axis=1) != numbers
        _check_vote(model, number, float(np.average(wrong, weights=weight)), rows.trusted)
        with np.errstate(over="ignore"):  # Weights without end are scikit-learn's last round.
            weight = np.exp(np.log(weight) + model.estimator_weights_[number] * wrong)
    return _with_classes(rebuilt(model, rows.book, decoded), rows.book)


def _check_vote(model: Any, number: int, error: float, trusted: bool) -> None:
    """Refuse a vote that is not the one its share of wrong rows gives."""
    classes = len(model.classes_)
    vote = 1.0 if error <= 0 else model.learning_rate * (
        np.log((1.0 - error) / error) + np.log(classes - 1.0))
    given = float(model.estimator_weights_[number])
    if not trusted and not abs(vote - given) <= 1e-6 * max(abs(vote), 1.0):
        raise foreign(f"tree {number}", 0, "its vote is not the one that its training rows give")


def _with_classes(model: Any, book: Codebook) -> Any:
    """Put the original classes into the trees, which AdaBoost asks for classes, not for numbers."""
    for tree in model.estimators_:
        tree.classes_ = label_array([original_label(book, label) for label in tree.classes_])
    return model


def _check_trees(model: Any) -> None:
    for tree in model.estimators_:
        if not type(tree).__name__.startswith("DecisionTree"):
            raise DecodeError(f"{type(model).__name__} is decoded over decision trees only. Got "
                              f"{type(tree).__name__}.")
        if getattr(tree, "splitter", "best") != "best":
            raise DecodeError("splitter='random' draws thresholds between values, not between "
                              "ranks. Mine with splitter='best'.")


@dataclass(frozen=True)
class _Columns:
    """A code book as one tree of a bag sees it: some of the columns."""

    book: Codebook
    chosen: Ints

    def __getattr__(self, name: str) -> Any:
        return getattr(self.book, name)

    @property
    def features(self) -> tuple[str, ...]:
        """Return the original names."""
        return tuple(self.book.features[place] for place in self.chosen)

    @property
    def released_features(self) -> tuple[str, ...]:
        """Return the released names."""
        return tuple(self.book.released_features[place] for place in self.chosen)

    @property
    def categorical(self) -> tuple[bool, ...]:
        """Return which features are categories."""
        flags = getattr(self.book, "categorical", ())
        return tuple(flags[place] for place in self.chosen) if flags else ()

    def column(self, index: int) -> tuple[Floats, Ints]:
        """Return distinct values and codes of one feature."""
        return self.book.column(int(self.chosen[index]))


def decode_bagging(model: Any, rows: Rows) -> Any:
    """Decode Bagging over decision trees, each on its own rows and columns."""
    from sklearn.ensemble._bagging import _generate_bagging_indices

    _check_trees(model)
    check_model(model, rows)
    if model._n_samples != rows.count:
        raise DecodeError(f"The bag was mined from {model._n_samples} rows, and the training data "
                          f"has {rows.count}. Pass the whole table that was released.")
    decoded, weight = [], rows.weight
    for number, tree in enumerate(inner_trees(model)):
        columns, drawn = _generate_bagging_indices(
            int(model._seeds[number]), model.bootstrap_features, model.bootstrap,
            int(model.n_features_in_), rows.count, model._max_features, model._max_samples, weight)
        if not np.array_equal(columns, model.estimators_features_[number]):
            raise foreign(f"tree {number}", 0, "its columns are not those that its seed draws")
        kept, times = np.unique(drawn, return_counts=True)
        decoded.append(_bagged_tree(model, number, tree, _narrowed(rows, columns),
                                    Bag(kept.astype(np.int64), times.astype(np.float64))))
    return rebuilt(model, rows.book, decoded)


def _narrowed(rows: Rows, columns: Ints) -> Rows:
    if np.array_equal(columns, np.arange(rows.values.shape[1])):
        return rows
    book: Any = _Columns(rows.book, np.asarray(columns))
    return rows.columns(np.asarray(columns), book)


def _bagged_tree(model: Any, number: int, tree: Any, rows: Rows, bag: Bag) -> Any:
    inside = model.estimators_[number]
    classes: tuple[Any, ...] | None = leaves_of(inside)
    if classes and hasattr(model, "classes_"):
        classes = tuple(model.classes_[int(label)] for label in classes)
        classes = tuple(each.item() if isinstance(each, np.generic) else each for each in classes)
    check_model(inside, rows)
    return decoded_tree(tree, rows, bag, f"tree {number}", hasattr(model, "classes_"), classes)


