"""LightGBM models: taken apart into a validated core, and written anew from it.

LightGBM sends x to the left if x <= threshold in float64. No line of a received text goes on as it
came: `text` is made from the core alone, so LightGBM's own loader, which trusts its files, never
meets one that was not checked. A model that LightGBM wrote comes back byte for byte.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats
from unspoken.errors import MissingExtraError, ModelError
from unspoken.models.boosted_text import lightgbm_lines
from unspoken.models.category_groups import Groups, check_classes
from unspoken.models.comparison import SAME, Comparison
from unspoken.models.hostile_json import (
    DEFAULT_LIMITS,
    Fields,
    Limits,
    Source,
    as_text,
    read_bytes,
    refuse,
)
from unspoken.models.labels import Label, Task, label_array
from unspoken.models.model import Ensemble
from unspoken.models.named_columns import number_rows
from unspoken.models.portable import Portable
from unspoken.models.readers.booster_estimators import lightgbm_estimator
from unspoken.models.readers.lightgbm_core import (
    PANDAS,
    LightGBMCore,
    frame_line,
    numbers_text,
    read_core,
    settled,
    text_of,
)
from unspoken.models.readers.lightgbm_objectives import CLASSES, prediction_of
from unspoken.models.readers.lightgbm_tree import LeafwiseTree
from unspoken.models.tree import check_format
from unspoken.table.atomic_files import named_path, write_file

FORMAT = "lightgbm-text"


@dataclass(frozen=True, eq=False)
class LightGBMModel(Portable, Ensemble):
    """A LightGBM model; `text` is the one that was made from its validated core."""

    format = FORMAT

    text: str
    limits: Limits = DEFAULT_LIMITS

    def __post_init__(self) -> None:
        """Read everything once and write it anew, so that nothing unchecked is kept."""
        object.__setattr__(self, "text", text_of(self.core))

    @cached_property
    def core(self) -> LightGBMCore:
        """Return every part that was checked."""
        return read_core(self.text, self.limits)

    @classmethod
    def load(cls, source: Source, limits: Limits = DEFAULT_LIMITS) -> LightGBMModel:
        """Read LightGBM's model text: a path, or its text or bytes."""
        return cls(as_text(read_bytes(source, limits)), limits)

    @classmethod
    def from_object(cls, model: Any, limits: Limits = DEFAULT_LIMITS) -> LightGBMModel:
        """Take over a live lightgbm Booster or LGBMModel through its text."""
        booster = model.booster_ if hasattr(model, "booster_") else model
        return cls.load(booster.model_to_string().encode(), limits)

    @property
    def parameters(self) -> dict[str, str]:
        """Return the training parameters that are known, as the text spells them."""
        return self.core.parameters

    @property
    def objective(self) -> str:
        """Return the name of the training objective."""
        return self.core.goal.name

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Return the feature names."""
        return self.core.names

    @property
    def features(self) -> tuple[str, ...]:
        """Return the names of the columns; LightGBM's own, where the model knows no others."""
        return self.core.columns or self.core.names

    @property
    def feature_infos(self) -> tuple[str, ...]:
        """Return the range of each feature as written: [low:high], a:b:c or none."""
        return self.core.infos

    @property
    def trees(self) -> tuple[LeafwiseTree, ...]:
        """Return the trees."""
        return self.core.trees

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
        return self.core.labels or tuple(range(max(self.core.classes, 2)))

    def with_columns(self, names: tuple[str, ...]) -> LightGBMModel:
        """Return the model with the names of its columns as they are, blanks included."""
        return self._changed(replace(self.core, columns=names))

    def with_categories(self, groups: Groups) -> LightGBMModel:
        """Return the model with the categories that stand behind its numbers."""
        line = frame_line(groups, self.features) if groups else self.core.pandas
        return self._changed(replace(self.core, groups=groups, pandas=line))

    def with_classes(self, labels: tuple[Label, ...]) -> LightGBMModel:
        """Return the model with the names of its classes, in the order of its outputs."""
        check_classes(labels, self.core.classes)
        return self._changed(replace(self.core, labels=labels))

    def _changed(self, core: LightGBMCore) -> LightGBMModel:
        """Return a model of a changed core; its parts were checked, so it is not read again."""
        model = object.__new__(LightGBMModel)
        for name, value in (("text", text_of(core)), ("limits", self.limits),
                            ("core", settled(core))):
            object.__setattr__(model, name, value)
        return model

    def with_thresholds(
        self, thresholds: Sequence[Floats], infos: Sequence[str], names: Sequence[str]
    ) -> LightGBMModel:
        """Return the same model with other thresholds, feature ranges and feature names."""
        trees = tuple(_with_thresholds(tree, values)
                      for tree, values in zip(self.trees, thresholds, strict=True))
        # What stands behind numbers and classes goes by the old names; it is set anew.
        pandas = None if self.core.groups else self.core.pandas
        return self._changed(replace(self.core, trees=trees, infos=tuple(infos), pandas=pandas,
                                     names=tuple(names), columns=(), groups={}, labels=()))

    def with_trees(self, trees: tuple[LeafwiseTree, ...]) -> LightGBMModel:
        """Return the same model with other leaf values."""
        return self._changed(replace(self.core, trees=trees))

    def to_json(self) -> dict[str, Any]:
        """Return the text inside an object; `save` writes the text itself, for LightGBM."""
        return {"format": FORMAT, "version": 1, "text": self.text}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], limits: Limits = DEFAULT_LIMITS) -> LightGBMModel:
        """Read `to_json`'s object; anything malformed is a ModelError naming the field."""
        fields = Fields(data, limits=limits)
        check_format(fields, FORMAT)
        if not isinstance(fields.raw("text"), str):
            refuse("text", "LightGBM's model text", type(fields.raw("text")).__name__)
        return cls(fields.raw("text"), limits)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the text file that LightGBM loads."""
        self._refuse_linear("save")
        write_file(named_path(path), self.text.encode())

    def _estimator(self) -> Any:
        return lightgbm_estimator(self)

    def booster(self) -> Any:
        """Return a live lightgbm Booster of the rewritten text; needs the lightgbm package."""
        self._refuse_linear("booster")
        try:
            import lightgbm
        except ImportError:
            raise MissingExtraError("'booster' of a LightGBM model needs lightgbm. Install "
                                    "lightgbm.") from None
        return lightgbm.Booster(model_str=self.text)

    def sums(self, data: Any) -> Floats:
        """Return the sums of the trees, one column a class, added as LightGBM adds them."""
        self._refuse_linear("predict")
        rows = number_rows(data, self.features, self.categories)
        out = np.zeros((rows.shape[0], self.core.classes))
        for number, tree in enumerate(self.trees):
            out[:, number % self.core.classes] += tree.leaf_value[tree.leaf_of(rows)]
        return out

    def _refuse_linear(self, what: str) -> None:
        if any(tree.linear for tree in self.trees):
            raise ModelError(f"This LightGBM model has linear trees; '{what}' takes constant "
                             "leaves only. Train with linear_tree=False.")

    def _responses(self, data: Any) -> Floats:
        rounds = max(len(self.trees) // self.core.classes, 1) if self.core.averaged else 1
        return prediction_of(self.core.goal)(self.sums(data) / rounds)

    def predict_proba(self, data: Any) -> Floats:
        """Return the probability of each class, one column a class; the data as in `predict`.

        The last bit of an exponential may differ from the library's.
        """
        if self.task == "regression":
            raise ModelError("A regression has no 'predict_proba'. Use predict.")
        out = self._responses(data)
        return out if out.shape[1] > 1 else np.column_stack([1.0 - out[:, 0], out[:, 0]])

    def predict(self, data: Any) -> npt.NDArray[Any]:
        """Predict original records as LightGBM does, without calling it; columns by name.

        Returns the likeliest class of each record, or a number.
        """
        if self.task == "classification":
            return np.asarray(label_array(self.classes)[self.predict_proba(data).argmax(axis=1)])
        out = self._responses(data)
        return out[:, 0] if out.shape[1] == 1 else out

    def leaf_values(self, tree: int) -> Floats:
        """Return what the leaves of a tree add."""
        return self.trees[tree].leaf_value

    def _lines(self, full: bool) -> list[str]:
        leaves = [tree.leaves for tree in self.trees] or [0]
        head = (f"LightGBM {self.core.goal.line or 'model'}: {len(self.trees)} trees of "
                f"{min(leaves)} to {max(leaves)} leaves, {len(self.feature_names)} features")
        return [head, *lightgbm_lines(self, full)]

    def _compare(self, other: LightGBMModel) -> Comparison:
        where = "header"
        mine, theirs = (_without_sizes(text) for text in _comparable(self, other))
        for a, b in zip(mine, theirs, strict=False):
            if a.startswith("Tree="):
                where = f"tree {a[5:]}"
            if a != b:
                return _line_difference(where, a, b)
        if len(mine) != len(theirs):
            return Comparison(f"number of lines: {len(mine)} and {len(theirs)}")
        return SAME


def _with_thresholds(tree: LeafwiseTree, values: Floats) -> LeafwiseTree:
    if not values.size:
        return tree
    lines = tuple((name, numbers_text(values) if name == "threshold" else text)
                  for name, text in tree.lines)
    return replace(tree, threshold=values, lines=lines)


def _without_sizes(text: str) -> list[str]:
    # They follow from the trees: named first, they would hide which tree differs.
    return [line for line in text.split("\n") if not line.startswith(("tree_sizes=", PANDAS))]


def _comparable(first: LightGBMModel, second: LightGBMModel) -> list[str]:
    """Return the texts, without the names of classes and categories that only one has."""
    known = [(bool(model.core.labels), bool(model.core.groups)) for model in (first, second)]
    labels, groups = (all(side) for side in zip(*known, strict=True))
    return [text_of(replace(model.core, columns=(), labels=model.core.labels if labels else (),
                            groups=_by_written_name(model) if groups else {}))
            for model in (first, second)]


def _by_written_name(model: LightGBMModel) -> Groups:
    pairs = zip(model.features, model.core.names, strict=True)
    return {written: model.categories[name] for name, written in pairs
            if name in model.categories}


def _line_difference(where: str, first: str, second: str) -> Comparison:
    name, _, values = first.partition("=")
    other_name, _, others = second.partition("=")
    if name != other_name:
        return Comparison(f"{where}: line '{first[:60]}' and '{second[:60]}'")
    for index, (a, b) in enumerate(zip(values.split(" "), others.split(" "), strict=False)):
        if a != b:
            return Comparison(f"{where}, node {index}: {name} {a[:40]} and {b[:40]}")
    return Comparison(f"{where}: {name} of another length")
