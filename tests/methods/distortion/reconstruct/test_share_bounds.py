"""Bounds of reconstructed shares hold on smooth and on spiky columns."""

from __future__ import annotations

import numpy as np
import pyarrow.parquet as pq
import pytest

from unspoken.methods.distortion.noise_laws import for_width
from unspoken.methods.distortion.reconstruct.iterate import Part
from unspoken.methods.distortion.reconstruct.reconstruct import reconstruct
from unspoken.methods.distortion.reconstruct.share_bounds import Places, share_bounds

SURVEYS = 100


def test_without_noise_the_bounds_are_those_of_a_chi_square_test():
    """p in [low, high] iff n (p - s)^2 (1 / s + 1 / (1 - s)) <= 3.8415, s the share seen."""
    counts = np.array([300.0, 700.0])
    places = Places([Part(counts, np.eye(2))], [counts], np.eye(2), np.ones((1, 2)))
    low, high = share_bounds(places, 0.95)
    reach = np.sqrt(3.841459 * 0.3 * 0.7 / 1000)
    assert low == pytest.approx([0.3 - reach, 0.7 - reach], abs=2e-4)
    assert high == pytest.approx([0.3 + reach, 0.7 + reach], abs=2e-4)


def spiky(rows=40_000):
    """Return weeks worked: two thirds work all 52 weeks, a fifth none, the rest any."""
    rng = np.random.default_rng(0)
    return rng.choice(np.r_[0, 52, np.arange(1, 52)], rows,
                      p=np.r_[0.2, 0.66, np.full(51, 0.14 / 51)]).astype(float)


def column(name, shared):
    if name == "smooth":
        return np.random.default_rng(0).beta(2, 3, 40_000) * 53
    if name == "weeks":
        return spiky()
    return pq.read_table(shared("adult_data.parquet"))[name].to_numpy().astype(float)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "family", "width"), [
    ("smooth", "gaussian", 0.5), ("weeks", "gaussian", 0.5), ("weeks", "uniform", 0.25),
    ("age", "laplace", 0.5), ("hours-per-week", "uniform", 0.5)])
def test_bars_hold_the_shares_of_any_column(name, family, width, shared):
    """100 surveys of 2,000 people: of all bars at 95% at least 93% hold, of none fewer than 87%."""
    people = column(name, shared)
    support = (float(people.min()), float(people.max()) + 1)
    noise = for_width(family, width * (support[1] - support[0]))
    held = []
    for seed in range(SURVEYS):
        rng = np.random.default_rng(seed)
        reports = rng.choice(people, 2000) + noise.quantile(rng.random(2000))
        estimate = reconstruct(reports, noise, bins=10, support=support, confidence=0.95,
                               stop="steps", steps=30)
        truth = np.histogram(people, estimate.edges)[0] / people.size
        held.append((estimate.low <= truth + 1e-4) & (truth <= estimate.high + 1e-4))
    assert np.mean(held) >= 0.93
    assert np.mean(held, axis=0).min() >= 0.87


@pytest.mark.slow
def test_people_who_told_the_truth_narrow_the_bars():
    rng = np.random.default_rng(1)
    people, noise = spiky(4000), for_width("gaussian", 26.0)
    chosen = np.where(rng.random(4000) < 0.5, "truth", "distort")
    reports = np.where(chosen == "truth", people, people + noise.quantile(rng.random(4000)))
    both = reconstruct(reports, noise, bins=10, support=(0, 53), choices=chosen, confidence=0.95)
    alone = reconstruct(reports[chosen == "distort"], noise, bins=10, support=(0, 53),
                        confidence=0.95)
    truth = np.histogram(people, both.edges)[0] / people.size
    assert np.mean(both.high - both.low) < np.mean(alone.high - alone.low)
    assert np.mean((both.low <= truth) & (truth <= both.high)) >= 0.9
