"""XGBoost models: taken apart into a validated core, and written anew from it.

XGBoost sends x to the left if float32(x) < split_condition. Leaves keep their weight in the same
array. No field of a received document goes on as it came: `document` is made from the core alone,
so XGBoost's own loader, which trusts its files, never meets one that was not checked.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats
from unspoken.errors import MissingExtraError, ModelError
from unspoken.models.boosted_text import xgboost_lines
from unspoken.models.category_groups import Groups, check_classes
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
)
from unspoken.models.labels import Label, Task, label_array
from unspoken.models.model import Ensemble
from unspoken.models.portable import Portable
from unspoken.models.readers.booster_estimators import xgboost_estimator
from unspoken.models.readers.json_documents import compare_documents
from unspoken.models.readers.xgboost_core import XGBoostCore, read_core
from unspoken.models.readers.xgboost_objectives import (
    CLASSES,
    class_chances,
    prediction_of,
    start_of,
)
from unspoken.models.readers.xgboost_tree import BoostedTree
from unspoken.models.readers.xgboost_write import document_of
from unspoken.models.tree import as_rows
from unspoken.table.atomic_files import named_path, write_file


@dataclass(frozen=True, eq=False)
class XGBoostModel(Portable, Ensemble):
    """An XGBoost model (gbtree or dart) held as its validated core."""

    format = "xgboost-json"

    core: XGBoostCore
    limits: Limits = DEFAULT_LIMITS

    @classmethod
    def from_json(cls, data: Mapping[str, Any], limits: Limits = DEFAULT_LIMITS) -> XGBoostModel:
        """Read XGBoost's parsed JSON; anything malformed is a ModelError naming the field."""
        return cls(read_core(Fields(data, limits=limits)), limits)

    @classmethod
    def load(cls, source: Source, limits: Limits = DEFAULT_LIMITS) -> XGBoostModel:
        """Read XGBoost's JSON: a path, or its text or bytes."""
        return cls.from_json(parse_json(read_bytes(source, limits), limits), limits)

    @classmethod
    def from_object(cls, model: Any, limits: Limits = DEFAULT_LIMITS) -> XGBoostModel:
        """Take over a live xgboost Booster or XGBModel through its JSON."""
        booster = model.get_booster() if hasattr(model, "get_booster") else model
        return cls.load(bytes(booster.save_raw("json")), limits)

    @cached_property
    def document(self) -> dict[str, Any]:
        """Return XGBoost's document, made from the core alone."""
        return document_of(self.core)

    @property
    def booster_name(self) -> str:
        """Return gbtree or dart."""
        return self.core.booster

    @property
    def objective(self) -> str:
        """Return the name of the training objective."""
        return self.core.objective.name

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Return the feature names, none if the model was trained without."""
        return self.core.names

    @property
    def features(self) -> tuple[str, ...]:
        """Return the feature names, XGBoost's own f0, f1, ... if it was trained without."""
        return self.core.columns

    @property
    def categories(self) -> Groups:
        """Return the categories behind the numbers of each column of categories."""
        return self.core.groups

    @property
    def task(self) -> Task:
        """Return what is predicted."""
        return "classification" if self.objective in CLASSES else "regression"

    @property
    def classes(self) -> tuple[Label, ...]:
        """Return the class labels, 0, 1, ... if the model does not name them."""
        if self.task == "regression":
            return ()
        return self.core.labels or tuple(range(max(self.core.outputs, 2)))

    def with_categories(self, groups: Groups) -> XGBoostModel:
        """Return the model with the categories that stand behind its numbers."""
        return XGBoostModel(replace(self.core, groups=groups), self.limits)

    def with_classes(self, labels: tuple[Label, ...]) -> XGBoostModel:
        """Return the model with the names of its classes, in the order of its outputs."""
        check_classes(labels, self.core.outputs)
        return XGBoostModel(replace(self.core, labels=labels), self.limits)

    @property
    def n_features(self) -> int:
        """Return the number of features."""
        return self.core.features

    @property
    def trees(self) -> tuple[BoostedTree, ...]:
        """Return the trees."""
        return self.core.trees

    def with_conditions(
        self, conditions: list[Floats], names: tuple[str, ...] | None = None
    ) -> XGBoostModel:
        """Return a copy with other split conditions (inner nodes only) and feature names."""
        trees = tuple(_with_conditions(tree, wanted)
                      for tree, wanted in zip(self.trees, conditions, strict=True))
        kept = self.core.names if names is None or not self.core.names else tuple(names)
        # What stands behind numbers and classes goes by the old names; it is set anew.
        return XGBoostModel(replace(self.core, trees=trees, names=kept, groups={}, labels=()),
                            self.limits)

    def to_json(self) -> dict[str, Any]:
        """Return the document that XGBoost loads."""
        return self.document

    def _json_text(self) -> str:
        return json.dumps(self.document, allow_nan=False, separators=(",", ":"))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the JSON file; its name should end in .json for XGBoost to load it."""
        write_file(named_path(path), self._json_text().encode())

    def _estimator(self) -> Any:
        return xgboost_estimator(self)

    def booster(self) -> Any:
        """Return a live xgboost Booster of the rewritten document; needs the xgboost package."""
        try:
            import xgboost
        except ImportError:
            raise MissingExtraError("'booster' of an XGBoost model needs xgboost. Install "
                                    "xgboost-cpu.") from None
        booster = xgboost.Booster()
        booster.load_model(bytearray(self._json_text(), "utf-8"))
        return booster

    def margins(self, data: Any) -> npt.NDArray[np.float32]:
        """Return the sums of the trees, one column an output, added as XGBoost adds them."""
        rows = as_rows(data, self.features, self.categories)
        sums = np.empty((rows.shape[0], self.core.outputs), np.float32)
        sums[:] = start_of(self.core.objective, self.core.base)
        for number, tree in enumerate(self.trees):
            weights = tree.condition.astype(np.float32)
            if self.core.weight_drop is not None:
                weights = weights * np.float32(self.core.weight_drop[number])
            sums[:, self.core.tree_info[number]] += weights[tree.leaf_of(rows)]
        return sums

    def predict_proba(self, data: Any) -> npt.NDArray[Any]:
        """Return the probability of each class, one column a class; the data as in `predict`.

        The last bit of an exponential may differ from the library's.
        """
        if self.task == "regression":
            raise ModelError("A regression has no 'predict_proba'. Use predict.")
        return class_chances(self.core.objective, self.margins(data))

    def predict(self, data: Any) -> npt.NDArray[Any]:
        """Predict original records as XGBoost does, without calling it; columns by name.

        Returns the likeliest class of each record, or a number.
        """
        if self.task == "classification":
            return np.asarray(label_array(self.classes)[self.predict_proba(data).argmax(axis=1)])
        out = prediction_of(self.core.objective)(self.margins(data))
        return out[:, 0] if out.shape[1] == 1 else out

    def _lines(self, full: bool) -> list[str]:
        nodes = [tree.nodes for tree in self.trees] or [0]
        head = (f"XGBoost {self.booster_name}, {self.objective}: {len(self.trees)} trees of "
                f"{min(nodes)} to {max(nodes)} nodes, {self.n_features} features")
        return [head, *xgboost_lines(self, full)]

    def _compare(self, other: XGBoostModel) -> Comparison:
        return first_difference(
            lambda: compare_scalars("number of trees", len(self.trees), len(other.trees)),
            lambda: self._same_trees(other),
            lambda: compare_documents(*_comparable(self, other)),
        )

    def _same_trees(self, other: XGBoostModel) -> Comparison:
        return first_difference(*(
            lambda n=n, a=a, b=b: _same_tree(a, b).inside(f"tree {n}")
            for n, (a, b) in enumerate(zip(self.trees, other.trees, strict=True))
        ))


def _with_conditions(tree: BoostedTree, wanted: Floats) -> BoostedTree:
    condition = np.where(tree.inner, wanted, tree.condition)
    everywhere = tree.all.condition.copy()
    changed = tree.kept[tree.inner]
    # The shortest decimal that float32 reads back: what XGBoost itself writes.
    everywhere[changed] = [float(str(np.float32(v))) for v in condition[tree.inner].tolist()]
    return replace(tree, condition=condition.astype(np.float32).astype(np.float64),
                   all=replace(tree.all, condition=everywhere))


def _comparable(first: XGBoostModel, second: XGBoostModel) -> list[dict[str, Any]]:
    """Return the documents, without the names of classes and categories that only one has."""
    known = [(bool(model.core.labels), bool(model.core.groups)) for model in (first, second)]
    labels, groups = (all(side) for side in zip(*known, strict=True))
    # Codes are whole numbers where originals may not be; XGBoost's types change no prediction.
    return [document_of(replace(
        model.core, types=_plain(model.core.types), labels=model.core.labels if labels else (),
        groups=model.core.groups if groups else {})) for model in (first, second)]


def _plain(types: tuple[str, ...]) -> tuple[str, ...]:
    return tuple("float" if kind in ("int", "q") else kind for kind in types)


def _same_tree(first: BoostedTree, second: BoostedTree) -> Comparison:
    return first_difference(
        lambda: compare_scalars("number of nodes", first.kept.size, second.kept.size),
        lambda: compare_arrays("node", "left child", first.shape.left, second.shape.left),
        lambda: compare_arrays("node", "feature", first.feature, second.feature),
        lambda: compare_arrays("node", "condition", first.condition, second.condition,
                               zeros=False),
    )
