"""Fitted estimators of XGBoost and LightGBM out of their checked models."""

from __future__ import annotations

from typing import Any

import numpy as np

from unspoken.models.rebuilt_estimators import estimator_labels


def xgboost_estimator(model: Any) -> Any:
    """Return an XGBClassifier or XGBRegressor; its classes are numbers, as XGBoost has it."""
    booster = model.booster()
    booster.feature_names = None
    import xgboost

    kind = xgboost.XGBClassifier if model.classes else xgboost.XGBRegressor
    estimator = kind(objective=model.objective, n_jobs=1, base_score=None,
                     enable_categorical=bool(model.categories))
    estimator._Booster = booster
    if model.classes:
        estimator.n_classes_ = len(model.classes)
    return estimator


def lightgbm_estimator(model: Any) -> Any:
    """Return an LGBMClassifier or LGBMRegressor with the names of its classes."""
    booster = model.booster()
    import lightgbm

    kind = lightgbm.LGBMClassifier if model.classes else lightgbm.LGBMRegressor
    estimator = kind(objective=model.objective, n_jobs=1)
    estimator._Booster, estimator._objective = booster, model.objective
    estimator._n_features = estimator._n_features_in = len(model.features)
    estimator.fitted_, estimator._best_iteration = True, -1
    if model.classes:
        from sklearn.preprocessing import LabelEncoder

        encoder = LabelEncoder()
        encoder.classes_ = estimator_labels(model.classes)
        estimator._le, estimator._classes = encoder, encoder.classes_
        estimator._class_map = {label: place for place, label in enumerate(model.classes)}
        estimator._n_classes = len(model.classes)
    else:
        estimator._n_classes = np.intp(1)
    return estimator
