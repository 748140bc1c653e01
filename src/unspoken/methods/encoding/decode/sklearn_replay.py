"""Decoding scikit-learn's exact splitters: trees and forests (boosting: `stages`).

Strict encodings keep which rows every split separates (bu2007 section 3, Theorem 1), so the
mined estimator is the original one but for its thresholds, which are replayed (`nodes`).
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats
from unspoken.errors import DecodeError
from unspoken.methods.encoding.decode.decoder_protocol import Codebook
from unspoken.methods.encoding.decode.leaf_values import check_classes, check_numbers
from unspoken.methods.encoding.decode.learner_thresholds import sklearn_midpoint
from unspoken.methods.encoding.decode.node_replay import Nodes, Replay, replay_thresholds
from unspoken.methods.encoding.decode.training_rows import (
    Rows,
    check_width,
    original_label,
    original_names,
)
from unspoken.methods.encoding.decode.tree_bags import Bag
from unspoken.methods.encoding.decode.tree_threads import tree_by_tree
from unspoken.methods.encoding.threshold_facts import SKLEARN_GAP
from unspoken.models.labels import label_array
from unspoken.numerics.treewalk import check_shape

STRICT = "Protect with mode='strict' for this learner."
DYADIC = 1024.0


def decode_tree(model: Any, rows: Rows) -> Any:
    """Decode a DecisionTreeClassifier or DecisionTreeRegressor."""
    check_model(model, rows)
    weight = tree_weights(model, rows)
    kept = rows.bag(weight)
    bag = Bag(kept, np.ones(kept.size) if weight is None else weight[kept])
    return rebuilt(model, rows.book, [
        decoded_tree(model.tree_, rows, bag, "tree", hasattr(model, "classes_"), leaves_of(model))
    ])


def decode_forest(model: Any, rows: Rows) -> Any:
    """Decode a random forest, each tree on its own in-bag rows."""
    from sklearn.ensemble._forest import _generate_sample_indices

    check_model(model, rows)
    weight = model._sample_weight
    if model._n_samples != rows.count or (weight is not None and len(weight) != rows.count):
        raise DecodeError(f"The forest was mined from {model._n_samples} rows, and the training "
                          f"data has {rows.count}. Pass the whole table that was released.")
    def one(number: int) -> Any:
        each = model.estimators_[number]
        kept = rows.bag(weight)
        bag = Bag(kept, np.ones(kept.size) if weight is None else np.asarray(weight)[kept])
        if model.bootstrap:
            times = np.bincount(_generate_sample_indices(
                each.random_state, rows.count, model._n_samples_bootstrap, weight
            ), minlength=rows.count)
            drawn = np.flatnonzero(times)
            bag = Bag(drawn, times[drawn].astype(np.float64))
        return decoded_tree(each.tree_, rows, bag, f"tree {number}",
                            hasattr(model, "classes_"), leaves_of(model))

    decoded = tree_by_tree(one, len(model.estimators_), rows)
    return _out_of_bag(rebuilt(model, rows.book, decoded), rows)


def tree_weights(model: Any, rows: Rows) -> Floats | None:
    """Return the weights a lone tree was fitted with: sample weights times class weights."""
    from sklearn.utils.class_weight import compute_sample_weight

    wanted = getattr(model, "class_weight", None)
    if wanted is None or rows.y is None:
        # Without labels a class of weight zero shows up in the check of row counts.
        return rows.weight
    # A miner may have numbered the classes; weights are by the names that the model knows.
    y = np.asarray(model.classes_)[rows.numbers_of(tuple(model.classes_.tolist()))]
    weights: Floats = compute_sample_weight(wanted, y)
    return weights if rows.weight is None else rows.weight * weights


def inner_trees(model: Any) -> list[Any]:
    """Return scikit-learn's inner Tree objects, in the order they were grown."""
    if hasattr(model, "tree_"):
        return [model.tree_]
    return [each.tree_ for each in np.asarray(model.estimators_, dtype=object).ravel()]


def leaves_of(model: Any) -> tuple[Any, ...]:
    """Return the classes behind a tree's leaves, () for numbers."""
    return tuple(model.classes_.tolist()) if hasattr(model, "classes_") else ()


def _check_leaves(tree: Any, replay: Replay, weight: Floats, classes: tuple[Any, ...]) -> None:
    rows = replay.rows
    if rows.trusted or rows.y is None or tree.value.shape[1] != 1:
        return
    if classes:
        check_classes(replay, tree.value[:, 0, :], tree.weighted_n_node_samples,
                      rows.numbers_of(classes), weight)
    elif rows.y.dtype.kind in "iufb":
        check_numbers(replay, tree.value[:, 0, 0], rows.y.astype(np.float64), weight)


def decoded_tree(
    tree: Any, rows: Rows, drawn: Bag, where: str, labels: bool,
    classes: tuple[Any, ...] | None = None,
) -> Any:
    """Return a copy of scikit-learn's inner Tree with the original thresholds.

    `classes`: what its leaves hold shares of, () for numbers; None leaves them unchecked.
    """
    if classes and rows.y is not None and tree.value.shape[1] == 1:
        drawn = drawn.of_shares(tree.value[0, 0, :], rows.numbers_of(classes))
    bag = drawn.rows
    shape = check_shape(tree.children_left.astype(np.int64),
                        tree.children_right.astype(np.int64))
    nodes = Nodes(shape, tree.feature.astype(np.int64), tree.threshold.copy(), where)
    leaf = tree.apply(rows.narrow_of(bag)).astype(np.int64)
    replay = Replay(nodes, rows, bag, leaf)
    replay.check_counts(tree.n_node_samples.astype(np.int64))
    if classes is not None:
        _check_leaves(tree, replay, drawn.weight, classes)
    check_whole_weights(replay, tree.weighted_n_node_samples)
    thresholds = replay_thresholds(replay, sklearn_midpoint)
    check_close_values(replay, tree.impurity, labels and whole(tree.weighted_n_node_samples))
    return _copy_tree(tree, thresholds, swap=not rows.book.increasing)


def check_whole_weights(replay: Replay, weights: Floats) -> None:
    """Refuse permuted pieces with weights whose sums are rounded: another order, other bits."""
    if replay.rows.permuted and not whole(weights):
        raise DecodeError(f"{replay.nodes.where}: weights that are not whole or dyadic, and codes "
                          f"that were permuted inside pieces (mode 'max-mono'). {STRICT}")


def check_model(model: Any, rows: Rows) -> None:
    """Refuse another number of features, and, for permuted pieces, most learners.

    Leaf minima can put the best split inside a piece, and numeric responses are summed in
    another order there (measured).
    """
    # First of all: scikit-learn's inner trees read past the end of a narrower table.
    check_width(rows.book, int(model.n_features_in_))
    least = getattr(model, "min_samples_leaf", 1)
    minima = least != 1 or getattr(model, "min_weight_fraction_leaf", 0.0) != 0.0
    labels = hasattr(model, "classes_") and not hasattr(model, "init_")
    if rows.permuted and (minima or not labels):
        raise DecodeError(f"{type(model).__name__}: with codes permuted inside pieces (mode "
                          "'max-mono') only classification trees and forests without leaf "
                          f"minima are exact. {STRICT}")


def whole(weights: Floats) -> bool:
    """Return True if sums of these weights are exact in any order."""
    return bool(np.all(weights * DYADIC == np.rint(weights * DYADIC)))


def check_close_values(replay: Replay, impurity: Floats, counts: bool) -> None:
    """Refuse where scikit-learn would have taken distinct original values as equal.

    It never cuts between float32 values at most 1e-7 apart, and a column that is constant up
    to that much at a node is left out of its random draw of features. Codes are at least 1
    apart, so neither happens to them. Skipping cuts also changes the order of its sums, which
    matters unless they are exact (`counts`).
    """
    for column in replay.rows.close_columns:
        if not counts:
            raise _too_close(replay.nodes.where, replay.rows.book.features[column])
        _check_column(replay, column, impurity > 0)


def _too_close(where: str, name: str) -> DecodeError:
    return DecodeError(
        f"{where}: feature '{name}' has distinct values at most 1e-7 apart there, which "
        "scikit-learn takes as equal, so on the original data it may have built another tree. "
        "Multiply the column by a power of two before protecting it."
    )


def _check_column(replay: Replay, column: int, tried: npt.NDArray[np.bool_]) -> None:
    nodes = replay.nodes
    ranges = replay.value_ranges(column)
    low, high = (side.astype(np.float32) for side in (ranges.low, ranges.high))
    close = tried & (low < high) & (high <= low + SKLEARN_GAP)
    sides = replay.sides(nodes.inner & (nodes.feature == column) & np.isfinite(nodes.threshold))
    left, right = (side.astype(np.float32) for side in (sides.low, sides.high))
    close[sides.node] |= right <= left + SKLEARN_GAP
    if close.any():
        where = f"{nodes.where}, node {int(np.flatnonzero(close)[0])}"
        raise _too_close(where, replay.rows.book.features[column])


def _copy_tree(tree: Any, thresholds: Floats, swap: bool) -> Any:
    kind, arguments, state = tree.__reduce__()
    nodes = state["nodes"].copy()
    nodes["threshold"] = thresholds
    if swap:
        _swap_children(nodes)
    new = kind(*arguments)
    new.__setstate__({**state, "nodes": nodes, "values": state["values"].copy()})
    return new


def _swap_children(nodes: npt.NDArray[Any]) -> None:
    """Mirror a tree that was mined on reversed codes: larger codes are smaller values."""
    inner = (nodes["left_child"] >= 0) & np.isfinite(nodes["threshold"])
    left = nodes["left_child"][inner]
    nodes["left_child"][inner] = nodes["right_child"][inner]
    nodes["right_child"][inner] = left
    nodes["missing_go_to_left"][inner] = 1 - nodes["missing_go_to_left"][inner]


def rebuilt(model: Any, book: Codebook, decoded: list[Any]) -> Any:
    """Deep-copy an estimator with other inner trees and the original names and classes."""
    memo: dict[int, Any] = {}
    for old, new in zip(inner_trees(model), decoded, strict=True):
        memo[id(old)] = new
    # Inner trees are reached through new wrapper objects, so ids stay alive in `model`.
    return restore_names(copy.deepcopy(model, memo), book)


def restore_names(model: Any, book: Codebook) -> Any:
    """Put the original feature names, class labels and class weights into an estimator."""
    check_width(book, int(model.n_features_in_))
    if hasattr(model, "feature_names_in_"):
        names = original_names(book, tuple(map(str, model.feature_names_in_)))
        model.feature_names_in_ = np.array(names, dtype=object)
    if hasattr(model, "classes_"):
        model.classes_ = label_array([original_label(book, c) for c in model.classes_])
    by_name = not hasattr(model, "_predictors")  # HistGradientBoosting weighs classes by number.
    if by_name and isinstance(getattr(model, "class_weight", None), dict):
        model.class_weight = {
            original_label(book, c): w for c, w in model.class_weight.items()
        }
    return model


def _out_of_bag(model: Any, rows: Rows) -> Any:
    """Compute out-of-bag scores anew: rows outside a bag may fall between its values."""
    if not (model.bootstrap and model.oob_score):
        return model
    y = rows.labels("the forest has out-of-bag scores, which must be computed again")
    y = y.astype(np.float64) if not hasattr(model, "classes_") else _positions(model, rows, y)
    score = [model.oob_score] if callable(model.oob_score) else []
    classes = getattr(model, "classes_", None)
    if classes is not None:
        model.classes_, model.n_classes_ = [classes], [len(classes)]
    model._set_oob_score_and_attributes(rows.values.astype(np.float32), y[:, None], *score)
    if classes is not None:
        model.classes_, model.n_classes_ = classes, len(classes)
    return model


def _positions(model: Any, rows: Rows, y: npt.NDArray[Any]) -> Floats:
    index = {label: float(i) for i, label in enumerate(model.classes_.tolist())}
    return np.array([index[original_label(rows.book, label)] for label in y])
