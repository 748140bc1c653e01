"""The gamma of randomised baskets, tried by an adversary; and what must be declared for one."""

import math

import numpy as np
import pytest

import unspoken
from support.epsilon_distinguisher import least_epsilon
from unspoken import protect
from unspoken.errors import ClampedWarning, DataError, InputError
from unspoken.methods.baskets import draw_baskets

ITEMS = ["a", "b", "c", "d", "e"]
COUNT = 30_000
PAIRS = [(["a", "b"], ["c", "d"]), (["a"], ["a", "b"]), ([], ["a", "b"]),
         (["a", "b", "c", "d", "e"], [])]


def designed(**more):
    return protect.SelectASize(rho1=0.2, rho2=0.5, design_for=1,
                               **{"items": ITEMS, "largest": 2} | more)


def mask(**more):
    return protect.Mask(0.7, **{"items": ITEMS, "largest": 2} | more)


def seen(make, basket):
    """Return what a miner gets of many people with one basket, each basket as one word."""
    method = make(random_state=6).fit(unspoken.Baskets.of([basket[:2]], ITEMS))
    drawn = method.transform(unspoken.Baskets.of([basket] * COUNT, ITEMS))
    flags = np.zeros((COUNT, len(ITEMS)), np.int64)
    flags[drawn.rows, drawn.codes] = 1
    return flags @ (1 << np.arange(len(ITEMS)))


def stated(make):
    release, _ = make().protect(unspoken.Baskets.of([["a"], ["b", "c"], []], ITEMS))
    return release.guarantee.facts["epsilon_total"]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::unspoken.errors.ClampedWarning")
@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("make", [designed, mask])
def test_no_adversary_gets_beyond_the_stated_gamma(make, pair):
    assert least_epsilon(*(seen(make, basket) for basket in pair)) <= stated(make) + 1e-9


def test_the_stated_gamma_is_the_designed_one():
    assert stated(designed) == pytest.approx(math.log(4.0))
    # Two baskets of two items differ in four bits at most.
    assert stated(mask) == pytest.approx(4 * math.log(0.7 / 0.3))


def _keeps_all(patch):
    patch.setattr(draw_baskets, "keep",
                  lambda operator, baskets, rng: np.ones(baskets.codes.size, np.bool_))


def _inserts_nothing(patch):
    patch.setattr(draw_baskets, "heads", lambda cells, rho, rng: np.zeros(0, np.int64))
    patch.setattr(draw_baskets, "coins", lambda cells, rho, rng: np.zeros(cells, np.bool_))


@pytest.mark.slow
@pytest.mark.parametrize("mutant", [_keeps_all, _inserts_nothing])
def test_the_adversary_sees_a_broken_operator(monkeypatch, mutant):
    mutant(monkeypatch)
    assert least_epsilon(*(seen(designed, basket) for basket in PAIRS[0])) > stated(designed)


def test_baskets_beyond_the_declared_size_lose_items_or_are_refused():
    baskets = unspoken.Baskets.of([ITEMS, ["a"]], ITEMS)
    with pytest.warns(ClampedWarning, match="1 baskets"):
        designed().protect(baskets)
    with pytest.raises(DataError, match="more than the declared 2 items"):
        designed(outside="refuse").protect(baskets)
    with pytest.raises(DataError, match="more than the declared 2 items"):
        designed(outside="refuse").distort(ITEMS)


def test_a_device_does_not_make_its_law_for_its_own_basket():
    with pytest.raises(InputError, match="'largest'"):
        designed(largest=None).distort(["a"])
    one, two = designed(), designed()
    one.distort(["a"])
    two.distort([])
    assert one.operator_ == two.operator_
