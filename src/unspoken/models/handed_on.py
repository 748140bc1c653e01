"""Models in the form that other tools read: scikit-learn's estimators, ONNX files.

`handed_on` finds the counterpart of a model: of linear and logistic models, of k-means, of naive
Bayes over numbers alone or over categories alone, and of trees with many answers, which become
trees of yes and no. Nothing is trained: the numbers of the counterpart are the model's. What has
no counterpart that predicts the same is refused by name.

  differs: estimators read numbers as float32 (trees, ONNX), so that values closer than that are
    one. Of a tree over categories, one that was never seen goes where a missing one goes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.errors import ModelError
from unspoken.models.binary_form import binary_form
from unspoken.models.categorical_tree import CategoricalTree
from unspoken.models.category_groups import NONE, Groups
from unspoken.models.clusters import KMEANS, Clusters
from unspoken.models.coefficients import Coefficients
from unspoken.models.linear_model import LinearModel
from unspoken.models.mixed_bayes import MixedBayes, Nominal, Normal
from unspoken.models.named_columns import number_rows
from unspoken.models.onnx_export import onnx_bytes
from unspoken.models.portable import Portable
from unspoken.models.rebuilt_estimators import with_names


@dataclass(frozen=True)
class HandedOn:
    """A fitted estimator with the columns that it takes."""

    features: tuple[str, ...]
    estimator: Any
    categories: Groups
    unit: Floats | float = 1.0

    def to_sklearn(self) -> Any:
        """Return the fitted estimator; it knows its columns by name."""
        return with_names(self.estimator, self.features)

    def matrix(self, data: Any) -> Floats:
        """Return records as the rows of numbers that the estimator takes."""
        return np.asarray(number_rows(data, self.features, self.categories) / self.unit)

    def to_onnx(self) -> bytes:
        """Return an ONNX file whose input `X` is `matrix` as float32."""
        return onnx_bytes(self.estimator, len(self.features))


def handed_on(model: Any) -> HandedOn | Portable:
    """Return a model in a form that has `to_sklearn`, `to_onnx` and `matrix`.

    Parameters
    ----------
    model : Model
        A model, such as the result of a joint study.

    Returns
    -------
    HandedOn or Portable
        Its counterpart; ModelError where scikit-learn has none that predicts the same.

    Examples
    --------
    >>> form = handed_on(model)  # doctest: +SKIP
    >>> form.to_sklearn().predict(form.matrix(table))  # doctest: +SKIP
    """
    if isinstance(model, Portable):
        return model
    if isinstance(model, CategoricalTree):
        return binary_form(model)
    if isinstance(model, Coefficients):
        return HandedOn(model.features, _linear(model), NONE)
    if isinstance(model, Clusters) and model.learner == KMEANS:
        return _centres(model)
    if isinstance(model, MixedBayes) and len({type(one) for one in model.columns}) == 1:
        return _bayes(model)
    raise ModelError(f"scikit-learn has no counterpart of {type(model).__name__} that predicts the "
                     "same. Save it as JSON, and hand on its predictions.")


def _linear(model: Coefficients) -> Any:
    from sklearn.linear_model import LinearRegression, LogisticRegression

    estimator: Any
    if isinstance(model, LinearModel):
        estimator = LinearRegression()
        estimator.coef_, estimator.intercept_ = model.coefficients.copy(), float(model.intercept)
    else:
        estimator = LogisticRegression()
        estimator.coef_ = model.coefficients[None].copy()
        estimator.intercept_ = np.array([model.intercept])
        estimator.classes_ = np.array([0, 1])
    estimator.n_features_in_ = len(model.features)
    return estimator


def _centres(model: Clusters) -> HandedOn:
    """Return k-means; columns that were compared in other units are divided by them first."""
    from sklearn.cluster import KMeans

    unit = np.ones(len(model.features)) if model.scale is None else model.scale
    estimator = KMeans(n_clusters=len(model.centres), n_init=1)
    estimator.cluster_centers_ = np.ascontiguousarray(model.centres / unit)
    estimator.n_features_in_, estimator._n_threads = len(model.features), 1
    estimator.labels_, estimator._n_features_out = np.zeros(0, np.int32), len(model.centres)
    return HandedOn(model.features, estimator, NONE, unit)


def _bayes(model: MixedBayes) -> HandedOn:
    normal = [one for one in model.columns if isinstance(one, Normal)]
    nominal = [one for one in model.columns if isinstance(one, Nominal)]
    estimator = _normal_bayes(normal) if normal else _nominal_bayes(nominal)
    logs = np.log(np.maximum(model.prior, 1e-300))
    estimator.classes_, estimator.n_features_in_ = np.array(model.classes), len(model.columns)
    estimator.class_prior_, estimator.class_log_prior_ = model.prior.copy(), logs
    estimator.class_count_ = model.prior * max(model.records, 1)
    groups = {one.name: tuple(() if value is None else (value,) for value in one.values)
              for one in nominal}
    return HandedOn(model.features, estimator, groups)


def _normal_bayes(columns: Sequence[Normal]) -> Any:
    from sklearn.naive_bayes import GaussianNB

    estimator = GaussianNB()
    estimator.theta_ = np.column_stack([one.means for one in columns])
    estimator.var_ = np.maximum(np.column_stack([one.variances for one in columns]), 1e-300)
    estimator.epsilon_ = 0.0
    return estimator


def _nominal_bayes(columns: Sequence[Nominal]) -> Any:
    from sklearn.naive_bayes import CategoricalNB

    estimator = CategoricalNB()
    shares = [np.maximum(one.shares, 1e-300) for one in columns]
    estimator.feature_log_prob_ = [np.log(one) for one in shares]
    estimator.category_count_ = shares
    estimator.n_categories_ = np.array([one.shape[1] for one in shares])
    return estimator
