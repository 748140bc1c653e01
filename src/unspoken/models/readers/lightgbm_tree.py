"""One tree of a LightGBM model: every line of its block, checked against all the others.

A child number below zero is a leaf: -1 is leaf 0. Bits of `decision_type`: 1 splits on categories,
2 sends missing values to the left, and 4 or 8 say that zeros or NaN are missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from unspoken.arrays import Bools, Floats, Ints
from unspoken.models.boosted_text import ShapedTree
from unspoken.models.hostile_json import Limits, refuse
from unspoken.models.written_numbers import REALS, real_of, whole_of
from unspoken.numerics.treewalk import Shape, ShapeError, check_shape

ZERO = float(np.float32(1e-35))
"""LightGBM takes values up to this far from zero as zero."""

HALF = 2**31 - 1
LINES = ("num_leaves", "num_cat", "split_feature", "split_gain", "threshold", "decision_type",
         "left_child", "right_child", "leaf_value", "leaf_weight", "leaf_count", "internal_value",
         "internal_weight", "internal_count", "cat_boundaries", "cat_threshold", "is_linear",
         "shrinkage")
LINEAR_LINES = ("leaf_const", "num_features", "leaf_features", "leaf_coeff")


@dataclass(frozen=True, eq=False)
class LeafwiseTree(ShapedTree):
    """One checked tree: its shape has the leaves numbered after the inner nodes.

    `lines` are the checked lines of its block in LightGBM's own spelling and order.
    """

    feature: Ints
    threshold: Floats
    decision: Ints
    shape: Shape | None
    categorical: bool
    linear: bool
    leaf_value: Floats
    leaf_weight: Floats
    leaf_count: Ints
    rows: int
    lines: tuple[tuple[str, str], ...]
    edges: Ints
    words: Ints
    """Sets of categories: where the words of each begin, and the words, 32 categories each."""

    def left_set(self, node: int) -> Ints:
        """Return the numbers of the categories that a node sends to the left."""
        place = int(self.threshold[node])
        words = self.words[self.edges[place] : self.edges[place + 1]]
        return np.flatnonzero((words[:, None] >> np.arange(32)) & 1)

    def leaf_of(self, data: Floats) -> Ints:
        """Return the leaf that each row reaches."""
        leaf = np.zeros(data.shape[0], np.int64)
        if self.shape is None:
            return leaf
        inner = self.feature.size
        active, here = np.arange(data.shape[0]), np.zeros(data.shape[0], np.int64)
        while active.size:
            left = _goes_left(self, here, data[active, self.feature[here]])
            here = np.where(left, self.shape.left[here], self.shape.right[here])
            settled = here >= inner
            leaf[active[settled]] = here[settled] - inner
            active, here = active[~settled], here[~settled]
        return leaf


def _goes_left(tree: LeafwiseTree, here: Ints, value: Floats) -> Bools:
    kind = (tree.decision[here] >> 2) & 3
    unknown = np.isnan(value)
    plain = np.where(unknown & (kind != 2), 0.0, value)
    missing = ((kind == 1) & (np.abs(plain) <= ZERO)) | ((kind == 2) & unknown)
    left = np.where(missing, (tree.decision[here] & 2) != 0, plain <= tree.threshold[here])
    if not tree.categorical:
        return left
    return np.where((tree.decision[here] & 1) != 0, _in_set(tree, here, value), left)


def _in_set(tree: LeafwiseTree, here: Ints, value: Floats) -> Bools:
    """Return whether each category is in the set of its node; missing ones never are."""
    splits = (tree.decision[here] & 1) != 0
    place = np.where(splits, tree.threshold[here], 0).astype(np.int64)
    first, last = tree.edges[place], tree.edges[place + 1]
    known = splits & (value >= 0) & (value < 32 * (last - first))
    number = np.where(known, value, 0).astype(np.int64)
    word = tree.words[np.minimum(first + number // 32, tree.words.size - 1)]
    return np.asarray(known & (((word >> (number % 32)) & 1) != 0))


class Block:
    """The lines of one tree by name, with typed access; a wrong one is refused by its name."""

    def __init__(self, fields: Mapping[str, str], where: str) -> None:
        self.fields = fields
        self.where = where

    def text(self, name: str) -> str:
        """Return a line that must be there."""
        if name not in self.fields:
            refuse(f"{self.where}.{name}", "present", "nothing")
        return self.fields[name]

    def whole(self, name: str, low: int, high: int) -> int:
        """Return a whole number in a range."""
        text = self.text(name)
        value = whole_of(text)
        if value is None or not low <= value <= high:
            refuse(f"{self.where}.{name}", f"a whole number from {low} to {high}", text[:40])
        return value

    def floats(
        self, name: str, size: int, maybe: bool = False, infinite: bool = False
    ) -> Floats:
        """Return finite numbers; `maybe` allows an empty line in place of one number.

        `infinite` allows the words inf and -inf: a threshold that only missing values pass.
        """
        text = self.text(name)
        if text == "" and (size == 0 or (maybe and size == 1)):
            return np.zeros(0)
        words = text.split(" ")
        if len(words) != size:
            refuse(f"{self.where}.{name}", f"{size} long", f"{len(words)}")
        spelled = sum(word in ("inf", "-inf") for word in words) if infinite else 0
        plain = " ".join(word for word in words if word not in ("inf", "-inf"))
        if not REALS.fullmatch(plain if spelled else text) and spelled != size:
            refuse(f"{self.where}.{name}", "finite numbers", "others")
        values = np.array(words, np.float64)
        if int(np.isinf(values).sum()) != spelled:
            refuse(f"{self.where}.{name}", "finite numbers", "others")
        return values

    def ints(self, name: str, size: int, low: int, high: int) -> Ints:
        """Return whole numbers in a range."""
        values = self.floats(name, size)
        if values.size and (np.any(values != np.rint(values)) or values.min() < low
                            or values.max() > high):
            refuse(f"{self.where}.{name}", f"whole numbers from {low} to {high}", "others")
        return values.astype(np.int64)


def read_leafwise(block: Block, features: int, limits: Limits) -> LeafwiseTree:
    """Check the block of one tree."""
    _check_names(block)
    leaves = block.whole("num_leaves", 1, limits.max_nodes // 2)
    categories = block.whole("num_cat", 0, limits.max_nodes)
    linear = block.whole("is_linear", 0, 1) == 1 if "is_linear" in block.fields else False
    inner = leaves - 1
    _check_informative(block, inner)
    decision = block.ints("decision_type", inner, 0, 11)
    threshold = block.floats("threshold", inner, infinite=True)
    edges, words = _categories(block, categories, decision, threshold, limits)
    counts = block.ints("internal_count", inner, 0, HALF)
    tree = LeafwiseTree(
        block.ints("split_feature", inner, 0, features - 1), threshold, decision,
        _shape(block, leaves, limits) if inner else None, categories > 0, linear,
        block.floats("leaf_value", leaves), block.floats("leaf_weight", leaves, maybe=True),
        block.ints("leaf_count", leaves, 0, HALF), int(counts[0]) if inner else 0,
        tuple((name, block.fields[name]) for name in LINES if name in block.fields),
        edges, words,
    )
    if not linear and set(block.fields) & set(LINEAR_LINES):
        refuse(f"{block.where}.is_linear", "1 where leaves have coefficients", "0")
    return tree


def _check_names(block: Block) -> None:
    strange = sorted(set(block.fields) - set(LINES) - set(LINEAR_LINES))
    if strange:
        refuse(f"{block.where}", "made of lines that LightGBM writes", strange[0][:40])


def _check_informative(block: Block, inner: int) -> None:
    for name in ("split_gain", "internal_value", "internal_weight"):
        block.floats(name, inner)
    if real_of(block.text("shrinkage")) is None:
        refuse(f"{block.where}.shrinkage", "a finite number", block.text("shrinkage")[:40])


def _categories(
    block: Block, categories: int, decision: Ints, threshold: Floats, limits: Limits
) -> tuple[Ints, Ints]:
    """Refuse sets of categories that reach beyond their list; LightGBM reads them unchecked."""
    splits = (decision & 1) != 0
    if categories == 0:
        if splits.any() or "cat_boundaries" in block.fields or "cat_threshold" in block.fields:
            refuse(f"{block.where}.num_cat", "above 0 where nodes split on categories", "0")
        return np.zeros(1, np.int64), np.zeros(0, np.int64)
    edges = block.ints("cat_boundaries", categories + 1, 0, limits.max_nodes)
    if edges[0] != 0 or np.any(np.diff(edges) <= 0):
        refuse(f"{block.where}.cat_boundaries", "numbers that rise from 0", "others")
    words = block.ints("cat_threshold", int(edges[-1]), 0, 2**32 - 1)
    chosen = threshold[splits]
    if np.any(chosen != np.rint(chosen)) or np.any((chosen < 0) | (chosen >= categories)):
        refuse(f"{block.where}.threshold", f"below {categories} at nodes that split on categories",
               "others")
    return edges, words


def _shape(block: Block, leaves: int, limits: Limits) -> Shape:
    inner = leaves - 1
    sides = []
    for name in ("left_child", "right_child"):
        child = block.ints(name, inner, -leaves, inner - 1)
        child = np.where(child >= 0, child, inner - 1 - child)
        sides.append(np.r_[child, np.full(leaves, -1)])
    try:
        return check_shape(sides[0], sides[1], limits.max_depth)
    except ShapeError as error:
        refuse(f"{block.where}.left_child", "one binary tree", str(error))
