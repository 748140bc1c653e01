"""Noise: known widths, densities that fit their distributions, and kernels that are exact."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unspoken.errors import InputError
from unspoken.methods.distortion.noise_laws import FAMILIES, Noise, for_width
from unspoken.methods.distortion.random_factors import (
    product_cdf,
    truncated_cdf,
    truncated_quantile,
)
from unspoken.methods.distortion.reconstruct.kernels import (
    conditional_kernel,
    noise_kernel,
    reported_edges,
    tally,
)

SCALES = st.floats(1e-3, 1e3)
families = st.sampled_from(FAMILIES)


@pytest.mark.parametrize(("family", "confidence", "width"), [
    ("uniform", 0.95, 1.9), ("gaussian", 0.95, 3.92), ("gaussian", 0.999, 6.58),
    ("uniform", 0.5, 1.0), ("gaussian", 0.5, 1.349), ("laplace", 0.95, 2 * math.log(20)),
])
def test_known_widths(family, confidence, width):
    assert Noise(family, 3.0).width(confidence) == pytest.approx(3 * width, rel=1e-3)


@given(families, st.floats(0.01, 100), st.floats(0.05, 0.999))
def test_the_scale_for_a_width_has_that_width(family, width, confidence):
    assert for_width(family, width, confidence).width(confidence) == pytest.approx(width)


@given(families, SCALES)
@settings(max_examples=30)
def test_density_distribution_and_quantile_belong_together(family, scale):
    noise = Noise(family, scale)
    at = np.linspace(-3, 3, 6001) * scale
    step = at[1] - at[0]
    rise = np.diff(noise.cdf(at)) / step
    inside = np.abs(np.abs((at[1:] + at[:-1]) / 2) - scale) > 2 * step
    middle = noise.density((at[1:] + at[:-1]) / 2)
    np.testing.assert_allclose(rise[inside] * scale, middle[inside] * scale, atol=1e-5)
    shares = np.linspace(0.001, 0.999, 99)
    np.testing.assert_allclose(noise.cdf(noise.quantile(shares)), shares, atol=1e-12)
    np.testing.assert_allclose(np.diff(noise.cdf_integral(at)) / step,
                               noise.cdf((at[1:] + at[:-1]) / 2), atol=1e-6)


@pytest.mark.parametrize("family", FAMILIES)
def test_words_give_noise_of_the_family_and_never_infinity(family):
    noise = Noise(family, 2.0)
    ends = noise.from_words(np.array([0, 2**64 - 1], np.uint64))
    assert np.all(np.isfinite(ends))
    assert ends[0] == pytest.approx(-ends[1])
    words = np.random.default_rng(0).integers(0, 2**64, 200_000, dtype=np.uint64)
    drawn = np.sort(noise.from_words(words))
    gap = np.abs(noise.cdf(drawn) - np.arange(drawn.size) / drawn.size).max()
    assert gap < 1.95 / math.sqrt(drawn.size)  # Kolmogorov-Smirnov at 0.1%
    assert drawn.std() == pytest.approx(noise.deviation, rel=0.01)


def test_entropy_of_uniform_noise_is_its_width():
    assert 2 ** Noise("uniform", 7.5).entropy == pytest.approx(15.0)
    assert 2 ** Noise("gaussian", 1.0).entropy == pytest.approx(math.sqrt(2 * math.pi * math.e))


def test_only_laplace_noise_bounds_odds():
    assert Noise("uniform", 5.0).amplification(1.0) == math.inf
    assert Noise("gaussian", 5.0).amplification(1.0) == math.inf
    assert Noise("laplace", 5.0).amplification(10.0) == pytest.approx(math.exp(2))


@pytest.mark.parametrize(("family", "scale", "words"), [
    ("cauchy", 1.0, "'family'.*uniform.*Got cauchy"), ("gaussian", 0.0, "'scale'.*Got 0.0"),
    ("gaussian", float("inf"), "'scale'"), ("uniform", True, "'scale'"), (None, 1.0, "'family'"),
])
def test_impossible_noise_is_refused_by_name(family, scale, words):
    with pytest.raises(InputError, match=words):
        Noise(family, scale)


@given(families, st.floats(0.05, 3.0))
@settings(max_examples=30)
def test_integrated_kernels_are_chances(family, scale):
    edges = np.linspace(0, 1, 21)
    noise = Noise(family, scale)
    reported = reported_edges(-noise.reach, 1 + noise.reach, edges, noise.reach)
    kernel = noise_kernel(noise, edges, reported)
    assert kernel.min() >= 0
    np.testing.assert_allclose(kernel.sum(axis=0), 1.0, atol=1e-9)
    by_points = conditional_kernel(lambda w, x: noise.cdf(w - x), edges, reported)
    np.testing.assert_allclose(kernel, by_points, atol=2e-3)


def test_midpoint_and_integrated_kernels_agree_for_narrow_intervals():
    edges, noise = np.linspace(0, 1, 201), Noise("gaussian", 0.3)
    reported = reported_edges(-2.0, 3.0, edges, noise.reach)
    gap = noise_kernel(noise, edges, reported, "midpoint") - noise_kernel(noise, edges, reported)
    # Midpoints are off by h^3 |f''| / 12 at most, and f'' is largest at zero.
    curvature = float(noise.density(0.0)) / 0.3**2
    assert np.abs(gap).max() <= 1.001 * 0.005**3 / 12 * curvature


@pytest.mark.slow
@given(st.lists(st.floats(-5, 5), min_size=1, max_size=200), st.integers(1, 30))
def test_tally_counts_everything_where_numpy_does(values, bins):
    edges = np.linspace(-6, 6, bins + 1)
    found = tally(np.array(values), edges)
    assert found.sum() == len(values)
    on_edge = np.isin(np.round(values, 9), np.round(edges, 9)).any()
    if not on_edge:
        assert np.abs(found - np.histogram(values, edges)[0]).sum() <= 2


def test_products_have_the_distribution_of_what_is_drawn():
    rng = np.random.default_rng(1)
    factors = truncated_quantile(rng.random(100_000), 0.2, 2.0)
    assert abs(factors - 1).max() <= 0.4
    assert factors.mean() == pytest.approx(1.0, abs=0.002)
    at = np.linspace(0.7, 1.3, 7)
    np.testing.assert_allclose((factors[:, None] <= at).mean(axis=0),
                               truncated_cdf(at, 0.2, 2.0), atol=0.006)
    below = (-3 * factors[:, None] <= -3 * at).mean(axis=0)
    np.testing.assert_allclose(below, product_cdf(-3 * at, np.full(7, -3.0), "truncated", 0.2, 2.0),
                               atol=0.006)
