"""The energy distance and the search for signs, against the slow way."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from unspoken.methods.rotation.adversaries.energy_distance import (
    all_signs,
    energy_distance,
    gray_flips,
    mean_distance,
    moment_signs,
    signs_at,
)
from unspoken.methods.rotation.jl_distortion import distortion, failure, projection


def slow_mean(x, y):
    return float(np.linalg.norm(x[:, None] - y, axis=2).mean())


def test_energy_is_zero_for_equal_samples_and_positive_else():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(300, 4)), rng.normal(size=(200, 4)) + 1
    assert mean_distance(x, y) == pytest.approx(slow_mean(x, y), rel=1e-12)
    assert energy_distance(x, x) == pytest.approx(0, abs=1e-7)
    expected = 2 * slow_mean(x, y) - slow_mean(x, x) - slow_mean(y, y)
    assert energy_distance(x, y) == pytest.approx(expected, rel=1e-6)


def test_the_gray_code_meets_every_sign_once():
    found = {tuple(signs_at(position, 5)) for position in range(32)}
    assert len(found) == 32
    state = np.ones(5)
    for position, axis in enumerate(gray_flips(5), 1):
        state[axis] *= -1
        assert np.array_equal(state, signs_at(position, 5))


@pytest.mark.parametrize("axes", [1, 2, 5])
def test_all_signs_equals_trying_each(axes):
    rng = np.random.default_rng(axes)
    x = rng.gamma(1.5, size=(90, axes))
    hidden = rng.choice([-1.0, 1.0], axes)
    y = rng.gamma(1.5, size=(150, axes)) * hidden
    signs, values = all_signs(x, y)
    slow = {d: slow_mean(x * np.array(d), y) for d in product([1.0, -1.0], repeat=axes)}
    assert np.array_equal(signs, min(slow, key=slow.get))
    assert np.array_equal(signs, hidden)
    for position, value in enumerate(values):
        assert value == pytest.approx(slow[tuple(signs_at(position, axes))], rel=1e-9)


@pytest.mark.slow
def test_the_fast_search_finds_the_same_where_the_data_says_something():
    agreed = 0
    for seed in range(50):
        rng = np.random.default_rng(seed)
        mean, spread = rng.normal(size=6), rng.uniform(0.5, 3, 6)
        hidden = rng.choice([-1.0, 1.0], 6)
        x = mean + spread * rng.normal(size=(100, 6))
        y = hidden * (mean + spread * rng.normal(size=(400, 6)))
        agreed += np.array_equal(moment_signs(x, y), all_signs(x, y)[0])
    assert agreed >= 45


def test_the_fast_search_manages_twenty_axes():
    rng = np.random.default_rng(1)
    hidden = rng.choice([-1.0, 1.0], 20)
    x = rng.gamma(2.0, size=(250, 20))
    y = rng.gamma(2.0, size=(5000, 20)) * hidden
    assert np.array_equal(moment_signs(x, y), hidden)


@pytest.mark.slow
@pytest.mark.parametrize("entries", ["gaussian", "sign", "sparse"])
def test_projections_keep_squared_lengths_on_average_and_within_the_bound(entries):
    rng = np.random.default_rng(2)
    x = rng.normal(size=(30, 8))
    square = ((x[:, None] - x) ** 2).sum(axis=2)[np.triu_indices(30, 1)]
    ratios, outside, delta = [], 0, distortion(200, 30, 0.05, entries)
    for _ in range(200):
        y = x @ projection(200, 8, entries, rng).T
        ratio = ((y[:, None] - y) ** 2).sum(axis=2)[np.triu_indices(30, 1)] / square
        ratios.append(ratio.mean())
        outside += np.abs(ratio - 1).max() > delta
    assert np.mean(ratios) == pytest.approx(1.0, abs=0.01)
    assert outside <= 10 + 4 * np.sqrt(10)
    assert failure(delta, 200, entries) * 435 <= 0.05 * 1.001


def test_too_few_sign_columns_have_no_bound():
    assert distortion(2, 1000, entries="sign") == float("inf")
    assert distortion(2, 1000) > 1
