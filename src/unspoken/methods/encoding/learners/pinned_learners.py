"""The learners a miner can name, built with what has to be pinned for an identical model.

Defaults differ from the libraries' only where the result would depend on chance or on the number
of cores: `random_state` is 0, and the boosting libraries run on one thread.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from unspoken.errors import InputError, MissingExtraError, explain

LEARNERS = ("tree", "forest", "xgboost", "lightgbm", "gradient", "histogram", "adaboost",
            "bagging", "c45")
TASKS = ("classification", "regression")
_HOMES = {
    "tree": ("sklearn.tree", "DecisionTree{}", "scikit-learn"),
    "forest": ("sklearn.ensemble", "RandomForest{}", "scikit-learn"),
    "xgboost": ("xgboost", "XGB{}", "xgboost-cpu"),
    "lightgbm": ("lightgbm", "LGBM{}", "lightgbm"),
    "gradient": ("sklearn.ensemble", "GradientBoosting{}", "scikit-learn"),
    "histogram": ("sklearn.ensemble", "HistGradientBoosting{}", "scikit-learn"),
    "adaboost": ("sklearn.ensemble", "AdaBoost{}", "scikit-learn"),
    "bagging": ("sklearn.ensemble", "Bagging{}", "scikit-learn"),
    "c45": ("unspoken.methods.encoding.learners.c45_classifier", "C45{}", "unspoken"),
}
_PINNED: Mapping[str, Mapping[str, Any]] = {
    "tree": {"random_state": 0},
    "forest": {"random_state": 0},
    "xgboost": {"random_state": 0, "n_jobs": 1},
    "lightgbm": {"random_state": 0, "n_jobs": 1, "deterministic": True, "force_row_wise": True,
                 "verbose": -1},
    **{name: {"random_state": 0} for name in ("gradient", "histogram", "adaboost", "bagging")},
    "c45": {},
}
_DEPTHS: Mapping[str, Mapping[str, Any]] = {"adaboost": {"max_depth": 1}, "bagging": {}}
"""Learners over trees of their own, and the parameters of those trees unless others are given."""
INSIDE = "estimator__"

_MORE: Mapping[str, tuple[str, ...]] = {
    # LightGBM takes any name; some of them read files or open connections, and a recipe comes
    # from outside. These only shape the trees.
    "lightgbm": ("deterministic", "force_row_wise", "force_col_wise", "verbose", "max_bin",
                 "min_data_in_bin", "bin_construct_sample_cnt", "lambda_l1", "lambda_l2",
                 "min_data_in_leaf", "min_sum_hessian_in_leaf", "min_gain_to_split",
                 "feature_fraction", "feature_fraction_bynode", "bagging_fraction",
                 "bagging_freq", "max_delta_step", "path_smooth", "use_missing",
                 "zero_as_missing", "data_sample_strategy", "top_rate", "other_rate",
                 "cat_smooth", "cat_l2", "max_cat_threshold", "max_cat_to_onehot",
                 "min_data_per_group"),
}


def build(learner: str, task: str, params: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return an unfitted estimator and the parameters that were set."""
    for what, got, known in (("learner", learner, LEARNERS), ("task", task, TASKS)):
        if got not in known:
            raise InputError(explain(f"The {what}", "one of " + ", ".join(known), got))
    kind = _class_of(learner, task)
    wanted = {**_PINNED[learner], **params}
    if wanted.get("random_state", 0) is None:
        raise InputError("'random_state' must be a whole number. Got None. Without one the model "
                         "cannot be compared with that of the original.")
    inside = {name: value for name, value in wanted.items() if name.startswith(INSIDE)}
    plain = {name: value for name, value in wanted.items() if name not in inside}
    _check_names(kind, plain, _MORE.get(learner, ()))
    if inside:
        plain["estimator"] = _inner(learner, task, inside)
    return kind(**plain), wanted


def _inner(learner: str, task: str, params: Mapping[str, Any]) -> Any:
    """Return the tree that a learner grows many of, with parameters like estimator__max_depth."""
    if learner not in _DEPTHS:
        raise InputError(f"The learner '{learner}' has no parameters that start with {INSIDE}. "
                         f"{' and '.join(_DEPTHS)} have.")
    kind = _class_of("tree", task)
    wanted = {name.removeprefix(INSIDE): value for name, value in params.items()}
    _check_names(kind, wanted, ())
    return kind(**{**_DEPTHS[learner], **wanted})


def _class_of(learner: str, task: str) -> Any:
    module, name, package = _HOMES[learner]
    if learner == "c45" and task != "classification":
        raise InputError("C4.5 predicts classes. Use the learner 'tree' for a numeric target.")
    try:
        home = importlib.import_module(module)
    except ImportError:
        raise MissingExtraError(
            f"The learner '{learner}' needs {package}, which is not installed. "
            f"Install it: pip install {package}"
        ) from None
    suffix = "Classifier" if task == "classification" else "Regressor"
    return getattr(home, name.format(suffix))


def _check_names(kind: Any, params: Mapping[str, Any], more: tuple[str, ...]) -> None:
    known = {*kind().get_params(), *more} - {"estimator", "categories"}
    strange = sorted(set(params) - known)
    if strange:
        raise InputError(f"{kind.__name__} has no parameter {', '.join(strange)}. Parameters: "
                         f"{', '.join(sorted(known))}.")


def versions(learner: str) -> dict[str, str]:
    """Return the version of the library that mines."""
    module = importlib.import_module(_HOMES[learner][0].split(".")[0])
    return {_HOMES[learner][2]: str(module.__version__)}
