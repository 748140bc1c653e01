"""What must hold for every distorting method: unbiased, covered, distributions, refusals."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unspoken
from unspoken.errors import DataError, InputError, SchemaError
from unspoken.methods.distortion.noise_laws import FAMILIES, for_width
from unspoken.mine import (
    Noise,
    ReconstructingNaiveBayes,
    ReconstructingTreeClassifier,
    noisy_naive_bayes,
    noisy_tree,
    reconstruct,
)
from unspoken.models.distribution import Categories, JointDistribution
from unspoken.protect import Discretizer, MultiplicativeNoise, NoiseAdder, RandomizedResponse

pytestmark = pytest.mark.slow


def table_of(**columns):
    size = len(next(iter(columns.values())))
    y = np.where(np.arange(size) % 2, "a", "b")
    return unspoken.read(pa.table({**columns, "y": y}), target="y", show=False)


@pytest.mark.parametrize("family", FAMILIES)
def test_mean_and_spread_are_unbiased(family):
    """40 surveys of 2,000, 50% privacy, 20 intervals: the mean of the estimated means is within
    4 standard errors of .4, the deviations' within .02 of .2; the reports' own are not."""
    noise, means, spreads, raw = for_width(family, 0.5), [], [], []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        x = rng.beta(2, 3, 2000)
        w = x + noise.quantile(rng.random(2000))
        found = reconstruct(w, noise, bins=20, support=(0.0, 1.0))
        means.append(found.mean)
        spreads.append(found.deviation)
        raw.append(w.std())
    assert abs(np.mean(means) - 0.4) < 4 * np.std(means) / math.sqrt(40)
    assert np.mean(spreads) == pytest.approx(0.2, abs=0.02)
    assert abs(np.mean(raw) - 0.2) > 0.02


def test_bars_of_the_default_cover():
    """40 surveys of 2,000 from a smooth density, 10 intervals: 95% bars hold 93% or more of the
    true shares, and say more than nothing: they are a tenth to a half wide."""
    noise, edges = for_width("gaussian", 0.5), np.linspace(0, 1, 11)
    rng = np.random.default_rng(0)
    truth = np.histogram(rng.beta(2, 3, 2_000_000), edges)[0] / 2_000_000
    held, width, estimates = [], [], []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        w = rng.beta(2, 3, 2000) + noise.quantile(rng.random(2000))
        found = reconstruct(w, noise, bins=10, support=(0.0, 1.0), confidence=0.95)
        held.append((found.low <= truth) & (found.high >= truth))
        width.append(found.high - found.low)
        estimates.append(found.probabilities)
    assert np.mean(held) > 0.93
    spread = 3.92 * np.std(estimates, axis=0)
    assert spread.mean() < np.mean(width) < 0.5


METHODS = {
    "noise": lambda: NoiseAdder(columns=["x"], others="drop"),
    "classes": lambda: Discretizer(4, columns=["x"], others="drop"),
    "truncated": lambda: MultiplicativeNoise(columns=["x"], others="drop"),
    "lognormal": lambda: MultiplicativeNoise("lognormal", columns=["x"], others="drop"),
    "response": lambda: RandomizedResponse(columns=["q"], others="drop"),
}


@given(st.sampled_from(sorted(METHODS)), st.integers(20, 60), st.integers(0, 2**32 - 1))
@settings(max_examples=40)
def test_every_estimate_of_every_method_is_a_distribution(name, rows, seed):
    rng = np.random.default_rng(seed)
    table = table_of(x=rng.gamma(2, 2, rows) + 0.1, q=rng.choice(["u", "v", "w"], rows))
    if len(set(table.arrow()["q"].to_pylist())) < 3:
        return
    release, _ = METHODS[name]().protect(table)
    found = reconstruct(release, column="q" if name == "response" else "x", bins=6)
    assert found.probabilities.min() >= 0
    assert found.probabilities.sum() == pytest.approx(1.0)
    if not isinstance(found, Categories):
        assert np.all(np.diff(found.cdf(np.linspace(0, 20, 50))) >= 0)
        assert np.all(np.diff(found.edges) > 0)


def test_two_answers_jointly():
    """200,000 pairs of answers, truth .7 each: every cell within .03, the plain counts are not."""
    rng = np.random.default_rng(0)
    a = rng.choice(["no", "yes"], 200_000, p=[0.6, 0.4])
    b = np.where(rng.random(200_000) < 0.85, a, np.where(a == "yes", "no", "yes"))
    release, _ = RandomizedResponse(0.7, columns=["a", "b"], others="drop",
                                    random_state=1).protect(table_of(a=a, b=b))
    found = reconstruct(release, column=("a", "b"))
    assert isinstance(found, JointDistribution)
    assert found.facts["values"] == {"a": ["no", "yes"], "b": ["no", "yes"]}
    truth = np.histogram2d(a == "yes", b == "yes", bins=2)[0] / 200_000
    np.testing.assert_allclose(found.probabilities, truth, atol=0.03)
    said = release.table.arrow()
    plain = np.histogram2d(np.array(said["a"].to_pylist()) == "yes",
                           np.array(said["b"].to_pylist()) == "yes", bins=2)[0] / 200_000
    assert np.abs(plain - truth).max() > 0.1


def test_a_number_and_an_answer_jointly_where_people_chose():
    rng = np.random.default_rng(1)
    ill = rng.choice(["no", "yes"], 20_000)
    x = np.where(ill == "yes", rng.normal(7, 1, 20_000), rng.normal(3, 1, 20_000))
    how = rng.choice(["truth", "distort", "withhold"], 20_000, p=[0.2, 0.7, 0.1])
    table = table_of(x=x, z=x + rng.normal(0, 0.5, 20_000), how=how)
    release, _ = NoiseAdder(privacy=0.5, columns=["x", "z"], choices={"x": "how"}, others="drop",
                            random_state=2).protect(table)
    found = reconstruct(release, column=("x", "z"), bins=15)
    assert found.probabilities.sum() == pytest.approx(1.0)
    assert found.probabilities.min() >= 0
    assert found.correlation > 0.9
    w = release.table.numbers(["x", "z"])
    known = ~np.isnan(w[:, 0])
    assert np.corrcoef(w[known].T)[0, 1] < 0.85
    with pytest.raises(InputError, match="'method' and 'kernel'"):
        reconstruct(release, column=("x", "z"), method="bayes")


GOOD = np.linspace(0, 1, 60)
LABELS = np.array(["a", "b"] * 30)
MATRIX = [[0.9, 0.2], [0.1, 0.9]]
CONSTANT = [[0.5, 0.5], [0.5, 0.5]]
WRONG = {
    "noise of zero width": (InputError, "zero width", lambda: Noise("gaussian", 0.0)),
    "no width by scale": (InputError, "'scale'", lambda: NoiseAdder(scale=0.0).protect(
        table_of(x=GOOD))),
    "no width by range": (DataError, r"'x' has one value.*range of zero width",
                          lambda: NoiseAdder().protect(table_of(x=np.ones(9)))),
    "unknown family": (InputError, "'family'.*cauchy", lambda: NoiseAdder("cauchy").protect(
        table_of(x=GOOD))),
    "unknown family of reports": (InputError, "'noise'.*cauchy",
                                  lambda: reconstruct(GOOD, "cauchy")),
    "text to noise": (DataError, r"'q'.*numeric", lambda: NoiseAdder(columns=["q"]).protect(
        table_of(q=["u", "v"] * 9))),
    "text to class": (DataError, r"'q'.*numeric", lambda: Discretizer(columns=["q"]).protect(
        table_of(q=["u", "v"] * 9))),
    "text to multiply": (DataError, r"'q'.*numeric",
                         lambda: MultiplicativeNoise(columns=["q"]).protect(
                             table_of(q=["u", "v"] * 9))),
    "text to reconstruct": (DataError, "text", lambda: reconstruct(["u"], Noise("uniform", 1.0))),
    "text to learn from": (ValueError, "could not convert",
                           lambda: ReconstructingNaiveBayes().fit([["u"]] * 60, LABELS)),
    "rows that do not sum to one": (InputError, "sums to one",
                                    lambda: RandomizedResponse(matrix=MATRIX).protect(
                                        table_of(q=["u", "v"] * 9))),
    "a matrix without inverse": (InputError, "invertible",
                                 lambda: RandomizedResponse(matrix=CONSTANT).protect(
                                     table_of(q=["u", "v"] * 9))),
    "a column of nulls": (DataError, r"'x' has one value.*range of zero width",
                          lambda: NoiseAdder(columns=["x"]).protect(table_of(
                              x=pa.array([None] * 9, pa.float64())))),
    "infinities to noise": (DataError, r"'x'.*infinite",
                            lambda: NoiseAdder().protect(table_of(x=[1.0, np.inf, 2.0]))),
    "infinities to class": (DataError, r"'x'.*infinite",
                            lambda: Discretizer().protect(table_of(x=[1.0, np.inf, 2.0]))),
    "infinities to multiply": (DataError, r"'x'.*infinite",
                               lambda: MultiplicativeNoise().protect(
                                   table_of(x=[1.0, np.inf, 2.0]))),
    "infinities to reconstruct": (DataError, "infinite",
                                  lambda: reconstruct([1.0, np.inf], Noise("uniform", 1.0))),
    "infinities to learn from": (ValueError, "infinity",
                                 lambda: ReconstructingTreeClassifier().fit(
                                     np.r_[GOOD[:-1], np.inf][:, None], LABELS)),
    "one class to a tree": (DataError, "one class", lambda: ReconstructingTreeClassifier().fit(
        GOOD[:, None], ["a"] * 60)),
    "one class to naive Bayes": (DataError, "one class", lambda: ReconstructingNaiveBayes().fit(
        GOOD[:, None], ["a"] * 60)),
    "few records for a distribution": (DataError, r"than intervals \(61\)",
                                       lambda: reconstruct(GOOD, Noise("uniform", 1.0), 61)),
    "few records for a tree": (DataError, r"than intervals \(61\)",
                               lambda: ReconstructingTreeClassifier(
                                   Noise("uniform", 1.0), bins=61).fit(GOOD[:, None], LABELS)),
    "few records for naive Bayes": (DataError, r"than intervals \(61\)",
                                    lambda: ReconstructingNaiveBayes(
                                        Noise("uniform", 1.0), bins=61).fit(GOOD[:, None],
                                                                            LABELS)),
    "a release that distorts nothing": (InputError, "distorts",
                                        lambda: noisy_naive_bayes(undistorted())),
    "a tree of such a release": (InputError, "distorts", lambda: noisy_tree(undistorted())),
    "a column that was not distorted": (SchemaError, r"Distorted: \['x'\]", lambda: reconstruct(
        NoiseAdder().protect(table_of(x=GOOD))[0], column="z")),
}


def undistorted():
    return unspoken.protect.PiecewiseEncoder().protect(table_of(x=GOOD))[0]


@pytest.mark.parametrize("what", WRONG)
def test_bad_input_gets_an_error_that_names_it(what):
    kind, words, wrong = WRONG[what]
    with pytest.raises(kind, match=words):
        wrong()


@pytest.mark.parametrize("method", [
    NoiseAdder(columns=["x"], others="drop", random_state=0),
    Discretizer(4, columns=["x"], others="drop"),
    MultiplicativeNoise(columns=["x"], others="drop", random_state=0),
])
def test_nulls_stay_nulls_and_are_counted(method):
    x = pa.array([None if i % 7 == 0 else float(i % 50) + 1 for i in range(140)])
    release, _ = method.protect(table_of(x=x))
    assert release.table.arrow()["x"].null_count == 20
    found = reconstruct(release, column="x", bins=4)
    assert found.records == 120
    assert found.facts["withheld"] == 20
    assert noisy_tree(release, prune=None).features == ("x",)
    assert noisy_naive_bayes(release).features == ("x",)


def test_a_reconstruction_can_be_drawn_with_its_bars():
    rng = np.random.default_rng(0)
    noise = Noise("laplace", 0.1)
    found = reconstruct(rng.random(500) + noise.quantile(rng.random(500)), noise, 8,
                        support=(0.0, 1.0), confidence=0.95)
    assert np.all(found.low <= found.high)
    assert found.low.min() >= 0
    assert found.high.max() <= 1
    assert len(found.plot().axes[0].collections) == 1
    assert found.density([0.5])[0] == pytest.approx(found.probabilities[4] * 8)
    assert found.sample(9, 1).shape == (9,)
