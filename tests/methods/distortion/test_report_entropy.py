"""What distorted reports hide: known widths, entropies, posteriors, breaches and the audit."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unspoken
from unspoken.errors import InputError
from unspoken.methods.distortion import amplification as amplify
from unspoken.methods.distortion import report_entropy as entropy
from unspoken.methods.distortion.noise_laws import FAMILIES, Noise, for_width
from unspoken.methods.distortion.reconstruct.kernels import noise_kernel, reported_edges
from unspoken.methods.distortion.response_matrices import keep_or_draw, least_variance, warner
from unspoken.protect import Discretizer, MultiplicativeNoise, NoiseAdder
from unspoken.risk import audit

EDGES = np.linspace(0, 1, 101)


def through(noise, edges=EDGES):
    reported = reported_edges(edges[0] - noise.reach, edges[-1] + noise.reach, edges, noise.reach)
    return noise_kernel(noise, edges, reported), reported


def test_known_widths():
    assert entropy.interval_width(Noise("uniform", 2.0)) == pytest.approx(0.95 * 4)
    assert entropy.interval_width(Noise("gaussian", 2.0)) == pytest.approx(7.84, abs=1e-3)
    np.testing.assert_allclose(entropy.class_width(np.array([0.0, 10.0, 30.0])), [9.5, 19.0])


def test_two_to_the_entropy_is_the_width_of_what_is_uniform():
    assert entropy.entropy_privacy(Noise("uniform", 15.0)) == pytest.approx(30.0)
    assert entropy.privacy(EDGES * 7, np.full(100, 0.01)) == pytest.approx(7.0)


def test_gaussian_information_has_a_closed_form():
    """Gaussian values and noise: I = log2(1 + s^2 / t^2) / 2."""
    edges = np.linspace(-6, 6, 601)
    cdf = Noise("gaussian", 1.0).cdf(edges)
    shares = np.diff(cdf) / (cdf[-1] - cdf[0])
    kernel, _ = through(Noise("gaussian", 0.5), edges)
    bits = entropy.mutual_information(edges, shares, kernel)
    assert bits == pytest.approx(0.5 * math.log2(5), abs=2e-3)
    assert entropy.privacy_loss(edges, shares, kernel) == pytest.approx(1 - 2**-bits)
    left = entropy.conditional_privacy(edges, shares, kernel)
    assert left == pytest.approx(math.sqrt(2 * math.pi * math.e * 0.2), rel=5e-3)


@given(st.integers(0, 2**32 - 1), st.sampled_from(FAMILIES), st.floats(0.05, 2))
@settings(max_examples=40)
def test_a_report_takes_privacy_and_never_gives_it(seed, family, width):
    edges = np.linspace(0, 1, 21)
    shares = np.random.default_rng(seed).dirichlet(np.full(20, 0.5))
    kernel, _ = through(for_width(family, width), edges)
    before = entropy.privacy(edges, shares)
    after = entropy.conditional_privacy(edges, shares, kernel)
    assert after <= before * (1 + 1e-9)
    bits = entropy.mutual_information(edges, shares, kernel)
    assert after == pytest.approx(before * 2**-bits, rel=1e-6)


@pytest.mark.parametrize("family", ["uniform", "gaussian"])
def test_100_percent_privacy_leaves_half_of_the_range(family):
    """Known answer: the mean posterior 95% set is .48 to .60 of the range."""
    rng = np.random.default_rng(0)
    humps = np.where(rng.random(10**6) < 0.5, rng.triangular(0, 0.25, 0.5, 10**6),
                     rng.triangular(0.5, 0.75, 1, 10**6))
    shares = np.histogram(humps, EDGES)[0] / 10**6
    kernel, _ = through(for_width(family, 1.0))
    found = entropy.posterior_widths(EDGES, shares, kernel)
    assert 0.48 < found.mean < 0.60
    assert found.percentiles[0.0] <= found.percentiles[5.0] <= found.percentiles[50.0]


def test_the_driver_aged_1_must_be_16():
    """Ages from 16, uniform noise of 15 years: the report 1 leaves one age, the average hides it.
    """
    edges = np.arange(16.0, 91.0)
    shares = np.full(74, 1 / 74)
    kernel, reported = through(Noise("uniform", 15.0), edges)
    found = entropy.posterior_widths(edges, shares, kernel)
    at = int(np.searchsorted(reported, 1.0, side="right")) - 1
    assert found.each[at] <= 1.0
    assert found.mean > 20
    assert found.percentiles[0.0] <= 1.0


def test_gamma_epsilon_and_what_they_exclude():
    assert amplify.largest_gamma(0.05, 0.5) == pytest.approx(19.0)
    assert amplify.gamma_of(Noise("uniform", 9.0), 1.0) == math.inf
    assert amplify.gamma_of(Noise("gaussian", 9.0), 1.0) == math.inf
    assert amplify.epsilon_of(Noise("laplace", 2.0), 10.0) == pytest.approx(5.0)
    assert amplify.epsilon_of(warner(0.75)) == pytest.approx(math.log(3))
    assert amplify.excludes(warner(0.75), 0.05, 0.5)
    assert not amplify.excludes(Noise("uniform", 9.0), 0.05, 0.5, 1.0)
    with pytest.raises(InputError, match="'spread'"):
        amplify.gamma_of(Noise("laplace", 1.0))
    with pytest.raises(InputError, match="before < after"):
        amplify.largest_gamma(0.5, 0.4)


def test_the_worst_breach_by_hand():
    """Truth .9 of two answers, prior .1: .09 / (.09 + .09) = one half."""
    found = amplify.worst_upward(warner(0.9), np.array([0.1, 0.9]), 0.2)
    assert (found.values, found.answer) == ((0,), 0)
    assert found.after == pytest.approx(0.5)
    down = amplify.worst_downward(warner(0.9), np.array([0.1, 0.9]), 0.8)
    assert down.values == (1,)
    assert down.after == pytest.approx(0.5)


@given(st.integers(2, 6), st.floats(1.5, 30), st.integers(0, 2**32 - 1), st.floats(0.05, 0.6))
@settings(max_examples=60)
@pytest.mark.slow
def test_no_breach_beyond_what_gamma_allows(values, gamma, seed, before):
    prior = np.random.default_rng(seed).dirichlet(np.ones(values))
    usual = keep_or_draw(values, gamma / (gamma + values - 1))
    for matrix in (least_variance(values, gamma), usual):
        found = amplify.worst_upward(matrix, prior, before)
        if found is not None:
            odds = found.after / (1 - found.after) / (found.before / (1 - found.before))
            assert odds <= gamma * (1 + 1e-6)


def table_of(n=3000):
    rng = np.random.default_rng(0)
    age = rng.uniform(20, 80, n)
    pay = 100 * age + rng.normal(0, 100, n)
    tax = 0.3 * pay + rng.normal(0, 20, n)
    return unspoken.read(pa.table({"age": age, "pay": pay, "tax": tax,
                                "y": rng.choice(["a", "b"], n)}), target="y", show=False)


@pytest.mark.slow
def test_the_audit_filters_noise_off_correlated_columns():
    table = table_of()
    release, key = NoiseAdder(random_state=1).protect(table)
    found = audit(table, release, key, trials=3, random_state=0, radius=0.1)
    assert not found.unscored
    rows = {(r.adversary, r.column): r for r in found.select(measure="records")}
    for column in ("age", "pay", "tax"):
        assert rows["bayes", column].value > rows["posterior", column].value + 0.03
        assert rows["posterior", column].value > rows["posterior", column].baseline
    assert {name for name, _ in rows} == {"posterior", "spectral", "pca", "bayes", "serial"}
    again = audit(table, release, key, trials=3, random_state=0, radius=0.1)
    assert again.rows == found.rows


@pytest.mark.slow
@pytest.mark.parametrize("method", [Discretizer(20), MultiplicativeNoise(deviation=0.05)])
def test_other_distortions_can_be_audited(method):
    table = table_of(800)
    found = audit(table, *method.protect(table), trials=2, random_state=0, radius=0.05)
    assert not found.unscored
    for row in found.select(measure="records", adversary="posterior"):
        assert row.value > 0.5 > row.baseline


@pytest.mark.parametrize("wrong", [
    lambda: entropy.privacy(EDGES, np.full(99, 1 / 99)),
    lambda: entropy.privacy(EDGES, np.full(100, 0.02)),
    lambda: entropy.conditional_privacy(EDGES, np.full(100, 0.01), np.eye(99)),
])
def test_what_is_no_distribution_is_refused(wrong):
    with pytest.raises(InputError):
        wrong()
