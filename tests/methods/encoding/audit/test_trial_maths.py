"""Curves, sorting formulas, draws without replacement, subsets and paths, on arrays."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import CubicSpline

from unspoken.disclosure.draw_without_replacement import distinct_choices, record_samples
from unspoken.methods.encoding.adversaries.curve_shapes import (
    natural_splines,
    polylines,
    regression_lines,
)
from unspoken.methods.encoding.adversaries.line_through_anchors import between_anchors
from unspoken.methods.encoding.audit.column_subsets import row_masks, subsets, superset_counts
from unspoken.methods.encoding.audit.open_paths import counts_by_length, open_paths, pack
from unspoken.methods.encoding.draw_codes import draw_codes, draw_many
from unspoken.numerics.label_runs import attribute_facts, choose_bp
from unspoken.numerics.rank_attack_bounds import (
    range_width,
    rank_range,
    recovery_probability,
    worst_case_share,
)
from unspoken.numerics.treewalk import check_shape

FIGURE_7 = np.array([1.0, 2, 15, 27, 28, 29, 42, 43, 44])


def some_points(seed, trials=4, count=5):
    rng = np.random.default_rng(seed)
    x = np.sort(rng.permutation(1000)[: trials * count].reshape(trials, count), axis=1)
    return x.astype(float), rng.normal(size=(trials, count)), np.linspace(-200, 1300, 301)


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1), st.integers(3, 20))
def test_natural_spline_is_scipys_inside_and_straight_outside(seed, count):
    x, y, at = some_points(seed, count=count)
    found = natural_splines(x, y).at(at)
    for trial in range(x.shape[0]):
        true = CubicSpline(x[trial], y[trial], bc_type="natural")
        inside = (at >= x[trial, 0]) & (at <= x[trial, -1])
        np.testing.assert_allclose(found[trial, inside], true(at[inside]), rtol=1e-6, atol=1e-6)
        low, high = at < x[trial, 0], at > x[trial, -1]
        line = y[trial, 0] + true(x[trial, 0], 1) * (at[low] - x[trial, 0])
        np.testing.assert_allclose(found[trial, low], line, rtol=1e-6, atol=1e-6)
        line = y[trial, -1] + true(x[trial, -1], 1) * (at[high] - x[trial, -1])
        np.testing.assert_allclose(found[trial, high], line, rtol=1e-6, atol=1e-6)


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1), st.integers(2, 40))
def test_polyline_is_interpolation_with_straight_ends(seed, count):
    x, y, at = some_points(seed, count=count)
    found = polylines(x, y).at(at)
    for trial in range(x.shape[0]):
        inside = (at >= x[trial, 0]) & (at <= x[trial, -1])
        np.testing.assert_allclose(found[trial, inside], np.interp(at, x[trial], y[trial])[inside],
                                   rtol=1e-9, atol=1e-9)
        slope = (y[trial, -1] - y[trial, -2]) / (x[trial, -1] - x[trial, -2])
        high = at > x[trial, -1]
        np.testing.assert_allclose(found[trial, high],
                                   y[trial, -1] + slope * (at[high] - x[trial, -1]), rtol=1e-9)


def test_regression_line_is_polyfits():
    x, y, at = some_points(3)
    found = regression_lines(x, y).at(at)
    for trial in range(x.shape[0]):
        np.testing.assert_allclose(found[trial], np.polyval(np.polyfit(x[trial], y[trial], 1), at))


def test_curves_take_other_places_in_every_trial():
    x, y, at = some_points(5)
    every = np.tile(at, (4, 1))
    np.testing.assert_array_equal(natural_splines(x, y).at(every), natural_splines(x, y).at(at))


@pytest.mark.parametrize("curve", [regression_lines, polylines, natural_splines])
def test_one_point_is_a_constant_and_two_are_a_line(curve):
    one = curve(np.array([[3.0]]), np.array([[7.0]])).at(np.array([0.0, 3.0, 9.0]))
    np.testing.assert_array_equal(one, [[7.0, 7.0, 7.0]])
    two = curve(np.array([[0.0, 2.0]]), np.array([[1.0, 5.0]])).at(np.array([-1.0, 1.0, 4.0]))
    np.testing.assert_allclose(two, [[-1.0, 3.0, 9.0]])


def test_anchors_at_one_place_count_as_their_mean():
    found = between_anchors(np.array([-1.0, 0.0, 1.0, 3.0]), np.array([0.0, 0.0, 2.0]),
                            np.array([1.0, 3.0, 6.0]))
    np.testing.assert_allclose(found, [0.0, 2.0, 4.0, 8.0])


def test_section_5_4_gives_5_of_36_for_29_in_figure_7():
    found = recovery_probability(FIGURE_7, 2.0)[FIGURE_7.tolist().index(29.0)]
    assert found == pytest.approx(5 / 36)
    low, high = rank_range(FIGURE_7.size, 1.0, 44.0)
    assert (low[5], high[5]) == (6.0, 41.0)


def test_without_gaps_sorting_cracks_everything():
    values = np.arange(10.0)
    assert np.all(recovery_probability(values, 0.0) == 1.0)
    facts = attribute_facts(values, np.ones((10, 2), int))
    assert worst_case_share(facts, 0.2) == 1.0


def test_worst_case_is_undefined_for_fractions():
    facts = attribute_facts(np.array([0.5, 1.25]), np.ones((2, 2), int))
    assert np.isnan(worst_case_share(facts, 0.1))


def test_range_width_counts_both_ends_of_whole_numbers():
    assert range_width(np.array([3.0, 9.0])) == 7.0
    assert range_width(np.array([3.0, 9.5])) == 6.5
    assert range_width(np.zeros(0)) == 0.0


FIGURE_11 = (26, 100, 78, 4, 22, 8, 13, 11, 90, 7)


@pytest.mark.slow
def test_figure_11_is_the_formula_ten_times_of_ten(covtype):
    _, data, labels = covtype
    aspen = (labels == 5).astype(np.int64)
    found = []
    for index in range(10):
        values, where = np.unique(data[:, index], return_inverse=True)
        table = np.bincount(where.reshape(-1) * 2 + aspen, minlength=2 * values.size).reshape(-1, 2)
        facts = attribute_facts(values.astype(float), table)
        found.append(int(100 * worst_case_share(facts, 0.02 * facts.width) + 0.5))
    assert tuple(found) == FIGURE_11


@given(st.integers(1, 60), st.integers(1, 8), st.integers(0, 2**32 - 1))
def test_choices_are_distinct_and_inside(size, count, seed):
    rng = np.random.default_rng(seed)
    weight = rng.uniform(0.1, 1.0, size)
    drawn = distinct_choices(weight, count, 12, rng)
    assert drawn.shape == (12, min(count, size))
    assert all(len(set(row)) == len(row) for row in drawn.tolist())
    assert drawn.min() >= 0
    assert drawn.max() < size


@pytest.mark.parametrize("size", [6, 60])
def test_equal_weights_choose_every_place_alike(size):
    drawn = distinct_choices(np.ones(size), 3, 20_000, np.random.default_rng(1))
    counts = np.bincount(drawn.ravel(), minlength=size)
    share = 3 / size
    spread = 5 * np.sqrt(20_000 * share * (1 - share))
    assert np.all(np.abs(counts - 20_000 * share) < spread)


def test_samples_of_records_never_hold_a_value_more_often_than_the_table():
    counts = np.array([1, 5, 2, 30])
    drawn = record_samples(counts, 20, 50, np.random.default_rng(0))
    assert drawn.shape == (50, 20)
    assert np.all(np.diff(drawn, axis=1) >= 0)
    assert all(np.all(np.bincount(row, minlength=4) <= counts) for row in drawn)
    assert np.array_equal(record_samples(counts, 99, 1, np.random.default_rng(0))[0],
                          np.repeat(np.arange(4), counts))


@given(st.integers(0, 2**32 - 1), st.integers(1, 6))
def test_all_subsets_in_one_pass_equal_one_pass_each(seed, columns):
    rng = np.random.default_rng(seed)
    hits = [np.r_[rng.random(7) < 0.6, False] for _ in range(columns)]
    rows = [rng.integers(-1, 7, 40).astype(np.int32) for _ in range(columns)]
    counts = superset_counts(row_masks(hits, rows), columns)
    for mask, members in subsets(columns, 1, columns):
        expected = np.logical_and.reduce([hits[i][rows[i]] for i in members]).sum()
        assert counts[mask] == expected


def test_subsets_come_by_size():
    assert [m for _, m in subsets(3, 2, 3)] == [*combinations(range(3), 2), (0, 1, 2)]


@given(st.integers(0, 2**32 - 1), st.integers(1, 130))
@settings(max_examples=30)
def test_open_paths_are_the_and_of_all_tests_above(seed, trials):
    rng = np.random.default_rng(seed)
    left, right = [-1], [-1]
    for _ in range(rng.integers(0, 20)):
        leaf = int(rng.choice([i for i, child in enumerate(left) if child < 0]))
        left[leaf], right[leaf] = len(left), len(left) + 1
        left += [-1, -1]
        right += [-1, -1]
    shape = check_shape(np.array(left), np.array(right))
    tests = rng.random((len(left), trials)) < 0.7
    found = np.unpackbits(open_paths(shape, pack(tests)), axis=1, count=trials).astype(bool)
    for node in range(len(left)):
        expected, above = np.ones(trials, bool), node
        while above:
            above = int(shape.parent[above])
            expected &= tests[above]
        assert np.array_equal(found[node], expected)
    counts = counts_by_length(open_paths(shape, pack(tests)), shape.depth, trials)
    assert np.array_equal(counts.sum(axis=0), found.sum(axis=0))


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(1, 5))
def test_many_keys_are_keys_like_one(seed, size, keys):
    rng = np.random.default_rng(seed)
    values = np.cumsum(rng.integers(1, 9, size)).astype(float)
    cuts = [choose_bp(None, size, 4, rng) for _ in range(keys)]
    codes, low, high = draw_many(values, cuts, rng)
    assert codes.shape == (keys, size)
    assert np.all(codes[:, 0] == 0)
    assert np.all(np.diff(codes, axis=1) > 0)
    start = 0
    for key, one in enumerate(cuts):
        owner = one.owner() + start
        assert np.all((low[owner] <= codes[key]) & (codes[key] <= high[owner]))
        start += one.starts.size
    again = draw_codes(values, cuts[0], np.random.default_rng(seed))
    many = draw_many(values, cuts[:1], np.random.default_rng(seed))
    assert np.array_equal(again.codes, many[0][0])
