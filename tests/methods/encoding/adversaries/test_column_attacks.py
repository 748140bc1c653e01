"""Attacks that must succeed do, attacks that cannot succeed do not."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.people import people, release_of
from unspoken.attack import (
    ColumnView,
    Combination,
    FamilyMatching,
    FrequencyMatching,
    Gaussian,
    Histogram,
    Ignorant,
    Knowledge,
    KnownRecords,
    Points,
    Polyline,
    PublishedStatistics,
    QuantileMatching,
    RangeSorting,
    RankInterpolation,
    RankSorting,
    RegressionLine,
    Spline,
    Uniform,
    View,
    Zipf,
    adversaries_for,
    chance,
    tallies,
)
from unspoken.disclosure.knowledge import fullest_window
from unspoken.errors import InputError
from unspoken.methods.encoding.adversaries.curve_combination import middle
from unspoken.numerics.rank_attack_bounds import recovery_probability

RNG = np.random.default_rng(0)
FIGURE_7 = np.array([1.0, 2, 15, 27, 28, 29, 42, 43, 44])


def view_of(codes, counts=None, cells=None, per_record=False):
    codes = np.asarray(codes, float)
    counts = np.ones(codes.size, int) if counts is None else np.asarray(counts)
    cells = np.arange(codes.size) if cells is None else np.asarray(cells)
    seen = ColumnView("x", codes, counts.reshape(-1, 1), cells, per_record)
    return View({"name": "piecewise", "mode": "strict"}, {"x": seen}, int(counts.sum()))


def told(radius=1.0, plausible=(0.0, 100.0), **known):
    return Knowledge("test", radius, plausible, **known)


@pytest.mark.slow
@pytest.mark.parametrize("curve", [RegressionLine, Polyline, Spline, Combination])
@given(st.integers(0, 2**32 - 1), st.floats(0.001, 1000), st.floats(-1e6, 1e6))
def test_a_linear_encoding_falls_to_two_exact_points(curve, seed, slope, shift):
    rng = np.random.default_rng(seed)
    values = np.unique(rng.integers(0, 1000, 40)).astype(float)
    codes = slope * values + shift
    where = rng.permutation(values.size)[:2]
    points = Points(codes[where][None, :], values[where][None, :])
    found = curve().guess(view_of(codes), "x", told(points=points), rng)
    assert np.all(np.abs(found - values) <= 1.0)


def test_two_points_do_not_break_a_bent_encoding():
    values = np.arange(100.0)
    codes = 1.2**values
    points = Points(codes[None, [0, 99]], values[None, [0, 99]])
    found = Polyline().guess(view_of(codes), "x", told(points=points), RNG)
    assert np.mean(np.abs(found - values) <= 1.0) < 0.1


def test_curves_guess_at_any_place():
    points = Points(np.array([[0.0, 10.0]]), np.array([[0.0, 100.0]]))
    found = Polyline().guess_at(view_of([0, 10]), "x", told(points=points), np.array([2.5]), RNG)
    assert found.tolist() == [[25.0]]


def test_other_adversaries_guess_between_codes_in_the_middle():
    view, knows = view_of([0, 10, 90]), told(bounds=(0.0, 100.0))
    found = RankSorting().guess_at(view, "x", knows, np.array([5.0, 10.0, -3.0, 99.0]), RNG)
    assert found.tolist() == [[25.0, 50.0, 0.0, 100.0]]


@pytest.mark.slow
@given(st.lists(st.tuples(*[st.floats(-5, 5)] * 3), min_size=1, max_size=30), st.floats(0, 2))
def test_the_middle_guess_cracks_whatever_two_curves_crack(guesses, radius):
    each = np.array(guesses).T
    found = middle(*each)
    assert np.array_equal(found, np.median(each, axis=0))
    two = (np.abs(each) <= radius).sum(axis=0) >= 2
    assert np.all(np.abs(found[two]) <= radius)


def test_combination_counts_as_the_paper_does():
    first = np.array([[True, True, True, False, False, False]])
    second = np.array([[True, True, False, True, False, False]])
    third = np.array([[True, False, False, False, True, False]])
    found = tallies([first, second, third], np.full(6, 1 / 6))
    assert found.venn.sum() == pytest.approx(1.0)
    assert found.total[0] == pytest.approx(5 / 6)
    assert found.two_or_more[0] == pytest.approx(2 / 6)
    expected = (1 + Fraction(1, 2) + 3 * Fraction(1, 3)) / 6
    assert found.expected[0] == pytest.approx(float(expected))
    assert found.curve[0].tolist() == pytest.approx([3 / 6, 3 / 6, 2 / 6])


def test_rank_cracks_a_column_without_gaps_completely():
    values = np.arange(17.0, 60.0)
    codes = np.sort(RNG.permutation(10_000)[: values.size])
    found = RankSorting().guess(view_of(codes), "x", told(bounds=(17.0, 59.0)), RNG)
    np.testing.assert_allclose(found[0], values)


def test_random_guesses_in_the_range_of_the_rank_follow_the_formula():
    trials = 20_000
    knows = told(bounds=(1.0, 44.0), draws=trials)
    found = RangeSorting().guess(view_of(np.arange(9) * 5), "x", knows, np.random.default_rng(2))
    share = (np.abs(found - FIGURE_7) <= 2.0).mean(axis=0)
    expected = recovery_probability(FIGURE_7, 2.0)
    assert expected[5] == pytest.approx(5 / 36)
    spread = 5 * np.sqrt(expected * (1 - expected) / trials)
    assert np.all(np.abs(share - expected) <= spread)


def test_ignorant_cracks_what_chance_gives():
    trials = 2_000
    values = np.unique(np.random.default_rng(1).integers(0, 500, 80)).astype(float)
    knows = told(radius=10.0, plausible=(values[0], values[-1]), draws=trials)
    found = Ignorant().guess(view_of(np.arange(values.size)), "x", knows, np.random.default_rng(3))
    recovered = (np.abs(found - values) <= 10.0).mean()
    expected = chance(values, values[0], values[-1], 10.0)
    spread = np.sqrt((expected * (1 - expected)).sum() / trials) / values.size
    assert abs(recovered - expected.mean()) <= 4 * spread


def test_chance_is_exact_at_the_ends_and_for_a_constant():
    assert chance(np.array([0.0, 5.0, 10.0]), 0.0, 10.0, 1.0).tolist() == [0.1, 0.2, 0.1]
    assert chance(np.array([4.0]), 4.0, 4.0, 0.0).tolist() == [1.0]


def test_quantile_matching_with_the_whole_table_recovers_it():
    rng = np.random.default_rng(4)
    values, counts = np.unique(rng.normal(size=3000).round(1), return_counts=True)
    sample = np.repeat(values, counts)[None, :]
    view = view_of(np.cumsum(rng.integers(1, 1000, values.size)), counts)
    found = QuantileMatching().guess(view, "x", told(sample=sample), rng)
    np.testing.assert_array_equal(found[0], values)


def test_quantile_matching_goes_on_beyond_the_sample():
    view = view_of(np.arange(100), np.r_[1, np.full(98, 1000), 1])
    sample = np.repeat(np.arange(1.0, 99.0), 10)[None, :]
    found = QuantileMatching().guess(view, "x", told(sample=sample), RNG)
    np.testing.assert_allclose(found[0], np.arange(100.0), atol=1e-9)


def test_frequency_matching_undoes_a_permuted_run_by_counts():
    values, counts = np.arange(10.0, 16.0), np.array([5, 1, 2, 3, 4, 9])
    order = np.array([0, 3, 1, 4, 2, 5])
    view = view_of(np.arange(6), counts[order], cells=[0, 1, 1, 1, 1, 2])
    found = FrequencyMatching().guess(view, "x", told(histogram=Histogram(values, counts)), RNG)
    np.testing.assert_array_equal(found[0], values[order])


def test_equally_frequent_values_are_guessed_as_their_middle_one():
    values, counts = np.arange(5.0), np.array([7, 2, 2, 2, 8])
    view = view_of(np.arange(5), counts, cells=[0, 1, 1, 1, 2])
    found = FrequencyMatching().guess(view, "x", told(histogram=Histogram(values, counts)), RNG)
    assert found[0].tolist() == [0.0, 2.0, 2.0, 2.0, 4.0]


def test_with_codes_per_record_the_most_frequent_value_is_guessed():
    known = Histogram(np.arange(4.0), np.array([5, 1, 3, 6]))
    view = view_of(np.arange(6), [5, 1, 1, 1, 1, 6], cells=[0, 1, 1, 1, 1, 2], per_record=True)
    found = FrequencyMatching().guess(view, "x", told(histogram=known), RNG)
    assert found[0].tolist() == [0.0, 2.0, 2.0, 2.0, 2.0, 3.0]


def test_known_records_are_exact_and_the_others_lie_between():
    codes = np.array([1.0, 5, 6, 100, 4000])
    records = Points(np.array([[1.0, 4000.0]]), np.array([[10.0, 50.0]]))
    found = KnownRecords().guess(view_of(codes), "x", told(records=records), RNG)
    np.testing.assert_allclose(found[0], [10, 20, 30, 40, 50])


@pytest.mark.parametrize("family", [
    Gaussian(5.0, 2.0), Uniform(3.0, 9.0), Zipf(1.0, 400, 1.2),
])
def test_a_column_of_a_known_family_falls(family):
    share = (np.arange(2000) + 0.5) / 2000
    values, counts = np.unique(family.quantile(share), return_counts=True)
    found = FamilyMatching().guess(view_of(np.arange(values.size), counts), "x",
                                   told(family=family), RNG)
    assert np.mean(np.abs(found[0] - values) <= 0.02 * (values[-1] - values[0])) > 0.95


def test_published_statistics_become_points_unless_they_contradict():
    counts = np.array([1, 1, 9, 1, 1, 1, 5])
    knows = told(bounds=(0.0, 60.0), median=20.0, modes=np.array([20.0, 5.0]))
    found = PublishedStatistics().guess(view_of(np.arange(7), counts), "x", knows, RNG)
    np.testing.assert_allclose(found[0], [0, 10, 20, 30, 40, 50, 60])


@pytest.mark.parametrize("known", [
    {}, {"points": Points(np.array([[1.0, 2.0]]), np.array([[4.0, 6.0]]))},
    {"bounds": (0.0, 8.0)}, {"median": 3.0}, {"modes": np.array([7.0])},
    {"family": Uniform(0.0, 4.0)}, {"sample": np.array([[1.0, 2.0, 9.0]])},
    {"histogram": Histogram(np.array([1.0, 9.0]), np.array([1, 5]))},
    {"records": Points(np.array([[1.0, 2.0]]), np.array([[4.0, 4.5]]))},
])
def test_every_knowledge_has_a_guess_without_the_release(known):
    found = told(**known).blind(np.random.default_rng(0))
    assert found.shape == (1,)
    assert 0.0 <= found[0] <= 100.0


def test_the_fullest_window_holds_most_records():
    assert fullest_window(np.array([0.0, 1, 2, 50]), np.array([1, 1, 1, 2]), 1.0) == 1.0
    assert fullest_window(np.array([0.0, 1, 2, 50]), np.array([1, 1, 1, 9]), 1.0) == 50.0


@pytest.mark.parametrize("mode", ["strict", "max-mono", "anti"])
def test_every_adversary_that_lacks_knowledge_says_so(mode):
    release, _ = release_of(people(), mode=mode)
    view = View.of(release)
    for one in adversaries_for(release):
        if one.needs:
            with pytest.raises(InputError):
                one.guess(view, "age", told(), RNG)


def test_ranks_do_not_see_widths():
    """Equally spaced values under wild codes fall to two exact points, where curves fail."""
    values = np.arange(200.0)
    codes = np.cumsum(np.random.default_rng(3).pareto(0.5, 200) + 1)
    known = told(radius=0.5, points=Points(codes[[20, 150]][None, :], values[[20, 150]][None, :]))
    seen = view_of(codes)
    exact = RankInterpolation().guess(seen, "x", known, RNG)[0]
    assert np.allclose(exact, values, rtol=0, atol=1e-9)
    curve = Polyline().guess(seen, "x", known, RNG)[0]
    assert np.mean(np.abs(curve - values) <= 0.5) < 0.2


def test_ranks_need_order():
    """Inside a group without order every code gets the same guess."""
    codes = np.arange(10.0)
    cells = np.array([0, 1, 2, 3, 3, 3, 3, 4, 5, 6])
    known = told(points=Points(np.array([[0.0, 9.0]]), np.array([[0.0, 9.0]])))
    found = RankInterpolation().guess(view_of(codes, cells=cells), "x", known, RNG)[0]
    assert np.unique(found[3:7]).size == 1
    assert np.allclose(np.delete(found, slice(3, 7)), np.delete(codes, slice(3, 7)))


def test_ranks_read_off_a_kept_zero():
    codes = np.array([-500.0, -3, 0, 9, 77])
    known = told(points=Points(np.array([[-500.0, 77.0]]), np.array([[-10.0, 40.0]])))
    seen = view_of(codes)
    kept = View({**seen.mechanism, "zero_kept": True}, seen.columns, seen.rows)
    assert RankInterpolation().guess(kept, "x", known, RNG)[0, 2] == 0.0
    assert RankInterpolation().guess(seen, "x", known, RNG)[0, 2] == 15.0
