"""LightGBM's objectives: a closed list, with the numbers each may have and its prediction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from unspoken.arrays import Floats
from unspoken.models.hostile_json import refuse
from unspoken.models.written_numbers import real_of

NUMBERS: dict[str, tuple[str, ...]] = {
    "regression": (), "regression_l1": (), "huber": (), "fair": (), "poisson": (), "quantile": (),
    "mape": (), "gamma": (), "tweedie": (), "binary": ("sigmoid",), "cross_entropy": (),
    "cross_entropy_lambda": (), "multiclass": ("num_class",),
    "multiclassova": ("num_class", "sigmoid"), "custom": (),
}


CLASSES = ("binary", "multiclass", "multiclassova")
"""Objectives that predict classes."""


@dataclass(frozen=True)
class Goal:
    """A known objective: its name, its numbers, and the line that says so ('' if none does)."""

    name: str
    line: str
    sigmoid: float = 1.0
    squared: bool = False


def read_goal(line: str | None, classes: int) -> Goal:
    """Check the line `objective=...`; a model of a custom objective has none."""
    if line is None:
        return Goal("custom", "")
    words = line.split(" ")
    if words[0] not in NUMBERS or words[0] == "custom":
        refuse("header.objective", "one of " + ", ".join(NUMBERS), words[0][:40])
    squared = words[1:] == ["sqrt"] and words[0] == "regression"
    numbers = {} if squared else _numbers(words)
    if "num_class" in numbers and numbers["num_class"] != classes:
        refuse("header.objective", f"of {classes} classes, as num_class says", line[:40])
    return Goal(words[0], line, numbers.get("sigmoid", 1.0), squared)


def _numbers(words: list[str]) -> dict[str, float]:
    numbers = {}
    for word in words[1:]:
        name, _, text = word.partition(":")
        value = real_of(text)
        if name not in NUMBERS[words[0]] or name in numbers or value is None or value <= 0:
            refuse("header.objective", "with the numbers that LightGBM writes", word[:40])
        numbers[name] = value
    if set(numbers) != set(NUMBERS[words[0]]):
        refuse("header.objective", "with all the numbers that LightGBM writes", words[0])
    return numbers


def prediction_of(goal: Goal) -> Callable[[Floats], Floats]:
    """Return how sums of trees become predictions."""
    if goal.name in ("binary", "multiclassova"):
        return lambda sums: 1.0 / (1.0 + np.exp(-goal.sigmoid * sums))
    if goal.name == "cross_entropy":
        return lambda sums: 1.0 / (1.0 + np.exp(-sums))
    if goal.name == "cross_entropy_lambda":
        return lambda sums: np.log1p(np.exp(sums))
    if goal.name in ("poisson", "gamma", "tweedie"):
        return np.exp
    if goal.name == "multiclass":
        return _softmax
    return _squared if goal.squared else lambda sums: sums


def _softmax(sums: Floats) -> Floats:
    shifted = np.exp(sums - sums.max(axis=1, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=1, keepdims=True))


def _squared(sums: Floats) -> Floats:
    return np.asarray(np.sign(sums) * sums * sums)
