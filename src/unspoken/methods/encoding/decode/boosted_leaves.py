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

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats, Ints
from unspoken.errors import DecodeError
from unspoken.methods.encoding.decode.node_replay import foreign
from unspoken.methods.encoding.decode.training_rows import Rows
from unspoken.methods.encoding.decode.tree_threads import side_by_side

MANY = 200
SLACK = 1e-4
CHANCE = 3.0
"""Standard deviations by which trees on a part of the rows may miss the others."""
BATCH = 32_768
"""Rows are taken in parts whose sums stay in the processor's cache."""

Leaves = Callable[[int, int], Iterable[Ints]]
"""Returns, for the rows from one place up to another, the leaf of each in every tree."""


@dataclass(frozen=True)
class Step:
    """One tree: its output, its round, and what it states of its leaves."""

    output: int
    round: int
    value: Floats
    hessian: Floats | None
    """Stated sums of second derivatives; None: all training rows are known to be in the leaves."""
    count: Ints | None = None
    """Stated numbers of rows, where they are those of all training rows."""


@dataclass(frozen=True)
class Descent:
    """A boosted model on its training rows: where it starts, and every step that it takes.

    Without a loss only the numbers of rows are compared.
    """

    name: str
    loss: str
    start: Floats
    steps: tuple[Step, ...]
    stepwise: bool
    by_leaf: bool
    factor: float = 1.0


def batches(rows: int) -> Iterable[tuple[int, int]]:
    """Yield where each part of the rows begins and ends."""
    return ((first, min(first + BATCH, rows)) for first in range(0, rows, BATCH))


def check_descent(descent: Descent, rows: Rows, leaves: Leaves, positive: float = 1.0) -> None:
    """Refuse a model that goes up the loss of the training rows, naming the tree."""
    target = _targets(rows.y, descent.loss, descent.start.size)
    if target is None:
        if all(step.count is None for step in descent.steps):
            return
        descent, target = replace(descent, loss="", stepwise=False), np.zeros((rows.count, 1))
    weight = np.ones(rows.count) if rows.weight is None else rows.weight
    if descent.loss == "logistic" and positive != 1.0:
        weight = np.where(target[:, 0] == 1.0, weight * positive, weight)

    def part(span: tuple[int, int], noisy: bool) -> _Sums:
        sums, (first, last) = _Sums(descent, noisy), span
        sums.add(leaves(first, last), target[first:last], weight[first:last])
        return sums

    def summed(noisy: bool) -> _Sums:
        spans = list(batches(rows.count))
        return reduce(_Sums.plus, side_by_side(lambda span: part(span, noisy), spans))

    sums = summed(noisy=False)
    sums.check_counts()
    if sums.suspicious():
        # Only now the rounding of the sums matters, and is summed up too.
        sums = summed(noisy=True)
        for number in range(len(descent.steps)):
            sums.check_step(number)
    sums.check_whole(rows.count)


class _Sums:
    """Gradients and second derivatives of all rows, summed up leaf by leaf."""

    def __init__(self, descent: Descent, noisy: bool) -> None:
        self.descent = descent
        self.noisy = noisy
        sizes = [step.value.size for step in descent.steps]
        self.slope, self.bend, self.size = ([np.zeros(size) for size in sizes] for _ in range(3))
        self.count = [np.zeros(size, np.int64) for size in sizes]
        self.rise = self.all = self.squares = 0.0

    def add(self, leaves: Iterable[Ints], target: Floats, weight: Floats) -> None:
        """Add some rows."""
        descent = self.descent
        if not descent.loss:
            self._add_counts(leaves)
            return
        before = np.tile(descent.start.astype(np.float64), (weight.size, 1))
        sums, last = before.copy(), -1
        first, _ = gradient, curve = _gradients(descent, sums, target, weight)
        for number, (step, leaf) in enumerate(zip(descent.steps, leaves, strict=True)):
            if number and step.round != last:
                gradient, curve = _gradients(descent, sums, target, weight)
            last = step.round
            if step.count is not None:
                self.count[number] += np.bincount(leaf, minlength=step.value.size)
            if descent.stepwise:
                self._add_step(number, leaf, gradient[:, step.output], curve[:, step.output])
            sums[:, step.output] += step.value[leaf]
        change = first * (sums - before)
        self.rise += float(change.sum())
        self.all += float(np.abs(change).sum())
        self.squares += float((change**2).sum())

    def plus(self, other: _Sums) -> _Sums:
        """Add what was summed up over other rows."""
        for name in ("slope", "bend", "size", "count"):
            for held, more in zip(getattr(self, name), getattr(other, name), strict=True):
                held += more
        self.rise += other.rise
        self.all += other.all
        self.squares += other.squares
        return self

    def _add_counts(self, leaves: Iterable[Ints]) -> None:
        for number, leaf in enumerate(leaves):
            self.count[number] += np.bincount(leaf, minlength=self.count[number].size)

    def check_counts(self) -> None:
        """Refuse leaves that do not hold as many rows as they say."""
        for number, step in enumerate(self.descent.steps):
            if step.count is None:
                continue
            wrong = np.flatnonzero(self.count[number] != step.count)
            if wrong.size:
                raise foreign(f"{self.descent.name} tree {number}", int(wrong[0]),
                              "a leaf does not hold as many rows as it says")

    def _add_step(self, number: int, leaf: Ints, gradient: Floats, curve: Floats) -> None:
        step = self.descent.steps[number]
        size = step.value.size
        self.slope[number] += np.bincount(leaf, gradient, size)[:size]
        if step.hessian is not None:
            self.bend[number] += np.bincount(leaf, curve, size)[:size]
        if self.noisy:
            self.size[number] += np.bincount(leaf, np.abs(gradient), size)[:size]

    def suspicious(self) -> bool:
        """Return True if any tree, or any leaf where leaves are looked at, does not go down."""
        return any(self._all_rows(number) and (
            float((step.value * self.slope[number]).sum()) > 0
            or (self.descent.by_leaf and bool(np.any(step.value * self.slope[number] > 0))))
            for number, step in enumerate(self.descent.steps))

    def _all_rows(self, number: int) -> bool:
        """Return True if the leaves of a tree were summed up over these rows, as far as it says."""
        stated, bend = self.descent.steps[number].hessian, self.bend[number]
        return stated is None or (stated.size == bend.size and bool(
            np.allclose(bend, stated, rtol=1e-3, atol=1e-3)))

    def check_step(self, number: int) -> None:
        """Refuse a tree that goes up the loss, by more than the rounding of sums explains."""
        if not self._all_rows(number):
            return
        descent, step = self.descent, self.descent.steps[number]
        size, slope = step.value.size, self.slope[number]
        rise, noise = step.value * slope, SLACK * self.size[number]
        if rise.sum() > float((np.abs(step.value) * noise).sum()):
            raise _ascends(f"{descent.name} tree {number}", "its leaves")
        worst = int(rise.argmax()) if size else 0
        if descent.by_leaf and size and slope[worst] * np.sign(step.value[worst]) > noise[worst]:
            raise _ascends(f"{descent.name} tree {number}", f"leaf {worst}")

    def check_whole(self, rows: int) -> None:
        """Refuse a model whose predictions as a whole go up the loss.

        Trees that saw a part of the rows may go up on the others by chance, but not far.
        """
        chance = 0.0 if all(map(self._all_rows, range(len(self.slope)))) else (
            CHANCE * math.sqrt(self.squares))
        if rows >= MANY and self.rise > max(SLACK * self.all, chance):
            raise _ascends(f"{self.descent.name} model", "its leaves")


def _targets(y: npt.NDArray[Any] | None, loss: str, outputs: int) -> Floats | None:
    """Return labels as numbers, one column per output; None if the loss cannot use them."""
    if not loss or y is None or (loss != "softmax" and outputs != 1):
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
        # In place: one array in the cache instead of five.
        chance = np.multiply(sums, -descent.factor)
        np.exp(np.clip(chance, -500, 500, out=chance), out=chance)
        chance += 1.0
        np.reciprocal(chance, out=chance)
        scale = descent.factor * weight[:, None]
        return (chance - target) * scale, chance * (1 - chance) * scale * descent.factor
    shifted = np.exp(sums - sums.max(axis=1, keepdims=True))
    chance = shifted / shifted.sum(axis=1, keepdims=True)
    return ((chance - target) * weight[:, None],
            descent.factor * chance * (1 - chance) * weight[:, None])


def _ascends(where: str, what: str) -> DecodeError:
    return DecodeError(
        f"{where}: {what} lead away from the labels of the training rows, where every learner "
        "leads towards them. The model was changed, or not mined from exactly these rows of this "
        "release. Pass the training data, weights and labels the miner's learner used."
    )
