"""mine.itemsets, mine.supports and mine.rules on plain baskets and on releases."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unspoken
from unspoken import mine, protect
from unspoken.errors import DataError, InputError, UnseenValueError
from unspoken.methods.baskets.learners.frequent_itemsets import least_count

LISTS = [["a", "b"], ["a", "b", "c"], ["a"], ["b", "c"], []]


def test_small_example_by_hand():
    found = mine.itemsets(unspoken.Baskets.of(LISTS), 0.4)
    assert dict(found) == {("a",): 0.6, ("b",): 0.6, ("c",): 0.4, ("a", "b"): 0.4,
                           ("b", "c"): 0.4}
    assert dict(mine.itemsets(unspoken.Baskets.of(LISTS), 0.4, longest=1)) == {
        ("a",): 0.6, ("b",): 0.6, ("c",): 0.4}
    assert len(mine.itemsets(unspoken.Baskets.of(LISTS), 1.0)) == 0


@given(st.integers(1, 5000), st.integers(1, 5000))
def test_the_threshold_is_met_exactly(count, part):
    share = min(part, count) / count
    least = least_count(share, count)
    assert least / count >= share
    assert least == 1 or (least - 1) / count < share


@pytest.mark.parametrize("options", [
    {"min_support": 0}, {"min_support": 1.5}, {"min_support": "x"}, {"longest": 0},
    {"confidence": 1.0}, {"slack": -1}])
def test_options_that_make_no_sense_are_refused(options):
    with pytest.raises(InputError, match=next(iter(options))):
        mine.itemsets(unspoken.Baskets.of(LISTS), **{"min_support": 0.5, **options})


def test_supports_of_sets_that_were_asked_for():
    baskets = unspoken.Baskets.of(LISTS)
    found = mine.supports(baskets, [["c", "a"], ["b"]])
    assert dict(found) == {("b",): 0.6, ("a", "c"): 0.2}
    with pytest.raises(UnseenValueError, match="Got z"):
        mine.supports(baskets, [["z"]])


def test_rules_by_hand():
    found = mine.rules(mine.itemsets(unspoken.Baskets.of(LISTS), 0.4), 0.7)
    assert [(found.names(a), found.names(b)) for a, b in zip(found.left, found.right,
                                                            strict=True)] == [(("c",), ("b",))]
    assert found.confidence.tolist() == [1.0]
    assert found.lift.tolist() == pytest.approx([1 / 0.6])


@pytest.mark.slow
@given(st.lists(st.sets(st.sampled_from("abcde")), min_size=3, max_size=30),
       st.sampled_from([0.0, 0.3, 0.8]))
def test_rules_are_all_those_above_the_confidence(lists, confidence):
    baskets = unspoken.Baskets.of(lists, items="abcde")
    sets = mine.itemsets(baskets, 0.1)
    found = mine.rules(sets, confidence)
    told = {(found.names(a), found.names(b)) for a, b in zip(found.left, found.right, strict=True)}
    true = set()
    for codes in sets.sets:
        names = set(sets.names(codes))
        for k in range(1, len(codes)):
            for left in itertools.combinations(sorted(names), k):
                have = [one for one in lists if set(left) <= one]
                if sum(names <= one for one in have) / len(have) >= confidence:
                    true.add((left, tuple(sorted(names - set(left)))))
    assert told == true
    assert np.all(np.diff(found.confidence) <= 1e-12)
    with pytest.raises(InputError, match="min_confidence"):
        mine.rules(sets, 1.5)


@pytest.mark.slow
def test_rules_of_estimates_have_intervals_that_hold_the_truth():
    rng = np.random.default_rng(2)
    lists = [["a"] * (x < 0.5) + ["b"] * (x < 0.3 or y < 0.2) + ["c"] * (y > 0.6)
             for x, y in rng.random((20000, 2)).tolist()]
    whole = unspoken.Baskets.of(lists, items="abcd")
    release, _ = protect.SelectASize(0.2, keep=0.8, random_state=3).protect(whole)
    true = mine.rules(mine.itemsets(whole, 0.05), 0.01)
    found = mine.rules(mine.itemsets(release, 0.05), 0.01)
    assert found.facts["not_rated"] == 0
    known = {pair: place for place, pair in enumerate(zip(true.left, true.right, strict=True))}
    for measure in ("support", "confidence", "lift", "leverage"):
        low, high = found.interval(measure)
        for place, pair in enumerate(zip(found.left, found.right, strict=True)):
            if pair in known:
                value = getattr(true, measure)[known[pair]]
                assert low[place] <= value <= high[place]


def test_hopeless_thresholds_are_refused_instead_of_tried_for_ever(monkeypatch):
    from unspoken.methods.baskets.learners import frequent_itemsets as module

    monkeypatch.setattr(module, "MOST", 100)
    rng = np.random.default_rng(0)
    whole = unspoken.Baskets.of([rng.choice(40, 5, replace=False) for _ in range(200)],
                             items=range(40))
    release, _ = protect.SelectASize(rho1=0.05, rho2=0.5, random_state=0).protect(whole)
    with pytest.raises(DataError, match="cannot be distinguished from noise"):
        mine.itemsets(release, 0.01, slack=2)


def test_other_releases_are_refused():
    table = unspoken.read({"x": np.arange(30.0)}, show=False)
    release, _ = protect.NoiseAdder("gaussian", 0.5, others="drop").protect(table)
    with pytest.raises(InputError, match="release of baskets"):
        mine.itemsets(release, 0.1)
