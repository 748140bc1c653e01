"""Filters: closed forms, never worse than the report in the mean square, and baselines."""

from __future__ import annotations

import numpy as np
import pytest

from unspoken.errors import InputError
from unspoken.methods.distortion.adversaries.report_posterior import best_windows, likeliest
from unspoken.methods.distortion.adversaries.spectral_filtering import (
    bayes_estimate,
    pca_filter,
    serial_filter,
    spectral_filter,
)
from unspoken.methods.distortion.known_laws import Additive
from unspoken.methods.distortion.noise_laws import Noise


def error(guess, truth):
    return float(((guess - truth) ** 2).mean())


@pytest.fixture(scope="module")
def correlated():
    """One signal behind ten columns, noise of the same variance, 5,000 records."""
    rng = np.random.default_rng(0)
    signal = rng.standard_normal((5000, 1)) * np.ones(10)
    return signal, signal + rng.standard_normal(signal.shape)


@pytest.mark.parametrize("attack", [spectral_filter, pca_filter, bayes_estimate])
def test_ten_copies_leave_a_tenth_of_the_noise(correlated, attack):
    """Known answer: projection leaves 1/10 of the noise, shrinking 1/11."""
    signal, noisy = correlated
    found = error(attack(noisy, np.ones(10)), signal)
    assert found == pytest.approx(1 / 11 if attack is bayes_estimate else 1 / 10, rel=0.06)
    assert found < error(noisy, signal) / 8
    assert found < error(np.zeros_like(signal), signal)


def test_independent_columns_are_only_shrunk():
    """Unit signal, noise variance 4: the posterior mean leaves 4/5, the report 4."""
    rng = np.random.default_rng(1)
    signal = rng.standard_normal((20_000, 3))
    noisy = signal + 2 * rng.standard_normal(signal.shape)
    assert error(bayes_estimate(noisy, np.full(3, 4.0)), signal) == pytest.approx(0.8, rel=0.03)


def test_columns_with_different_noise_are_weighed():
    rng = np.random.default_rng(2)
    signal = rng.standard_normal((20_000, 1)) * np.ones(2)
    noisy = signal + rng.standard_normal(signal.shape) * [0.5, 3.0]
    found = bayes_estimate(noisy, np.array([0.25, 9.0]))
    # Precisions add up: 1 + 4 + 1/9.
    assert error(found, signal) == pytest.approx(1 / (1 + 4 + 1 / 9), rel=0.05)


def test_records_that_follow_each_other_are_filtered():
    at = np.arange(3000)
    signal = 5 * np.sin(at / 40)
    noisy = signal + np.random.default_rng(3).standard_normal(at.size) * 3
    found = serial_filter(noisy, 9.0)
    assert error(found, signal) < error(noisy, signal) / 5
    with pytest.raises(InputError, match="'window'"):
        serial_filter(noisy[:10], 9.0)


def test_the_likeliest_window_by_hand():
    edges = np.linspace(0, 4, 5)
    joint = np.array([[0.1, 0.2, 0.3, 0.0], [0.6, 0.0, 0.0, 0.1]])
    assert best_windows(joint, edges, 0.5).tolist() == [2.5, 0.5]


def test_the_posterior_knows_where_nobody_lives():
    """Everybody is at 0.2 or 0.8: reports in between are guessed at one of the two."""
    rng = np.random.default_rng(4)
    truth = rng.choice([0.2, 0.8], 4000)
    noise = Noise("uniform", 0.4)
    codes = np.sort(truth + noise.quantile(rng.random(truth.size)))
    found = likeliest(Additive(noise, 0.0, 1.0), codes, np.ones(codes.size), 0.05)
    near = np.minimum(np.abs(found - 0.2), np.abs(found - 0.8))
    assert (near < 0.06).mean() > 0.95


def test_impossible_tables_are_refused():
    with pytest.raises(InputError, match="a variance for each column"):
        bayes_estimate(np.zeros((5, 2)), np.ones(3))
