"""Adversaries who know who told: closed forms for Gaussian data, and everybody's own posterior."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import unspoken
from unspoken.disclosure.adversary import View, adversaries_for, known
from unspoken.errors import InputError
from unspoken.methods.distortion.adversaries.known_choices import (
    choosing_estimate,
    distorted_only,
    distorted_rows,
)
from unspoken.methods.distortion.adversaries.response_answers import (
    answer_posteriors,
    record_posteriors,
)
from unspoken.methods.distortion.response_matrices import keep_or_draw, warner
from unspoken.protect import NoiseAdder, RandomizedResponse


def pairs(n=20_000, rho=0.8, seed=0):
    rng = np.random.default_rng(seed)
    return rng.multivariate_normal([0, 0], [[1, rho], [rho, 1]], n)


def error(found, truth):
    return float(((found - truth) ** 2).mean())


def test_what_was_told_sharpens_what_was_distorted():
    """Noise variance 4 on both, correlation .8: the error of the first column, by hand.

    Both distorted: 1 - s' (S + 4 I)^-1 s. Second told: precisions add, 1 / (1 / .36 + 1 / 4).
    Second withheld: 1 / (1 + 1 / 4).
    """
    x = pairs()
    rng = np.random.default_rng(1)
    w = x + 2 * rng.standard_normal(x.shape)
    told = np.zeros(x.shape, bool)
    told[:10_000, 1] = True
    gone = np.zeros(x.shape, bool)
    gone[15_000:, 1] = True
    reports = np.where(gone, 0.0, np.where(told, x, w))
    variances = np.where(gone, np.inf, np.where(told, 0.0, 4.0))
    found = choosing_estimate(reports, variances)
    cov, own = np.array([[1, 0.8], [0.8, 1]]), np.array([1, 0.8])
    both = 1 - own @ np.linalg.solve(cov + 4 * np.eye(2), own)
    assert error(found[:10_000, 0], x[:10_000, 0]) == pytest.approx(1 / (1 / 0.36 + 0.25), rel=0.05)
    assert error(found[10_000:15_000, 0], x[10_000:15_000, 0]) == pytest.approx(both, rel=0.06)
    assert error(found[15_000:, 0], x[15_000:, 0]) == pytest.approx(0.8, rel=0.06)
    np.testing.assert_allclose(found[:10_000, 1], x[:10_000, 1], atol=1e-5)
    # Taking what was told for a noisy report loses most of it.
    blind = choosing_estimate(reports, np.where(gone, np.inf, 4.0))
    assert error(blind[:10_000, 0], x[:10_000, 0]) > 1.3 * error(found[:10_000, 0],
                                                                x[:10_000, 0])
    with pytest.raises(InputError, match="two tables of one shape"):
        choosing_estimate(reports, variances[:, :1])


def release_of(n=3000):
    x = 50 + 10 * pairs(n)
    said = np.random.default_rng(3).choice(["truth", "distort", "withhold"], n, p=[0.4, 0.5, 0.1])
    table = unspoken.read(pa.table({"a": x[:, 0], "b": x[:, 1], "how": said,
                                 "y": ["u", "v"] * (n // 2)}), target="y", show=False)
    release, _ = NoiseAdder(columns=["a", "b"], choices={"b": "how"}, others="drop",
                            shuffle_rows=False, random_state=1).protect(table)
    return table, release, said


def test_the_view_shows_only_reports_that_hide_something():
    _, release, said = release_of()
    view = View.of(release, rows=True)
    seen = distorted_only(view)
    assert seen["b"].counts.sum() == (said == "distort").sum()
    assert seen["a"].counts.sum() == said.size
    np.testing.assert_array_equal(distorted_rows(view, "b"), said == "distort")
    assert distorted_rows(view, "a").all()
    with pytest.raises(InputError, match="a view with rows"):
        distorted_rows(View.of(release), "b")


def test_filters_leave_mixed_releases_to_who_knows_the_choices():
    _, release, _ = release_of(200)
    names = {one.name for one in adversaries_for(release)}
    assert names == {"posterior", "choices"}
    plain, _ = NoiseAdder().protect(unspoken.read({"a": np.arange(50.0), "y": ["u", "v"] * 25},
                                               target="y", show=False))
    assert not known("choices").applies(plain)
    assert known("bayes").applies(plain)


def test_posteriors_are_bayes_rule():
    """Warner .9, shares .2 and .8: P(first | first) = .18 / (.18 + .08)."""
    found = answer_posteriors(warner(0.9), np.array([0.2, 0.8]))
    assert found[0, 0] == pytest.approx(0.18 / 0.26)
    assert found[1, 1] == pytest.approx(0.72 / 0.74)
    # Rows of a matrix are true values: .1 of the first and .7 of the second give the second answer.
    uneven = answer_posteriors(np.array([[0.9, 0.1], [0.3, 0.7]]), np.array([0.5, 0.5]))
    np.testing.assert_allclose(uneven, [[0.75, 0.25], [0.125, 0.875]])
    np.testing.assert_allclose(found.sum(axis=1), 1.0)


def test_everybody_s_posterior_is_calibrated():
    """20,000 answers of four: of those given .5 half are right, and gamma is never broken."""
    rng = np.random.default_rng(0)
    shares = np.array([0.5, 0.25, 0.15, 0.1])
    true = rng.choice(["a", "b", "c", "d"], 20_000, p=shares)
    table = unspoken.read(pa.table({"q": true, "y": ["u", "v"] * 10_000}), target="y", show=False)
    method = RandomizedResponse(0.6, values={"q": ["a", "b", "c", "d"]}, shuffle_rows=False,
                                random_state=1)
    release, _ = method.protect(table)
    values, found = record_posteriors(release, "q")
    assert values == ("a", "b", "c", "d")
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    own = found[np.arange(20_000), np.searchsorted(values, true)]
    for low in (0.1, 0.3, 0.5, 0.7):
        sure = found.max(axis=1)
        chosen = (sure >= low) & (sure < low + 0.2)
        if chosen.sum() > 500:
            right = (np.array(values)[found.argmax(axis=1)] == true)[chosen].mean()
            assert right == pytest.approx(sure[chosen].mean(), abs=0.03)
    # Her prior is what she estimated, and the mean of her posteriors is that estimate.
    prior = found.mean(axis=0)
    odds = own / (1 - own) / (prior / (1 - prior))[np.searchsorted(values, true)]
    gamma = method.laws_["q"].gamma
    assert odds.max() <= gamma * 1.01
    assert odds.max() > gamma / 2


def test_who_told_is_certain_and_who_withheld_has_the_shares():
    n = 6000
    said = np.random.default_rng(1).choice(["truth", "distort", "withhold"], n)
    true = np.random.default_rng(2).choice(["no", "yes"], n, p=[0.7, 0.3])
    table = unspoken.read(pa.table({"q": true, "how": said, "y": ["u", "v"] * (n // 2)}),
                          target="y",
                       show=False)
    release, _ = RandomizedResponse(0.8, columns=["q"], choices={"q": "how"}, others="drop",
                                    shuffle_rows=False, random_state=3).protect(table)
    _, found = record_posteriors(release, "q")
    told = said == "truth"
    np.testing.assert_array_equal(found[told, 1], (true == "yes")[told])
    np.testing.assert_allclose(found[said == "withhold", 1], 0.3, atol=0.06)
    assert found[said == "distort"].max() < 1
    numeric, _ = NoiseAdder().protect(unspoken.read({"a": np.arange(50.0), "y": ["u", "v"] * 25},
                                                 target="y", show=False))
    with pytest.raises(InputError, match="randomised answers"):
        record_posteriors(numeric, "a")


def test_the_contract_s_guess_is_the_likeliest_value():
    from unspoken.methods.distortion.adversaries.response_answers import (
        AnswerPosterior,
        Literal,
        answer_view,
    )

    true = np.random.default_rng(0).choice([0, 1, 2], 3000, p=[0.9, 0.06, 0.04])
    table = unspoken.read(pa.table({"q": true, "y": ["u", "v"] * 1500}), target="y",
                       kinds={"q": "ordinal"}, show=False)
    release, _ = RandomizedResponse(matrix=keep_or_draw(3, 0.5), random_state=1).protect(table)
    said = release.table.numbers(["q"])[:, 0].astype(int)
    view = answer_view(release, {"q": said}, np.zeros(3000, int))
    assert Literal().guess(view, "q", None, None).tolist() == [[0, 1, 2]]
    # At these shares the answers 1 and 2 mostly come from 0.
    assert AnswerPosterior().guess(view, "q", None, None).tolist() == [[0, 0, 0]]
