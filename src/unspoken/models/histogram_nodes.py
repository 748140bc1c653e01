"""One tree of HistGradientBoosting as checked arrays: thresholds on bins, or sets of categories."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from unspoken.arrays import Bools, Floats, Ints
from unspoken.models.boosted_text import ShapedTree
from unspoken.models.comparison import (
    Comparison,
    compare_arrays,
    compare_scalars,
    first_difference,
)
from unspoken.models.hostile_json import Fields, refuse
from unspoken.models.tree_text import SHOWN, Drawing, category_answer, number, threshold_answer
from unspoken.numerics.treewalk import Shape, ShapeError, check_shape

WORDS, BITS = 8, 32
"""scikit-learn keeps a set of categories as 8 words of 32 bits."""
ARRAYS = ("feature", "threshold", "bin", "left", "right", "missing_left", "value", "count", "gain")


@dataclass(frozen=True, eq=False)
class HistogramTree(ShapedTree):
    """Node arrays; `sets` has, for each node that asks for a set, the numbers that go left."""

    features: tuple[str, ...]
    feature: Ints
    threshold: Floats
    bin: Ints
    left: Ints
    right: Ints
    missing_left: Bools
    value: Floats
    count: Ints
    gain: Floats
    sets: dict[int, tuple[int, ...]]

    @cached_property
    def shape(self) -> Shape:
        """Return children, parents and depths, checked to form one tree."""
        return check_shape(self.left, self.right)

    def same_as(self, other: HistogramTree) -> Comparison:
        """Compare with another tree, bit for bit."""
        return first_difference(
            lambda: compare_scalars("number of nodes", self.nodes, other.nodes),
            *(lambda n=n: compare_arrays("node", n, getattr(self, n), getattr(other, n),
                                         n != "threshold") for n in ARRAYS),
            lambda: compare_scalars("sets", self.sets, other.sets))

    def _lines(self, full: bool) -> list[str]:
        head = f"{self.nodes} nodes, {self.leaves} leaves, depth {self.depth}"
        drawing = Drawing(
            self.nodes,
            lambda node: [] if self.left[node] < 0 else [int(self.left[node]),
                                                         int(self.right[node])],
            lambda node, side: self._answer(node, side, full),
            lambda node: number(self.value[node], full))
        return [head, *drawing.lines(None if full else SHOWN)]

    def _answer(self, node: int, side: int, full: bool) -> str:
        name, missing = self.features[int(self.feature[node])], bool(self.missing_left[node])
        if node not in self.sets:
            return threshold_answer(name, side, number(self.threshold[node], full), missing)
        text = category_answer(name, [f"number {n}" for n in self.sets[node]], full)
        return (text if side == 0 else f"not {text}") + " or missing" * (missing == (side == 0))

    def predictor(self) -> Any:
        """Return scikit-learn's own predictor of these nodes."""
        from sklearn.ensemble._hist_gradient_boosting.common import PREDICTOR_RECORD_DTYPE
        from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor

        nodes, inner = np.zeros(self.nodes, PREDICTOR_RECORD_DTYPE), self.left >= 0
        asked = np.isin(np.arange(self.nodes), list(self.sets))
        columns = {"value": self.value, "count": self.count, "feature_idx": self.feature,
                   "num_threshold": self.threshold, "missing_go_to_left": self.missing_left,
                   "left": np.where(inner, self.left, 0), "right": np.where(inner, self.right, 0),
                   "gain": self.gain, "depth": self.shape.depth, "is_leaf": ~inner,
                   "bin_threshold": self.bin, "is_categorical": asked,
                   "bitset_idx": np.where(asked, np.cumsum(asked) - 1, 0)}
        for name, column in columns.items():
            nodes[name] = column
        bits = np.zeros((len(self.sets), WORDS), np.uint32)
        for row, node in enumerate(sorted(self.sets)):
            for place in self.sets[node]:
                bits[row, place // BITS] |= np.uint32(1 << (place % BITS))
        return TreePredictor(nodes, bits, bits.copy())

    def to_json(self) -> dict[str, Any]:
        """Return the node arrays."""
        document = {name: getattr(self, name).tolist() for name in ARRAYS}
        document["threshold"] = [v if np.isfinite(v) else str(v) for v in document["threshold"]]
        document["missing_left"] = self.missing_left.astype(int).tolist()
        return {"nodes": self.nodes, **document,
                "sets": [[node, *numbers] for node, numbers in sorted(self.sets.items())]}


def from_predictor(predictor: Any, features: tuple[str, ...]) -> HistogramTree:
    """Take over one of scikit-learn's predictors."""
    nodes = predictor.nodes
    inner = nodes["is_leaf"] == 0
    asked = np.flatnonzero(inner & (nodes["is_categorical"] != 0))
    sets = {int(node): _numbers(predictor.raw_left_cat_bitsets[nodes["bitset_idx"][node]])
            for node in asked}

    def column(name: str, other: Any, kind: Any = np.int64) -> Any:
        return np.where(inner, nodes[name].astype(kind), np.array(other, kind))

    return HistogramTree(
        features, column("feature_idx", 0), column("num_threshold", 0.0, np.float64),
        column("bin_threshold", 0), column("left", -1), column("right", -1),
        column("missing_go_to_left", 0, np.bool_), nodes["value"].copy(),
        nodes["count"].astype(np.int64), nodes["gain"].copy(), sets)


def _numbers(bits: Any) -> tuple[int, ...]:
    return tuple(word * BITS + bit for word in range(WORDS) for bit in range(BITS)
                 if int(bits[word]) >> bit & 1)


def read_tree(fields: Fields, features: tuple[str, ...], sizes: Ints) -> HistogramTree:
    """Read `to_json`'s object; `sizes`: how many categories each feature has, 0 for numbers."""
    size = fields.whole("nodes", 1, fields.limits.max_nodes)
    left = fields.ints("left", size, -1, size - 1)
    right = fields.ints("right", size, -1, size - 1)
    try:
        check_shape(left, right, fields.limits.max_depth)
    except ShapeError as error:
        refuse(fields.at("left, right"), "the children of one binary tree", str(error))
    feature = fields.ints("feature", size, 0, len(features) - 1)
    tree = HistogramTree(
        features, feature, fields.floats("threshold", size, infinite=True),
        fields.ints("bin", size, 0, 255), left, right, fields.flags("missing_left", size),
        fields.floats("value", size), fields.ints("count", size, 0, 2**32 - 1),
        fields.floats("gain", size), _sets(fields, size))
    _check_sets(fields, tree, sizes)
    return tree


def _sets(fields: Fields, size: int) -> dict[int, tuple[int, ...]]:
    listed = {}
    for entry in fields.items("sets", size):
        whole = isinstance(entry, list) and entry and all(type(n) is int for n in entry)
        if not whole or not 0 <= entry[0] < size or any(not 0 <= n < 256 for n in entry[1:]):
            refuse(fields.at("sets"), "lists of a node and numbers of categories", "something else")
        listed[entry[0]] = tuple(entry[1:])
    return listed


def _check_sets(fields: Fields, tree: HistogramTree, sizes: Ints) -> None:
    """Refuse a node that asks a number for a set, or categories for a threshold."""
    wanted = np.flatnonzero((tree.left >= 0) & (sizes[tree.feature] > 0)).tolist()
    if wanted != sorted(tree.sets):
        refuse(fields.at("sets"), "one for each node that asks for categories", "others")
    for node, numbers in tree.sets.items():
        if any(n >= sizes[tree.feature[node]] for n in numbers):
            refuse(fields.at("sets"), "numbers of known categories", "another")
