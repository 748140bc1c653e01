"""The grower against brute force in fractions, against itself, and against scikit-learn."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from unspoken.numerics.split_search import layout
from unspoken.numerics.splitting import MULTIWAY, NUMERIC, SEARCH, TWO_WAY, Criterion, logs_upto
from unspoken.numerics.tree_grower import Attribute, Labels, Parts, leaf_of_row, start


def gini(labels):
    return Fraction(sum(labels.count(c) ** 2 for c in set(labels)), len(labels))


def entropy(labels):
    return sum(n * math.log2(n / len(labels)) for n in map(labels.count, set(labels)))


WORTH = {"gini": gini, "entropy": entropy}


def gain(criterion, labels, sides):
    groups = [[y for y, side in zip(labels, sides, strict=True) if side == s] for s in set(sides)]
    found = sum(map(WORTH[criterion], groups)) - WORTH[criterion](labels)
    return found


def every_division(kind, codes):
    """Yield the child of every row, for every question about one column."""
    values = sorted(set(codes))
    if kind == NUMERIC:
        yield from ([int(c > v) for c in codes] for v in values[:-1])
    elif kind == MULTIWAY and len(values) > 1:
        yield [values.index(c) for c in codes]
    elif kind == TWO_WAY:
        for size in range(1, len(values)):
            for left in itertools.combinations(values, size):
                yield [int(c not in left) for c in codes]


@pytest.mark.slow
@settings(max_examples=60)
@given(st.data(), st.sampled_from(["gini", "entropy"]))
def test_the_root_is_the_best_of_all_divisions(data, criterion):
    """Two classes: no division of categories beats those in the order of the response."""
    rows = data.draw(st.integers(3, 14))
    labels = data.draw(st.lists(st.integers(0, 1), min_size=rows, max_size=rows))
    columns = [(kind, data.draw(st.lists(st.integers(0, 4), min_size=rows, max_size=rows)))
               for kind in data.draw(st.lists(st.sampled_from([NUMERIC, TWO_WAY, MULTIWAY]),
                                              min_size=1, max_size=3))]
    attributes = [Attribute(np.array(codes), 5, kind) for kind, codes in columns]
    growing = start(Labels(np.array(labels), 2), attributes, criterion, rows=rows)
    grew = growing.step()
    best = max((float(gain(criterion, labels, sides)) for kind, codes in columns
                for sides in every_division(kind, codes)), default=0.0)
    if not grew:
        assert best <= 1e-9
        return
    leaf = leaf_of_row(growing, rows).tolist()
    assert float(gain(criterion, labels, leaf)) == pytest.approx(best, abs=1e-9)


@pytest.mark.slow
@settings(max_examples=80)
@given(st.data(), st.sampled_from(["gini", "entropy", "gain-ratio", "variance"]))
def test_sweeping_all_columns_is_searching_each(data, criterion):
    rows = data.draw(st.integers(2, 30))
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    kinds = data.draw(st.lists(st.sampled_from([NUMERIC, NUMERIC, TWO_WAY, MULTIWAY]), min_size=1,
                               max_size=5))
    classes = 3
    response = (Parts(np.stack([np.ones(rows, int), rng.integers(-3, 4, rows),
                                rng.integers(0, 4, rows)], axis=1)) if criterion == "variance"
                else Labels(rng.integers(0, classes, rows), classes))
    attributes = [Attribute(rng.integers(0, 4 + (kind == NUMERIC and bool(rng.integers(2))), rows),
                            4, kind) for kind in kinds]
    by = Criterion(criterion, logs_upto(rows, criterion), 4.0,
                   data.draw(st.integers(1, 3)))
    counted = [response.histogram(a, i, None) for i, a in enumerate(attributes)]
    total = response.total(None)
    plan = layout(kinds, [c.shape[1] for c in counted],
                  [bool(c[:, -1].any()) for c in counted])
    swept = plan.search(by, total, np.concatenate([counted[i] for i in plan.order],
                                                           axis=1))
    each = [SEARCH[kind](by, i, total, counted[i]) for i, kind in enumerate(kinds)]
    best = None
    for found in each:
        if found is not None and (best is None or found.score > best.score):
            best = found
    assert (swept is None) == (best is None)
    if best is not None:
        assert (swept.attribute, swept.score, swept.cut) == (best.attribute, best.score, best.cut)
        assert swept.missing_left == best.missing_left
        assert (swept.route is None) == (best.route is None)
        if best.route is not None:
            assert swept.route.tolist() == best.route.tolist()


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_numeric_trees_are_scikit_learns(criterion):
    """Continuous columns have no ties, so there is one right answer."""
    rng = np.random.default_rng(1)
    data = rng.normal(size=(400, 4)).astype(np.float32)
    labels = (data[:, 0] + data[:, 1] ** 2 + rng.normal(size=400) > 1).astype(int)
    codes = [np.unique(column, return_inverse=True)[1] for column in data.T]
    growing = start(Labels(labels, 2), [Attribute(c, 400, NUMERIC) for c in codes], criterion,
                    rows=400).grow(leaves=8)
    theirs = DecisionTreeClassifier(criterion=criterion, max_leaf_nodes=8, random_state=0)
    theirs.fit(data, labels)
    assert [n.total.sum() for n in growing.nodes] == theirs.tree_.n_node_samples.tolist()
    mine = leaf_of_row(growing, 400)
    assert mine.tolist() == theirs.apply(data).tolist()


def test_regression_trees_are_scikit_learns():
    rng = np.random.default_rng(2)
    data = rng.normal(size=(300, 3)).astype(np.float32)
    steps = np.rint(100 * (data[:, 0] + rng.normal(size=300))).astype(np.int64)
    codes = [np.unique(column, return_inverse=True)[1] for column in data.T]
    parts = np.stack([np.ones(300, np.int64), steps >> 4, steps & 15], axis=1)
    growing = start(Parts(parts), [Attribute(c, 300, NUMERIC) for c in codes], "variance",
                    rows=300, scale=16.0).grow(leaves=15)
    theirs = DecisionTreeRegressor(max_leaf_nodes=15, random_state=0).fit(data, steps)
    assert leaf_of_row(growing, 300).tolist() == theirs.apply(data).tolist()


def test_level_by_level_splits_every_leaf_of_a_level():
    rng = np.random.default_rng(3)
    codes, labels = rng.integers(0, 50, 200), rng.integers(0, 2, 200)
    growing = start(Labels(labels, 2), [Attribute(codes, 50, NUMERIC)], "gini", rows=200,
                    order="level").grow(steps=4)
    assert max(node.depth for node in growing.nodes) == 4
    leaf = leaf_of_row(growing, 200)
    for index in np.unique(leaf).tolist():
        pure = len(set(labels[leaf == index])) == 1 or len(set(codes[leaf == index])) == 1
        assert pure or growing.nodes[index].depth == 4


def test_smaller_trees_are_prefixes_of_larger_ones():
    rng = np.random.default_rng(4)
    attributes = [Attribute(rng.integers(0, 9, 300), 9, kind) for kind in (NUMERIC, TWO_WAY)]
    labels = rng.integers(0, 2, 300)
    large = start(Labels(labels, 2), attributes, "gini", rows=300).grow(leaves=9)
    for leaves in range(1, 9):
        small = start(Labels(labels, 2), attributes, "gini", rows=300).grow(leaves=leaves)
        step = leaves - 1
        assert large.leaves(step) == leaves
        assert leaf_of_row(large, 300, step).tolist() == leaf_of_row(small, 300).tolist()


def test_a_leaf_minimum_is_kept():
    rng = np.random.default_rng(5)
    growing = start(Labels(rng.integers(0, 2, 100), 2), [Attribute(rng.integers(0, 30, 100), 30,
                                                                   NUMERIC)],
                    "gini", rows=100, min_leaf=12).grow(leaves=8)
    sizes = np.bincount(leaf_of_row(growing, 100))
    assert sizes[sizes > 0].min() >= 12


def test_equally_good_columns_the_first_wins():
    codes = np.array([0, 0, 1, 1])
    for kind in (NUMERIC, TWO_WAY):
        growing = start(Labels(codes, 2), [Attribute(codes, 2, kind)] * 3, "gini", rows=4).grow()
        assert growing.nodes[0].split.attribute == 0
    mixed = [Attribute(codes, 2, TWO_WAY), Attribute(codes, 2, NUMERIC)]
    assert start(Labels(codes, 2), mixed, "gini", rows=4).grow().nodes[0].split.attribute == 0
    assert start(Labels(codes, 2), mixed[::-1], "gini", rows=4).grow().nodes[
        0].split.attribute == 0


@pytest.mark.parametrize(("counts", "child"), [([[1, 0, 0], [0, 0, 9]], 1),
                                               ([[9, 0, 0], [0, 0, 1]], 0)])
def test_an_absent_category_goes_with_the_larger_side(counts, child):
    histogram = np.array(counts)
    by = Criterion("gini", np.zeros(0))
    found = SEARCH[TWO_WAY](by, 0, histogram.sum(axis=1), histogram)
    assert found.route.tolist() == [0, child, 1]
    many = SEARCH[MULTIWAY](by, 0, histogram.sum(axis=1), histogram)
    assert many.route[1] == many.route[2 if child else 0]
