"""A law states bounded odds only if it draws its far tail: no report may rule a value out.

A logistic law is planted, whose odds are bounded by exp(distance / scale) as Laplace's are. From 53
bits its noise would end after 37 scales, and a report from farther away would be certain about who
did not send it.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import unspoken
from support.epsilon_distinguisher import least_epsilon
from unspoken.methods.distortion import noise_laws
from unspoken.methods.distortion.noise_laws import LAWS, Noise, NoiseLaw
from unspoken.protect import NoiseAdder

RANGES = {"x": (0.0, 10.0)}
ENDS = np.array([0, 2**63], np.uint64)
"""Words of the largest noise: a sign, and no other bit."""


class Logistic(NoiseLaw):
    """Noise of density e^-t / (1 + e^-t)^2, without its far tail."""

    deviation, volume, reach = math.pi / math.sqrt(3), math.e**2, 28.4

    def density(self, t, scale):
        return np.exp(-np.abs(t)) / (1 + np.exp(-np.abs(t))) ** 2 / scale

    def cdf(self, t):
        return 1 / (1 + np.exp(-t))

    def cdf_integral(self, t, scale):
        return scale * np.logaddexp(0, t)

    def quantile(self, share, scale):
        return scale * np.log(share / (1 - share))

    def amplification(self, ratio):
        return math.exp(ratio)


class FarLogistic(Logistic):
    """The same law, which draws its far tail: both sides of t have 2 / (1 + e^t)."""

    def beyond(self, share):
        return np.log(2 / share - 1)


@pytest.fixture
def planted(monkeypatch):
    def plant(law):
        monkeypatch.setitem(noise_laws.LAWS, "logistic", law)
    return plant


def facts():
    table = unspoken.read({"x": np.arange(100.0) % 11}, show=False)
    method = NoiseAdder("logistic", scale=10.0, ranges=RANGES)
    guarantee = method.protect(table)[0].guarantee
    return guarantee.facts["columns"]["x"], guarantee.summary()


def largest(noise):
    return noise.drawn(ENDS, lambda: np.zeros(2, np.uint64))


def test_a_law_without_its_far_tail_states_no_epsilon(planted):
    planted(Logistic())
    stated, summary = facts()
    assert stated["epsilon"] is None
    assert stated["gamma"] is None
    assert "No epsilon is stated" in summary
    assert np.abs(largest(Noise("logistic", 1.0))).max() < 37


@pytest.mark.slow
def test_a_law_with_its_far_tail_states_an_epsilon_that_holds(planted):
    planted(FarLogistic())
    stated, _ = facts()
    assert stated["epsilon"] == pytest.approx(1.0, rel=1e-5)
    noise = Noise("logistic", 10.0)
    assert largest(noise) == pytest.approx(10 * np.array([1, -1]) * (128 * math.log(2)), rel=1e-9)
    method = NoiseAdder("logistic", scale=5.0, ranges=RANGES, random_state=3)
    reports = [method.protect(unspoken.read({"x": np.full(4000, value)}, show=False))[0]
               .table.arrow()["x"].to_numpy() for value in (0.0, 10.0)]
    assert 1.0 < least_epsilon(*reports) <= 2.0


@pytest.mark.parametrize("family", [*LAWS, "logistic"])
def test_the_far_tail_belongs_to_the_law(planted, family):
    planted(FarLogistic())
    law = noise_laws.LAWS[family]
    assert law.reaches_far == math.isfinite(law.amplification(1.0))
    if law.reaches_far:
        shares = np.array([1.0, 0.5, 1e-3, 1e-9])
        np.testing.assert_allclose(2 * law.cdf(-law.beyond(shares)), shares, rtol=1e-9)
        assert np.all(np.diff(law.beyond(2.0 ** -np.arange(128.0))) > 0)
    words = np.random.default_rng(0).integers(0, 2**64, (2, 50_000), dtype=np.uint64)
    drawn = np.sort(Noise(family, 2.0).drawn(words[0], lambda: words[1]))
    gap = np.abs(Noise(family, 2.0).cdf(drawn) - np.arange(drawn.size) / drawn.size).max()
    assert gap < 1.95 / math.sqrt(drawn.size)  # Kolmogorov-Smirnov at 0.1%


@pytest.mark.parametrize("family", LAWS)
def test_bounded_odds_hold_far_out(family):
    """Known answer: the density of no two values differs by more than gamma, at any distance."""
    noise, spread = Noise(family, 2.0), 3.0
    gamma = noise.amplification(spread)
    at = np.linspace(-60, 60, 4001)
    with np.errstate(divide="ignore", invalid="ignore"):
        odds = noise.density(at) / noise.density(at - spread)
    assert (np.nanmax(odds) <= gamma * (1 + 1e-9)) or gamma == math.inf
