"""Which learner a release is scored by: one of some names, or any estimator of scikit-learn."""

from __future__ import annotations

from typing import Any

from unspoken.errors import InputError, explain, unknown

BOOSTED, FOREST, TREE, LINEAR = LEARNERS = ("boosted-trees", "forest", "tree", "linear")


def check_learner(learner: Any) -> None:
    """Refuse what is neither the name of a learner nor one."""
    if isinstance(learner, str) and learner not in LEARNERS:
        raise InputError(unknown("A learner", learner, LEARNERS))
    if not isinstance(learner, str) and not (hasattr(learner, "fit") and hasattr(learner,
                                                                                 "predict")):
        raise InputError(explain("'learner'", f"one of {', '.join(LEARNERS)}, or an estimator of "
                                 "scikit-learn", learner))


def learner_name(learner: Any) -> str:
    """Return what a learner is called in a report."""
    return learner if isinstance(learner, str) else type(learner).__name__


def learner_of(learner: Any, numbers: bool) -> Any:
    """Return an unfitted learner of numbers or of classes, which takes missing values."""
    from sklearn.base import clone, is_classifier, is_regressor

    if isinstance(learner, str):
        return _named(learner, numbers)
    fits = is_regressor(learner) if numbers else (
        is_classifier(learner) and hasattr(learner, "predict_proba"))
    if not fits:
        wanted = "a regressor, because the target is a number" if numbers else \
            "a classifier with chances (predict_proba), because the target has classes"
        raise InputError(explain("'learner'", wanted, learner_name(learner)))
    return _of_gaps(clone(learner))


def _named(name: str, numbers: bool) -> Any:
    from sklearn import ensemble, linear_model, tree

    if name == BOOSTED:
        return (ensemble.HistGradientBoostingRegressor if numbers
                else ensemble.HistGradientBoostingClassifier)(random_state=0)
    if name == FOREST:
        return (ensemble.RandomForestRegressor if numbers
                else ensemble.RandomForestClassifier)(min_samples_leaf=5, random_state=0)
    if name == TREE:
        return (tree.DecisionTreeRegressor if numbers
                else tree.DecisionTreeClassifier)(min_samples_leaf=20, random_state=0)
    return _of_gaps(linear_model.Ridge() if numbers
                    else linear_model.LogisticRegression(max_iter=500))


def _of_gaps(learner: Any) -> Any:
    """Return a learner that takes means for what is missing, if it takes no missing values."""
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.utils import get_tags

    if get_tags(learner).input_tags.allow_nan:
        return learner
    return make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler(), learner)
