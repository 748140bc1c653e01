"""Decoding scikit-learn's ensembles from their files.

The file is checked data, from which the library's own estimator is built; that is decoded as one in
memory would be, and becomes data again. What a file could lie about and an estimator in memory
would not, its leaves, is compared with the labels first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.errors import DecodeError
from unspoken.methods.encoding.decode.boosted_leaves import Descent, Leaves, Step, check_descent
from unspoken.methods.encoding.decode.decoder_protocol import Codebook
from unspoken.methods.encoding.decode.histogram_replay import training_weights
from unspoken.methods.encoding.decode.leaf_walks import ask_histogram, leaves_in
from unspoken.methods.encoding.decode.training_rows import Rows, check_width
from unspoken.models.bagged_trees import BaggedTrees
from unspoken.models.estimator_trees import EstimatorTrees
from unspoken.models.gradient_trees import GradientTrees
from unspoken.models.histogram_trees import HistogramTrees

Decoder = Callable[[Any, Codebook, Rows | None], Any]
_LOSSES = {"log_loss": "logistic", "squared_error": "squared"}


def decode_file(
    model: EstimatorTrees, book: Codebook, rows: Rows | None, decode: Decoder
) -> EstimatorTrees:
    """Decode an ensemble that came as a file."""
    check_width(book, len(model.features))
    if isinstance(model, BaggedTrees) and model.params["weighted"] and (
            rows is None or rows.weight is None):
        raise DecodeError("The bag was drawn with sample weights. Pass them as 'sample_weight'.")
    estimator = model.to_sklearn()
    estimator.feature_names_in_ = np.array(model.features, dtype=object)
    decoded = type(model).from_sklearn(decode(estimator, book, rows))
    if rows is not None and not rows.trusted and isinstance(model, GradientTrees | HistogramTrees):
        _check_leaves(model, estimator, rows)
    return decoded


def _check_leaves(model: Any, estimator: Any, rows: Rows) -> None:
    """Refuse leaves that lead away from the labels."""
    loss = _LOSSES.get(model.params["loss"])
    if loss is None or rows.y is None:
        return
    if loss == "logistic" and model.outputs > 1:
        loss = "softmax"
    if isinstance(model, HistogramTrees):
        rows = replace(rows, weight=training_weights(estimator, rows))
        start, values = model.start, [tree.value for tree in model.trees]
        leaves = leaves_in(model.trees, rows, ask_histogram)
    else:
        start, values, leaves = _gradient_parts(model, estimator, rows)
    steps = tuple(Step(number % model.outputs, number // model.outputs, value, None)
                  for number, value in enumerate(values))
    whole = _all_rows(model)
    # A monotonic constraint clips leaves: one alone may lead away, the tree as a whole does not.
    by_leaf = whole and not model.params.get("constrained", False)
    check_descent(Descent(model.library, loss, start, steps, whole, by_leaf), rows, leaves)


def _all_rows(model: Any) -> bool:
    """Return True if every tree was grown on all rows, so that each leaf can be checked."""
    if isinstance(model, HistogramTrees):
        return not model.params["stopped_early"]
    return model.params["subsample"] >= 1.0 and model.params["n_iter_no_change"] is None


def _gradient_parts(model: Any, estimator: Any, rows: Rows) -> tuple[Floats, list[Floats], Leaves]:
    """Return where training started, what the leaves add, and where rows end."""
    rate, inner = model.params["learning_rate"], estimator.estimators_.ravel()
    start = np.asarray(estimator._raw_predict_init(rows.narrow[:1])).ravel().astype(np.float64)

    def leaves(first: int, last: int) -> Iterator[Ints]:
        return (each.tree_.apply(rows.narrow[first:last]) for each in inner)

    return start, [tree.value[:, 0] * rate for tree in model.trees], leaves
