"""Discrete Laplace noise: its law, exactly; no floating point in what is drawn."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2

from unspoken.numerics.exact_noise import Coins, discrete_laplace, laplace_deviation
from unspoken.numerics.random import generator


def drawn(scale, count, seed=b"\x07" * 32):
    rng = generator(seed, "test", str(scale))
    return np.array([discrete_laplace(scale, rng) for _ in range(count)])


@pytest.mark.slow
@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(3), Fraction(7, 3)])
def test_the_law_is_the_discrete_laplace_law(scale):
    sample = drawn(scale, 20_000)
    fade = math.exp(-1 / float(scale))
    reach = 12
    law = np.array([(1 - fade) / (1 + fade) * fade ** abs(x) for x in range(-reach, reach + 1)])
    seen = np.array([np.count_nonzero(sample == x) for x in range(-reach, reach + 1)])
    law, seen = law[law * sample.size > 5], seen[law * sample.size > 5]
    distance = float(((seen - law * sample.size) ** 2 / (law * sample.size)).sum())
    # The seed is fixed; another one would be beyond this once in ten thousand times.
    assert distance < chi2.ppf(0.9999, law.size)


@pytest.mark.slow
def test_the_deviation_is_the_stated_one():
    for scale in (Fraction(2), Fraction(50), Fraction(990)):
        sample = drawn(scale, 4000)
        assert all(isinstance(int(x), int) for x in sample[:3])
        assert np.std(sample) == pytest.approx(laplace_deviation(scale), rel=0.1)


def test_scales_of_any_size_stay_whole_numbers():
    huge = Fraction(10**30, 3)
    rng = generator(b"\x01" * 32)
    assert abs(discrete_laplace(huge, rng)) < 10**33
    assert discrete_laplace(Fraction(1, 10**6), rng) == 0


def test_coins_are_fair_and_end():
    coins = Coins(generator(b"\x02" * 32))
    seen = np.bincount([coins.below(6) for _ in range(6000)], minlength=6)
    assert seen.min() > 850
    assert coins.below(1) == 0
    assert sum(coins.fades(2, 3) for _ in range(4000)) / 4000 == pytest.approx(
        math.exp(-2 / 3), abs=0.03)
    assert coins.fades(0, 1)
