"""Inverse mining, against writing down every data set."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unspoken
from unspoken import mine
from unspoken.errors import InputError, ModelError, NotCoveredError, UnseenValueError
from unspoken.methods.baskets.adversaries.inverse_mining import Knows, disclosure, puzzle
from unspoken.models.itemsets import Itemsets

NAMES = ("a", "b", "c")
PARTS = [part for size in range(1, 4) for part in combinations(range(3), size)]


def count(data, part):
    wanted = sum(1 << code for code in part)
    return sum(basket & wanted == wanted for basket in data)


def every(people, equal, most, knows, person, item):
    """Count compatible data sets, and those in which a person has an item, one by one."""
    all_, with_ = 0, 0
    for data in product(range(8), repeat=people):
        if any(count(data, part) != many for part, many in equal.items()) \
                or any(count(data, part) > many for part, many in most.items()) \
                or any(data[i] & has != has or data[i] & lacks for i, (has, lacks) in
                       enumerate(knows)):
            continue
        all_ += 1
        with_ += data[person] >> item & 1
    return all_, with_


def names(mask):
    return tuple(name for i, name in enumerate(NAMES) if mask >> i & 1)


@pytest.mark.slow
@settings(max_examples=40)
@given(data=st.lists(st.integers(0, 7), min_size=2, max_size=4),
       sets=st.sets(st.sampled_from(PARTS), max_size=5),
       masks=st.tuples(st.integers(0, 7), st.integers(0, 7)), complete=st.booleans(),
       item=st.integers(0, 2))
def test_shares_are_those_of_all_data_sets(data, sets, masks, complete, item):
    if complete:
        sets = {part for part in PARTS if count(data, part) >= 2}
    has, lacks = data[0] & masks[0], ~data[0] & masks[1] & 7
    equal = {part: count(data, part) for part in sets}
    most = {part: 1 for part in PARTS if part not in sets} if complete else {}
    shown = Itemsets(NAMES, tuple(equal), np.array([*equal.values()]) / len(data), len(data))
    person = Knows(names(has), names(lacks))
    asked = puzzle(shown, [person], complete_from=2 / len(data) if complete else None, items=NAMES)
    knows = [(has, lacks)]
    total, with_ = every(len(data), equal, most, knows, 0, item)
    found = disclosure(asked, NAMES[item], person)
    assert asked.count() == found.compatible == total
    assert found.share == Fraction(with_, total)
    if len(data) > 1:
        total, with_ = every(len(data), equal, most, knows, 1, item)
        if (has, lacks) != (0, 0):
            assert disclosure(asked, NAMES[item]).share == Fraction(with_, total)
    singles = {part: many for part, many in equal.items() if len(part) == 1}
    total, with_ = every(len(data), singles, {}, knows, 0, item)
    assert found.baseline == Fraction(with_, total)


def test_by_hand():
    # Everybody with a has b: whoever is known to have a is disclosed.
    lists = [["a", "b"]] * 3 + [["b"]] * 2 + [[]] * 5
    shown = mine.itemsets(unspoken.Baskets.of(lists), 0.1)
    known = Knows(has=("a",))
    found = disclosure(puzzle(shown, [known]), "b", known)
    assert found.share == 1
    assert found.disclosed
    # By the count of b alone: five of ten have it.
    assert found.baseline == Fraction(1, 2)
    assert disclosure(puzzle(shown, [known]), "b").share == Fraction(4, 9)
    assert puzzle(shown).count() == 2520  # 10! / (3! 2! 5!)
    assert found.to_json()["compatible"] == str(found.compatible)


def test_a_hidden_rule_is_not_disclosed():
    lists = [["a", "b"]] * 4 + [["a"]] * 1 + [["b"]] * 1 + [[]] * 4
    baskets = unspoken.Baskets.of(lists)
    known = Knows(has=("a",))
    told = disclosure(puzzle(mine.itemsets(baskets, 0.1), [known]), "b", known)
    assert told.share == Fraction(4, 5)
    hidden = unspoken.protect.RuleHider(["a -> b"], min_support=0.1, min_confidence=0.6)
    after = mine.itemsets(hidden.hide(baskets).baskets, 0.1)
    assert disclosure(puzzle(after, [known]), "b", known).share < Fraction(6, 10)


def test_larger_counts_stay_exact():
    # 12 of 20 have a, 9 have b, 7 both: whoever is known to have a has b in 7 of 12.
    lists = [["a", "b"]] * 7 + [["a"]] * 5 + [["b"]] * 2 + [["c"]] * 6
    shown = mine.itemsets(unspoken.Baskets.of(lists), 0.05)
    known = Knows(has=("a",))
    assert disclosure(puzzle(shown, [known]), "b", known).share == Fraction(7, 12)


def test_what_cannot_be_is_said():
    shown = mine.itemsets(unspoken.Baskets.of([["a", "b"], ["a"]]), 0.1)
    with pytest.raises(ModelError, match="No data set has the published counts"):
        disclosure(puzzle(shown, [Knows(lacks=("a",))]), "b", Knows(lacks=("a",)))
    with pytest.raises(UnseenValueError, match="Item 'z'"):
        puzzle(shown, [Knows(has=("z",))])
    with pytest.raises(UnseenValueError, match="Item 'z'"):
        disclosure(puzzle(shown), "z")
    with pytest.raises(InputError, match="different items as 'has' and 'lacks'"):
        puzzle(shown, [Knows(has=("a",), lacks=("a",))])
    with pytest.raises(InputError, match="only 2 baskets"):
        puzzle(shown, [Knows(has=("a",), people=3)])
    with pytest.raises(InputError, match="one of the entries of 'known'"):
        disclosure(puzzle(shown), "a", Knows(has=("b",)))
    many = Itemsets(tuple(map(str, range(20))), tuple((i,) for i in range(20)), np.ones(20), 5)
    with pytest.raises(InputError, match="at most 12 items"):
        puzzle(many)


def test_what_is_too_large_is_refused_by_name(monkeypatch):
    monkeypatch.setattr("unspoken.methods.baskets.adversaries.inverse_mining.MOST_STATES", 100)
    rng = np.random.default_rng(0)
    lists = [[name for name in "abcde" if rng.random() < 0.5] for _ in range(40)]
    shown = mine.itemsets(unspoken.Baskets.of(lists), 0.05, longest=2)
    with pytest.raises(NotCoveredError, match="sample_disclosure"):
        puzzle(shown).count()
