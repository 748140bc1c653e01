"""Leaves of a LightGBM model against the training rows: their counts, and where they lead.

The text says how the trees were grown, so that more can be checked than for XGBoost: every leaf's
number of rows where no rows were left out, and every leaf's direction where nothing but its rows
decided it.
"""

from __future__ import annotations

import numpy as np

from unspoken.arrays import Floats
from unspoken.methods.encoding.decode.boosted_leaves import Descent, Step, check_descent
from unspoken.methods.encoding.decode.leaf_walks import ask_lightgbm, leaves_in, lightgbm_leaf
from unspoken.methods.encoding.decode.training_rows import Rows
from unspoken.models.readers.lightgbm_text import LightGBMModel

LOSSES = {"regression": "squared", "binary": "logistic", "multiclass": "softmax"}
PLAIN = {"boosting": "gbdt", "data_sample_strategy": "bagging"}
WHOLE = {"bagging_fraction": 1.0, "pos_bagging_fraction": 1.0, "neg_bagging_fraction": 1.0}
FREE = {"path_smooth": 0.0, "max_delta_step": 0.0, "use_quantized_grad": 0.0,
        "lambda_l1": 0.0, "extra_trees": 0.0}


def check_lightgbm_leaves(model: LightGBMModel, rows: Rows) -> None:
    """Refuse a model whose leaves are not those of the training rows."""
    plain = _has(model, PLAIN, WHOLE)
    loss = LOSSES.get(model.objective, "")
    start = None if not loss or model.core.goal.squared else _start(model, rows, loss)
    if start is None or model.core.averaged:
        loss, start = "", np.zeros(model.core.classes)
    classes = model.core.classes
    steps = tuple(
        Step(n % classes, n // classes,
             tree.leaf_value - (start[n % classes] if n < classes else 0.0), tree.leaf_weight,
             tree.leaf_count if plain and tree.shape is not None else None)
        for n, tree in enumerate(model.trees))
    by_leaf = plain and model.core.monotone is None and _has(model, {}, FREE)
    factor = model.core.goal.sigmoid if loss == "logistic" else classes / max(classes - 1, 1)
    check_descent(Descent("LightGBM", loss, start, steps, plain, by_leaf, factor), rows,
                  leaves_in(model.trees, rows, ask_lightgbm, lightgbm_leaf))


def _has(model: LightGBMModel, words: dict[str, str], numbers: dict[str, float]) -> bool:
    parameters = model.parameters
    return (all(parameters.get(name, word) == word for name, word in words.items())
            and all(float(parameters.get(name) or value) == value
                    for name, value in numbers.items()))


def _start(model: LightGBMModel, rows: Rows, loss: str) -> Floats | None:
    """Return where training started: the first trees hold it; None if that is not known."""
    first = model.trees[: model.core.classes]
    if rows.y is None or len(first) < model.core.classes:
        return None
    if float(model.parameters.get("boost_from_average") or 1.0) == 0.0:
        return np.zeros(model.core.classes)
    return _average(model, rows, loss)


def _average(model: LightGBMModel, rows: Rows, loss: str) -> Floats | None:
    y, weight = rows.y, rows.weights_of(np.arange(rows.count))
    if y is None or weight.sum() <= 0 or _unbalanced(model):
        return None
    if loss == "squared":
        return np.array([np.average(y.astype(np.float64), weights=weight)]) \
            if y.dtype.kind in "iufb" else None
    labels = sorted(set(y.tolist()), key=lambda label: (isinstance(label, str), label))
    shares = np.array([weight[y == label].sum() for label in labels]) / weight.sum()
    if loss == "logistic":
        return np.array([np.log(shares[1] / shares[0]) / model.core.goal.sigmoid]) \
            if len(labels) == 2 and shares.min() > 0 else None
    return np.log(np.maximum(shares, 1e-15)) if len(labels) == model.core.classes else None


def _unbalanced(model: LightGBMModel) -> bool:
    return not _has(model, {}, {"is_unbalance": 0.0, "scale_pos_weight": 1.0})
