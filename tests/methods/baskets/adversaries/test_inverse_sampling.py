"""Sampling compatible data sets: the chains' law, and the shares against exact counting."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import unspoken
from unspoken import mine
from unspoken.errors import InputError, NotCoveredError
from unspoken.methods.baskets.adversaries.inverse_mining import Knows, disclosure, puzzle
from unspoken.methods.baskets.adversaries.inverse_sampling import (
    Chains,
    sample_disclosure,
    share_of,
)
from unspoken.models.itemsets import Itemsets

pytestmark = pytest.mark.slow


def test_chains_visit_data_sets_by_the_stated_law():
    """Three people, two items, one of them known: all 32 data sets, by exp(-beta E)."""
    shown = Itemsets(("a", "b"), ((0,), (0, 1)), np.array([2, 1]) / 3, 3)
    asked = puzzle(shown, [Knows(has=("b",))])
    walk = Chains(asked, 400, np.random.default_rng(1))
    seen = np.zeros((4, 4, 4))
    for _ in range(1500):
        walk.step(0.7)
        np.add.at(seen, tuple(walk.baskets.T), 1)
    law = np.zeros((4, 4, 4))
    for data in product(range(4), repeat=3):
        off = abs(sum(d & 1 for d in data) - 2) + abs(sum(d == 3 for d in data) - 1)
        law[data] = np.exp(-0.7 * off) * bool(data[0] & 2)
    assert seen[law == 0].sum() == 0
    assert seen / seen.sum() == pytest.approx(law / law.sum(), abs=0.003)


def lists(seed, items, people):
    rng = np.random.default_rng(seed)
    return [[name for name in items if rng.random() < 0.5] for _ in range(people)]


@pytest.mark.parametrize(("seed", "more", "complete"), [
    (0, [], None), (1, [Knows(lacks=("b",), people=2)], None), (2, [], 0.3)])
def test_shares_agree_with_exact_counting(seed, more, complete):
    baskets = unspoken.Baskets.of(lists(seed, "abc", 8), "abc")
    shown = mine.itemsets(baskets, complete or 0.1, longest=None if complete else 2)
    person = Knows(has=("a", "c"))
    asked = puzzle(shown, [person, *more], complete_from=complete, items="abc")
    truth = disclosure(asked, "b", person)
    found = sample_disclosure(asked, "b", person, chains=32, steps=8000, random_state=seed)
    assert found.mixed
    # Twice the 95% interval: one in 15,000 falls outside by chance, and the seed is fixed.
    reach = max(found.high - found.low, 0.004)
    assert abs(found.share - float(truth.share)) <= reach
    assert found.high - found.low < 0.1
    assert found.baseline == truth.baseline
    assert "agree" in found.summary()


def test_chains_that_disagree_say_so():
    shown = mine.itemsets(unspoken.Baskets.of(lists(0, "abcde", 20)), 0.1, longest=2)
    person = Knows(has=("a", "c"))
    found = sample_disclosure(puzzle(shown, [person]), "b", person, chains=16, steps=400,
                              random_state=0)
    assert not found.mixed
    assert "DO NOT AGREE" in found.summary()


def test_what_cannot_fit_is_said():
    shown = mine.itemsets(unspoken.Baskets.of([["a", "b"], ["a"]]), 0.1)
    person = Knows(lacks=("a",))
    with pytest.raises(NotCoveredError, match="No chain met"):
        sample_disclosure(puzzle(shown, [person]), "b", person, chains=4, steps=200, random_state=0)
    with pytest.raises(InputError, match="chains"):
        sample_disclosure(puzzle(shown), "b", chains=1)


def test_nothing_published_is_a_coin():
    nothing = Itemsets(("a", "b"), (), np.zeros(0), 6)
    found = sample_disclosure(puzzle(nothing, items=["a"]), "a", chains=64, steps=2000,
                              random_state=0)
    assert found.fitting == 1.0
    assert found.share == pytest.approx(0.5, abs=0.02)
    assert disclosure(puzzle(nothing, items=["a"]), "a").share == found.baseline == 0.5


@pytest.mark.parametrize("chains", [4, 32])
def test_the_interval_of_a_few_chains_holds_as_often_as_it_says(chains):
    """4 chains know little of their own spread: 1.96 of it held in 86%."""
    rng, held = np.random.default_rng(0), 0
    for _ in range(4000):
        visits = rng.integers(90, 110, chains).astype(float)
        _, low, high = share_of(visits, visits * (0.4 + 0.05 * rng.standard_normal(chains)))
        held += low <= 0.4 <= high
    assert 0.935 < held / 4000 < 0.965
