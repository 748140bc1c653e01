"""Rules as texts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import unspoken
from unspoken.errors import InputError, UnseenValueError
from unspoken.table.rule_text import read_rule, rule_of, write_rule

ITEMS = ("a", "b", "whole milk", "cream ", "x, y", "u->v", 'say "hi"', " b")

names = st.text(st.sampled_from('ab,"-> '), min_size=1, max_size=6)


def test_by_hand():
    assert read_rule("a, whole milk->b", ITEMS) == ((0, 2), (1,))
    assert read_rule('  "x, y" ,a -> "u->v"', ITEMS) == ((0, 4), (5,))
    assert read_rule("cream -> a", ITEMS) == ((3,), (0,))
    assert read_rule("b, b -> a", ITEMS) == ((1,), (0,))


@pytest.mark.slow
@given(st.lists(names, min_size=2, max_size=6, unique=True), st.data())
def test_what_is_written_is_read_again(items, data):
    cut = data.draw(st.integers(1, len(items) - 1))
    rule = tuple(range(cut)), tuple(range(cut, len(items)))
    assert read_rule(write_rule(rule, items), items) == rule


@pytest.mark.parametrize("text", ["a", "a -> b -> cream", "", "->", "a ->", "-> a", "a, b -> a"])
def test_what_is_no_rule(text):
    with pytest.raises(InputError):
        read_rule(text, ITEMS)


def test_names_that_are_not_there_or_not_clear():
    with pytest.raises(UnseenValueError, match="'milk'"):
        read_rule("milk -> a", ITEMS)
    with pytest.raises(UnseenValueError, match="'q'"):
        read_rule("q -> a", (" q", "q ", "a"))


def test_pairs_of_lists():
    baskets = unspoken.Baskets.of([["a", "b"], ["c"]])
    assert rule_of((["b", "a"], ["c"]), baskets) == ((0, 1), (2,))
    with pytest.raises(InputError, match="two lists"):
        rule_of(("ab", "c"), baskets)
