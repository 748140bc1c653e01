"""Every parameter of every covered learner, and the values under which the promise was measured.

The lists are closed, for scikit-learn 1.9, XGBoost 3.2 and LightGBM 4.7: a parameter that is not
here, because it is new or was passed on to the library, means no.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Allowed:
    """Which values of a parameter are covered, and why the others are not."""

    admits: Callable[[Any], bool]
    why: str = "is not a value that was measured"


def _any(_: Any) -> bool:
    return True


def _number(value: Any) -> bool:
    return value is None or (isinstance(value, numbers.Real) and math.isfinite(float(value)))


def _one_of(*values: Any) -> Callable[[Any], bool]:
    return lambda value: any(value is each or (type(value) is type(each) and value == each)
                             for each in values)


def _text_or(*others: Any) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) or _one_of(*others)(value)


def _nan(value: Any) -> bool:
    return value is None or (isinstance(value, numbers.Real) and math.isnan(float(value)))


def _weights(value: Any) -> bool:
    if not isinstance(value, Mapping):
        return value is None or isinstance(value, str)
    return all(_number(each) and each is not None and each >= 0 for each in value.values())


FREE = Allowed(_any)
"""Order alone decides, whatever the value, or a rule of its own looks at it."""
NUMBER = Allowed(_number, "must be a number")
NO = Allowed(_one_of(None, False), "was not measured; leave it out")
COLD = Allowed(_one_of(False), "goes on from an earlier model, which may have seen other data")
WEIGHTS = Allowed(_weights, "must be a name of the library's own, or give every class a number "
                            "that is not negative")
LOSS = Allowed(_text_or(None), "must be one of the library's own, by its name")

_TREE: Mapping[str, Allowed] = {
    "ccp_alpha": NUMBER, "criterion": LOSS, "max_depth": NUMBER, "max_features": FREE,
    "max_leaf_nodes": NUMBER, "min_impurity_decrease": NUMBER, "min_samples_leaf": NUMBER,
    "min_samples_split": NUMBER, "min_weight_fraction_leaf": NUMBER, "monotonic_cst": FREE,
    "random_state": FREE, "splitter": FREE, "class_weight": WEIGHTS,
}
_FOREST: Mapping[str, Allowed] = {
    **{name: rule for name, rule in _TREE.items() if name != "splitter"}, "bootstrap": FREE,
    "max_samples": NUMBER, "n_estimators": NUMBER, "n_jobs": FREE,
    "oob_score": Allowed(_one_of(True, False), "must be True or False"), "verbose": FREE,
    "warm_start": COLD,
}
_GRADIENT: Mapping[str, Allowed] = {
    **{name: rule for name, rule in _TREE.items()
       if name not in ("splitter", "class_weight", "monotonic_cst")},
    "alpha": NUMBER, "init": FREE, "learning_rate": NUMBER, "loss": LOSS, "n_estimators": NUMBER,
    "n_iter_no_change": FREE, "subsample": FREE, "tol": NUMBER, "validation_fraction": NUMBER,
    "verbose": FREE, "warm_start": COLD,
}
_HISTOGRAM: Mapping[str, Allowed] = {
    "categorical_features": FREE, "class_weight": WEIGHTS, "early_stopping": FREE,
    "interaction_cst": FREE, "l2_regularization": NUMBER, "learning_rate": NUMBER, "loss": LOSS,
    "max_bins": NUMBER, "max_depth": NUMBER, "max_features": NUMBER, "max_iter": NUMBER,
    "max_leaf_nodes": NUMBER, "min_samples_leaf": NUMBER, "monotonic_cst": FREE,
    "n_iter_no_change": NUMBER, "quantile": NUMBER, "random_state": FREE, "scoring": LOSS,
    "tol": NUMBER, "validation_fraction": FREE, "verbose": FREE, "warm_start": COLD,
}
STOPPED = Allowed(
    lambda value: value is None or value is False or value == 0,
    "stops by an evaluation set, of which the recipe says nothing; let mining stop it (stop, or "
    "--stop-after on the command line), which records those rows, or use HistGradientBoosting, "
    "whose early stopping is replayed")
_XGBOOST: Mapping[str, Allowed] = {
    "objective": LOSS, "base_score": NUMBER, "booster": FREE, "callbacks": NO,
    "colsample_bylevel": NUMBER, "colsample_bynode": NUMBER, "colsample_bytree": NUMBER,
    "device": FREE,
    "early_stopping_rounds": STOPPED,
    "enable_categorical": FREE,
    "eval_metric": FREE,
    "feature_types": FREE,
    "feature_weights": FREE, "gamma": NUMBER, "grow_policy": LOSS, "importance_type": FREE,
    "interaction_constraints": FREE, "learning_rate": NUMBER, "max_bin": NUMBER,
    "max_cat_threshold": FREE, "max_cat_to_onehot": FREE, "max_delta_step": NUMBER,
    "max_depth": NUMBER, "max_leaves": NUMBER, "min_child_weight": NUMBER,
    "missing": Allowed(_nan, "makes a value missing that the codes hold under another number; "
                             "leave it NaN"),
    "monotone_constraints": FREE, "multi_strategy": FREE, "n_estimators": NUMBER, "n_jobs": FREE,
    "num_parallel_tree": NUMBER, "random_state": FREE, "reg_alpha": NUMBER, "reg_lambda": NUMBER,
    "sampling_method": Allowed(_one_of(None, "uniform"), "draws rows by their gradients"),
    "scale_pos_weight": NUMBER, "subsample": NUMBER, "tree_method": FREE,
    "validate_parameters": FREE, "verbosity": FREE,
}
_LIGHTGBM: Mapping[str, Allowed] = {
    "boosting_type": Allowed(_one_of("gbdt", "dart", "goss", "rf"), "is not a value that was "
                                                                    "measured"),
    "class_weight": WEIGHTS, "colsample_bytree": NUMBER, "importance_type": FREE,
    "learning_rate": NUMBER, "max_depth": NUMBER, "min_child_samples": NUMBER,
    "min_child_weight": NUMBER, "min_split_gain": NUMBER, "n_estimators": NUMBER, "n_jobs": FREE,
    "num_leaves": NUMBER, "objective": LOSS, "random_state": FREE, "reg_alpha": NUMBER,
    "reg_lambda": NUMBER, "subsample": NUMBER, "subsample_for_bin": FREE, "subsample_freq": NUMBER,
    # Passed on to the library; those with a rule of their own first.
    "linear_tree": FREE, "forcedsplits_filename": FREE, "forcedbins_filename": FREE,
    "categorical_feature": FREE, "bin_construct_sample_cnt": FREE, "deterministic": FREE,
    "force_row_wise": FREE, "force_col_wise": FREE, "verbose": FREE, "verbosity": FREE,
    "max_bin": NUMBER, "min_data_in_bin": NUMBER, "lambda_l1": NUMBER, "lambda_l2": NUMBER,
    "min_data_in_leaf": NUMBER, "min_sum_hessian_in_leaf": NUMBER, "min_gain_to_split": NUMBER,
    "feature_fraction": NUMBER, "feature_fraction_bynode": NUMBER, "bagging_fraction": NUMBER,
    "bagging_freq": NUMBER, "max_delta_step": NUMBER, "path_smooth": NUMBER, "use_missing": FREE,
    "zero_as_missing": FREE, "data_sample_strategy": LOSS, "top_rate": NUMBER,
    "other_rate": NUMBER, "extra_trees": FREE, "cat_smooth": NUMBER, "cat_l2": NUMBER,
    "max_cat_threshold": NUMBER, "max_cat_to_onehot": NUMBER, "min_data_per_group": NUMBER,
    **dict.fromkeys(("early_stopping_round", "early_stopping_rounds", "early_stopping",
                     "n_iter_no_change"), STOPPED),
}
_VOTES: Mapping[str, Allowed] = {
    "estimator": FREE, "learning_rate": NUMBER, "n_estimators": NUMBER, "random_state": FREE,
}
_BAGGING: Mapping[str, Allowed] = {
    "bootstrap": Allowed(_one_of(True, False), "must be True or False"),
    "bootstrap_features": FREE, "estimator": FREE, "max_features": NUMBER, "max_samples": NUMBER,
    "n_estimators": NUMBER, "n_jobs": FREE,
    "oob_score": Allowed(_one_of(False), "scores rows outside the bag, which may lie between two "
                                         "values"),
    "random_state": FREE, "verbose": FREE, "warm_start": COLD,
}
_C45: Mapping[str, Allowed] = {
    "categories": FREE, "confidence": NUMBER, "min_records": NUMBER, "prune": FREE,
    "raise_branches": FREE, "threshold": FREE,
}
_BY_NAME: Mapping[str, Mapping[str, Allowed]] = {
    "DecisionTree": _TREE, "RandomForest": _FOREST, "GradientBoosting": _GRADIENT,
    "HistGradientBoosting": _HISTOGRAM, "XGB": _XGBOOST, "XGBRF": _XGBOOST, "LGBM": _LIGHTGBM,
    "AdaBoost": _VOTES, "Bagging": _BAGGING, "C45": _C45,
}


def outside(learner: str, params: Mapping[str, Any]) -> str:
    """Return why a learner's parameters are not all of the closed list, or an empty text."""
    kind = learner.removesuffix("Classifier").removesuffix("Regressor")
    table = _BY_NAME.get(kind, {})
    for name, value in params.items():
        if name not in table:
            return (f"its parameter '{name}' is not among those that were measured "
                    "(scikit-learn 1.9, XGBoost 3.2, LightGBM 4.7)")
        if not table[name].admits(value):
            return f"{name}={value!r:.60} {table[name].why}"
    return ""
