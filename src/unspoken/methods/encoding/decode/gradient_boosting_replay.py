"""Decoding scikit-learn's GradientBoosting: replay, stage by stage.

Each tree is fitted on the rows of its stage; with subsampling or a hold-out these are drawn again
from the seed, as scikit-learn draws them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from unspoken.arrays import Ints
from unspoken.errors import DecodeError
from unspoken.methods.encoding.decode.sklearn_replay import (
    check_model,
    decoded_tree,
    inner_trees,
    rebuilt,
)
from unspoken.methods.encoding.decode.training_rows import Bag, Rows

RAND_R_MAX = 2147483647
"""scikit-learn's splitter draws one number below this from the stage's generator."""


def decode_boosting(model: Any, rows: Rows) -> Any:
    """Decode GradientBoosting; with rows outside the bag, check that it is exact.

    Rows that are held out, not drawn, or of weight zero are predicted during training. If one
    of them falls between the two values beside a threshold, codes and originals may send it
    to different sides and training goes on differently; such a model is refused.
    """
    check_model(model, rows)
    _check_init(model)
    decoded = []
    for number, (tree, bag) in enumerate(zip(inner_trees(model), _bags(model, rows), strict=True)):
        where = f"stage {number // model.n_trees_per_iteration_}, tree {number}"
        new = decoded_tree(tree, rows, Bag(bag, rows.weights_of(bag)), where, labels=False)
        if bag.size < rows.count:
            _check_routes(tree, new, rows, where)
        decoded.append(new)
    return rebuilt(model, rows.book, decoded)


def _check_init(model: Any) -> None:
    name = type(model.init_).__name__
    if model.init_ != "zero" and not name.startswith("Dummy"):
        raise DecodeError("Gradient boosting is decoded with 'init' None, 'zero' or a dummy only. "
                          f"Got {name}. Another first model has seen the codes.")


def _bags(model: Any, rows: Rows) -> Iterator[Ints]:
    """Yield the in-bag rows of each tree, drawn again as scikit-learn draws them."""
    train = _training_part(model, rows)
    weight = np.ones(rows.count) if rows.weight is None else rows.weight
    if model.subsample >= 1.0:
        bag = train[weight[train] != 0]
        yield from (bag for _ in inner_trees(model))
        return
    from sklearn.ensemble._gradient_boosting import _random_sample_mask

    stream = np.random.RandomState(_seed(model, "subsample"))
    drawn = max(1, int(model.subsample * train.size))
    for _ in range(len(model.estimators_)):
        mask = np.asarray(_random_sample_mask(train.size, drawn, stream), dtype=bool)
        for _ in range(model.n_trees_per_iteration_):
            yield train[mask & (weight[train] != 0)]
            stream.randint(0, RAND_R_MAX)


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
