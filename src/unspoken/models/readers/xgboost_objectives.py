"""XGBoost's objectives: a closed list, each with the parameters it may have and its prediction.

What is not listed is refused. Ranking and interval objectives are left out on purpose: no release
promises anything for them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unspoken.models.hostile_json import Fields, refuse
from unspoken.models.written_numbers import number_list

Margins = npt.NDArray[np.float32]

_LOSS = ("reg_loss_param", "scale_pos_weight")
PARAMETERS: Mapping[str, tuple[str, str] | None] = {
    "reg:squarederror": _LOSS, "reg:squaredlogerror": None, "reg:logistic": _LOSS,
    "reg:pseudohubererror": ("pseudo_huber_param", "huber_slope"), "reg:absoluteerror": None,
    "reg:quantileerror": ("quantile_loss_param", "quantile_alpha"), "reg:gamma": _LOSS,
    "reg:tweedie": ("tweedie_regression_param", "tweedie_variance_power"),
    "count:poisson": ("poisson_regression_param", "max_delta_step"),
    "binary:logistic": _LOSS, "binary:logitraw": _LOSS, "binary:hinge": None,
    "multi:softmax": ("softmax_multiclass_param", "num_class"),
    "multi:softprob": ("softmax_multiclass_param", "num_class"), "survival:cox": None,
}
RANGES: Mapping[str, tuple[float, float]] = {
    "scale_pos_weight": (0.0, 1e38), "huber_slope": (1e-30, 1e38), "quantile_alpha": (0.0, 1.0),
    "tweedie_variance_power": (1.0, 1.999999), "max_delta_step": (0.0, 1e38),
}
SMALLEST = float(np.finfo(np.float32).tiny)
LOGISTIC = ("reg:logistic", "binary:logistic")
LOGARITHMIC = ("reg:gamma", "reg:tweedie", "count:poisson", "survival:cox")


CLASSES = ("binary:logistic", "binary:logitraw", "binary:hinge", "multi:softmax",
           "multi:softprob")
"""Objectives that predict classes."""


@dataclass(frozen=True)
class Objective:
    """A known objective and the text of its one parameter, if it has one."""

    name: str
    parameter: str | None = None


def read_objective(fields: Fields, classes: int) -> Objective:
    """Check the objective against the closed list."""
    name = fields.text("name")
    if name not in PARAMETERS:
        refuse(fields.at("name"), "one of " + ", ".join(PARAMETERS), name[:40])
    if name.startswith("multi:") != (classes > 0):
        refuse("learner.learner_model_param.num_class", "above 0 for a multi: objective only",
               str(classes))
    known = PARAMETERS[name]
    if known is None or known[0] not in fields.data:
        return Objective(name)
    group = fields.fields(known[0])
    text = group.text(known[1])
    values = number_list(text)
    low, high = (classes, classes) if known[1] == "num_class" else RANGES[known[1]]
    if values is None or values.size == 0 or values.min() < low or values.max() > high:
        refuse(group.at(known[1]), f"from {low:g} to {high:g}", text[:40])
    # XGBoost reads these as float32 and fails on what that cannot hold.
    if np.any((values != 0) & (np.abs(values) < SMALLEST)):
        refuse(group.at(known[1]), f"0, or at least {SMALLEST:g}", text[:40])
    return Objective(name, text)


def check_start(objective: Objective, base: npt.NDArray[np.float64]) -> None:
    """Refuse a start outside what the objective can predict."""
    start = base.astype(np.float32)
    low, high = (0.0, 1.0) if objective.name in LOGISTIC else (0.0, np.inf)
    if objective.name in (*LOGISTIC, *LOGARITHMIC) and np.any((start <= low) | (start >= high)):
        refuse("learner.learner_model_param.base_score", f"above {low:g} and below {high:g}",
               "another number")


def written_objective(objective: Objective) -> dict[str, object]:
    """Return the objective as XGBoost writes it."""
    known = PARAMETERS[objective.name]
    if known is None or objective.parameter is None:
        return {"name": objective.name}
    return {"name": objective.name, known[0]: {known[1]: objective.parameter}}


def start_of(objective: Objective, base: npt.NDArray[np.float64]) -> Margins:
    """Return the margin from which the trees add up."""
    start = base.astype(np.float32)
    with np.errstate(divide="ignore", invalid="ignore"):
        if objective.name in LOGISTIC:
            return np.asarray(-np.log(np.float32(1.0) / start - np.float32(1.0)), np.float32)
        if objective.name in LOGARITHMIC:
            return np.asarray(np.log(start), np.float32)
    return start


def _same(margin: Margins) -> Margins:
    return margin


def _sigmoid(margin: Margins) -> Margins:
    exponent = np.exp(np.minimum(-margin, np.float32(88.7)))
    return np.asarray(np.float32(1.0) / (exponent + np.float32(1.0)))


def _exponential(margin: Margins) -> Margins:
    return np.asarray(np.exp(margin))


def _softmax(margin: Margins) -> Margins:
    shifted = np.exp(margin - margin.max(axis=1, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=1, keepdims=True))


def _best_class(margin: Margins) -> Margins:
    return np.asarray(margin.argmax(axis=1, keepdims=True), np.float32)


def _hinge(margin: Margins) -> Margins:
    return (margin > 0).astype(np.float32)


def prediction_of(objective: Objective) -> Callable[[Margins], Margins]:
    """Return how margins become predictions."""
    if objective.name in LOGISTIC:
        return _sigmoid
    if objective.name in LOGARITHMIC:
        return _exponential
    others: Mapping[str, Callable[[Margins], Margins]] = {
        "multi:softprob": _softmax, "multi:softmax": _best_class, "binary:hinge": _hinge,
    }
    return others.get(objective.name, _same)


def class_chances(objective: Objective, margin: Margins) -> Margins:
    """Return the probability of each class, one column a class."""
    if objective.name.startswith("multi:"):
        return _softmax(margin)
    second = _hinge(margin) if objective.name == "binary:hinge" else _sigmoid(margin)
    return np.column_stack([np.float32(1.0) - second[:, 0], second[:, 0]])
