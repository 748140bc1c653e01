"""One tree of an XGBoost model: its arrays, each checked against all the others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unspoken.arrays import Bools, Floats, Ints
from unspoken.errors import ModelError, explain
from unspoken.models.boosted_text import ShapedTree
from unspoken.models.hostile_json import Fields, refuse
from unspoken.models.written_numbers import whole_text
from unspoken.numerics.treewalk import Shape, ShapeError, Splits, apply, check_shape

DELETED = 2**31 - 1
ROOT = 2**31 - 1
MAX_CATEGORY = 2**24


SPAN = MAX_CATEGORY + 1


def _inside(pairs: Ints, node: Ints, value: Floats) -> Bools:
    """Return whether the category of each row is in the set of its node."""
    known = (value >= 0) & (value < SPAN)
    wanted = node * SPAN + np.where(known, value, 0).astype(np.int64)
    at = np.minimum(np.searchsorted(pairs, wanted), max(pairs.size - 1, 0))
    return np.asarray(known & (pairs[at] == wanted)) if pairs.size else np.zeros(node.size, bool)


@dataclass(frozen=True, eq=False)
class NodeArrays:
    """All nodes of a tree as the file numbers them, those that pruning deleted included."""

    left: Ints
    right: Ints
    parents: Ints
    feature: Ints
    condition: Floats
    default_left: Bools
    split_type: Ints
    base_weights: Floats
    sum_hessian: Floats
    loss_changes: Floats
    categories: Ints
    categories_nodes: Ints
    categories_segments: Ints
    categories_sizes: Ints


@dataclass(frozen=True, eq=False)
class BoostedTree(ShapedTree):
    """The reachable part of one XGBoost tree; `kept` numbers its nodes in the file."""

    kept: Ints
    shape: Shape
    feature: Ints
    condition: Floats
    default_left: Bools
    categorical: Bools
    all: NodeArrays

    @property
    def inner(self) -> Bools:
        """Return which nodes split."""
        return ~self.shape.leaves

    @property
    def hessian(self) -> Floats:
        """Return the sum of second derivatives that each node states."""
        return self.all.sum_hessian[self.kept]

    def leaf_of(self, rows: Floats) -> Ints:
        """Return the node that each row (float32 values held in float64) ends in."""
        if self.categorical[self.inner].any():
            return self._leaf_by_sets(rows)
        splits = Splits(self.feature, self.condition, self.default_left, strict=True)
        return apply(self.shape, splits, rows)

    def right_set(self, node: int) -> Ints:
        """Return the numbers of the categories that a node sends to the right."""
        at = np.flatnonzero(self.all.categories_nodes == self.kept[node])
        if not at.size:
            return np.zeros(0, np.int64)
        first = int(self.all.categories_segments[at[0]])
        return self.all.categories[first : first + int(self.all.categories_sizes[at[0]])]

    def _leaf_by_sets(self, rows: Floats) -> Ints:
        pairs = self._set_pairs()
        here, active = np.zeros(rows.shape[0], np.int64), np.arange(rows.shape[0])
        while active.size:
            node = here[active]
            value = rows[active, self.feature[node]]
            left = np.where(self.categorical[node], ~_inside(pairs, node, value),
                            value < self.condition[node])
            left = np.where(np.isnan(value), self.default_left[node], left)
            here[active] = np.where(left, self.shape.left[node], self.shape.right[node])
            active = active[self.shape.left[here[active]] >= 0]
        return here

    def _set_pairs(self) -> Ints:
        """Return node and category of every set in one number each, sorted."""
        nodes = np.flatnonzero(self.categorical & self.inner).tolist()
        listed = [node * SPAN + self.right_set(node) for node in nodes]
        return np.sort(np.concatenate(listed)) if listed else np.zeros(0, np.int64)


def read_tree(fields: Fields, number: int, features: int) -> BoostedTree:
    """Check one tree."""
    size = len(fields.items("left_children", fields.limits.max_nodes))
    _check_param(fields, features)
    nodes = _arrays(fields, size)
    kept = _reachable(fields, nodes.left, nodes.right)
    shape = _shape(fields, kept, nodes)
    _check_feature(fields, nodes, kept, features)
    _check_parents(fields, nodes, kept, shape)
    _check_counts(fields, size, kept.size)
    _check_categories(fields, nodes)
    fields.whole("id", number, number)
    return BoostedTree(kept, shape, nodes.feature[kept],
                       nodes.condition[kept].astype(np.float32).astype(np.float64),
                       nodes.default_left[kept], nodes.split_type[kept] != 0, nodes)


def _arrays(fields: Fields, size: int) -> NodeArrays:
    used = _count(fields, "categories")
    nodes = _count(fields, "categories_nodes")
    return NodeArrays(
        left=fields.ints("left_children", size, -1, size - 1),
        right=fields.ints("right_children", size, -1, size - 1),
        parents=fields.ints("parents", size, 0, ROOT),
        feature=fields.ints("split_indices", size, 0, DELETED),
        condition=narrow(fields, "split_conditions", size),
        default_left=fields.flags("default_left", size),
        split_type=fields.ints("split_type", size, 0, 1),
        base_weights=narrow(fields, "base_weights", size),
        sum_hessian=narrow(fields, "sum_hessian", size),
        loss_changes=narrow(fields, "loss_changes", size),
        categories=fields.ints("categories", used, 0, MAX_CATEGORY),
        categories_nodes=fields.ints("categories_nodes", nodes, 0, size - 1),
        categories_segments=fields.ints("categories_segments", nodes, 0, used),
        categories_sizes=fields.ints("categories_sizes", nodes, 0, used),
    )


def _count(fields: Fields, key: str) -> int:
    return len(fields.items(key, fields.limits.max_nodes))


def narrow(fields: Fields, key: str, size: int) -> Floats:
    """Return numbers that are finite in float32, which is how XGBoost keeps them."""
    wide = fields.floats(key, size)
    with np.errstate(over="ignore"):
        finite = np.isfinite(wide.astype(np.float32))
    if not np.all(finite):
        refuse(fields.at(key), "finite in float32", "an infinite one")
    return wide


def _check_param(fields: Fields, features: int) -> None:
    param = fields.fields("tree_param")
    if param.text("size_leaf_vector") not in ("0", "1"):
        raise ModelError(explain(f"model field '{fields.name}'", "a tree with one number per leaf",
                                 "a vector leaf", "Train with multi_strategy="
                                 "'one_output_per_tree'."))
    whole_text(param, "num_feature", features, features)


def _check_counts(fields: Fields, size: int, reachable: int) -> None:
    param = fields.fields("tree_param")
    whole_text(param, "num_nodes", size, size)
    whole_text(param, "num_deleted", size - reachable, size - reachable)


def _check_feature(fields: Fields, nodes: NodeArrays, kept: Ints, features: int) -> None:
    if np.any(nodes.feature[kept] >= max(features, 1)):
        refuse(fields.at("split_indices"), f"below {features}", "a larger one")
    deleted = np.ones(nodes.left.size, np.bool_)
    deleted[kept] = False
    if np.any(nodes.feature[deleted] != DELETED) or np.any(nodes.left[deleted] >= 0):
        refuse(fields.at("split_indices"), f"{DELETED} at nodes that no other leads to", "others")


def _check_parents(fields: Fields, nodes: NodeArrays, kept: Ints, shape: Shape) -> None:
    """Refuse parents that are not the nodes whose children they are said to be."""
    expected = kept[shape.parent]
    expected[0] = ROOT
    if np.any(nodes.parents[kept] != expected):
        refuse(fields.at("parents"), "the node that leads to each node", "another one")
    deleted = np.ones(nodes.left.size, np.bool_)
    deleted[kept] = False
    if np.any(nodes.parents[deleted] >= np.flatnonzero(deleted)):
        refuse(fields.at("parents"), "an earlier node", "a later one")


def _check_categories(fields: Fields, nodes: NodeArrays) -> None:
    ends = nodes.categories_segments + nodes.categories_sizes
    if np.any(ends > nodes.categories.size) or np.any(np.diff(nodes.categories_nodes) <= 0):
        refuse(fields.at("categories_segments"), "parts of 'categories', node by node", "others")
    stated = np.zeros(nodes.left.size, np.bool_)
    stated[nodes.categories_nodes] = True
    if np.any(((nodes.split_type != 0) & (nodes.left >= 0)) & ~stated):
        refuse(fields.at("categories_nodes"), "every node that splits on categories", "fewer")


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


def _shape(fields: Fields, kept: Ints, nodes: NodeArrays) -> Shape:
    number = np.full(nodes.left.size + 1, -1, np.int64)
    number[kept] = np.arange(kept.size)
    try:
        return check_shape(number[nodes.left[kept]], number[nodes.right[kept]],
                           fields.limits.max_depth)
    except ShapeError as error:
        refuse(fields.at("left_children"), "one binary tree", str(error))
