"""Bounds from published itemsets, against all data sets there are."""

from __future__ import annotations

from functools import cache
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unspoken
from unspoken import mine
from unspoken.errors import InputError, ModelError, UnseenValueError
from unspoken.methods.baskets.adversaries.itemset_deduction import (
    Deduction,
    deduce,
    inferred_rules,
)
from unspoken.models.itemsets import Itemsets

PARTS = [part for size in range(4) for part in combinations(range(3), size)]


@cache
def every_table(people, cells=8):
    """All ways to spread people over the cells of a table of three items."""
    if cells == 1:
        return [(people,)]
    return [(first, *rest) for first in range(people + 1)
            for rest in every_table(people - first, cells - 1)]


def count(table, codes):
    wanted = sum(1 << code for code in codes)
    return sum(many for cell, many in enumerate(table) if cell & wanted == wanted)


@cache
def all_counts(people):
    return np.array([[count(table, part) for part in PARTS] for table in every_table(people)])


def published(table, sets):
    return Itemsets(("a", "b", "c"), tuple(sets),
                    np.array([count(table, one) for one in sets]) / sum(table), sum(table))


tables = st.lists(st.integers(0, 7), min_size=1, max_size=6).map(
    lambda cells: tuple(np.bincount(cells, minlength=8).tolist()))


@pytest.mark.slow
@settings(max_examples=60)
@given(tables)
def test_all_parts_known_the_bounds_are_those_of_all_data_sets(table):
    every = all_counts(sum(table))
    mine_ = [count(table, part) for part in PARTS]
    same = every[np.all(every[:, :-1] == mine_[:-1], axis=1)]
    found = deduce(published(table, PARTS[1:-1]), [["a", "b", "c"]])
    assert (found.low[0], found.high[0]) == (same[:, -1].min(), same[:, -1].max())
    # Nothing between the bounds is impossible.
    assert set(same[:, -1]) == set(range(int(found.low[0]), int(found.high[0]) + 1))


@pytest.mark.slow
@settings(max_examples=60)
@given(tables, st.sets(st.sampled_from(PARTS[1:]), max_size=5), st.sampled_from(PARTS[1:]),
       st.sampled_from([None, 2]))
def test_some_parts_known(table, sets, wanted, least):
    """Rules give true bounds; the integer program gives the best ones."""
    people, place = sum(table), PARTS.index(wanted)
    if least is not None:
        sets = {part for part in PARTS[1:] if count(table, part) >= least}
    every = all_counts(people)
    fits = np.ones(len(every), bool)
    for i, part in enumerate(PARTS[1:], 1):
        if part in sets:
            fits &= every[:, i] == count(table, part)
        elif least is not None:
            fits &= every[:, i] < least
    truth = every[fits][:, place].min(), every[fits][:, place].max()
    share = None if least is None else least / people
    if share is not None and share > 1:
        return
    deduction = Deduction(published(table, sorted(sets)), share)
    low, high = deduction.bounds(wanted)
    assert low <= truth[0] <= truth[1] <= high
    assert deduction.exact(wanted, (0, 1, 2)) == truth


def test_a_set_that_was_left_out_can_be_computed():
    # Everybody with a and b has c: s(ab) = s(a) + s(b) - n and s(ac) = s(a).
    lists = [["a", "b", "c"]] * 6 + [["a", "c"]] * 2 + [["b", "c"]] * 2
    whole = mine.itemsets(unspoken.Baskets.of(lists), 0.1)
    some = whole.take([i for i, one in enumerate(whole.sets) if len(one) == 1])
    found = dict(deduce(some, [["a", "b"], ["a", "c"], ["a", "b", "c"]]))
    assert found[("a", "c")] == (8, 8)
    assert found[("a", "b")] == (6, 8)
    both = whole.take([i for i, one in enumerate(whole.sets) if len(one) < 3])
    assert dict(deduce(both, [["a", "b", "c"]]))[("a", "b", "c")] == (6, 6)
    assert deduce(both, [["a", "b", "c"]]).derivable.tolist() == [True]
    assert "6 to 6 of 10" in deduce(both, [["a", "b", "c"]]).summary()


def test_published_supersets_count():
    lists = [["a", "b", "c"]] * 3 + [["a"]] * 7
    whole = mine.itemsets(unspoken.Baskets.of(lists), 0.1)
    only = whole.take([whole.places[(0, 1, 2)]])
    assert dict(deduce(only, [["a", "b"]])) == {("a", "b"): (3, 10)}
    assert dict(deduce(only, [["a", "b"]], exact=True, beside=["c"])) == {("a", "b"): (3, 10)}


def test_rules_that_were_left_out():
    lists = [["a", "b", "c"]] * 6 + [["a", "c"]] * 2 + [["b", "c"]] * 2
    whole = mine.itemsets(unspoken.Baskets.of(lists), 0.1)
    singles = whole.of_size(1)
    found = inferred_rules(singles, ["a -> c", "a -> b", "c -> a, b"], 0.5, 0.7)
    assert [one.verdict for one in found] == ["holds", "holds", "open"]
    assert found[1].confidence == pytest.approx((0.75, 1.0))
    assert inferred_rules(singles, ["a -> b"], 0.9, 0.7)[0].verdict == "excluded"
    # That the list is complete from 70% on tells that a, b has less.
    told = inferred_rules(singles, ["a -> b"], 0.5, 0.9, complete_from=0.7)[0]
    assert told.support == pytest.approx((0.6, 0.6))
    assert told.verdict == "excluded"


def test_a_length_limit_says_nothing_about_longer_sets():
    lists = [["a", "b", "c"]] * 9 + [["a"]]
    whole = mine.itemsets(unspoken.Baskets.of(lists), 0.5, longest=1)
    assert dict(deduce(whole, [["a", "b"]], complete_from=0.5, longest=1)) == {
        ("a", "b"): (9, 9)}
    # Taken for a complete list it would contradict itself, and that is said.
    with pytest.raises(ModelError, match="No data set has the published counts"):
        deduce(whole, [["a", "b"]], complete_from=0.5)


def test_what_is_refused():
    sets = mine.itemsets(unspoken.Baskets.of([["a", "b"]]), 0.5)
    with pytest.raises(UnseenValueError, match="Item 'z'"):
        deduce(sets, [["z"]])
    lying = Itemsets(("a", "b"), ((0,), (0, 1)), np.array([0.2, 0.9]), 10)
    with pytest.raises(ModelError, match="No data set has the published counts"):
        deduce(lying, [["b"]], exact=True, beside=["a"])
    many = Itemsets(tuple(map(str, range(20))), (), np.zeros(0), 5)
    with pytest.raises(InputError, match="at most 14"):
        deduce(many, [map(str, range(15))])
    with pytest.raises(InputError, match="at most 9"):
        deduce(many, [map(str, range(10))], exact=True)
    rough = Itemsets(("a",), ((0,),), np.array([0.5]), 10, np.array([0.1]))
    with pytest.raises(InputError, match="counted"):
        Deduction(rough)
