"""Decoding scikit-learn's GradientBoosting: replay, stage by stage.

Each tree is fitted on the rows of its stage; with subsampling or a hold-out these are drawn again
from the seed, as scikit-learn draws them. Rows outside a draw are predicted during training. Where
one of them falls between the two values beside a threshold and goes to another side in originals
than in codes, training on the original goes on differently; the custodian, who has the originals
and the parameters, then fits the stages that follow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unspoken.arrays import Bools, Ints
from unspoken.errors import DecodeError
from unspoken.methods.encoding.decode.sklearn_replay import (
    check_model,
    decoded_tree,
    inner_trees,
    rebuilt,
    restore_names,
)
from unspoken.methods.encoding.decode.training_rows import Rows
from unspoken.methods.encoding.decode.tree_bags import Bag
from unspoken.methods.encoding.decode.tree_threads import tree_by_tree
from unspoken.methods.encoding.learner_rules import MOST_ROUNDS

RAND_R_MAX = 2147483647
"""scikit-learn's splitter draws one number below this from the stage's generator."""


def decode_boosting(model: Any, rows: Rows) -> Any:
    """Decode GradientBoosting; stages that only the original has are fitted to it."""
    check_model(model, rows)
    _check_init(model)
    trees, draws = inner_trees(model), draws_of(model, rows)

    def one(number: int) -> tuple[Any, Moved]:
        tree, draw = trees[number], draws[number]
        where = f"stage {number // model.n_trees_per_iteration_}, tree {number}"
        new = decoded_tree(tree, rows, Bag(draw.bag, rows.weights_of(draw.bag)), where,
                           labels=False)
        whole = draw.bag.size == rows.count
        return new, Moved(-1, False) if whole else _moved(tree, new, rows, draw)

    decoded = tree_by_tree(one, len(trees), rows)
    new = rebuilt(model, rows.book, [tree for tree, _ in decoded])
    first = next((number for number, (_, moved) in enumerate(decoded) if moved.row >= 0), None)
    if first is not None:
        return _grown_again(model, new, rows, first, decoded[first][1].row)
    return _without_scores(new) if any(moved.any for _, moved in decoded) else new


def _grown_again(model: Any, decoded: Any, rows: Rows, tree: int, row: int) -> Any:
    """Fit the learner to the originals; up to a tree it must find what was decoded."""
    from sklearn.base import clone

    stage = tree // model.n_trees_per_iteration_
    if not rows.book.increasing or model.n_estimators > MOST_ROUNDS:
        raise DecodeError(
            f"stage {stage}, tree {tree}: row {row} (in released order), which was not in the bag, "
            "lies between the two values beside a threshold and goes to another side in codes than "
            "in originals, so training on the original would have gone on differently. Mine "
            f"without subsampling and hold-out, or at most {MOST_ROUNDS} stages in mode 'strict'.")
    y = rows.labels("later stages are fitted to the original")
    if hasattr(model, "classes_"):
        y = np.asarray(model.classes_)[rows.numbers_of(tuple(model.classes_.tolist()))]
    again = clone(model).set_params(
        random_state=_seed(model, "subsample"), warm_start=False, verbose=0)
    again.fit(rows.narrow_values, y, sample_weight=rows.weight)
    known = (stage + 1) * model.n_trees_per_iteration_
    pairs = zip(inner_trees(decoded)[:known], inner_trees(again)[:known], strict=False)
    if len(inner_trees(again)) < known or not all(_same(a, b) for a, b in pairs):
        raise DecodeError("Gradient boosting: its first stages are not those that its training "
                          "rows and parameters give. The model was not mined from exactly these "
                          "rows of this release with these parameters.")
    if hasattr(model, "feature_names_in_"):
        again.feature_names_in_ = model.feature_names_in_
    return restore_names(again, rows.book)


def _same(first: Any, second: Any) -> bool:
    """Return True if two of scikit-learn's inner trees are equal to the last bit."""
    names = ("children_left", "children_right", "feature", "threshold", "value")
    return first.node_count == second.node_count and all(
        np.array_equal(getattr(first, name), getattr(second, name)) for name in names)


def _without_scores(model: Any) -> Any:
    """Leave out scores of rows outside the bags: some fall elsewhere in originals than in codes."""
    for name in ("oob_improvement_", "oob_scores_", "oob_score_"):
        if hasattr(model, name):
            delattr(model, name)
    return model


def _check_init(model: Any) -> None:
    name = type(model.init_).__name__
    if model.init_ != "zero" and not name.startswith("Dummy"):
        raise DecodeError("Gradient boosting is decoded with 'init' None, 'zero' or a dummy only. "
                          f"Got {name}. Another first model has seen the codes.")


@dataclass(frozen=True)
class Draw:
    """The rows that one tree learned from, and which rows are looked at after it."""

    bag: Ints
    later: Bools


def draws_of(model: Any, rows: Rows) -> list[Draw]:
    """Return the rows behind each tree, drawn again as scikit-learn draws them."""
    train = _training_part(model, rows)
    held_out = np.ones(rows.count, np.bool_)
    held_out[train] = False
    weight = np.ones(rows.count) if rows.weight is None else rows.weight
    later, draws = held_out, []
    for drawn in reversed(_drawn(model, train)):
        bag = drawn[weight[drawn] != 0]
        draws += [Draw(bag, later)] * model.n_trees_per_iteration_
        if not later[drawn].all():
            later = later.copy()
            later[drawn] = True
    return draws[::-1]


def _drawn(model: Any, train: Ints) -> list[Ints]:
    """Return the rows that each stage draws."""
    if model.subsample >= 1.0:
        return [train] * len(model.estimators_)
    from sklearn.ensemble._gradient_boosting import _random_sample_mask

    stream = np.random.RandomState(_seed(model, "subsample"))
    count, stages = max(1, int(model.subsample * train.size)), []
    for _ in range(len(model.estimators_)):
        mask = np.asarray(_random_sample_mask(train.size, count, stream), dtype=bool)
        stages.append(train[mask])
        for _ in range(model.n_trees_per_iteration_):
            stream.randint(0, RAND_R_MAX)
    return stages


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
    raise DecodeError(f"Gradient boosting with '{why}' needs a whole number as 'random_state'. Got "
                      f"{seed!r}. The rows it drew cannot be drawn again.")


@dataclass(frozen=True)
class Moved:
    """Rows that originals send elsewhere than codes: the first that training looks at, and any."""

    row: int
    any: bool


def _moved(mined: Any, decoded: Any, rows: Rows, draw: Draw) -> Moved:
    before, after = mined.apply(rows.narrow), decoded.apply(rows.narrow_values)
    looked_at = np.flatnonzero((before != after) & draw.later)
    return Moved(int(looked_at[0]) if looked_at.size else -1, bool(np.any(before != after)))
