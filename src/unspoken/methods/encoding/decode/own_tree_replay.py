"""Decoding unspoken's own Tree and Forest, by replay as for scikit-learn's."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from unspoken.arrays import Floats
from unspoken.errors import DecodeError
from unspoken.methods.encoding.decode.leaf_values import check_classes, check_numbers
from unspoken.methods.encoding.decode.learner_thresholds import sklearn_midpoint
from unspoken.methods.encoding.decode.node_replay import Nodes, Replay, replay_thresholds
from unspoken.methods.encoding.decode.sklearn_replay import (
    check_close_values,
    check_whole_weights,
    whole,
)
from unspoken.methods.encoding.decode.training_rows import Rows, original_label, original_names
from unspoken.methods.encoding.decode.tree_bags import Bag
from unspoken.methods.encoding.decode.tree_threads import tree_by_tree
from unspoken.models.forest import Bootstrap, Forest
from unspoken.models.rebuilt_estimators import inner_tree
from unspoken.models.tree import Tree


def decode_tree_pattern(model: Tree, rows: Rows) -> Tree:
    """Decode a Tree mined by an exact splitter with scikit-learn's midpoints."""
    bag = rows.bag()
    return _decoded(model, rows, Bag(bag, rows.weights_of(bag)), "tree")


def decode_forest_pattern(model: Forest, rows: Rows) -> Forest:
    """Decode a Forest, each tree on its own in-bag rows, drawn again from its seed."""
    weight = _forest_weights(model.bootstrap, rows)
    def one(number: int) -> Tree:
        kept = rows.bag(weight)
        bag = Bag(kept, np.ones(kept.size) if weight is None else weight[kept])
        if model.bootstrap is not None:
            bag = _in_bag(model.bootstrap, number, rows.count, weight)
        return _decoded(model.trees[number], rows, bag, f"tree {number}")

    trees = tree_by_tree(one, len(model.trees), rows)
    return Forest(model.task, trees[0].features, trees[0].classes, tuple(trees),
                  _original_bootstrap(model.bootstrap, rows))


def _decoded(model: Tree, rows: Rows, drawn: Bag, where: str) -> Tree:
    features = original_names(rows.book, model.features)
    classes = tuple(original_label(rows.book, label) for label in model.classes)
    if classes and rows.y is not None:
        drawn = drawn.of_shares(model.value[0], rows.numbers_of(model.classes))
    nodes = Nodes(model.shape, model.feature, model.threshold, where)
    # scikit-learn's own walk, on arrays that were checked: several times as fast as numpy's.
    leaf = inner_tree(model).apply(rows.narrow_of(drawn.rows)).astype(np.int64)
    replay = Replay(nodes, rows, drawn.rows, leaf)
    replay.check_counts(model.n_samples)
    _check_leaves(model, replay, drawn.weight)
    check_whole_weights(replay, model.weighted_n_samples)
    new = replace(model, features=features, classes=classes,
                  threshold=replay_thresholds(replay, sklearn_midpoint))
    counts = model.task == "classification" and whole(model.weighted_n_samples)
    check_close_values(replay, model.impurity, counts)
    return new if rows.book.increasing else _mirrored(new)


def _check_leaves(model: Tree, replay: Replay, weight: Floats) -> None:
    rows = replay.rows
    if rows.trusted or rows.y is None:
        return
    if model.task == "classification":
        check_classes(replay, model.value, model.weighted_n_samples,
                      rows.numbers_of(model.classes), weight)
    elif rows.y.dtype.kind in "iufb":
        check_numbers(replay, model.value[:, 0], rows.y.astype(np.float64), weight)


def _mirrored(tree: Tree) -> Tree:
    """Swap children where codes were reversed; missing-against-the-rest splits stay."""
    turn = ~tree.shape.leaves & np.isfinite(tree.threshold)
    return replace(
        tree,
        left=np.where(turn, tree.right, tree.left),
        right=np.where(turn, tree.left, tree.right),
        missing_left=np.where(turn, ~tree.missing_left, tree.missing_left),
    )


def _in_bag(bootstrap: Bootstrap, number: int, rows: int, weight: Floats | None) -> Bag:
    from sklearn.ensemble._forest import _generate_sample_indices

    if bootstrap.draws > 64 * rows + 64:
        raise DecodeError(f"The model field 'bootstrap.draws' is {bootstrap.draws}. For {rows} "
                          f"rows it must be at most {64 * rows + 64}.")
    drawn = _generate_sample_indices(bootstrap.seeds[number], rows, bootstrap.draws, weight)
    times = np.bincount(drawn, minlength=rows)
    kept = np.flatnonzero(times)
    return Bag(kept, times[kept].astype(np.float64))


def _forest_weights(bootstrap: Bootstrap | None, rows: Rows) -> Floats | None:
    """Return sample weights times class weights, as they entered the draw."""
    if bootstrap is None or bootstrap.class_weight is None:
        return rows.weight
    from sklearn.utils.class_weight import compute_class_weight, compute_sample_weight

    y = rows.labels("class weights entered the forest's draw of rows")
    wanted = bootstrap.class_weight
    if isinstance(wanted, str):
        classes = np.unique(y)
        each = compute_class_weight(wanted, classes=classes, y=y, sample_weight=rows.weight)
        weights = compute_sample_weight(dict(zip(classes.tolist(), each, strict=True)), y)
    else:
        weights = compute_sample_weight(dict(wanted), y)
    return np.asarray(weights if rows.weight is None else rows.weight * weights)


def _original_bootstrap(bootstrap: Bootstrap | None, rows: Rows) -> Bootstrap | None:
    if bootstrap is None or not isinstance(bootstrap.class_weight, tuple):
        return bootstrap
    pairs = tuple((original_label(rows.book, c), w) for c, w in bootstrap.class_weight)
    return replace(bootstrap, class_weight=pairs)
