"""Which learners find the same splits when the target is in other units.

A straight line of the target changes no split where the loss is equivariant: squared error,
absolute error and quantiles. Whatever is compared with a number that the miner chose in the
released units (a least decrease, a penalty, a slope) means another model in the original ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Params = Mapping[str, Any]
TREE_CRITERIA = ("squared_error", "friedman_mse", "absolute_error")
LOSSES: Mapping[str, tuple[str, tuple[Any, ...]]] = {
    "DecisionTree": ("criterion", TREE_CRITERIA),
    "RandomForest": ("criterion", TREE_CRITERIA),
    "ExtraTrees": ("criterion", TREE_CRITERIA),
    "GradientBoosting": ("loss", ("squared_error", "absolute_error", "huber", "quantile")),
    "HistGradientBoosting": ("loss", ("squared_error", "absolute_error", "quantile")),
    "XGB": ("objective", (None, "reg:squarederror", "reg:absoluteerror", "reg:quantileerror")),
    "XGBRF": ("objective", (None, "reg:squarederror", "reg:absoluteerror", "reg:quantileerror")),
    "LGBM": ("objective", (None, "regression", "regression_l2", "l2", "mse", "mean_squared_error",
                           "regression_l1", "l1", "mae", "mean_absolute_error", "quantile")),
}
"""The parameter that names the loss, and the losses that a straight line does not change."""
ZERO = ("ccp_alpha", "min_impurity_decrease", "gamma", "reg_alpha", "max_delta_step",
        "min_split_gain", "min_gain_to_split", "lambda_l1")
UNSET = ("base_score", "init")
NUMBER = ("the target of this release is a number in secret units: mine a regression, or ask the "
          "custodian for classes")


def other_units(learner: str, params: Params, target: str, rows: float) -> str:
    """Return why a learner depends on the unit of the target, or an empty text.

    `target`: "affine" or "scaled", how the release encodes it; anything else is no encoding.
    """
    if target not in ("affine", "scaled"):
        return ""
    if not learner.endswith("Regressor"):
        return NUMBER
    kind = learner.removesuffix("Regressor")
    if kind == "Bagging":
        return _inside(params.get("estimator"), target, rows)
    if kind not in LOSSES:
        return "it was not measured with a target in other units"
    return _loss(kind, params, target) or _numbers(params) or _stopping(kind, params, rows)


def _inside(tree: Any, target: str, rows: float) -> str:
    """Return the same of the trees in a bag; their files do not say their criterion."""
    inner = {} if tree is None else tree.get_params(deep=False)
    if inner.get("criterion", "squared_error") not in ("squared_error", "friedman_mse"):
        return "bags of trees with that criterion were not measured with a target in other units"
    return other_units("DecisionTreeRegressor", inner, target, rows)


def _loss(kind: str, params: Params, target: str) -> str:
    name, known = LOSSES[kind]
    value = params.get(name, known[0])
    if value in known or (target == "scaled" and value == "poisson" and name == "criterion"):
        return ""
    if value == "poisson" and name == "criterion":
        return ("criterion='poisson' needs to know where zero lies, which this release hides; "
                "encode with target='scaled', or release the target in clear by its name")
    return (f"{name}={value!r:.60} depends on the unit of the target, which this release hides; "
            "release the target in clear by its name for it")


def _numbers(params: Params) -> str:
    for name in ZERO:
        if params.get(name) not in (None, 0, 0.0):
            return f"{name}={params[name]!r:.60} is in the unit of the target, which is hidden"
    for name in UNSET:
        if params.get(name) is not None:
            return f"{name} is a target value, and the unit of the target is hidden"
    return ""


def _stopping(kind: str, params: Params, rows: float) -> str:
    stops = params.get("early_stopping")
    if kind == "HistGradientBoosting" and params.get("tol") != 0 and (
            stops is True or (stops == "auto" and rows > 10_000)):
        return ("early stopping compares losses with 'tol' in the unit of the target, which is "
                "hidden; set tol=0 or early_stopping=False")
    return ""
