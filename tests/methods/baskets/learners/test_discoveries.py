"""What is reported from randomised baskets is true: false discoveries, supports, confidences."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

import unspoken
from unspoken import mine, protect
from unspoken.errors import InputError
from unspoken.methods.baskets.basket_privacy import expected_deviation, largest_deviation
from unspoken.methods.baskets.learners.discoveries import discovered, p_values, reach_of
from unspoken.methods.baskets.learners.frequent_itemsets import operator_of


@pytest.mark.slow
@given(st.lists(st.floats(0, 1), min_size=1, max_size=60), st.sampled_from([0.01, 0.05, 0.3]))
def test_discoveries_are_those_of_statsmodels(p, share):
    ours = discovered(np.array(p), len(p), share)
    theirs = multipletests(p, share, method="fdr_bh")[0]
    assert ours.tolist() == theirs.tolist()


@pytest.mark.slow
@given(st.lists(st.floats(0, 1), min_size=1, max_size=60), st.sampled_from([0.01, 0.05]))
def test_tests_that_cannot_pass_need_not_be_listed(p, share):
    whole = np.array(p)
    listed = whole[whole <= 0.5]
    assert discovered(listed, whole.size, share).sum() == discovered(whole, whole.size, share).sum()


def test_known_answers():
    assert p_values(np.array([0.0, 1.959964, -1.0]), np.ones(3)) == pytest.approx(
        [0.5, 0.025, 0.841345], abs=1e-6)
    assert p_values(np.array([0.1, -0.1]), np.zeros(2)).tolist() == [0.0, 1.0]
    assert reach_of(0.95, 1, 1) == pytest.approx(1.959964, abs=1e-6)
    assert reach_of(0.95, 10, 1000) == pytest.approx(3.480756, abs=1e-6)


def dense(rows=8000, columns=22, seed=0):
    """Return baskets of one item per attribute, like descriptions of mushrooms."""
    rng = np.random.default_rng(seed)
    kind = rng.random(rows) < 0.5
    lists = []
    for row in range(rows):
        draw = rng.random(columns)
        lists.append([f"{c}={int(draw[c] < (0.9 if kind[row] else 0.2)) + int(draw[c] < 0.05)}"
                      for c in range(columns)])
    return unspoken.Baskets.of(lists)


@pytest.mark.slow
def test_a_dense_table_gives_no_rules_that_it_cannot_estimate():
    whole = dense()
    release, _ = protect.SelectASize(rho1=0.05, rho2=0.5, random_state=1).protect(whole)
    sets = mine.itemsets(release, 0.3)
    rules = mine.rules(sets, 0.5)
    assert sets.facts["estimable"] < 4
    assert sets.sizes.max(initial=0) <= sets.facts["estimable"]
    assert len(rules) < 100
    assert np.all((sets.supports >= 0) & (sets.supports <= 1))
    assert np.all(rules.confidence <= 1)


def true_supports(whole, sets):
    counted = mine.supports(whole, [sets.names(one) for one in sets.sets])
    return np.array([counted.support(*sets.names(one)) for one in sets.sets])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["retail.dat.gz", "T10I4D100K.dat.gz"])
@pytest.mark.parametrize("options", [{"rho": 0.05, "keep": 0.6}, {"rho": 0.02, "keep": 0.7},
                                     {"rho": 0.01, "keep": 0.9}], ids=["strong", "middle", "weak"])
def test_nine_of_ten_reported_sets_and_rules_are_true(name, options, shared):
    whole = unspoken.read_baskets(shared(name))
    release, _ = protect.SelectASize(**options, random_state=5).protect(whole)
    sets = mine.itemsets(release, 0.01, longest=3)
    assert len(sets) >= 20
    true = true_supports(whole, sets)
    assert np.mean(true >= 0.01) >= 0.9
    assert np.mean((sets.low <= true) & (true <= sets.high)) >= 0.93
    # Without the control, estimates of the same release are false more often.
    if name != "retail.dat.gz":
        every = mine.itemsets(release, 0.01, longest=2, false_discovery=1.0, slack=0.0)
        assert np.mean(true_supports(whole, every) >= 0.01) < np.mean(true >= 0.01)
    rules = mine.rules(sets, 0.3)
    counted = mine.rules(mine.itemsets(whole, 0.005, longest=3), 0.0)
    known = {(counted.names(a), counted.names(b)): c for a, b, c in
             zip(counted.left, counted.right, counted.confidence, strict=True)}
    right = [known.get((rules.names(a), rules.names(b)), 0.0) >= 0.3
             for a, b in zip(rules.left, rules.right, strict=True)]
    assert np.mean(right or [True]) >= 0.9


@pytest.mark.slow
def test_the_stated_deviation_is_the_one_that_occurs():
    whole = dense(2000, 6)
    method = protect.SelectASize(rho=0.1, keep=0.7)
    pairs = [whole.items[:2], whole.items[3:5], (whole.items[0], whole.items[-1])]
    drawn = []
    for _ in range(300):
        release, _ = method.protect(whole)
        drawn.append([mine.supports(release, [one]).supports[0] for one in pairs])
    operator, _ = operator_of(release)
    least = expected_deviation(operator, 2, whole, False)
    largest = largest_deviation(operator, 2, whole, False)
    spread = np.std(drawn, axis=0, ddof=1)
    # 300 draws know a deviation to 4%: five times that on either side.
    assert np.all((spread >= 0.8 * least) & (spread <= 1.2 * largest))
    assert spread.max() > 1.2 * least


def test_a_share_that_makes_no_sense_is_refused():
    with pytest.raises(InputError, match="false_discovery"):
        mine.itemsets(unspoken.Baskets.of([["a"]]), 0.5, false_discovery=0)
