"""Thresholds met exactly, and rules counted one by one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

import unspoken
from unspoken.methods.baskets.rule_counts import (
    counted_sets,
    least_count,
    most_below,
    shown_rules,
)


@given(st.integers(1, 3000), st.integers(1, 3000))
def test_least_and_most_meet_at_the_threshold(part, count):
    share = min(part, count) / count
    least, below = least_count(share, count), most_below(share, count)
    assert least / count >= share > below / count
    assert least == below + 1


def test_nothing_is_a_share_of_nothing():
    assert least_count(0.5, 0) == 1
    assert most_below(0.5, 0) == 0


def test_rules_are_those_that_mining_finds():
    lists = [["a", "b", "c"]] * 4 + [["a", "b"]] * 2 + [["c"]] * 3 + [["b", "d"]]
    baskets = unspoken.Baskets.of(lists)
    sets = counted_sets(baskets.offsets, baskets.codes, 4, 2)
    found = shown_rules(sets, 0.6)
    mined = unspoken.mine.rules(unspoken.mine.itemsets(baskets, 0.2), 0.6)
    assert set(found) == set(zip(mined.left, mined.right, strict=True))
    for left, right, sure in zip(mined.left, mined.right, mined.confidence, strict=True):
        assert abs(found[left, right][0] / found[left, right][1] - sure) < 1e-12
