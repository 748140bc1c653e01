"""Randomised baskets: they are drawn as the operator says, and estimates are right on average."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import unspoken
from unspoken import mine, protect
from unspoken.errors import InputError, NotCoveredError, UnseenValueError
from unspoken.methods.baskets.draw_baskets import (
    Drawing,
    coins,
    heads,
    merged,
    strangers,
    without,
)
from unspoken.methods.baskets.guided import Guidance, guided
from unspoken.methods.baskets.method import FORMS
from unspoken.methods.baskets.select_a_size import Operator, transition
from unspoken.methods.baskets.size_laws import Mixture
from unspoken.numerics.random import generator, seed_from

pytestmark = pytest.mark.slow

ITEMS = [f"i{n}" for n in range(8)]
METHODS = {
    "hidden": protect.SelectASize(0.2, [0.05, 0.05, 0.1, 0.2, 0.6]),
    "public": protect.SelectASize(0.2, {2: [0.1, 0.2, 0.7], 4: [0.1, 0.1, 0.1, 0.1, 0.6]},
                                  public_sizes=True),
    "keep": protect.SelectASize(0.15, keep=0.8),
    "large-rho": protect.SelectASize(0.6, keep=0.1),
    "designed": protect.SelectASize(rho1=0.05, rho2=0.9, design_for=2),
    "cut-and-paste": protect.CutAndPaste(3, 0.2),
    "uniform": protect.UniformOperator(0.4),
    "mask": protect.Mask(0.8),
}
FEW = unspoken.Baskets.of([["i0", "i1"], ["i0", "i1", "i2", "i3"], ["i2", "i3", "i4", "i5"],
                        ["i6", "i7"], ["i0", "i2"]], items=ITEMS)


def method(name, seed):
    return METHODS[name].__class__(**{**METHODS[name].get_params(), "random_state": seed})


@pytest.mark.parametrize("name", METHODS)
def test_baskets_are_drawn_by_the_operator(name):
    """20,000 baskets of each size: how many of two own items and how many strangers are seen.

    Chi-square of the joint counts against the transition matrix; 0.1% of right programs fail
    with fresh seeds, which is why the seed is fixed.
    """
    from scipy.stats import chisquare

    count = 20_000
    for m in (2, 4):
        basket = ITEMS[:m]
        whole = unspoken.Baskets.of([basket] * count + [ITEMS[:4], ITEMS[:2]], items=ITEMS)
        found = method(name, 5).fit(whole)
        drawn = found.transform(whole).take(slice(0, count))
        flags = np.zeros((count, 8), bool)
        flags[drawn.rows, drawn.codes] = True
        for codes, own in (([0, 1], 2), ([0, 7], 1), ([6, 7], 0)):
            seen = np.bincount(flags[:, codes].sum(axis=1), minlength=3)
            share = transition(found.operator_, 2, m)[:, own]
            assert chisquare(seen, share * count).pvalue > 1e-3


@pytest.mark.parametrize("name", METHODS)
def test_every_draw_is_independent_across_baskets_and_calls(name):
    whole = unspoken.Baskets.of([ITEMS[:4], ITEMS[:2]] * 500, items=ITEMS)
    found = method(name, 7).fit(whole)
    first, second = found.transform(whole), found.transform(whole)
    assert not first.same_as(second)
    assert len({tuple(one) for one in first.lists()}) > 10


@pytest.mark.parametrize("name", METHODS)
def test_estimates_are_unbiased_and_intervals_cover(name):
    """150 releases of 4,000 baskets: the mean error is within 4 standard errors, the mean
    squared error within 35% of the stated variance, and 95% intervals cover at least 90%."""
    rng, trials = np.random.default_rng(3), 150
    sizes = rng.choice([2, 4], 4000)
    lists = [sorted(rng.choice(8, m, replace=False, p=np.r_[0.3, 0.3, np.full(6, 0.4 / 6)]))
             for m in sizes]
    whole = unspoken.Baskets.of([[ITEMS[i] for i in one] for one in lists], items=ITEMS)
    wanted = [("i0",), ("i0", "i1"), ("i5", "i6")]
    true = mine.supports(whole, wanted)
    errors, spreads, covered = [], [], []
    for trial in range(trials):
        release, key = method(name, trial).protect(whole)
        assert key is None
        found = mine.supports(release, wanted)
        assert found.sets == true.sets
        errors.append(found.supports - true.supports)
        spreads.append(found.deviations**2)
        covered.append((found.low <= true.supports) & (true.supports <= found.high))
    errors = np.array(errors)
    assert np.all(np.abs(errors.mean(axis=0)) < 4 * errors.std(axis=0) / math.sqrt(trials))
    ratio = (errors**2).mean(axis=0) / np.mean(spreads, axis=0)
    assert np.all((ratio > 0.65) & (ratio < 1.35))
    assert np.all(np.mean(covered, axis=0) > 0.9)


@pytest.mark.parametrize("name", ["hidden", "public", "mask", "cut-and-paste"])
def test_mining_estimates_what_supports_estimates_one_by_one(name):
    rng = np.random.default_rng(4)
    whole = unspoken.Baskets.of([[ITEMS[i] for i in rng.choice(8, rng.choice([2, 4]),
                                                               replace=False)]
                              for _ in range(3000)], items=ITEMS)
    release, _ = method(name, 2).protect(whole)
    found = mine.itemsets(release, 0.005, longest=3, slack=50, false_discovery=1.0)
    every = [c for k in (1, 2, 3) for c in itertools.combinations(ITEMS, k)]
    single = mine.supports(release, every)
    assert found.sizes.max() == 3
    for names, support in found:
        assert support == pytest.approx(single.support(*names), abs=1e-12)
    enough = {single.names(s) for s, v in zip(single.sets, single.supports, strict=True)
              if v >= 0.005}
    assert {names for names, _ in found} == enough
    assert found.facts["candidates"] == [8, 28, 56]


def test_a_release_is_saved_loaded_and_mined_alike(tmp_path):
    release, _ = method("public", 1).protect(FEW)
    loaded = release.save(tmp_path / "r")
    assert unspoken.Release.load(tmp_path / "r").baskets.same_as(release.baskets)
    assert mine.supports(loaded, [["i0"]]).same_as(mine.supports(release, [["i0"]]))
    assert loaded.manifest["seeded"] is True
    assert not loaded.guarantee.covers(object())
    assert loaded.guarantee.facts["public_sizes"] is True


def test_one_size_for_all_need_not_be_published():
    rng = np.random.default_rng(6)
    whole = unspoken.Baskets.of([[ITEMS[i] for i in rng.choice(8, 3, replace=False)]
                              for _ in range(5000)], items=ITEMS)
    for made in (protect.CutAndPaste(3, 0.1, public_sizes=False, random_state=1),
                 protect.SelectASize(0.1, {3: [0.1, 0.1, 0.2, 0.6]}, random_state=1)):
        release, _ = made.protect(whole)
        assert release.schema.names == ("basket",)
        found = mine.supports(release, [["i0"], ["i0", "i1"]])
        true = mine.supports(whole, [["i0"], ["i0", "i1"]])
        assert np.all(np.abs(found.supports - true.supports) < 4 * found.deviations)


def test_empty_baskets_are_randomised_and_counted_like_others():
    whole = unspoken.Baskets.of([[]] * 500 + [["i0", "i1"]] * 500, items=ITEMS)
    for name in ("keep", "mask", "designed", "cut-and-paste", "uniform"):
        release, _ = method(name, 3).protect(whole)
        found = mine.supports(release, [["i0", "i1"]])
        assert abs(found.supports[0] - 0.5) < 4 * found.deviations[0]
    with pytest.raises(InputError, match="All baskets are empty"):
        protect.SelectASize(rho1=0.05, rho2=0.5).protect(unspoken.Baskets.of([[]], items=ITEMS))


def test_gamma_of_the_release_excludes_the_breach_that_was_asked_for():
    declared = {"items": list(FEW.items), "largest": int(FEW.sizes.max())}
    release, _ = protect.SelectASize(rho1=0.05, rho2=0.5, **declared).protect(FEW)
    assert release.guarantee.facts["gamma"] < 19
    assert release.guarantee.facts["gamma"] == pytest.approx(19)
    assert protect.UniformOperator(0.1, **declared).protect(FEW)[0].guarantee.facts["gamma"] > 19
    for missing in ({}, {"items": declared["items"]}, {"largest": declared["largest"]}):
        bare = protect.SelectASize(rho1=0.05, rho2=0.5, **missing).protect(FEW)[0].guarantee
        assert (bare.facts["gamma"], bare.facts["epsilon_total"]) == (None, None)
        assert "taken from the data" in bare.summary()


def test_one_basket_is_randomised_on_its_own():
    device = protect.SelectASize(0.1, keep=0.5, items=ITEMS)
    seen = [tuple(device.distort(["i0", "i1"])) for _ in range(50)]
    assert len(set(seen)) > 5
    with pytest.raises(UnseenValueError, match="Got cheese"):
        device.distort(["cheese"])
    with pytest.raises(InputError, match="items"):
        protect.SelectASize(0.1, keep=0.5).distort(["i0"])
    assert protect.UniformOperator(0.5, items=ITEMS).distort([]) == []


@pytest.mark.parametrize(("made", "says"), [
    (protect.SelectASize(1.0, keep=0.5), "rho"), (protect.SelectASize(0, keep=0.5), "rho"),
    (protect.SelectASize(0.1), "sizes"), (protect.SelectASize(0.1, [1.0], keep=0.5), "sizes"),
    (protect.SelectASize(0.1, [0.5, 0.5]), "at most 1"),
    (protect.SelectASize(0.1, {2: [0.5, 0.2, 0.3]}, public_sizes=True), "no distribution for"),
    (protect.SelectASize(0.1, {2: [0.1] * 3, 4: [0.2] * 5}), "sum to one"),
    (protect.SelectASize(0.1, {2: [0.5, 0.2, 0.3], 4: [0.2] * 5}), "public_sizes"),
    (protect.SelectASize(rho1=0.5, rho2=0.05), "rho1"),
    (protect.SelectASize(0.1, rho1=0.05, rho2=0.5), "not both"),
    (protect.CutAndPaste(0, 0.1), "cutoff"), (protect.CutAndPaste(2, 1.0), "rho"),
    (protect.CutAndPaste(2, 0.1, public_sizes=False), "public_sizes"),
    (protect.UniformOperator(0.0), "'p'"), (protect.Mask(1.0), "'p'"),
    (protect.GuidedPerturbation(0), "rank")])
def test_parameters_that_make_no_sense_are_refused(made, says):
    with pytest.raises(InputError, match=says):
        made.protect(FEW)


def test_other_things_than_baskets_are_refused():
    with pytest.raises(InputError, match="read_baskets"):
        protect.Mask(0.9).protect([["a"]])
    with pytest.raises(InputError, match="no baskets to protect"):
        protect.Mask(0.9).protect(unspoken.Baskets.of([], items=["a"]))
    with pytest.raises(InputError, match="from 0 to 4"):
        protect.UniformOperator(0.5).protect(unspoken.Baskets.of([ITEMS[:5]], items=ITEMS))


@pytest.mark.parametrize("rho", [0.001, 0.1, 0.5, 0.93])
def test_coins_fall_as_often_as_they_should_wherever_they_lie(rho):
    cells, rng = 400_000, generator(seed_from(11))
    places = heads(cells, rho, rng)
    assert np.all(np.diff(places) > 0)
    for found in (places, np.flatnonzero(coins(cells, rho, rng))):
        error = math.sqrt(cells / 4 * rho * (1 - rho))
        for part in range(4):
            here = np.count_nonzero((found >= part * cells / 4) & (found < (part + 1) * cells / 4))
            assert abs(here - cells / 4 * rho) < 4 * error
        # The gap after a head is geometric: its square has a known mean.
        gaps = np.diff(found).astype(float)
        mean, of_square = 1 / rho, (2 - rho) / rho**2
        fourth = (gaps**2).std() / math.sqrt(gaps.size)
        assert abs(gaps.mean() - mean) < 4 * gaps.std() / math.sqrt(gaps.size) + 1e-9
        assert abs((gaps**2).mean() - of_square) < 4 * fourth + 1e-9


@pytest.mark.parametrize("few", [0, 64])
def test_strangers_are_distinct_and_none_is_the_baskets_own(monkeypatch, few):
    from unspoken.methods.baskets import draw_baskets as drawing

    monkeypatch.setattr(drawing, "FEW", few)
    own, seen = np.array([0, 1, 2, 3, 8, 9]), []
    for seed in range(600):
        found = strangers(own, np.array([4, 2]), 8, generator(seed_from(seed)))
        assert found.tolist()[:4] == [4, 5, 6, 7]
        assert len(set(found.tolist())) == 6
        assert not set(found.tolist()) & set(own.tolist())
        seen.append(tuple(found.tolist()[4:]))
    # All 15 pairs out of six strangers are equally likely: 40 times each, give or take four
    # standard deviations.
    counts = [seen.count(pair) for pair in itertools.combinations(range(10, 16), 2)]
    assert sum(counts) == 600
    assert max(abs(n - 40) for n in counts) < 4 * math.sqrt(40 * 14 / 15)


def test_lists_in_order_are_merged_and_taken_apart():
    assert merged(np.array([1, 5, 9]), np.array([0, 6])).tolist() == [0, 1, 5, 6, 9]
    assert without(np.array([1, 5, 9]), np.array([5, 7])).tolist() == [1, 9]
    assert merged(np.array([], np.int64), np.array([2])).tolist() == [2]


def test_parts_of_a_large_release_are_drawn_by_seeds_of_their_own(monkeypatch):
    from unspoken.methods.baskets import draw_baskets as drawing

    monkeypatch.setattr(drawing, "CELLS", 80)
    whole = unspoken.Baskets.of([["i0", "i1"]] * 200, items=ITEMS)
    found = Drawing(Operator(Mixture((0.5,)), 0.3, 8), seed_from(1))(whole)
    blocks = {tuple(map(tuple, found.take(slice(at, at + 10)).lists())) for at in range(0, 200, 10)}
    assert len(found) == 200
    assert len(blocks) == 20


def test_guidance_holds_the_leading_eigenvectors_of_all_that_came():
    rng = np.random.default_rng(0)
    rows = rng.random((400, 20)) < np.r_[np.full(5, 0.6), np.full(15, 0.1)]
    guidance = Guidance.empty(20, 3)
    guidance.spare = 17
    for at in range(0, 400, 7):
        guidance.update(rows[at:at + 7])
    _, strengths, axes = np.linalg.svd(rows.astype(float), full_matrices=False)
    assert guidance.strengths[:3] == pytest.approx(strengths[:3], rel=1e-6)
    overlap = np.abs(axes[:3] @ guidance.given())
    assert overlap == pytest.approx(np.eye(3), abs=1e-5)


def test_guided_baskets_keep_what_fits_the_guidance_and_gain_others():
    vectors = np.zeros((4, 1))
    vectors[:2, 0] = math.sqrt(0.5)
    mine_ = np.array([[True, True, True, False], [True, False, False, False]])
    assert guided(mine_, vectors, 0.5).tolist() == [[True, True, False, False],
                                                    [True, True, False, False]]
    assert not guided(mine_, vectors, 0.4)[1].any()
    rng = np.random.default_rng(1)
    whole = unspoken.Baskets.of([[ITEMS[i] for i in rng.choice(8, 3, replace=False)]
                              for _ in range(400)], items=ITEMS)
    release, _ = protect.GuidedPerturbation(8, 0.5, 0.1, start=50, every=25,
                                            random_state=1).protect(whole)
    sent = release.baskets
    assert len(sent) == 400
    # With as many directions as items nothing is lost once guidance has come.
    late = range(200, 400)
    assert all(set(whole.lists()[i]) <= set(sent.lists()[i]) for i in late)
    added = (sent.sizes - whole.sizes)[200:].sum()
    assert abs(added - 200 * 5 * 0.1) < 4 * math.sqrt(200 * 5 * 0.1 * 0.9)
    with pytest.raises(NotCoveredError, match="guided"):
        mine.itemsets(release, 0.1)
    assert release.guarantee.facts["gamma"] is None


def test_operators_are_found_by_name():
    assert sorted(FORMS) == ["cut-and-paste", "guided", "mask", "select-a-size", "uniform"]
