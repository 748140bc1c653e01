"""XGBoost models as their own JSON: read with suspicion, written back unchanged but for splits.

XGBoost sends x to the left if float32(x) < split_condition. Leaves keep their weight in the same
array. Nodes that pruning deleted stay in the arrays without a parent, so what counts is what can
be reached from node 0.
"""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Bools, Floats, Ints
from unspoken.errors import MissingExtraError, ModelError, explain
from unspoken.models.boosted_text import ShapedTree, xgboost_lines
from unspoken.models.comparison import (
    Comparison,
    compare_arrays,
    compare_scalars,
    first_difference,
)
from unspoken.models.hostile_json import (
    DEFAULT_LIMITS,
    Fields,
    Limits,
    Source,
    parse_json,
    read_bytes,
    refuse,
)
from unspoken.models.model import Ensemble, Predictor
from unspoken.models.readers.json_documents import compare_documents
from unspoken.numerics.treewalk import Shape, ShapeError, check_shape
from unspoken.table.atomic_files import write_file

WHOLE = 2**31 - 1


@dataclass(frozen=True, eq=False)
class BoostedTree(ShapedTree):
    """The reachable part of one XGBoost tree; `kept` numbers its nodes in the file."""

    kept: Ints
    shape: Shape
    feature: Ints
    condition: Floats
    default_left: Bools
    categorical: Bools

    @property
    def inner(self) -> Bools:
        """Return which nodes split."""
        return ~self.shape.leaves


@dataclass(frozen=True, eq=False)
class XGBoostModel(Predictor, Ensemble):
    """An XGBoost model (gbtree or dart) held as its parsed JSON document."""

    format = "xgboost-json"

    document: Mapping[str, Any]
    limits: Limits = DEFAULT_LIMITS

    def __post_init__(self) -> None:
        """Read everything once, so that a malformed document is refused here."""
        self.trees  # noqa: B018

    @classmethod
    def load(cls, source: Source, limits: Limits = DEFAULT_LIMITS) -> XGBoostModel:
        """Read XGBoost's JSON: a path, or its text or bytes."""
        return cls(parse_json(read_bytes(source, limits), limits), limits)

    @classmethod
    def from_object(cls, model: Any, limits: Limits = DEFAULT_LIMITS) -> XGBoostModel:
        """Take over a live xgboost Booster or XGBModel through its JSON."""
        booster = model.get_booster() if hasattr(model, "get_booster") else model
        return cls.load(bytes(booster.save_raw("json")), limits)

    @property
    def _learner(self) -> Fields:
        return Fields(self.document, limits=self.limits).fields("learner")

    @property
    def booster_name(self) -> str:
        """Return gbtree, dart or gblinear."""
        return self._learner.fields("gradient_booster").text("name")

    @property
    def _model(self) -> Fields:
        booster = self._learner.fields("gradient_booster")
        if self.booster_name not in ("gbtree", "dart"):
            refuse(booster.at("name"), "gbtree or dart", self.booster_name)
        return (booster.fields("gbtree") if self.booster_name == "dart" else booster).fields(
            "model")

    @property
    def objective(self) -> str:
        """Return the name of the training objective."""
        return self._learner.fields("objective").text("name")

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Return the feature names, none if the model was trained without."""
        if "feature_names" not in self._learner.data:
            return ()
        return self._learner.texts("feature_names", self.limits.max_features)

    @property
    def features(self) -> tuple[str, ...]:
        """Return the feature names, XGBoost's own f0, f1, ... if it was trained without."""
        return self.feature_names or tuple(f"f{i}" for i in range(self.n_features))

    @cached_property
    def n_features(self) -> int:
        """Return the number of features."""
        found = self._learner.fields("learner_model_param").text("num_feature")
        if not found.isdecimal() or int(found) > self.limits.max_features:
            refuse("learner.learner_model_param.num_feature", "a number of features", found)
        return int(found)

    @cached_property
    def trees(self) -> tuple[BoostedTree, ...]:
        """Return the trees, each checked."""
        items = self._model.items("trees", self.limits.max_trees)
        found, total = [], 0
        for number, item in enumerate(items):
            fields = Fields(item, f"trees[{number}]", self.limits)
            total += len(fields.items("left_children", self.limits.max_nodes))
            self.limits.check("trees", total, self.limits.max_total_nodes)
            found.append(_read_tree(fields, self.n_features))
        return tuple(found)

    def with_conditions(
        self, conditions: list[Floats], names: tuple[str, ...] | None = None
    ) -> XGBoostModel:
        """Return a copy with other split conditions (inner nodes only) and feature names."""
        document = copy.deepcopy(dict(self.document))
        changed = XGBoostModel(document, self.limits)
        items = changed._model.raw("trees")
        for item, tree, wanted in zip(items, self.trees, conditions, strict=True):
            for at in np.flatnonzero(tree.inner).tolist():
                # The shortest decimal that float32 reads back: what XGBoost itself writes.
                item["split_conditions"][int(tree.kept[at])] = float(str(np.float32(wanted[at])))
        if names is not None and self.feature_names:
            document["learner"]["feature_names"] = list(names)
        return XGBoostModel(document, self.limits)

    def to_json(self) -> dict[str, Any]:
        """Return the document that XGBoost loads."""
        return dict(self.document)

    @classmethod
    def from_json(cls, data: Mapping[str, Any], limits: Limits = DEFAULT_LIMITS) -> XGBoostModel:
        """Take over a parsed document; anything malformed is a ModelError naming the field."""
        return cls(data, limits)

    def _json_text(self) -> str:
        return json.dumps(self.document, allow_nan=False, separators=(",", ":"))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the JSON file; its name should end in .json for XGBoost to load it."""
        write_file(Path(path), self._json_text().encode())

    def booster(self) -> Any:
        """Return a live xgboost Booster; needs the xgboost package."""
        try:
            import xgboost
        except ImportError:
            raise MissingExtraError(explain("'predict' of an XGBoost model",
                                            "used with xgboost installed", "no xgboost",
                                            "Install xgboost-cpu.")) from None
        booster = xgboost.Booster()
        booster.load_model(bytearray(self._json_text(), "utf-8"))
        return booster

    def predict(self, data: Any, **options: Any) -> npt.NDArray[Any]:
        """Predict original records with xgboost itself; columns by name, or an array in order."""
        booster = self.booster()
        import xgboost

        names = list(self.feature_names) or None
        matrix = xgboost.DMatrix(self._numbers(data).astype(np.float32), feature_names=names)
        return np.asarray(booster.predict(matrix, **options))

    def _lines(self, full: bool) -> list[str]:
        nodes = [tree.nodes for tree in self.trees] or [0]
        head = (f"XGBoost {self.booster_name}, {self.objective}: {len(self.trees)} trees of "
                f"{min(nodes)} to {max(nodes)} nodes, {self.n_features} features")
        return [head, *xgboost_lines(self, full)]

    def _compare(self, other: XGBoostModel) -> Comparison:
        return first_difference(
            lambda: compare_scalars("number of trees", len(self.trees), len(other.trees)),
            lambda: self._same_trees(other),
            lambda: compare_documents(self.document, other.document),
        )

    def _same_trees(self, other: XGBoostModel) -> Comparison:
        return first_difference(*(
            lambda n=n, a=a, b=b: _same_tree(a, b).inside(f"tree {n}")
            for n, (a, b) in enumerate(zip(self.trees, other.trees, strict=True))
        ))


def _same_tree(first: BoostedTree, second: BoostedTree) -> Comparison:
    return first_difference(
        lambda: compare_scalars("number of nodes", first.kept.size, second.kept.size),
        lambda: compare_arrays("node", "left child", first.shape.left, second.shape.left),
        lambda: compare_arrays("node", "feature", first.feature, second.feature),
        lambda: compare_arrays("node", "condition", first.condition, second.condition,
                               zeros=False),
    )


def _read_tree(fields: Fields, features: int) -> BoostedTree:
    size = len(fields.items("left_children", fields.limits.max_nodes))
    left = fields.ints("left_children", size, -1, size - 1)
    right = fields.ints("right_children", size, -1, size - 1)
    feature = fields.ints("split_indices", size, 0, 2**32 - 1)
    with np.errstate(over="ignore"):
        condition = fields.floats("split_conditions", size).astype(np.float32)
    default_left = fields.flags("default_left", size)
    categorical = fields.ints("split_type", size, 0, 1) != 0
    _check_rest(fields, size)
    kept = _reachable(fields, left, right)
    inner = left[kept] >= 0
    if np.any(feature[kept][inner] >= features):
        refuse(fields.at("split_indices"), f"below {features}", "a larger one")
    if not np.all(np.isfinite(condition)):
        refuse(fields.at("split_conditions"), "finite in float32", "an infinite one")
    return BoostedTree(kept, _shape(fields, kept, left, right), feature[kept],
                       condition[kept].astype(np.float64), default_left[kept], categorical[kept])


def _check_rest(fields: Fields, size: int) -> None:
    fields.floats("base_weights", None)
    fields.floats("sum_hessian", size)
    fields.floats("loss_changes", size)
    fields.ints("parents", size, -1, WHOLE)
    if fields.fields("tree_param").text("size_leaf_vector") not in ("0", "1"):
        raise ModelError(explain(f"model field '{fields.name}'", "a tree with one number a leaf",
                                 "a vector leaf", "Train with multi_strategy="
                                 "'one_output_per_tree'."))


def _reachable(fields: Fields, left: Ints, right: Ints) -> Ints:
    """Return the nodes below node 0, level by level; a node met twice is refused."""
    if left.size == 0 or np.any((left < 0) != (right < 0)):
        refuse(fields.at("left_children"), "two children a node, and a root", "others")
    seen = np.zeros(left.size, np.bool_)
    level = np.zeros(1, np.int64)
    for _ in range(fields.limits.max_depth + 1):
        if np.unique(level).size != level.size or seen[level].any():
            refuse(fields.at("left_children"), "one binary tree", "a cycle or a shared node")
        seen[level] = True
        inner = level[left[level] >= 0]
        level = np.concatenate([left[inner], right[inner]])
        if level.size == 0:
            return np.flatnonzero(seen)
    refuse(fields.at("left_children"), f"at most {fields.limits.max_depth} deep", "deeper")


def _shape(fields: Fields, kept: Ints, left: Ints, right: Ints) -> Shape:
    number = np.full(left.size + 1, -1, np.int64)
    number[kept] = np.arange(kept.size)
    try:
        return check_shape(number[left[kept]], number[right[kept]], fields.limits.max_depth)
    except ShapeError as error:
        refuse(fields.at("left_children"), "one binary tree", str(error))
