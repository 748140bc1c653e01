"""Models of other libraries: read from JSON or text, never from pickle.

`read_model` reads what came from outside; `as_model` takes over what is already in memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unspoken.errors import ModelError, explain
from unspoken.models.bagged_trees import BaggedTrees
from unspoken.models.categorical_tree import CategoricalTree
from unspoken.models.estimator_trees import EstimatorTrees
from unspoken.models.forest import Forest
from unspoken.models.gradient_trees import GradientTrees
from unspoken.models.histogram_trees import HistogramTrees
from unspoken.models.hostile_json import (
    DEFAULT_LIMITS,
    Limits,
    Source,
    as_text,
    read_bytes,
)
from unspoken.models.json_files import document_of
from unspoken.models.packed_models import is_packed
from unspoken.models.readers.lightgbm_text import LightGBMModel
from unspoken.models.readers.xgboost_json import XGBoostModel
from unspoken.models.tree import Tree
from unspoken.models.weighted_trees import WeightedTrees

Model = Tree | Forest | CategoricalTree | EstimatorTrees | XGBoostModel | LightGBMModel

SKLEARN_MODELS = (
    "DecisionTreeClassifier", "DecisionTreeRegressor", "RandomForestClassifier",
    "RandomForestRegressor", "GradientBoostingClassifier", "GradientBoostingRegressor",
    "HistGradientBoostingClassifier", "HistGradientBoostingRegressor", "AdaBoostClassifier",
    "BaggingClassifier", "BaggingRegressor",
)

ENSEMBLES: dict[str, type[Any]] = {
    "GradientBoosting": GradientTrees, "HistGradientBoosting": HistogramTrees,
    "AdaBoost": WeightedTrees, "Bagging": BaggedTrees,
}
"""The files of scikit-learn's ensembles, by their names without Classifier or Regressor."""

__all__ = ["SKLEARN_MODELS", "LightGBMModel", "Model", "XGBoostModel", "as_model", "as_pattern",
           "is_sklearn", "read_model"]


def read_model(source: Source, limits: Limits = DEFAULT_LIMITS) -> Model:
    """Read a model from a path, or from its text or bytes, whatever supported kind it is.

    unspoken's trees and forests, as JSON or packed, XGBoost's JSON and LightGBM's text are
    recognised by their content. Anything malformed or too large is a ModelError that names the
    field.
    """
    content = read_bytes(source, limits)
    if content[:5] == b"tree\n":
        return LightGBMModel(as_text(content), limits)
    if not is_packed(content) and content.lstrip()[:1] != b"{":
        raise ModelError(explain("a model file", "JSON of unspoken or XGBoost, or LightGBM's text",
                                 f"a file that starts with {content[:12]!r}",
                                 "Pickles are never read: they can run any code."))
    return model_from_json(document_of(content, limits), limits)


def model_from_json(data: Mapping[str, Any], limits: Limits = DEFAULT_LIMITS) -> Model:
    """Return the model in a parsed JSON document of unspoken or XGBoost."""
    if "learner" in data:
        return XGBoostModel.from_json(data, limits)
    kind = data.get("format")
    known_kinds: list[Any] = [Tree, Forest, CategoricalTree, *ENSEMBLES.values()]
    readers: dict[str, Any] = {each.format: each for each in known_kinds}
    if not isinstance(kind, str) or kind not in readers:
        known = ", ".join(repr(name) for name in readers)
        raise ModelError(explain("model field 'format'", f"one of {known}", kind))
    model: Model = readers[kind].from_json(data, limits)
    return model


def is_sklearn(model: object) -> bool:
    """Return True if this is one of the supported scikit-learn estimators itself."""
    kind = type(model)
    return kind.__module__.startswith("sklearn.") and kind.__name__ in SKLEARN_MODELS


def as_pattern(model: Any) -> Any:
    """Return an estimator of scikit-learn as the pattern that its file holds."""
    name = type(model).__name__.removesuffix("Classifier").removesuffix("Regressor")
    kinds: dict[str, Any] = {"DecisionTree": Tree, "RandomForest": Forest, **ENSEMBLES}
    return kinds[name].from_sklearn(model) if is_sklearn(model) else model


def as_model(model: Any, limits: Limits = DEFAULT_LIMITS) -> Any:
    """Return a model in memory in the form that decoding and comparing work on.

    Live xgboost and lightgbm objects become their JSON or text; scikit-learn estimators and
    unspoken's own patterns stay; a mapping is taken as parsed JSON, text, bytes and paths are read.
    """
    if isinstance(model, Model) or is_sklearn(model):
        return model
    room = type(model).__module__.partition(".")[0]
    if room == "xgboost":
        return XGBoostModel.from_object(model, limits)
    if room == "lightgbm":
        return LightGBMModel.from_object(model, limits)
    if isinstance(model, Mapping):
        return model_from_json(model, limits)
    if isinstance(model, str | bytes) or hasattr(model, "__fspath__"):
        return read_model(model, limits)
    raise ModelError(explain("the model", "one of unspoken, XGBoost or LightGBM, or one of "
                             + ", ".join(SKLEARN_MODELS), type(model).__name__))
