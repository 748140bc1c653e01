"""Definitions 1 to 3 against what they say, counted one by one."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from support.people import people, release_of
from unspoken.attack import View
from unspoken.disclosure.ground_truth import Truth
from unspoken.disclosure.knowledge_levels import LEVELS, Setting, grant, points
from unspoken.disclosure.measures import blind_recovered, blind_shares, both_shares
from unspoken.errors import InputError
from unspoken.methods.encoding.draw_column import Recipe
from unspoken.models.tree import Tree
from unspoken.risk import (
    domain,
    estimate,
    fresh_trials,
    is_recovered,
    path_disclosure,
    piecewise_codes,
    records,
    subspace_disclosure,
    truths_of,
)


def truth_of(values, counts):
    each = np.arange(len(values))
    return Truth("x", "x", np.array(values, float), each, each, np.array(counts))


def test_domain_counts_values_and_records_count_records():
    truth = truth_of([0, 10, 20], [1, 1, 8])
    found = is_recovered(np.array([[1.0, 10.0, 0.0], [9.0, 9.0, 21.0]]), truth, 1.0)
    assert found.tolist() == [[True, True, False], [False, True, True]]
    np.testing.assert_allclose(domain(found, truth), [2 / 3, 2 / 3])
    np.testing.assert_allclose(records(found, truth), [0.2, 0.9])
    np.testing.assert_allclose(both_shares(found, truth), [[2 / 3, 2 / 3], [0.2, 0.9]])
    assert blind_shares(np.array([20.0]), truth, 1.0) == pytest.approx((1 / 3, 0.8))
    assert blind_recovered(np.array([20.0]), truth, 1.0).tolist() == [[False, False, True]]


def test_an_estimate_is_the_median_and_the_range_of_95_percent():
    found = estimate(np.arange(101.0))
    assert (found.value, found.low, found.high, found.trials) == (50.0, 2.5, 97.5, 101)


def test_with_codes_per_record_values_still_count_alike():
    table = people()
    release, key = release_of(table, mode="max-mono", monochromatic="record")
    view = View.of(release)
    for truth in truths_of(table, release, view, key).columns.values():
        assert truth.share.sum() == pytest.approx(1.0)
        assert truth.counts.sum() == table.rows
        by_value = np.bincount(truth.owner, truth.share)
        np.testing.assert_allclose(by_value, 1 / truth.values.size)
        rows = truth.rows(table)
        np.testing.assert_array_equal(truth.truth[rows].astype(np.float32),
                                      table.numbers([truth.name])[:, 0].astype(np.float32))


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=25)
def test_subspaces_are_conjunctions_over_records(seed):
    rng = np.random.default_rng(seed)
    names = ["a", "b", "c", "d"]
    recovered = {n: rng.random((3 if n != "d" else 1, 6)) < 0.5 for n in names}
    rows = {n: rng.integers(-1, 6, 50).astype(np.int32) for n in names}
    found = subspace_disclosure(recovered, rows, 3)
    assert set(found) == {*combinations(names, 2), *combinations(names, 3)}
    for members, shares in found.items():
        for trial in range(3):
            hit = np.ones(50, bool)
            for name in members:
                one = recovered[name][min(trial, recovered[name].shape[0] - 1)]
                hit &= np.where(rows[name] < 0, False, one[rows[name]])
            assert shares[trial] == pytest.approx(hit.mean())


def test_too_many_columns_for_subspaces_are_refused():
    many = {str(i): np.ones((1, 2), bool) for i in range(21)}
    with pytest.raises(InputError, match="at most 20"):
        subspace_disclosure(many, {n: np.zeros(3, np.int32) for n in many}, 2)


def grown(seed, rows=200):
    rng = np.random.default_rng(seed)
    data = rng.integers(0, 30, (rows, 3)).astype(float)
    model = DecisionTreeClassifier(random_state=0, max_leaf_nodes=20)
    return Tree.from_sklearn(model.fit(data, rng.integers(0, 3, rows)))


@pytest.mark.slow
@pytest.mark.parametrize("ends", ["leaves", "nodes"])
@given(st.integers(0, 1000), st.integers(1, 70))
@settings(max_examples=15)
def test_a_path_is_cracked_when_all_its_thresholds_are(ends, seed, trials):
    tree = grown(seed)
    rng = np.random.default_rng(seed)
    errors = {f: rng.normal(0, 1, (trials if f else 1, 1)) for f in range(3)}
    found = path_disclosure(tree, tree, lambda f, x: x + errors[f] * np.sign(np.sin(x)),
                            {0: 1.0, 1: 0.5, 2: 2.0}, ends)
    leaves = tree.shape.leaves
    chosen = [n for n in range(1, tree.nodes) if leaves[n] == (ends == "leaves")]
    assert found.paths.sum() == len(chosen)
    radius = {0: 1.0, 1: 0.5, 2: 2.0}
    for trial in range(trials):
        recovered = 0
        for node in chosen:
            ok, above = True, node
            while above:
                above = int(tree.shape.parent[above])
                f, t = int(tree.feature[above]), tree.threshold[above]
                error = errors[f][min(trial, len(errors[f]) - 1), 0] * np.sign(np.sin(t))
                ok &= bool(abs((t + error) - t) <= radius[f])
            recovered += ok
        assert found.recovered[:, trial].sum() == recovered


def test_paths_are_reported_by_length():
    tree = grown(1)
    found = path_disclosure(tree, tree, lambda f, x: np.tile(x, (4, 1)), dict.fromkeys(range(3), 0))
    assert np.all(found.share == 1.0)
    table = found.by_length(3)
    assert [row["length"] for row in table] == ["1", "2", "3", "> 3"]
    assert sum(row["paths"] for row in table) == 20
    assert all(row["median"] == row["paths"] == row["largest"] for row in table)


def test_trees_that_do_not_belong_together_are_refused():
    with pytest.raises(InputError, match="shape"):
        path_disclosure(grown(1), grown(2, 20), lambda f, x: x[None], {})
    with pytest.raises(InputError, match="leaves"):
        path_disclosure(grown(1), grown(1), lambda f, x: x[None], {}, "roots")


def test_good_points_lie_within_the_radius_and_bad_ones_far_off():
    truth = truth_of(np.arange(0, 400, 3), np.ones(134, int))
    codes = np.arange(134) * 10.0
    found = points(truth, codes, 6, Setting(0.02, 300), np.random.default_rng(0), bad=2)
    error = np.abs(found.values - truth.values[(found.codes / 10).astype(int)])
    radius = 0.02 * truth.width
    assert np.all((error <= radius).sum(axis=1) == 4)
    assert np.all((error > 5 * radius).sum(axis=1) == 2)
    bad = found.values[error > radius]
    assert bad.min() >= 0.0
    assert bad.max() <= 399.0


def test_knowledge_is_drawn_from_streams_of_its_own():
    truth, setting = truth_of(np.arange(50), np.ones(50, int)), Setting(0.02, 4, b"s" * 32)
    view = type("Seen", (), {"codes": np.arange(50.0)})
    level, draw = LEVELS["points"][1]
    first = grant(level, {"points": draw}, truth, view, setting)
    again = grant(level, {"points": draw}, truth, view, setting)
    other = grant(level, {"points": draw}, replace(truth, name="y"), view, setting)
    assert np.array_equal(first.points.codes, again.points.codes)
    assert not np.array_equal(first.points.codes, other.points.codes)


@pytest.mark.parametrize("mode", ["strict", "anti", "max-mono"])
def test_fresh_keys_in_every_trial(mode):
    rng = np.random.default_rng(0)
    values = np.cumsum(rng.integers(1, 4, 80)).astype(float)
    table = np.stack([np.arange(80) < 30, np.arange(80) >= 25], axis=1).astype(int)
    recipe = Recipe(mode=mode, pieces="max-mono" if mode == "max-mono" else "random", breakpoints=5)
    draw = piecewise_codes(values, table, recipe)
    codes = draw(7, np.random.default_rng(1))
    steps = np.diff(codes, axis=1)
    ordered = {"strict": steps > 0, "anti": steps < 0, "max-mono": steps[:, 25:29] > 0}[mode]
    assert np.all(ordered)
    assert len({tuple(row) for row in codes.tolist()}) == 7
    if mode == "max-mono":
        assert np.any(steps[:, :24] < 0)
        assert np.all(codes[:, :25].max(axis=1) < codes[:, 25])
    first, second = (fresh_trials(values, draw, 4, 50, 0.02, 5) for _ in range(2))
    assert first.medians() == second.medians()
    assert set(first.medians()) == {"line", "spline", "polyline"}
    assert first.tallies.venn.shape == (50, 8)
    np.testing.assert_allclose(first.tallies.venn.sum(axis=1), 1.0)


def test_fresh_keys_of_a_straight_line_fall_to_exact_points():
    values = np.arange(0.0, 300.0, 2)

    def straight(keys, rng):
        return values[None, :] * rng.uniform(1, 9, (keys, 1)) + rng.uniform(0, 99, (keys, 1))

    assert min(fresh_trials(values, straight, 2, 40, 1e-9, 0).medians().values()) < 1.0
    found = fresh_trials(values, straight, 8, 40, 0.05, 0)
    assert np.median(found.tallies.total) == 1.0
