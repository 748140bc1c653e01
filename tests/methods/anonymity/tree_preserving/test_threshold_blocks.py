"""Blocks that keep every threshold: checked by hand, and against whole-number brute force."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unspoken.methods.anonymity.tree_preserving.block_values import nearest_to_means
from unspoken.methods.anonymity.tree_preserving.octagon_solver import Octagon
from unspoken.methods.anonymity.tree_preserving.threshold_blocks import (
    min_block,
    one_block,
    safe,
)


@st.composite
def columns(draw):
    """A sorted column of float32 values and the pairs of codes that thresholds lie between."""
    numbers = st.one_of(st.integers(-50, 50).map(float), st.floats(-1e6, 1e6, width=32),
                        st.sampled_from([1e-40, 1e30, 0.1]))
    values = sorted(set(draw(st.lists(numbers, min_size=2, max_size=14))))
    values = np.unique(np.array(values, np.float32)).astype(float)
    if values.size < 2:
        values = np.array([0.0, 1.0])
    pairs = draw(st.lists(st.tuples(st.integers(0, values.size - 2), st.integers(1, 3)),
                          min_size=1, max_size=6))
    return values, sorted({(a, min(a + gap, values.size - 1)) for a, gap in pairs})


def threshold(low, high):
    return low / 2 + high / 2


@pytest.mark.slow
@settings(max_examples=300)
@given(columns(), st.sampled_from([safe, min_block]))
def test_order_and_thresholds_stay(column, rule):
    values, pairs = column
    blocks = rule(values, pairs, np.ones(values.size, np.int64))
    shown = blocks.representatives[blocks.owner]
    assert np.all(np.diff(shown) >= 0)
    assert np.all(np.diff(blocks.representatives) > 0)
    assert sorted(set(blocks.owner.tolist())) == list(range(blocks.count))
    assert np.array_equal(blocks.representatives.astype(np.float32), blocks.representatives)
    assert blocks.representatives[0] >= values[0]
    assert blocks.representatives[-1] <= values[-1]
    for low, high in pairs:
        assert shown[low] < shown[high]
        assert threshold(shown[low], shown[high]) == threshold(values[low], values[high])


def near(values, pairs, weights, rule):
    blocks = rule(values, pairs, weights)
    return blocks, nearest_to_means(values, weights, blocks.owner, pairs, blocks.representatives)


@pytest.mark.slow
@settings(max_examples=200)
@given(columns(), st.sampled_from([safe, min_block]), st.integers(0, 99))
def test_values_near_the_means_keep_order_and_thresholds(column, rule, seed):
    values, pairs = column
    weights = np.random.default_rng(seed).integers(1, 50, values.size)
    blocks, shown = near(values, pairs, weights, rule)
    assert np.all(np.diff(shown) > 0)
    assert np.array_equal(shown.astype(np.float32), shown)
    assert values[0] <= shown[0]
    assert shown[-1] <= values[-1]
    for low, high in pairs:
        assert threshold(shown[blocks.owner[low]], shown[blocks.owner[high]]) == threshold(
            values[low], values[high])


@pytest.mark.parametrize("seed", range(25))
def test_values_are_as_near_to_the_means_as_any_that_keep_the_sums(seed):
    """Whole numbers in a small range, tried one by one."""
    rng = np.random.default_rng(seed)
    values = np.unique(rng.integers(0, 14, 7)).astype(float)
    first = int(rng.integers(0, values.size - 1))
    pairs = sorted({(first, first + 1), (values.size - 2, values.size - 1)})
    weights = rng.integers(1, 30, values.size)
    blocks, shown = near(values, pairs, weights, safe)
    means = np.bincount(blocks.owner, weights * values) / np.bincount(blocks.owner, weights)
    held = np.bincount(blocks.owner, weights)

    def loss(r):
        return float((held * (np.asarray(r) - means) ** 2).sum())

    def keeps(r):
        return all(r[blocks.owner[a]] + r[blocks.owner[b]] == values[a] + values[b]
                   for a, b in pairs)

    span = range(int(values[0]), int(values[-1]) + 1)
    best = min(loss(r) for r in itertools.combinations(span, blocks.count) if keeps(r))
    assert loss(shown) <= best + 1e-9


@pytest.mark.slow
@settings(max_examples=100)
@given(columns())
def test_min_block_never_has_more_blocks(column):
    values, pairs = column
    weights = np.ones(values.size, np.int64)
    assert min_block(values, pairs, weights).count <= safe(values, pairs, weights).count


def test_capital_gain_of_adult():
    """5013|5178 and 6849|7298: the two in the middle share a block, and both sums stay."""
    values = np.array([0.0, 5013, 5178, 6849, 7298, 99999])
    blocks = min_block(values, [(1, 2), (3, 4)], np.array([28000, 60, 90, 30, 240, 150]))
    assert blocks.owner.tolist() == [0, 0, 1, 1, 2, 2]
    low, middle, high = blocks.representatives
    assert low + middle == 5013 + 5178
    assert middle + high == 6849 + 7298


def test_three_sums_that_cannot_be_kept_together():
    """1|2, 2|3 and 1|3 share values: 2 stands alone."""
    values = np.array([1.0, 2.0, 3.0])
    blocks = min_block(values, [(0, 1), (1, 2), (0, 2)], np.ones(3, np.int64))
    assert blocks.representatives.tolist() == [1, 2, 3]


def test_a_sum_that_float32_does_not_hold_stays_as_it_is():
    values = np.array([2.0**-30, 1.0, 1.0 + 2.0**-23, 2.0**24])
    pairs = [(0, 1), (2, 3)]
    blocks = min_block(values, pairs, np.ones(4, np.int64))
    shown = blocks.representatives[blocks.owner]
    for low, high in pairs:
        assert threshold(shown[low], shown[high]) == threshold(values[low], values[high])


def test_one_block_is_the_mean():
    assert one_block(np.array([0.0, 10]), np.array([3, 1])).representatives.tolist() == [2.0]
    assert one_block(np.array([0.5, 1]), np.array([1, 1])).representatives.tolist() == [0.75]


@pytest.mark.slow
@settings(max_examples=150)
@given(st.lists(st.tuples(st.sampled_from([-1, 1]), st.integers(0, 2), st.sampled_from([-1, 1]),
                          st.integers(0, 2), st.integers(-4, 4)), max_size=7))
def test_the_octagon_finds_a_point_where_there_is_one(constraints):
    system = Octagon(3)
    for unknown in range(3):
        system.bound([(1, unknown)], 3)
        system.bound([(-1, unknown)], 3)
    for s, p, t, q, limit in constraints:
        system.bound([(s, p), (t, q)], limit)
    found = system.point([0, 0, 0])

    def holds(x):
        return all(s * x[p] + t * x[q] <= limit for s, p, t, q, limit in constraints)

    possible = any(holds(x) for x in itertools.product(range(-3, 4), repeat=3))
    if found is not None:
        assert holds(found)
        assert max(map(abs, found)) <= 3
    if not possible:
        assert found is None


@pytest.mark.parametrize("wanted", [-9, 0, 2, 9])
def test_the_octagon_stays_near_what_is_wanted(wanted):
    system = Octagon(1)
    system.bound([(1, 0)], 5)
    system.bound([(-1, 0)], 1)
    assert system.point([wanted], 2) == [min(max(wanted, 0), 4)]


def test_decimals_of_blocks_that_no_threshold_binds_are_the_nearest_to_their_means():
    values = np.array([0.1, 0.2, 0.3, 10.1, 90.7, 100.3], np.float32).astype(np.float64)
    owner = np.array([0, 0, 0, 1, 1, 1])
    shown = nearest_to_means(values, np.ones(6, np.int64), owner, [], values[[0, 3]])
    means = [values[:3].mean(), values[3:].mean()]
    assert shown.tolist() == np.array(means, np.float32).tolist()


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(-1000, 1000, width=32), min_size=4, max_size=14, unique=True), st.data())
def test_unbound_blocks_stand_at_their_means_beside_bound_ones(numbers, data):
    values = np.sort(np.array(numbers, np.float32).astype(np.float64) + 0.0)
    size = values.size
    cuts = sorted(data.draw(st.sets(st.integers(1, size - 1), min_size=1)))
    owner = np.searchsorted(cuts, np.arange(size), side="right")
    first = data.draw(st.sampled_from(cuts))
    pair = (first - 1, first)
    start = np.array([values[owner == block][0] for block in range(len(cuts) + 1)])
    start[owner[pair[0]]] = values[pair[0]]
    shown = nearest_to_means(values, np.ones(size, np.int64), owner, [pair], start)
    assert (np.diff(shown) > 0).all()
    assert np.array_equal(shown, shown.astype(np.float32))
    a, b = owner[list(pair)]
    assert shown[a] / 2 + shown[b] / 2 == start[a] / 2 + start[b] / 2
    means = np.bincount(owner, values) / np.bincount(owner)
    whole = np.array_equal(values, np.rint(values))
    for block in {*range(start.size)} - {a, b}:
        below = shown[block - 1] if block else -np.inf
        above = shown[block + 1] if block + 1 < start.size else np.inf
        nearest = np.float32(np.rint(means[block]) if whole else means[block])
        assert shown[block] == nearest or not below < nearest < above
