"""Trees of XGBoost and LightGBM in words; their readers hold arrays, this draws them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from unspoken.arrays import Ints
from unspoken.models.category_groups import answer_of
from unspoken.models.tree_text import LABELS, SHOWN, Drawing, number, threshold_answer
from unspoken.numerics.treewalk import Shape

CATEGORICAL, DEFAULT_LEFT, MISSING_TYPE = 1, 2, 12
"""Bits of LightGBM's decision_type; what is missing: 0 nothing, 4 zeros, 8 NaN."""


class ShapedTree:
    """A tree with a checked shape; None stands for a single leaf."""

    if TYPE_CHECKING:

        @property
        def shape(self) -> Shape | None: ...  # noqa: D102

    @property
    def nodes(self) -> int:
        """Return the number of nodes."""
        return 1 if self.shape is None else int(self.shape.left.size)

    @property
    def leaves(self) -> int:
        """Return the number of leaves."""
        return 1 if self.shape is None else int(self.shape.leaves.sum())

    @property
    def depth(self) -> int:
        """Return the depth of the deepest leaf."""
        return 0 if self.shape is None else int(self.shape.depth.max())


def xgboost_lines(model: Any, full: bool) -> list[str]:
    """Return the first tree of an XGBoost model, or all of them."""
    return _sections(model.trees, lambda place: _xgboost_drawing(model, place, full), full)


def lightgbm_lines(model: Any, full: bool) -> list[str]:
    """Return the first tree of a LightGBM model, or all of them."""
    return _sections(model.trees, lambda place: _lightgbm_drawing(model, place, full), full)


def _sections(trees: Sequence[Any], drawing: Callable[[int], Drawing], full: bool) -> list[str]:
    lines = []
    for place, tree in enumerate(trees if full else trees[:1]):
        lines.append(f"{f'tree {place}' if full else 'first tree'}: {tree.nodes} nodes, "
                     f"{tree.leaves} leaves, depth {tree.depth}")
        lines += drawing(place).lines(None if full else SHOWN)
    return lines


def _xgboost_drawing(model: Any, place: int, full: bool) -> Drawing:
    tree = model.trees[place]

    def answer(node: int, side: int) -> str:
        name, left = model.features[int(tree.feature[node])], bool(tree.default_left[node])
        if tree.categorical[node]:
            return _in_set(model, name, tree.right_set(node), side == 1, left == (side == 0), full)
        if name in model.categories:
            below = np.flatnonzero(np.arange(len(model.categories[name])) < tree.condition[node])
            return _in_set(model, name, below, side == 0, left == (side == 0), full)
        return threshold_answer(name, side, number(tree.condition[node], full), left, ("<", ">="))

    return Drawing(tree.nodes, _children(tree.shape), answer,
                   lambda node: number(tree.condition[node], full))


def _lightgbm_drawing(model: Any, place: int, full: bool) -> Drawing:
    tree, inner = model.trees[place], model.trees[place].feature.size
    values = model.leaf_values(place)

    def answer(node: int, side: int) -> str:
        name, bits = model.features[int(tree.feature[node])], int(tree.decision[node])
        if bits & CATEGORICAL:
            return _in_set(model, name, tree.left_set(node), side == 0, side == 1, full)
        # Without a type of missing values, LightGBM takes NaN as 0.
        left = bool(bits & DEFAULT_LEFT) if bits & MISSING_TYPE else None
        if name in model.categories:
            below = np.flatnonzero(np.arange(len(model.categories[name])) <= tree.threshold[node])
            return _in_set(model, name, below, side == 0, left == (side == 0), full)
        text = threshold_answer(name, side, number(tree.threshold[node], full), left)
        return text.replace(" or missing", " or missing or 0") if bits & MISSING_TYPE == 4 else text

    return Drawing(tree.nodes, _children(tree.shape), answer,
                   lambda node: number(values[node - inner], full))


def _children(shape: Shape | None) -> Callable[[int], list[int]]:
    def children(node: int) -> list[int]:
        if shape is None or shape.left[node] < 0:
            return []
        return [int(shape.left[node]), int(shape.right[node])]

    return children


def _in_set(
    model: Any, name: str, numbers: Ints, inside: bool, missing: bool, full: bool
) -> str:
    """Return "colour in {blue, red}", by numbers where the model does not name its categories."""
    groups = model.categories.get(name)
    if groups is None:
        shown = ", ".join(map(str, numbers.tolist()[: None if full else LABELS]))
        more = ", ..." * (not full and numbers.size > LABELS)
        return f"{name} {'in' if inside else 'not in'} {{{shown}{more}}}{' or missing' * missing}"
    there = np.isin(np.arange(len(groups)), numbers)
    return answer_of(name, groups, there if inside else ~there, missing, full)
