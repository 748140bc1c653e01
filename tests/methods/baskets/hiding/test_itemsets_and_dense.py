"""Itemsets are hidden like rules, and dense baskets take no memory that grows with their sets."""

from __future__ import annotations

import numpy as np
import pytest

import unspoken
from unspoken.errors import InputError
from unspoken.methods.baskets.hiding import side_effects
from unspoken.numerics.frequent_sets import TooManySetsError, frequent
from unspoken.protect import RuleHider


def baskets(rows=300, seed=0):
    rng = np.random.default_rng(seed)
    items = {"bread": 0.6, "butter": 0.5, "milk": 0.5, "pills": 0.2}
    return unspoken.Baskets.of([[name for name, share in items.items() if rng.random() < share]
                                for _ in range(rows)])


def support(data, *names):
    return np.mean(
        [set(names) <= set(one) for one in data.lists()])


def test_an_itemset_falls_below_the_support_and_nothing_else_is_touched():
    data = baskets()
    before = support(data, "bread", "pills")
    hidden = RuleHider(["bread, pills"], min_support=0.05).hide(data)
    assert before > 0.05 > support(hidden.baskets, "bread", "pills")
    target = hidden.effects.targets[0]
    assert (target.rule, target.hidden, target.was_shown) == ("bread, pills", True, True)
    # No fewer cells would do: each lowers the count by one.
    count = round(before * 300)
    assert hidden.effects.changed == count - int(np.ceil(0.05 * 300)) + 1
    assert support(hidden.baskets, "milk") == support(data, "milk")


def test_an_itemset_and_a_rule_are_hidden_together_by_unknowns():
    hidden = RuleHider(["bread, pills", "butter -> milk"], by="unknown", min_support=0.05,
                       min_confidence=0.3, random_state=0).hide(baskets())
    assert all(target.hidden for target in hidden.effects.targets)


def test_items_put_in_hide_no_itemset():
    with pytest.raises(InputError, match="cannot be hidden by putting items in"):
        RuleHider(["bread, pills"], by="insertion").hide(baskets())


def dense(rows=1500):
    """Baskets that hold a value of each of 18 columns, most of them the commonest."""
    rng = np.random.default_rng(1)
    values = np.where(rng.random((rows, 18)) < 0.85, 0, rng.integers(1, 4, (rows, 18)))
    return unspoken.Baskets.of([[f"c{c}={v}" for c, v in enumerate(row)]
                                for row in values.tolist()])


def test_effects_of_dense_baskets_are_counted_from_a_support_that_can_be_listed(monkeypatch):
    monkeypatch.setattr(side_effects, "MOST_SETS", 2000)
    monkeypatch.setattr(side_effects, "MOST_PARTS", 100_000)
    hidden = RuleHider(["c0=1 -> c1=0"], min_support=0.01).hide(dense())
    assert hidden.effects.targets[0].hidden
    assert hidden.effects.counted_from > 0.01
    assert f"support {hidden.effects.counted_from:.3%} or more" in hidden.effects.summary()


def test_too_many_sets_are_refused_before_they_are_held():
    data = dense(200)
    with pytest.raises(TooManySetsError, match="more than 1,000"):
        frequent(data.offsets, data.codes, len(data.items), 5, len(data.items), 1000)
    few = frequent(data.offsets, data.codes, len(data.items), 195, len(data.items), 1000)
    assert sum(counts.size for _, counts in few) <= 1000
