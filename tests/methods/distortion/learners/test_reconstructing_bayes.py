"""Naive Bayes on reconstructed distributions: scikit-learn's on undistorted data judges."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from sklearn.preprocessing import KBinsDiscretizer
from sklearn.utils.estimator_checks import estimator_checks_generator

import unspoken
from unspoken.errors import DataError, InputError, ModelError
from unspoken.methods.distortion.noise_laws import FAMILIES, for_width
from unspoken.methods.distortion.response_matrices import keep_or_draw
from unspoken.mine import Noise, ReconstructingNaiveBayes, noisy_naive_bayes
from unspoken.models.naive_bayes import Likelihood, NaiveBayes
from unspoken.protect import NoiseAdder, RandomizedResponse


def two_humps(n, seed=0):
    """Two classes of two Gaussian columns, a third column that says nothing."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    x = np.column_stack([rng.normal(1.5 * y, 1.0), rng.normal(-y, 1.0), rng.normal(0, 1, n)])
    return x, np.array(["no", "yes"])[y]


def test_categories_told_as_they_are_give_scikit_learn_s_classifier():
    """An identity matrix distorts nothing: every probability is CategoricalNB's."""
    rng = np.random.default_rng(1)
    x = rng.integers(0, 4, (500, 3)).astype(float)
    y = np.where(x[:, 0] + rng.integers(0, 3, 500) > 3, "b", "a")
    ours = ReconstructingNaiveBayes(list(np.eye(4)[None].repeat(3, axis=0)), smoothing=0.7,
                                    stop="steps").fit(x, y)
    theirs = CategoricalNB(alpha=0.7, min_categories=4).fit(x.astype(int), y)
    np.testing.assert_allclose(ours.predict_proba(x), theirs.predict_proba(x.astype(int)),
                               atol=1e-9)


def test_columns_without_noise_are_cut_at_their_quantiles():
    """Against scikit-learn's own binning and CategoricalNB, and GaussianNB, which is right here."""
    x, y = two_humps(4000)
    fresh, truth = two_humps(4000, 1)
    ours = (ReconstructingNaiveBayes().fit(x, y).predict(fresh) == truth).mean()
    bins = KBinsDiscretizer(100, encode="ordinal", strategy="quantile", subsample=None,
                            quantile_method="averaged_inverted_cdf").fit(x)
    binned = CategoricalNB(min_categories=100).fit(bins.transform(x).astype(int), y)
    theirs = (binned.predict(bins.transform(fresh).astype(int)) == truth).mean()
    best = (GaussianNB().fit(x, y).predict(fresh) == truth).mean()
    assert ours == pytest.approx(theirs, abs=0.01)
    assert ours > best - 0.02


@pytest.mark.parametrize("family", FAMILIES)
def test_noisy_columns_come_near_the_undistorted_ones(family):
    """20,000 records, noise as wide as four deviations: within 2 points of GaussianNB on the
    original, where the same learner on the reports as they are loses more."""
    x, y = two_humps(20_000)
    fresh, truth = two_humps(5000, 1)
    noise = for_width(family, 4.0)
    w = x + noise.quantile(np.random.default_rng(2).random(x.shape))
    best = (GaussianNB().fit(x, y).predict(fresh) == truth).mean()
    found = ReconstructingNaiveBayes(noise, bins=40, support=(-5.0, 6.0)).fit(w, y)
    ours = (found.predict(fresh) == truth).mean()
    assert ours > best - 0.02
    share = found.predict_proba(fresh)
    wide = GaussianNB().fit(w, y).predict_proba(fresh)
    own = truth == "yes"
    assert -np.log(share[np.arange(5000), own.astype(int)]).mean() \
        < -np.log(wide[np.arange(5000), own.astype(int)]).mean()


def test_randomised_answers_are_unmixed():
    """Truth .6 of three answers; the undistorted classifier's log odds are found within .35."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 40_000)
    true = np.where(y == 1, rng.choice(3, y.size, p=[0.2, 0.2, 0.6]),
                    rng.choice(3, y.size, p=[0.5, 0.3, 0.2]))
    matrix = keep_or_draw(3, 0.6)
    said = (rng.random(y.size)[:, None] > np.cumsum(matrix, axis=1)[true]).sum(axis=1)
    found = ReconstructingNaiveBayes([matrix]).fit(said[:, None].astype(float), y)
    theirs = CategoricalNB().fit(true[:, None], y)
    ask = np.array([[0.0], [1.0], [2.0]])

    def odds(share):
        return np.log(share[:, 1] / share[:, 0])

    right = odds(theirs.predict_proba(ask.astype(int)))
    np.testing.assert_allclose(odds(found.predict_proba(ask)), right, atol=0.35)
    plain = odds(CategoricalNB().fit(said[:, None], y).predict_proba(ask.astype(int)))
    assert np.abs(plain - right).max() > 2 * np.abs(odds(found.predict_proba(ask)) - right).max()


def test_smoothing_makes_nothing_impossible():
    x = np.array([[0.0], [0.0], [1.0], [1.0]] * 10)
    y = np.array(["a", "a", "b", "b"] * 10)
    learner = ReconstructingNaiveBayes([np.eye(2)], stop="steps")
    assert learner.fit(x, y).predict_proba([[0.0]])[0, 1] == pytest.approx((1 / 22) / (22 / 22))
    sharp = learner.set_params(smoothing=0.0).fit(x, y)
    assert sharp.predict_proba([[0.0]])[0, 1] < 1e-10
    for column in learner.fit(x, y).model_.columns:
        np.testing.assert_allclose(column.shares.sum(axis=1), 1.0)
        assert column.shares.min() >= 0


def test_a_release_says_all_that_is_needed():
    x, y = two_humps(8000)
    rng = np.random.default_rng(5)
    said = np.where((y == "yes") ^ (rng.random(8000) < 0.2), "often", "never")
    numbers = unspoken.read(pa.table({"a": x[:, 0], "b": x[:, 1], "y": y}), target="y", show=False)
    model = noisy_naive_bayes(NoiseAdder(privacy=0.5, random_state=0).protect(numbers)[0])
    assert model.features == ("a", "b")
    fresh, truth = two_humps(3000, 1)
    assert (model.predict(fresh[:, :2]) == truth).mean() > \
        (GaussianNB().fit(x[:, :2], y).predict(fresh[:, :2]) == truth).mean() - 0.03
    answers = unspoken.read(pa.table({"q": said, "y": y}), target="y", show=False)
    release, _ = RandomizedResponse(0.7, random_state=1).protect(answers)
    model = noisy_naive_bayes(release)
    assert model.columns[0].values == ("never", "often")
    assert model.predict(model.rows(answers)).tolist() == \
        np.where(said == "often", "yes", "no").tolist()
    assert np.isnan(model.rows(unspoken.read({"q": ["huh"]}, kinds={"q": "categorical"},
                                          show=False))).all()


def test_the_model_travels_as_json(tmp_path):
    x, y = two_humps(500)
    model = ReconstructingNaiveBayes(Noise("gaussian", 0.5)).fit(x, y).model_
    model.save(tmp_path / "m.json")
    again = NaiveBayes.load(tmp_path / "m.json")
    assert again.same_as(model)
    np.testing.assert_array_equal(again.predict_proba(x), model.predict_proba(x))
    assert "naive Bayes from 500 records" in model.summary()
    other = ReconstructingNaiveBayes(Noise("gaussian", 0.6)).fit(x, y).model_
    assert "edges" in str(model.same_as(other)) or "shares" in str(model.same_as(other))
    assert not model.same_as("tree")


@pytest.mark.parametrize(("change", "field"), [
    ({"prior": [0.5]}, "prior"), ({"prior": [0.9, 0.9]}, "prior"), ({"classes": ["a"]}, "prior"),
    ({"columns": [{"name": "x", "edges": [0, 0], "shares": [1, 1], "values": []}]}, "edges"),
    ({"columns": [{"name": "x", "edges": [0, 1], "shares": [1], "values": []}]}, "shares"),
    ({"columns": [{"name": "x", "edges": [0, 1], "shares": [1, -1], "values": []}]}, "shares"),
    ({"columns": [{"name": "x", "edges": [0, 1], "shares": [1, 1], "values": [1, 2]}]}, "values"),
    ({"format": "unspoken-tree"}, "format"), ({"version": 99}, "version"),
])
def test_a_malformed_model_is_refused_by_field(change, field):
    good = NaiveBayes(("a", "b"), np.array([0.5, 0.5]),
                      (Likelihood("x", np.array([0.0, 1.0]), np.ones((2, 1))),), 4).to_json()
    assert NaiveBayes.from_json(good).classes == ("a", "b")
    with pytest.raises(ModelError, match=field):
        NaiveBayes.load(json.dumps({**good, **change}).encode())


def test_what_is_missing_says_nothing():
    model = NaiveBayes(("a", "b"), np.array([0.3, 0.7]), (
        Likelihood("x", np.array([0.0, 1.0, 2.0]), np.array([[0.9, 0.1], [0.2, 0.8]])),))
    np.testing.assert_allclose(model.predict_proba([[np.nan]]), [[0.3, 0.7]])
    # Bayes' rule by hand: .3 x .9 against .7 x .2.
    np.testing.assert_allclose(model.predict_proba([[0.5], [-7.0]])[:, 0], 0.27 / 0.41)
    with pytest.raises(DataError, match="infinite"):
        model.predict([[np.inf]])
    with pytest.raises(DataError, match="shape"):
        model.predict([[1.0, 2.0]])


def test_what_cannot_be_learned_is_refused_by_name():
    x, y = np.arange(40.0).reshape(-1, 1), np.array(["a", "b"] * 20)
    with pytest.raises(DataError, match="one class"):
        ReconstructingNaiveBayes().fit(x, ["a"] * 40)
    with pytest.raises(DataError, match=r"fewer records \(40\) than intervals \(60\)"):
        ReconstructingNaiveBayes(Noise("gaussian", 1.0), bins=60).fit(x, y)
    with pytest.raises(InputError, match="'smoothing'"):
        ReconstructingNaiveBayes(smoothing=-1.0).fit(x, y)
    with pytest.raises(InputError, match=r"ReconstructingNaiveBayes: 'noise'.*sequence of 1"):
        ReconstructingNaiveBayes([None, None]).fit(x, y)
    with pytest.raises(InputError, match="sums to one"):
        ReconstructingNaiveBayes([[[0.9, 0.2], [0.1, 0.9]]]).fit(x, y)
    with pytest.raises(InputError, match="invertible"):
        ReconstructingNaiveBayes([[[0.5, 0.5], [0.5, 0.5]]]).fit(x, y)


def checks():
    for estimator, check in estimator_checks_generator(ReconstructingNaiveBayes(), legacy=True):
        name = check.func.__name__ if hasattr(check, "func") else check.__name__
        yield pytest.param(estimator, check, id=name)


@pytest.mark.slow
@pytest.mark.parametrize(("estimator", "check"), list(checks()))
def test_scikit_learn_estimator_checks(estimator, check):
    check(estimator)
