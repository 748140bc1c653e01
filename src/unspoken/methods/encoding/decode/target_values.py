"""Leaf values from the secret units of a target back into the original ones.

A prediction is a sum (a mean, for forests) of leaf values, so the way back is one straight line
over the sum: the start of a boosted model takes the shift, every leaf after it the factor alone.
Losses whose sums are logarithms have no such way back, and are refused.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.errors import DecodeError
from unspoken.methods.encoding.decode.sklearn_replay import inner_trees
from unspoken.methods.encoding.target_units import TargetUnits
from unspoken.models.estimator_trees import EstimatorTrees
from unspoken.models.forest import Forest
from unspoken.models.readers import LightGBMModel, XGBoostModel
from unspoken.models.readers.lightgbm_core import numbers_text
from unspoken.models.readers.lightgbm_tree import LeafwiseTree
from unspoken.models.readers.xgboost_tree import BoostedTree
from unspoken.models.tree import Tree

PLAIN_XGBOOST = ("reg:squarederror", "reg:absoluteerror", "reg:quantileerror",
                 "reg:pseudohubererror")
PLAIN_LIGHTGBM = ("regression", "regression_l1", "huber", "fair", "quantile", "mape")
PLAIN_HISTOGRAM = ("squared_error", "absolute_error", "quantile")


def check_number(model: Any) -> None:
    """Refuse a model that took numbers in secret units for classes."""
    classes = getattr(model, "classes_", None)
    task = getattr(model, "task", "classification" if classes is not None else "regression")
    if task == "classification":
        raise DecodeError("The target of this release is a number in secret units, and the model "
                          "took its values for classes. Mine a regression, or protect with "
                          "target='classes'.")


def in_original_units(model: Any, units: TargetUnits) -> Any:
    """Return a decoded model whose predictions are in the original unit of the target."""
    if isinstance(model, Tree):
        return _tree(model, units)
    if isinstance(model, Forest):
        return replace(model, trees=tuple(_tree(tree, units) for tree in model.trees))
    if isinstance(model, XGBoostModel):
        return _xgboost(model, units)
    if isinstance(model, LightGBMModel):
        return _lightgbm(model, units)
    if isinstance(model, EstimatorTrees):
        return _file(model, units)
    if hasattr(model, "_predictors"):
        return _histogram(model, units)
    return _boosting(model, units) if hasattr(model, "init_") else _sklearn(model, units)


def _file(model: EstimatorTrees, units: TargetUnits) -> EstimatorTrees:
    """Decode the estimator of a file, which becomes a file again; categories are put in later."""
    estimator = model.to_sklearn()
    estimator.feature_names_in_ = np.array(model.features, dtype=object)
    return type(model).from_sklearn(in_original_units(estimator, units))


def _tree(tree: Tree, units: TargetUnits) -> Tree:
    scale = units.ratio**2 if _squared(tree) else units.ratio
    return replace(tree, value=units.decode(tree.value), impurity=tree.impurity * scale)


def _squared(tree: Tree) -> bool:
    """Return True if impurities are variances: those of two parts add up to that of the whole.

    A tree does not say its criterion; mean distances from the median do not add up like this.
    """
    inner = np.flatnonzero(~tree.shape.leaves)
    value, weight = tree.value[:, 0], tree.weighted_n_samples
    parts = sum(weight[side[inner]] * (tree.impurity[side[inner]]
                                       + (value[side[inner]] - value[inner]) ** 2)
                for side in (tree.left, tree.right))
    return bool(np.allclose(parts, weight[inner] * tree.impurity[inner], rtol=1e-3,
                            atol=1e-3 * float(weight[0] * tree.impurity[0])))


def _sklearn(model: Any, units: TargetUnits) -> Any:
    """Decode the leaves of a tree, or of the trees whose mean is the prediction."""
    decoded = _rebuilt(model, units, whole=True)
    if hasattr(decoded, "oob_prediction_"):
        decoded.oob_prediction_ = units.decode(decoded.oob_prediction_)
    return decoded


def _boosting(model: Any, units: TargetUnits) -> Any:
    """Decode gradient boosting: its start takes the shift."""
    decoded = _rebuilt(model, units, whole=False)
    if not hasattr(decoded.init_, "constant_"):
        raise DecodeError("Gradient boosting that starts from zero cannot be decoded where the "
                          "target is in secret units. Mine without 'init'.")
    decoded.init_.constant_ = units.decode(decoded.init_.constant_)
    return _losses(decoded, units.ratio)


def _rebuilt(model: Any, units: TargetUnits, whole: bool) -> Any:
    """Copy an estimator with inner trees whose values are decoded, as wholes or as steps."""
    memo: dict[int, Any] = {}
    # Gradient boosting has "friedman_mse" or "squared_error" here, whatever its loss.
    median = getattr(model, "criterion", None) == "absolute_error"
    scale = units.ratio if median else units.ratio**2
    for tree in inner_trees(model):
        kind, arguments, state = tree.__reduce__()
        nodes, values = state["nodes"].copy(), state["values"]
        nodes["impurity"] *= scale
        new = kind(*arguments)
        new.__setstate__({**state, "nodes": nodes, "values": units.decode(values) if whole
                          else values * units.ratio})
        memo[id(tree)] = new
    return copy.deepcopy(model, memo)


def _histogram(model: Any, units: TargetUnits) -> Any:
    if model.loss not in PLAIN_HISTOGRAM:
        raise _logarithmic(f"loss='{model.loss}'")
    decoded = copy.deepcopy(model)
    decoded._baseline_prediction = units.decode(model._baseline_prediction)
    for predictor in (each for stage in decoded._predictors for each in stage):
        predictor.nodes["value"] *= units.ratio
        predictor.nodes["gain"] *= units.ratio**2
    return _losses(decoded, units.ratio)


def _losses(model: Any, ratio: float) -> Any:
    """Bring the losses that a model keeps of its training into the original unit."""
    scale = ratio**2 if model.loss in ("squared_error", "huber") else ratio
    for name in ("train_score_", "validation_score_"):
        if hasattr(model, name):
            setattr(model, name, np.asarray(getattr(model, name)) * scale)
    return model


def _logarithmic(what: str) -> DecodeError:
    return DecodeError(f"A model with {what} cannot be decoded where the target is in secret "
                       "units: its loss depends on the unit. Protect with clear_target, by name.")


def _xgboost(model: XGBoostModel, units: TargetUnits) -> XGBoostModel:
    core = model.core
    if core.objective.name not in PLAIN_XGBOOST:
        raise _logarithmic(f"objective '{core.objective.name}'")
    base = units.decode(core.base)
    words = ",".join(str(np.float32(each)) for each in base.tolist())
    text = f"[{words}]" if core.base_text.startswith("[") else words
    trees = tuple(_boosted(tree, units.ratio) for tree in core.trees)
    return XGBoostModel(replace(core, base=base.astype(np.float32).astype(np.float64),
                                base_text=text, trees=trees), model.limits)


def _boosted(tree: BoostedTree, ratio: float) -> BoostedTree:
    nodes = tree.all
    leaves = nodes.left < 0
    condition = np.where(leaves, _narrow(nodes.condition * ratio), nodes.condition)
    known = np.where(tree.shape.leaves, tree.condition * ratio, tree.condition)
    return replace(tree, condition=known.astype(np.float32).astype(np.float64), all=replace(
        nodes, condition=condition, base_weights=_narrow(nodes.base_weights * ratio),
        loss_changes=_narrow(nodes.loss_changes * ratio**2)))


def _narrow(numbers: Floats) -> Floats:
    """Return numbers as XGBoost writes them: the shortest decimals that float32 reads back."""
    with np.errstate(over="ignore"):
        narrow = numbers.astype(np.float32)
    if not np.all(np.isfinite(narrow)):
        raise DecodeError("XGBoost holds numbers as float32, and the target has values beyond it. "
                          "Divide the target by a power of two before protecting it.")
    return np.array([float(str(each)) for each in narrow], np.float64)


def _lightgbm(model: LightGBMModel, units: TargetUnits) -> LightGBMModel:
    core = model.core
    if core.goal.name not in PLAIN_LIGHTGBM or core.goal.squared:
        raise _logarithmic(f"objective '{core.goal.line or 'custom'}'")
    if not core.trees:
        raise DecodeError("The LightGBM model has no trees. Mine at least one.")
    trees = tuple(_leafwise(tree, units, core.averaged or number == 0)
                  for number, tree in enumerate(core.trees))
    return model.with_trees(trees)


def _leafwise(tree: LeafwiseTree, units: TargetUnits, whole: bool) -> LeafwiseTree:
    """Decode one tree; `whole` where it holds the start too."""
    def moved(numbers: Floats) -> Floats:
        return units.decode(numbers) if whole else numbers * units.ratio

    def gained(numbers: Floats) -> Floats:
        return numbers * units.ratio**2

    written = {"leaf_value": moved, "internal_value": moved, "split_gain": gained}
    lines = tuple((name, numbers_text(written[name](np.array(text.split(" "), np.float64)))
                   if name in written and text else text) for name, text in tree.lines)
    return replace(tree, leaf_value=moved(tree.leaf_value), lines=lines)
