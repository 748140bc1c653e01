"""Privacy of randomised baskets: posteriors by brute force, designs, breaches, the audit."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import unspoken
from unspoken import mine, protect, risk
from unspoken.errors import DataError, InputError
from unspoken.methods.baskets.adversaries.item_posterior import BasketPosterior, BasketView
from unspoken.methods.baskets.select_a_size import Operator, amplification, transition
from unspoken.methods.baskets.size_laws import Mixture

ITEMS = [f"i{n}" for n in range(6)]


def many(count, seed=0, shares=(0.5, 0.3, 0.2, 0.1, 0.05, 0.04)):
    rng = np.random.default_rng(seed)
    flags = rng.random((count, len(shares))) < np.array(shares)
    return unspoken.Baskets.of([[ITEMS[i] for i in np.flatnonzero(row)] for row in flags],
                            items=ITEMS)


@pytest.mark.parametrize("law", [Mixture((0.8,)), Mixture((0.1, 0.95), (0.7, 0.3))])
def test_posteriors_are_those_of_bayes_over_all_originals(law):
    """For items drawn independently and a mixture law the adversary is exact (6.8, 6.9)."""
    rho, prior = 0.15, np.array([0.5, 0.3, 0.2, 0.1, 0.05, 0.04])
    seen = unspoken.Baskets.of([["i0", "i3"], ["i1", "i2", "i4"], []], items=ITEMS)
    view = BasketView(seen, Operator(law, rho, 6), None, prior)
    found = BasketPosterior().posteriors(view)
    by_hand, unseen = [], []
    for codes in seen:
        y = np.isin(np.arange(6), codes)
        total, have = 0.0, np.zeros(6)
        for bits in itertools.product((False, True), repeat=6):
            t = np.array(bits)
            chance = np.prod(np.where(t, prior, 1 - prior)) * sum(
                w * np.prod(np.where(t, np.where(y, k, 1 - k), np.where(y, rho, 1 - rho)))
                for k, w in zip(law.keeps, law.weights, strict=True))
            total += chance
            have += chance * t
        by_hand += (have / total)[codes].tolist()
        unseen.append((have / total)[~y])
    assert found.seen == pytest.approx(np.array(by_hand))
    for place, chances in enumerate(unseen):
        best = int(np.flatnonzero(~np.isin(np.arange(6), list(seen)[place]))[0])
        assert found.unseen_item[place] == best
        assert found.unseen[place] == pytest.approx(chances[0])


def test_the_adversary_beats_guessing_where_there_is_no_bound_and_not_where_there_is():
    whole = many(4000)
    weak = protect.SelectASize(0.02, keep=0.9, random_state=1).protect(whole)
    strong = protect.SelectASize(rho1=0.3, rho2=0.4, design_for=1, random_state=1).protect(whole)
    rows = {name: {row.measure: row for row in risk.audit(whole, *one).rows}
            for name, one in (("weak", weak), ("strong", strong))}
    assert rows["weak"]["records"].low > rows["weak"]["records"].baseline + 0.2
    assert rows["weak"]["breach"].value > 0.02
    assert rows["strong"]["breach"].value == 0.0
    assert rows["strong"]["records"].value < rows["strong"]["records"].baseline + 0.05
    assert rows["weak"]["records"].baseline == pytest.approx(whole.frequencies().max() / 4000)


def test_no_posterior_exceeds_what_gamma_allows():
    """(6.13): odds of any item change at most gamma-fold, whatever the adversary computes."""
    whole = many(3000, 3)
    method = protect.SelectASize(rho1=0.05, rho2=0.5, design_for=2, random_state=4)
    release, _ = method.protect(whole)
    view = BasketView.of(release)
    true = whole.frequencies() / len(whole)
    view = BasketView(view.baskets, view.operator, None, true)
    found = BasketPosterior().posteriors(view)
    # Her prior takes items as independent, so the bound is on the odds under that prior.
    odds = found.seen / (1 - found.seen)
    before = (true / (1 - true))[view.baskets.codes]
    # The release was seeded and the items were the data's, so it states none itself.
    assert release.guarantee.facts["gamma"] is None
    gamma = amplification(method.operator_, np.arange(whole.sizes.max() + 1), False)
    assert (odds / before).max() <= gamma * (1 + 1e-9)


def test_an_audit_needs_the_baskets_that_were_released():
    whole = many(50)
    release, _ = protect.Mask(0.9).protect(whole)
    with pytest.raises(DataError, match="50"):
        risk.audit(whole.take(slice(0, 10)), release)
    with pytest.raises(InputError):
        risk.audit(unspoken.Baskets.of([["cheese"]] * 50), release)


def test_guided_perturbation_is_listed_as_not_scored():
    release, _ = protect.GuidedPerturbation(2, start=10, every=10).protect(many(50))
    found = risk.audit(many(50), release)
    assert not found.rows
    assert "guided" in found.unscored["basket"]


def test_audits_of_baskets_are_plain_data():
    whole = many(100)
    release, key = protect.UniformOperator(0.3).protect(whole.take(whole.sizes <= 3))
    found = risk.audit(whole.take(whole.sizes <= 3), release, key)
    again = risk.Audit.from_json(found.to_json())
    assert again.rows == found.rows
    assert "basket" in found.summary()


def test_design_says_what_can_be_told():
    rng = np.random.default_rng(0)
    tens = unspoken.Baskets.of([rng.choice(50, 10, replace=False) for _ in range(1000)],
                            items=range(50))
    found = risk.design_operator(tens, 0.05, 0.5)
    assert found.gamma < 19
    # The published order of size: about 3% with 100,000 baskets, ten times that with 1,000.
    assert 0.25 < found.deviations[3] < 0.35
    assert "sets of 3" in found.summary()
    open_ = risk.design_operator(tens, 0.05, 0.5, public_sizes=True)
    assert open_.deviations[3] == pytest.approx(found.deviations[3], rel=0.01)
    with pytest.raises(InputError, match="before"):
        risk.design_operator(tens, 0.5, 0.05)


@pytest.mark.slow
def test_the_deviation_that_a_design_states_is_that_of_the_estimates():
    """200 releases of 2,000 baskets without the set: the spread is within 20% of the stated."""
    rng = np.random.default_rng(1)
    whole = unspoken.Baskets.of([rng.choice(6, 3, replace=False) for _ in range(2000)],
                             items=range(8))
    found = risk.design_operator(whole, 0.05, 0.5, design_for=2)
    method = protect.SelectASize(rho1=0.05, rho2=0.5, design_for=2, random_state=9)
    values = []
    for _ in range(200):
        release, _ = protect.SelectASize(rho1=0.05, rho2=0.5, design_for=2).protect(whole)
        values.append(mine.supports(release, [["6", "7"]]).supports[0])
    assert np.std(values) == pytest.approx(found.deviations[2], rel=0.2)
    assert method.fit(whole).operator_ == found.operator


def test_item_breaches_by_hand():
    whole = many(2000, 5)
    operator = Operator(Mixture((0.9,)), 0.01, 6)
    found = risk.item_breaches(operator, whole, 0.06, 0.7)
    share = whole.frequencies() / 2000
    assert found.after == pytest.approx(share * 0.9 / (share * 0.9 + (1 - share) * 0.01))
    assert found.breached.tolist() == [bool(a <= 0.06 and b >= 0.7)
                                       for a, b in zip(share, found.after, strict=True)]
    assert found.breached.any()
    assert 0 < found.overall < 1
    assert found.frame().column_names == ["item", "before", "after", "breached"]


def test_item_breaches_of_a_law_that_depends_on_the_size():
    whole = unspoken.Baskets.of([["i0"], ["i0", "i1", "i2"], ["i1", "i2", "i3"]], items=ITEMS)
    method = protect.CutAndPaste(1, 0.2).fit(whole)
    found = risk.item_breaches(method.operator_, whole)
    kept = [transition(method.operator_, 1, m)[1, 1] for m in (1, 3)]
    share = 2 / 3
    mean = np.mean(kept)
    assert found.after[0] == pytest.approx(share * mean / (share * mean + (1 - share) * 0.2))


def test_mask_privacy_is_one_less_the_mean_posterior():
    p, share = 0.9, 0.2
    ones = zeros = 0.0
    for bit, chance in ((1, share), (0, 1 - share)):
        for shown in (0, 1):
            says = p if bit == shown else 1 - p
            alike = {1: p if shown else 1 - p, 0: 1 - p if shown else p}
            posterior = chance * says / (share * alike[1] + (1 - share) * alike[0])
            if bit:
                ones += says * posterior
            else:
                zeros += says * posterior
    assert risk.mask_privacy(p, [share], 1.0) == pytest.approx(1 - ones)
    assert risk.mask_privacy(p, [share], 0.0) == pytest.approx(1 - zeros)
    assert risk.mask_privacy(p, [share], 0.7) == pytest.approx(1 - 0.7 * ones - 0.3 * zeros)
    # Distorting at random hides most; keeping or flipping everything hides nothing.
    assert risk.mask_privacy(0.5, [0.1], 1.0) == pytest.approx(0.9)
    assert risk.mask_privacy(0.999999, [0.1], 1.0) == pytest.approx(0, abs=1e-4)
    with pytest.raises(InputError):
        risk.mask_privacy(1.5, [0.1])
