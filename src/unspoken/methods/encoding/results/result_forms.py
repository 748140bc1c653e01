"""The forms in which a result can go back: predictions only, coarse rules, or the full model.

Coarse rules are a tree or a forest cut at a depth, with thresholds rounded to a step. The step of a
column is a round number (1, 2 or 5 times a power of ten) of at most the given share of its range,
so that the step itself says no more than the order of magnitude. Where a policy asks for a least
share and that step is finer, it is the next round number that is not.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.errors import InputError, explain
from unspoken.models.forest import Forest
from unspoken.models.readers import LightGBMModel, XGBoostModel
from unspoken.models.tree import Tree

FORMS = ("predictions", "rules", "full")
Steps = Mapping[str, float]
"""What thresholds of a column are rounded to, by its name."""


@dataclass(frozen=True)
class Form:
    """How a result goes back: `rules` may have a largest depth, and rounded thresholds.

    `rounding` is the step of thresholds as a share of the range of their column.
    """

    name: str = "full"
    depth: int | None = None
    rounding: float | None = None

    def __post_init__(self) -> None:
        if self.name not in FORMS:
            raise InputError(explain("The form of a result", f"one of {', '.join(FORMS)}",
                                     self.name))
        coarse = self.depth is not None or self.rounding is not None
        if coarse != (self.name == "rules"):
            raise InputError("A depth or a rounding belongs to the form 'rules', which needs one "
                             f"of them. Got the form '{self.name}'.")
        if self.depth is not None and not (type(self.depth) is int and self.depth >= 1):
            raise InputError(explain("The depth of a result", "an int >= 1", self.depth))
        if self.rounding is not None and not 0.0 < float(self.rounding) <= 1.0:
            raise InputError(explain("The rounding of a result", "a share above 0, up to 1",
                                     self.rounding))

    def __str__(self) -> str:
        parts = [self.name, *([f"depth {self.depth}"] if self.depth is not None else []),
                 *([f"rounded to {self.rounding:g}"] if self.rounding is not None else [])]
        return ", ".join(parts)


def as_pattern(model: Any) -> Any:
    """Return scikit-learn's trees and forests as unspoken's own, which can be cut and rounded."""
    name = type(model).__name__
    if name.startswith("DecisionTree"):
        return Tree.from_sklearn(model)
    return Forest.from_sklearn(model) if name.startswith("RandomForest") else model


def cut(model: Any, depth: int | None) -> Any:
    """Return a tree or a forest without the nodes below a depth."""
    if depth is None:
        return model
    if isinstance(model, Tree):
        return only_asked(_cut(model, depth))
    if isinstance(model, Forest):
        return only_asked(replace(model, trees=tuple(_cut(tree, depth) for tree in model.trees)))
    raise InputError(f"Only trees and forests can be cut at a depth. Got {type(model).__name__}. "
                     "Mine it with fewer levels, or show rounded thresholds or predictions.")


def _cut(tree: Tree, depth: int) -> Tree:
    level = tree.shape.depth
    kept, ends = level <= depth, tree.shape.leaves | (level >= depth)
    number = np.cumsum(kept) - 1
    blank = float(tree.threshold[tree.shape.leaves][0])
    arrays = {name: getattr(tree, name)[kept] for name in (
        "missing_left", "value", "n_samples", "weighted_n_samples", "impurity")}
    return replace(
        tree, **arrays, feature=np.where(ends, -1, tree.feature)[kept],
        threshold=np.where(ends, blank, tree.threshold)[kept],
        left=np.where(ends, -1, number[tree.left])[kept],
        right=np.where(ends, -1, number[tree.right])[kept])


def only_asked(model: Any) -> Any:
    """Return a model without the categories of columns that no node asks about."""
    if not isinstance(model, Tree | Forest | XGBoostModel | LightGBMModel) or not model.categories:
        return model
    trees = (model,) if isinstance(model, Tree) else model.trees
    used = {model.features[place] for tree in trees for place in _asked(tree)}
    kept = {name: groups if name in used else () for name, groups in model.categories.items()}
    return replace(model, categories=kept) if isinstance(model, Tree | Forest) \
        else model.with_categories(kept)


def _asked(tree: Any) -> list[int]:
    """Return the columns that the nodes of a tree ask about."""
    if tree.shape is None:
        return []
    inner = ~tree.shape.leaves[: tree.feature.size]
    return [int(place) for place in np.unique(tree.feature[inner])]


def round_step(width: float, share: float, least: float = 0.0) -> float:
    """Return the largest of 1, 2 and 5 times a power of ten within a share of a range.

    If that is below the least share, return the smallest that is not.
    """
    wanted = width * share
    if not (math.isfinite(wanted) and wanted > 0):
        return 0.0
    step = max(each for each in _round_numbers(wanted) if each <= wanted * (1 + 1e-12))
    needed = width * least * (1 - 1e-12)
    return step if step >= needed else min(n for n in _round_numbers(needed) if n >= needed)


def _round_numbers(near: float) -> list[float]:
    """Return round numbers of which some are below a number and some above it."""
    power = 10.0 ** math.floor(math.log10(near))
    return [digit * power for digit in (0.5, 1.0, 2.0, 5.0, 10.0, 20.0)]


def rounded(model: Any, steps: Steps) -> Any:
    """Return a model whose thresholds are multiples of the step of their column."""
    if isinstance(model, Tree):
        return _rounded_tree(model, steps)
    if isinstance(model, Forest):
        return replace(model, trees=tuple(_rounded_tree(tree, steps) for tree in model.trees))
    sizes = np.array([steps.get(name, 0.0) for name in model.features])
    if isinstance(model, XGBoostModel):
        cuts = [np.where(tree.categorical, tree.condition,
                         _to_steps(tree.condition, sizes[tree.feature % max(sizes.size, 1)]))
                for tree in model.trees]
        return _dressed(model.with_conditions(cuts), model)
    if isinstance(model, LightGBMModel):
        cuts = [np.where((tree.decision & 1) != 0, tree.threshold,
                         _to_steps(tree.threshold, sizes[tree.feature])) for tree in model.trees]
        infos = [_ends(info, float(size)) for info, size in
                 zip(model.feature_infos, sizes, strict=True)]
        return _dressed(model.with_thresholds(cuts, infos, model.feature_names), model)
    raise InputError("Thresholds are rounded in trees, forests, XGBoost and LightGBM models. Got "
                     f"{type(model).__name__}. Show predictions, or mine one of those.")


def _rounded_tree(tree: Tree, steps: Steps) -> Tree:
    sizes = np.array([steps.get(name, 0.0) for name in tree.features])
    inner = ~tree.shape.leaves
    new = tree.threshold.copy()
    new[inner] = _to_steps(tree.threshold[inner], sizes[tree.feature[inner]])
    return replace(tree, threshold=new)


def _to_steps(thresholds: Floats, steps: Floats) -> Floats:
    """Return thresholds at multiples of their steps, as short decimals; a step of 0 keeps them."""
    moved = np.isfinite(thresholds) & (steps > 0)
    out = thresholds.astype(np.float64).copy()
    out[moved] = [float(f"{round(value / step) * step:.12g}") for value, step in
                  zip(thresholds[moved].tolist(), steps[moved].tolist(), strict=True)]
    return out


def _ends(info: str, step: float) -> str:
    """Return the stated range of a column, widened to whole steps."""
    if not info.startswith("[") or step <= 0:
        return info
    low, high = (float(text) for text in info[1:-1].split(":"))
    wide = math.floor(low / step) * step, math.ceil(high / step) * step
    return f"[{wide[0]:.12g}:{wide[1]:.12g}]"


def _dressed(model: Any, source: Any) -> Any:
    """Give a changed boosted model its columns, categories and classes back."""
    if isinstance(source, LightGBMModel) and source.core.columns:
        model = model.with_columns(source.core.columns)
    if source.categories:
        model = model.with_categories(source.categories)
    return model.with_classes(source.core.labels) if source.core.labels else model
