"""mine.reconstruct: close to the truth for every method, with bars, choices and unknown scales."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import unspoken
from unspoken.errors import DataError, InputError, SchemaError
from unspoken.methods.distortion.noise_laws import FAMILIES, for_width
from unspoken.mine import Noise, reconstruct
from unspoken.models.distribution import Distribution
from unspoken.protect import Discretizer, MultiplicativeNoise, NoiseAdder, RandomizedResponse

pytestmark = pytest.mark.slow


def values(n, seed=0):
    """Two humps in 20 to 80."""
    rng = np.random.default_rng(seed)
    return 20 + 60 * np.where(rng.random(n) < 0.6, rng.beta(8, 20, n), rng.beta(30, 8, n))


def table_of(n=20_000, **more):
    x = values(n)
    group = np.random.default_rng(5).choice(["a", "b"], n)
    return unspoken.read(pa.table({"x": x, **more, "group": group}), target="group", show=False)


def distance(found, truth):
    """The largest gap between the two distribution functions."""
    return float(np.abs(found.cdf(np.sort(truth)) - np.arange(truth.size) / truth.size).max())


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("method", ["em", "bayes"])
def test_arrays_with_known_noise(family, method):
    """20,000 values, privacy 50%: the distribution function is within .03 of the truth."""
    x = values(20_000)
    noise = for_width(family, 30.0)
    w = x + noise.quantile(np.random.default_rng(1).random(x.size))
    found = reconstruct(w, noise, bins=40, support=(20, 80), method=method)
    assert isinstance(found, Distribution)
    assert found.edges.size == 41
    assert found.probabilities.sum() == pytest.approx(1.0)
    assert distance(found, x) < 0.03
    raw = Distribution(found.edges, np.histogram(np.clip(w, 20, 80), found.edges)[0] / w.size)
    assert distance(found, x) < distance(raw, x)
    assert distance(reconstruct(w, noise, bins=40), x) < 0.04


METHODS = {
    "noise": NoiseAdder("laplace", 0.5, random_state=1),
    "classes": Discretizer(12),
    "truncated": MultiplicativeNoise(deviation=0.2, random_state=1),
    "lognormal": MultiplicativeNoise("lognormal", variance=0.5, random_state=4),
}


@pytest.mark.parametrize("name", METHODS)
def test_releases_of_every_numeric_method(name):
    table = table_of()
    release, _ = METHODS[name].protect(table)
    found = reconstruct(release, column="x")
    assert found.records == 20_000
    # A class is flat inside; its finest step is one class.
    assert distance(found, table.numbers(["x"])[:, 0]) < (0.06 if name == "classes" else 0.03)


def test_randomised_answers():
    answers = np.random.default_rng(0).choice(["no", "yes"], 20_000, p=[0.8, 0.2])
    release, _ = RandomizedResponse(0.7, columns=["s"], others="drop", random_state=2).protect(
        table_of(s=answers))
    found = reconstruct(release, column="s")
    assert found.values == ("no", "yes")
    assert abs(found.unbiased[1] - 0.2) < 4 * found.deviations[1]
    assert abs(found.probabilities[1] - found.unbiased[1]) < 0.02
    assert set(found.sample(50, 0)) <= {"no", "yes"}
    assert "yes: 0." in found.summary()


def test_each_report_is_used_as_what_it_is():
    """People under 40 tell the truth, the others distort (50%) or withhold: both are found."""
    x = values(30_000)
    said = np.where(x < 40, "truth", np.where(np.arange(x.size) % 5 == 0, "withhold", "distort"))
    table = unspoken.read(pa.table({"x": x, "said": said, "y": ["a", "b"] * 15_000}), target="y",
                       show=False)
    release, _ = NoiseAdder(privacy=0.5, choices={"x": "said"}, columns=["x"], others="drop",
                            random_state=3).protect(table)
    found = reconstruct(release, column="x", bins=30)
    kept = x[said != "withhold"]
    assert distance(found, kept) < 0.04
    assert found.facts["truthful"] == (said == "truth").sum()
    assert found.facts["withheld"] == (said == "withhold").sum()
    wrong = reconstruct(release.table.numbers(["x"])[:, 0], Noise("gaussian", 30 / 3.92), bins=30,
                        support=(20, 80))
    assert distance(wrong, kept) > 2 * distance(found, kept)
    w = release.table.numbers(["x"])[:, 0]
    again = reconstruct(w, Noise("gaussian", release.mechanism["columns"]["x"]["scale"]), bins=30,
                        support=(20, 80), choices=said)
    assert distance(again, kept) < 0.04


def test_pooling_helps_where_choosing_is_random():
    x = values(4000)
    said = np.random.default_rng(2).choice(["truth", "distort"], 4000, p=[0.3, 0.7])
    noise = for_width("gaussian", 60.0)
    w = np.where(said == "truth", x, x + noise.quantile(np.random.default_rng(3).random(x.size)))
    apart = reconstruct(w, noise, bins=30, support=(20, 80), choices=said)
    pooled = reconstruct(w, noise, bins=30, support=(20, 80), choices=said, pooled=True)
    truth = np.histogram(values(400_000, 9), pooled.edges)[0] / 400_000
    assert np.abs(pooled.probabilities - truth).sum() < np.abs(apart.probabilities - truth).sum()


def test_bars_cover_the_truth_at_any_stop():
    """Uniform values, 60 surveys: 95% bars hold 93% or more, though the estimate stops early."""
    noise, edges, hits = for_width("gaussian", 0.5), 8, []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        w = rng.random(1500) + noise.quantile(rng.random(1500))
        found = reconstruct(w, noise, bins=edges, support=(0, 1), confidence=0.95,
                            stop="steps", steps=40)
        assert np.all(found.low <= found.high)
        hits.append((found.low <= 1 / edges) & (found.high >= 1 / edges))
    assert np.mean(hits) > 0.93


@pytest.mark.parametrize(("family", "off"), [("uniform", 0.06), ("laplace", 0.1),
                                             ("gaussian", 0.3)])
def test_an_unknown_scale_is_estimated_with_its_interval(family, off):
    """6 surveys of 10,000, privacy 75%: intervals hold the scale in 5 or more of them.

    A Gaussian scale is weakly identified: its estimate may be 30% off, its interval says so.
    """
    noise, held = for_width(family, 45.0), 0
    for seed in range(6):
        x = values(10_000, seed)
        w = x + noise.quantile(np.random.default_rng(100 + seed).random(x.size))
        facts = reconstruct(w, family, bins=30, support=(20, 80)).facts
        assert facts["scale"] == pytest.approx(noise.scale, rel=off)
        assert facts["scale_low"] <= facts["scale"] <= facts["scale_high"]
        held += facts["scale_low"] <= noise.scale <= facts["scale_high"]
    assert held >= 5


def test_two_columns_jointly():
    rng = np.random.default_rng(0)
    a = rng.random(20_000)
    b = 0.8 * a + 0.2 * rng.random(a.size)
    table = unspoken.read(pa.table({"a": a, "b": b, "y": ["u", "v"] * 10_000}), target="y",
                          show=False)
    release, _ = NoiseAdder(privacy=0.5, random_state=1).protect(table)
    found = reconstruct(release, column=("a", "b"), bins=12)
    noisy = release.table.numbers(["a", "b"])
    assert found.correlation > 0.9 > np.corrcoef(noisy.T)[0, 1] + 0.05
    assert found.probabilities.sum() == pytest.approx(1.0)
    assert found.marginal(0).mean == pytest.approx(0.5, abs=0.02)
    assert found.sample(10, 0).shape == (10, 2)


def test_the_distribution_object():
    found = Distribution(np.array([0.0, 1.0, 3.0]), np.array([0.25, 0.75]), "x", 8)
    np.testing.assert_allclose(found.density([-1, 0.5, 1.0, 2.0, 3.0, 4]),
                               [0, 0.25, 0.375, 0.375, 0.375, 0])
    np.testing.assert_allclose(found.cdf([-1, 0, 1, 2, 3, 9]), [0, 0, 0.25, 0.625, 1, 1])
    assert found.mean == pytest.approx(0.25 * 0.5 + 0.75 * 2)
    drawn = found.sample(20_000, 0)
    assert drawn.mean() == pytest.approx(found.mean, abs=0.02)
    assert drawn.std() == pytest.approx(found.deviation, abs=0.02)
    again = Distribution.from_json(found.to_json())
    assert again.same_as(found)
    assert not found.same_as(Distribution(found.edges, np.array([0.5, 0.5])))
    assert "8 records" in found.summary()
    assert len(found.plot(against=[0.5, 2.0]).axes) == 1


@pytest.mark.parametrize(("options", "words"), [
    ({"noise": None}, "'noise'"), ({"noise": "cauchy"}, "'noise'.*Got cauchy"),
    ({"noise": "gaussian"}, "'support'"), ({"bins": 0}, "'bins'"), ({"stop": "soon"}, "'stop'"),
    ({"support": (1, 1)}, "'support'"), ({"column": "x"}, "'column'"),
    ({"choices": ["no"] * 30}, "'choices'"), ({"kernel": "square"}, "'kernel'"),
])
def test_wrong_parameters_are_refused_by_name(options, words):
    with pytest.raises(InputError, match=words):
        reconstruct(np.arange(30.0), **{"noise": Noise("gaussian", 1.0), "bins": 5, **options})


def test_reports_that_cannot_be_used_are_refused():
    noise = Noise("gaussian", 1.0)
    with pytest.raises(DataError, match="text"):
        reconstruct(["a", "b"], noise)
    with pytest.raises(DataError, match="infinite"):
        reconstruct([1.0, np.inf], noise)
    with pytest.raises(DataError, match=r"fewer reports \(10\) than intervals \(50\)"):
        reconstruct(np.arange(10.0), noise)
    release, _ = NoiseAdder().protect(table_of(500))
    with pytest.raises(SchemaError, match=r"Distorted: \['x'\]"):
        reconstruct(release, column="z")
    with pytest.raises(InputError, match="'column'"):
        reconstruct(release)
