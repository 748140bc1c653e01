"""Which learners see nothing but the order of values, with which parameters.

Measured with scikit-learn 1.9, XGBoost 3.2 and LightGBM 4.7: a learner is listed here only if
models on codes decoded to the original bit for bit over many random tables, and a parameter is
refused where they did not. What is not listed is not covered, and neither is a parameter that
`learner_parameters` does not list.
"""

from __future__ import annotations

from typing import Any

from unspoken.methods.encoding.learner_parameters import outside
from unspoken.methods.encoding.learner_rules import (
    Known,
    Params,
    Rule,
    c45,
    gradient_boosting,
    histogram,
    lightgbm,
    outside_rows,
    sketches_draws,
    stops_early,
    tree,
    votes,
    without_leaf_minima,
    xgboost,
)
from unspoken.methods.encoding.target_units import KINDS
from unspoken.methods.encoding.unit_rules import other_units
from unspoken.release.guarantee import Verdict

_STRICT: dict[tuple[str, str], Rule] = {
    ("sklearn", "DecisionTreeClassifier"): tree,
    ("sklearn", "DecisionTreeRegressor"): tree,
    ("sklearn", "RandomForestClassifier"): tree,
    ("sklearn", "RandomForestRegressor"): tree,
    ("sklearn", "GradientBoostingClassifier"): gradient_boosting,
    ("sklearn", "GradientBoostingRegressor"): gradient_boosting,
    ("sklearn", "AdaBoostClassifier"): votes,
    ("sklearn", "BaggingClassifier"): votes,
    ("sklearn", "BaggingRegressor"): votes,
    ("sklearn", "HistGradientBoostingClassifier"): histogram,
    ("sklearn", "HistGradientBoostingRegressor"): histogram,
    ("xgboost", "XGBClassifier"): xgboost,
    ("xgboost", "XGBRegressor"): xgboost,
    ("xgboost", "XGBRFClassifier"): xgboost,
    ("xgboost", "XGBRFRegressor"): xgboost,
    ("lightgbm", "LGBMClassifier"): lightgbm,
    ("lightgbm", "LGBMRegressor"): lightgbm,
    ("unspoken", "C45Classifier"): c45,
}

_MAX_MONO: dict[tuple[str, str], Rule] = {
    ("sklearn", "DecisionTreeClassifier"): without_leaf_minima,
    ("sklearn", "RandomForestClassifier"): without_leaf_minima,
}


def judge(miner: Any, mode: str, known: Known) -> Verdict:
    """Return whether a learner finds the same model on codes of that mode."""
    if isinstance(miner, type) or not hasattr(miner, "get_params"):
        return Verdict(False, "Pass an estimator object with its parameters.")
    if mode == "anti":
        return Verdict(False, "Mode 'anti' reverses the order, so ties are broken the other way: "
                       "only an equally good tree is promised.")
    kind = type(miner)
    name = (kind.__module__.split(".")[0], kind.__name__)
    rules = {"strict": _STRICT, "max-mono": _MAX_MONO}.get(mode, {})
    if name not in rules:
        return Verdict(False, _unlisted(kind.__name__, mode, name in _STRICT))
    params = miner.get_params(deep=False)
    why = (rules[name](params, known) or outside(kind.__name__, params)
           or other_units(kind.__name__, params, known.target, known.rows))
    if why:
        return Verdict(False, f"{kind.__name__}: {why}.")
    stopping = _STOPPING * (rules[name] is histogram and stops_early(params, known))
    stopping += _SKETCHED * (rules[name] is xgboost and sketches_draws(params))
    stopping += _DRAWN * (rules[name] is gradient_boosting and bool(outside_rows(params)))
    return Verdict(True, _yes(params, mode) + _NUMBERED * bool(known.labelled)
                   + _UNITS * (known.target in KINDS) + stopping)


_STOPPING = (" Where early stopping ends is replayed on the original; if training goes on there, "
             "decoding grows those rounds on the original, which takes as long as fitting.")
_DRAWN = (" Where rows outside a tree's draw lie between two values, decoding fits the stages that "
          "follow to the original, which takes as long as fitting.")
_SKETCHED = (" Send the recipe: where rows outside a tree's draw lie beyond its outermost cut, the "
             "trees after it are grown on the original, which takes as long as fitting.")
_NUMBERED = (" Number categories in the sorted order of their labels: identity is with the "
             "original numbered in the same order.")


_NEVER = {
    "ExtraTree": "draws its thresholds evenly between two values, not between two ranks: codes and "
                 "originals would give other splits. Use RandomForest.",
    "AdaBoostRegressor": "draws rows by how far predictions lie from the target, also of rows "
                         "between two values. Use GradientBoosting.",
    "IsolationForest": "draws its thresholds evenly between two values, not between two ranks.",
}
_UNITS = (" The target is in secret units: identity is with the original's target in the same "
          "units, and leaf values are turned back when decoding.")


def judged_later(miner: Any) -> Any:
    """Return a learner without what can only be judged once it is fitted; None if there is none."""
    from sklearn.base import clone

    name, params = type(miner).__name__, miner.get_params(deep=False)
    if name.startswith("DecisionTree") and params["splitter"] == "random":
        return clone(miner).set_params(splitter="best")
    return None


def _unlisted(name: str, mode: str, strict: bool) -> str:
    for kind, why in _NEVER.items():
        if name.startswith(kind):
            return f"{name} {why}"
    if strict:
        return (f"{name} is covered in mode 'strict' only: permuted pieces change its sums or "
                "its leaf values.")
    return (f"{name} is not a learner that was shown to see only the order of values "
            f"(mode '{mode}').")


def _yes(params: Params, mode: str) -> str:
    weights = " Sample weights must be whole or dyadic numbers." if mode == "max-mono" else ""
    if "learning_rate" in params:
        weights = " No record may have the sample weight zero."
    seed = ""
    if "random_state" in params and params["random_state"] is None:
        seed = " random_state is not set: two runs may differ by themselves, so pin it to compare."
    return "The decoded model equals the model of the original data." + weights + seed
