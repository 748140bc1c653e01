"""Trees as arrays: shapes are checked in bounded time, rows reach the right leaves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from unspoken.numerics import treewalk


def arrays(*children):
    left, right = zip(*children, strict=True)
    return np.array(left, np.int64), np.array(right, np.int64)


BROKEN = {
    "cycle": ([(1, 2), (3, 4), (-1, -1), (1, 2), (-1, -1)], "no parent or with several"),
    "island": ([(1, 2), (-1, -1), (-1, -1), (4, 5), (3, 6), (-1, -1), (-1, -1)], "cycle"),
    "itself": ([(0, 1), (-1, -1)], "not a node, or is the root"),
    "outside": ([(1, 9), (-1, -1)], "not a node"),
    "one child": ([(1, -1), (-1, -1)], "only one child"),
    "twins": ([(1, 1), (-1, -1)], "no parent or with several"),
    "empty": ([], "0 left"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_shapes_are_refused(name):
    children, words = BROKEN[name]
    left, right = arrays(*children) if children else (np.zeros(0, np.int64),) * 2
    with pytest.raises(treewalk.ShapeError, match=words):
        treewalk.check_shape(left, right)


def test_a_long_chain_is_refused_by_its_depth():
    size = 200_001
    left = np.where(np.arange(size) % 2 == 0, np.arange(size) + 1, -1)
    right = np.where(np.arange(size) % 2 == 0, np.arange(size) + 2, -1)
    left[-1] = right[-1] = -1
    with pytest.raises(treewalk.ShapeError, match="depth 100000"):
        treewalk.check_shape(left, right)


def grown(seed, rows=300):
    rng = np.random.default_rng(seed)
    data = rng.integers(0, 20, (rows, 4)).astype(np.float64)
    data[rng.random(data.shape) < 0.1] = np.nan
    tree = DecisionTreeClassifier(random_state=seed).fit(data, rng.integers(0, 3, rows)).tree_
    shape = treewalk.check_shape(tree.children_left.astype(np.int64),
                                 tree.children_right.astype(np.int64))
    splits = treewalk.Splits(tree.feature.astype(np.int64), tree.threshold,
                             tree.missing_go_to_left.astype(bool))
    return data, tree, shape, splits


@settings(max_examples=20)
@given(st.integers(0, 10_000))
def test_rows_reach_the_leaves_that_scikit_learn_says(seed):
    data, tree, shape, splits = grown(seed)
    assert np.array_equal(treewalk.apply(shape, splits, data),
                          tree.apply(data.astype(np.float32)))
    assert shape.depth.max() == tree.max_depth


@settings(max_examples=20)
@given(st.integers(0, 10_000))
def test_node_ranges_against_brute_force(seed):
    data, tree, shape, splits = grown(seed, 80)
    leaf = treewalk.apply(shape, splits, data)
    groups = treewalk.LeafGroups(shape, leaf)
    paths = tree.decision_path(data.astype(np.float32)).toarray().astype(bool)
    found = groups.ranges(data[:, 1])
    for node in range(shape.left.size):
        inside = data[paths[:, node], 1]
        inside = inside[~np.isnan(inside)]
        low, high = (inside.min(), inside.max()) if inside.size else (np.nan, np.nan)
        assert np.array_equal([found.low[node], found.high[node]], [low, high], equal_nan=True)
    assert np.array_equal(groups.counts(), paths.sum(axis=0))


def test_a_single_leaf():
    left, right = arrays((-1, -1))
    shape = treewalk.check_shape(left, right)
    splits = treewalk.Splits(np.array([-2]), np.array([0.0]), np.array([False]))
    assert treewalk.apply(shape, splits, np.zeros((3, 1))).tolist() == [0, 0, 0]
