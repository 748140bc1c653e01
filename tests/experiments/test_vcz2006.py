"""The experiment of vcz2006 in small: every operator is at the stated breach level."""

from __future__ import annotations

import numpy as np
import pytest

import unspoken
from unspoken import mine, protect
from unspoken_experiments.vcz2006.baskets import (
    against_gamma,
    commonest,
    compare,
    guided,
    methods,
    worst,
)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def shop():
    rng = np.random.default_rng(0)
    shares = 0.4 / np.arange(1, 31)
    return unspoken.Baskets.of([np.flatnonzero(rng.random(30) < shares) for _ in range(3000)],
                            items=range(30))


def test_every_operator_reaches_the_breach_level_and_none_exceeds_it(shop):
    chosen = shop.take((shop.sizes > 0) & (shop.sizes < 8))
    for name, method in methods(chosen, 1).items():
        found = worst(method.fit(chosen).operator_, chosen)
        if name.startswith("designed"):
            assert found < 0.5
        else:
            assert found == pytest.approx(0.5, abs=1e-3), name


def test_an_operator_that_hides_little_finds_nearly_all(shop):
    true = mine.itemsets(shop, 0.05, longest=3)
    release, _ = protect.SelectASize(0.001, keep=0.99, random_state=1).protect(shop)
    found = compare(true, release, 0.05)
    for result in found.values():
        assert result.found + result.dropped == result.true
        assert result.dropped <= 0.2 * result.true


def test_the_commonest_items_stay(shop):
    few = commonest(shop, 3)
    assert few.items == ("0", "1", "2")
    assert few.frequencies().tolist() == shop.frequencies()[:3].tolist()


def test_less_privacy_gives_more_accuracy(shop):
    lines = [line.split("|") for line in against_gamma(shop, (0.3, 0.9))][2:]
    values = np.array([[float(cell.strip(" %")) for cell in line[4:7]] for line in lines])
    assert np.all(values[2] < values[0])
    assert np.all(values[3] < values[1])
    assert np.all(values[::2] <= values[1::2] * 1.01)


def test_more_directions_keep_more_items(shop):
    lines = [line.split("|") for line in guided(shop, 0.05, (2, 30))][2:]
    few, all_ = (float(line[2].strip(" %")) for line in lines)
    assert few < 60 < 80 < all_
