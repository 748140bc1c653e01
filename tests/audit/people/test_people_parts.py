"""The parts of an audit of people: intervals in labels, matching, thresholds, expected numbers."""

import numpy as np
import pyarrow as pa
import pytest

import unspoken
from unspoken.audit.people.comparable import standing_for
from unspoken.audit.people.match_columns import match_columns
from unspoken.audit.people.membership import threshold_risk
from unspoken.audit.people.read_codes import by_rank
from unspoken.audit.people.singling_predicates import expected_single
from unspoken.audit.people.spelt_numbers import intervals
from unspoken.disclosure.people_risk import PersonRisks, Risk


@pytest.mark.parametrize(("label", "low", "high"), [
    ("30-39", 30, 39), ("[30, 40)", 30, 40), ("(1.5;2.5]", 1.5, 2.5), ("90+", 90, np.inf),
    (">= 90", 90, np.inf), ("<18", -np.inf, 18), ("42", 42, 42), ("*", -np.inf, np.inf),
    ("10 to 20", 10, 20), ("-5 - 5", -5, 5), ("suppressed", -np.inf, np.inf)])
def test_labels_that_stand_for_numbers(label, low, high):
    found = intervals([label])
    assert (found[0][0], found[1][0]) == (low, high)


def test_labels_that_stand_for_categories():
    assert standing_for(["a", "b", "c"], ["a", "a|b", "{b, c}", "*", "z"]) == [
        [0], [0, 1], [1, 2], [0, 1, 2], []]


def test_columns_are_matched_by_name_spelling_and_content():
    rng = np.random.default_rng(0)
    town = rng.choice(["x", "y", "z"], 900, p=[0.6, 0.3, 0.1])
    mine = unspoken.read(pa.table({"age": np.arange(900) % 70, "Post Code": np.arange(900) % 40,
                                   "town": town}), show=False)
    theirs = unspoken.read(pa.table({"q7": np.where(town == "x", "1", np.where(town == "y", "2",
                                                                               "3")),
                                     "age": np.arange(900) % 70,
                                     "post_code": np.arange(900) % 40}), show=False)
    assert match_columns(mine, theirs, mine.schema.names) == {
        "age": ("age", "name"), "Post Code": ("post_code", "spelling"), "town": ("q7", "content")}


def test_codes_are_read_by_rank_and_missing_stays_missing():
    read = by_rank(np.array([10.0, 1.0, np.nan, 100.0]), np.array([5.0, 6.0, 7.0]))
    assert np.array_equal(read, [6.0, 5.0, np.nan, 7.0], equal_nan=True)


def test_a_score_that_tells_nothing_is_no_risk():
    rng = np.random.default_rng(1)
    risk = threshold_risk({"noise": (rng.normal(size=400), rng.normal(size=400))}, "")
    assert risk.beyond[1] < 0.05
    told = threshold_risk({"noise": (rng.normal(size=400), rng.normal(size=400)),
                           "clear": (rng.normal(4, 1, 400), rng.normal(size=400))}, "")
    assert told.adversary == "clear"
    assert told.beyond[1] > 0.85


@pytest.mark.parametrize("factor", [0.5, 1.0, 4.0])
def test_predicates_on_a_control_group_of_another_size(factor):
    """Predicates of known weights: the expected number agrees with a direct count."""
    rng = np.random.default_rng(2)
    rates = rng.gamma(0.5, 2.0, 20_000)
    there = float((rng.poisson(rates * factor) == 1).sum())
    assert expected_single(rng.poisson(rates), factor) == pytest.approx(there, rel=0.05)


def test_beyond_control_is_anonymeters_residual():
    """By hand for 80 of 100 against 20 of 100: (0.789 - 0.211) / (1 - 0.211)."""
    risk = Risk("linking", "(people)", "x", "y", 80, 100, 0.01, 20, 100)
    assert risk.beyond[0] == pytest.approx((0.7889 - 0.2111) / 0.7889, abs=1e-3)
    assert Risk("linking", "", "", "", 20, 100, 0.0, 80, 100).beyond[0] == 0.0
    assert Risk("linking", "", "", "", 20, 100, 0.0).upper_bound


def test_excess_without_control_is_over_the_blind_guess():
    assert Risk("inferring", "x", "", "", 95, 100, 0.95).excess == 0.0
    assert Risk("inferring", "x", "", "", 100, 100, 0.5).excess == 1.0


def test_the_worst_one_percent():
    chance = np.r_[np.zeros(990), np.full(10, 0.5)]
    persons = PersonRisks(("age",), np.arange(1000), chance, chance / 2)
    assert persons.spread()["worst 1% on average"] == 0.5
    assert persons.marketer == pytest.approx(0.005)
    assert [row for row, _, _ in persons.exposed(3)] == [990, 991, 992]
