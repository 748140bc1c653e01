"""Leaves of boosted models against labels, as far as a model file allows.

A boosted tree is a step down the loss: at every leaf its value has the opposite sign of the sum of
gradients there, and so has the tree as a whole. Gradients are replayed from the labels for squared
error, logistic and softmax losses. Where the sums of second derivatives that a tree states are not
those of all training rows (it saw a part of them, or weights that were not passed), only the model
as a whole is checked, and that from `MANY` rows on. A file does not say everything (learning rate
of XGBoost, constraints), so the size of single leaves is not checked: scaling the leaves of a
model goes unnoticed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats, Ints
from unspoken.errors import DecodeError
from unspoken.methods.encoding.decode.training_rows import Rows

MANY = 200
SLACK = 1e-4


@dataclass(frozen=True)
class Step:
    """One tree: its output, its round, the leaf of each row, and what it states of its leaves."""

    output: int
    round: int
    leaf: Ints
    value: Floats
    hessian: Floats | None
    """Stated sums of second derivatives; None: all training rows are known to be in the leaves."""


@dataclass(frozen=True)
class Descent:
    """A boosted model on its training rows: where it starts, and every step that it takes."""

    name: str
    loss: str
    start: Floats
    steps: tuple[Step, ...]
    stepwise: bool
    by_leaf: bool
    factor: float = 1.0


def check_descent(descent: Descent, rows: Rows, positive: float = 1.0) -> None:
    """Refuse a model that goes up the loss of the training rows, naming the tree."""
    target = _targets(rows.y, descent.loss, descent.start.size)
    if target is None:
        return
    weight = np.ones(rows.count) if rows.weight is None else rows.weight
    if descent.loss == "logistic" and positive != 1.0:
        weight = np.where(target[:, 0] == 1.0, weight * positive, weight)
    sums = np.tile(descent.start.astype(np.float64), (rows.count, 1))
    first, _ = _gradients(descent, sums, target, weight)
    before, number = sums.copy(), 0
    for number, step in enumerate(descent.steps):
        if number == 0 or step.round != descent.steps[number - 1].round:
            gradient, curve = _gradients(descent, sums, target, weight)
        if descent.stepwise:
            _check_step(descent, number, gradient[:, step.output], curve[:, step.output])
        sums[:, step.output] += step.value[step.leaf]
    _check_whole(descent, first, sums - before)


def _targets(y: npt.NDArray[Any] | None, loss: str, outputs: int) -> Floats | None:
    """Return labels as numbers, one column per output; None if the loss cannot use them."""
    if y is None or (loss != "softmax" and outputs != 1):
        return None
    if loss == "squared":
        return y.astype(np.float64)[:, None] if y.dtype.kind in "iufb" else None
    classes = sorted(set(y.tolist()), key=lambda label: (isinstance(label, str), label))
    if loss == "logistic":
        if y.dtype.kind in "iufb" and y.min() >= 0 and y.max() <= 1:
            return y.astype(np.float64)[:, None]
        return None if len(classes) != 2 else (y == classes[1]).astype(np.float64)[:, None]
    if len(classes) > outputs:
        return None
    if len(classes) < outputs:
        whole = y.dtype.kind in "iu" and y.min() >= 0 and y.max() < outputs
        return np.eye(outputs)[y] if whole else None
    places = {label: place for place, label in enumerate(classes)}
    return np.eye(outputs)[[places[label] for label in y.tolist()]]


def _gradients(
    descent: Descent, sums: Floats, target: Floats, weight: Floats
) -> tuple[Floats, Floats]:
    if descent.loss == "squared":
        return (sums - target) * weight[:, None], np.tile(weight[:, None], (1, sums.shape[1]))
    if descent.loss == "logistic":
        chance = 1.0 / (1.0 + np.exp(-np.clip(descent.factor * sums, -500, 500)))
        scale = descent.factor * weight[:, None]
        return (chance - target) * scale, chance * (1 - chance) * scale * descent.factor
    shifted = np.exp(sums - sums.max(axis=1, keepdims=True))
    chance = shifted / shifted.sum(axis=1, keepdims=True)
    return ((chance - target) * weight[:, None],
            descent.factor * chance * (1 - chance) * weight[:, None])


def _check_step(descent: Descent, number: int, gradient: Floats, curve: Floats) -> None:
    step = descent.steps[number]
    size = step.value.size
    slope = np.bincount(step.leaf, gradient, size)[:size]
    bend = np.bincount(step.leaf, curve, size)[:size]
    if step.hessian is not None and (
            step.hessian.size != size
            or not np.allclose(bend, step.hessian, rtol=1e-3, atol=1e-3)):
        return
    rise = step.value * slope
    noise = SLACK * np.bincount(step.leaf, np.abs(gradient), size)[:size]
    if rise.sum() > float((np.abs(step.value) * noise).sum()):
        raise _ascends(f"{descent.name} tree {number}", "its leaves")
    worst = int(rise.argmax()) if size else 0
    if descent.by_leaf and size and slope[worst] * np.sign(step.value[worst]) > noise[worst]:
        raise _ascends(f"{descent.name} tree {number}", f"leaf {worst}")


def _check_whole(descent: Descent, gradient: Floats, change: Floats) -> None:
    rise = gradient * change
    if rise.shape[0] >= MANY and rise.sum() > SLACK * float(np.abs(rise).sum()):
        raise _ascends(f"{descent.name} model", "its leaves")


def _ascends(where: str, what: str) -> DecodeError:
    return DecodeError(
        f"{where}: {what} lead away from the labels of the training rows, where every learner "
        "leads towards them. The model was changed, or not mined from exactly these rows of this "
        "release. Pass the training data, weights and labels the miner's learner used."
    )
