"""Decoding scikit-learn's exact splitters: trees, forests and gradient boosting.

Strict encodings keep which rows every split separates (bu2007 section 3, Theorem 1), so the
mined estimator is the original one but for its thresholds, which are replayed (`nodes`).
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.core.codebook import Codebook
from tacit.errors import DecodeError, explain
from tacit.protect.nodes import Nodes, Replay, replay_thresholds
from tacit.protect.rows import Rows, check_width, original_label, original_names
from tacit.stats.midpoints import sklearn_midpoint
from tacit.stats.treewalk import check_shape

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

STRICT = "Protect with mode='strict' for this learner."
DYADIC = 1024.0
FEATURE_THRESHOLD = np.float32(1e-7)
"""scikit-learn takes values as equal that are no further apart, added in float32."""


def decode_tree(model: Any, rows: Rows) -> Any:
    """Decode a DecisionTreeClassifier or DecisionTreeRegressor."""
    check_permuted(model, rows)
    weight = tree_weights(model, rows)
    return _rebuilt(model, rows.book, [_decoded(model.tree_, rows, rows.bag(weight), "tree")])


def decode_forest(model: Any, rows: Rows) -> Any:
    """Decode a random forest, each tree on its own in-bag rows."""
    from sklearn.ensemble._forest import _generate_sample_indices

    check_permuted(model, rows)
    weight = model._sample_weight
    if model._n_samples != rows.count or (weight is not None and len(weight) != rows.count):
        raise DecodeError(explain("the training data", f"the forest's {model._n_samples} rows",
                                  f"{rows.count}", "Pass the whole table that was released."))
    decoded = []
    for number, each in enumerate(model.estimators_):
        bag = rows.bag(weight)
        if model.bootstrap:
            bag = np.unique(_generate_sample_indices(
                each.random_state, rows.count, model._n_samples_bootstrap, weight
            )).astype(np.int64)
        decoded.append(_decoded(each.tree_, rows, bag, f"tree {number}"))
    return _out_of_bag(_rebuilt(model, rows.book, decoded), rows)


def decode_boosting(model: Any, rows: Rows) -> Any:
    """Decode GradientBoosting; with rows outside the bag, check that it is exact.

    Rows that are held out, not drawn, or of weight zero are predicted during training. If one
    of them falls between the two values beside a threshold, codes and originals may send it
    to different sides and training goes on differently; such a model is refused.
    """
    check_permuted(model, rows)
    _check_init(model)
    decoded = []
    for number, (tree, bag) in enumerate(zip(_trees(model), _bags(model, rows), strict=True)):
        where = f"stage {number // model.n_trees_per_iteration_}, tree {number}"
        new = _decoded(tree, rows, bag, where)
        if bag.size < rows.count:
            _check_routes(tree, new, rows, where)
        decoded.append(new)
    return _rebuilt(model, rows.book, decoded)


def tree_weights(model: Any, rows: Rows) -> Floats | None:
    """Return the weights a lone tree was fitted with: sample weights times class weights."""
    from sklearn.utils.class_weight import compute_sample_weight

    wanted = getattr(model, "class_weight", None)
    if wanted is None or rows.y is None:
        # Without labels a class of weight zero shows up in the check of row counts.
        return rows.weight
    found: Floats = compute_sample_weight(wanted, rows.y)
    return found if rows.weight is None else rows.weight * found


def _trees(model: Any) -> list[Any]:
    if hasattr(model, "tree_"):
        return [model.tree_]
    return [each.tree_ for each in np.asarray(model.estimators_, dtype=object).ravel()]


def _decoded(tree: Any, rows: Rows, bag: Ints, where: str) -> Any:
    """Return a copy of scikit-learn's inner Tree with the original thresholds."""
    shape = check_shape(tree.children_left.astype(np.int64),
                        tree.children_right.astype(np.int64))
    nodes = Nodes(shape, tree.feature.astype(np.int64), tree.threshold.copy(), where)
    leaf = tree.apply(rows.codes[bag].astype(np.float32)).astype(np.int64)
    replay = Replay(nodes, rows, bag, leaf)
    replay.check_counts(tree.n_node_samples.astype(np.int64))
    check_whole_weights(replay, tree.weighted_n_node_samples)
    thresholds = replay_thresholds(replay, sklearn_midpoint)
    check_close_values(replay, tree.impurity)
    return _copy_tree(tree, thresholds, swap=not rows.book.increasing)


def check_whole_weights(replay: Replay, weights: Floats) -> None:
    """Refuse permuted pieces with weights whose sums are rounded: another order, other bits."""
    if replay.rows.permuted and np.any(weights * DYADIC != np.rint(weights * DYADIC)):
        raise DecodeError(f"{replay.nodes.where}: weights that are not whole or dyadic, and codes "
                          f"that were permuted inside pieces (mode 'max-mono'). {STRICT}")


def check_permuted(model: Any, rows: Rows) -> None:
    """Refuse, for permuted pieces, learners that look at more than class counts.

    Leaf minima can put the best split inside a piece, and numeric responses are summed in
    another order there (the papers' notes on bu2007).
    """
    least = getattr(model, "min_samples_leaf", 1)
    minima = least != 1 or getattr(model, "min_weight_fraction_leaf", 0.0) != 0.0
    labels = hasattr(model, "classes_") and not hasattr(model, "init_")
    if rows.permuted and (minima or not labels):
        raise DecodeError(f"{type(model).__name__}: with codes permuted inside pieces (mode "
                          "'max-mono') only classification trees and forests without leaf "
                          f"minima are exact. {STRICT}")


def check_close_values(replay: Replay, impurity: Floats) -> None:
    """Refuse where scikit-learn would have taken distinct original values as equal.

    It never cuts between float32 values at most 1e-7 apart, and a column that is constant up
    to that much at a node is left out of its random draw of features. Codes are at least 1
    apart, so neither happens to them.
    """
    for column in range(len(replay.rows.book.features)):
        values, _ = replay.rows.book.column(column)
        narrow = np.unique(values.astype(np.float32))
        if np.any(narrow[1:] <= narrow[:-1] + FEATURE_THRESHOLD):
            _check_column(replay, column, impurity > 0)


def _check_column(replay: Replay, column: int, tried: npt.NDArray[np.bool_]) -> None:
    nodes = replay.nodes
    ranges = replay.value_ranges(column)
    low, high = (side.astype(np.float32) for side in (ranges.low, ranges.high))
    close = tried & (low < high) & (high <= low + FEATURE_THRESHOLD)
    sides = replay.sides(column, nodes.inner & (nodes.feature == column)
                         & np.isfinite(nodes.threshold))
    left, right = (side.astype(np.float32) for side in (sides.low, sides.high))
    close[sides.node] |= right <= left + FEATURE_THRESHOLD
    if close.any():
        raise DecodeError(
            f"{nodes.where}, node {int(np.flatnonzero(close)[0])}: feature "
            f"'{replay.rows.book.features[column]}' has distinct values at most "
            "1e-7 apart there, which scikit-learn takes as equal; on the original "
            "data it would have built another tree. Rescale the column before protecting it."
        )


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


def _rebuilt(model: Any, book: Codebook, decoded: list[Any]) -> Any:
    """Deep-copy an estimator with other inner trees and the original names and classes."""
    memo: dict[int, Any] = {}
    for old, new in zip(_trees(model), decoded, strict=True):
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
        model.classes_ = np.array([original_label(book, c) for c in model.classes_])
    if isinstance(getattr(model, "class_weight", None), dict):
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


def _check_init(model: Any) -> None:
    name = type(model.init_).__name__
    if model.init_ != "zero" and not name.startswith("Dummy"):
        raise DecodeError(explain("'init' of gradient boosting", "None, 'zero' or a dummy",
                                  name, "Another first model has seen the codes."))


def _bags(model: Any, rows: Rows) -> Iterator[Ints]:
    """Yield the in-bag rows of each tree, drawn again as scikit-learn draws them."""
    train = _training_part(model, rows)
    weight = np.ones(rows.count) if rows.weight is None else rows.weight
    if model.subsample >= 1.0:
        bag = train[weight[train] != 0]
        yield from (bag for _ in _trees(model))
        return
    from sklearn.ensemble._gradient_boosting import _random_sample_mask

    stream = np.random.RandomState(_seed(model, "subsample"))
    drawn = max(1, int(model.subsample * train.size))
    for _ in range(len(model.estimators_)):
        mask = np.asarray(_random_sample_mask(train.size, drawn, stream), dtype=bool)
        for _ in range(model.n_trees_per_iteration_):
            yield train[mask & (weight[train] != 0)]
            stream.randint(0, 2147483647)


def _training_part(model: Any, rows: Rows) -> Ints:
    if model.n_iter_no_change is None:
        return np.arange(rows.count)
    from sklearn.model_selection import train_test_split

    stratify = None
    if hasattr(model, "classes_"):
        stratify = rows.labels("early stopping held out a stratified part")
    kept, _ = train_test_split(
        np.arange(rows.count), random_state=_seed(model, "n_iter_no_change"),
        test_size=model.validation_fraction, stratify=stratify,
    )
    return np.asarray(kept, dtype=np.int64)


def _seed(model: Any, why: str) -> int:
    seed = model.random_state
    if isinstance(seed, int | np.integer):
        return int(seed)
    raise DecodeError(explain(f"'random_state' of gradient boosting with '{why}'",
                              "a whole number", seed, "The rows it drew cannot be drawn again."))


def _check_routes(mined: Any, decoded: Any, rows: Rows, where: str) -> None:
    before = mined.apply(rows.codes.astype(np.float32))
    after = decoded.apply(rows.values.astype(np.float32))
    wrong = np.flatnonzero(before != after)
    if wrong.size:
        raise DecodeError(
            f"{where}: row {int(wrong[0])} (in released order), which was not in the bag, lies "
            "between the two values beside a threshold and goes to another side in codes than "
            "in originals, so training on the original would have gone on differently. Mine "
            "without subsampling, hold-out and zero weights."
        )
