"""Randomised response: Warner's formulas, unbiased estimates with right errors, least variance."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unspoken.errors import DataError, InputError
from unspoken.methods.distortion.response_matrices import (
    amplification,
    by_em,
    by_inverse,
    check_matrix,
    keep_or_draw,
    least_variance,
    variance,
    warner,
)


def test_warner_by_hand():
    """100 yes of 250 with truth .7: (.4 + .7 - 1) / .4 = .25; variance .4 x .6 / (249 x .16)."""
    found = by_inverse(np.array([100.0, 150.0]), warner(0.7))
    assert found.shares[0] == pytest.approx(0.25)
    assert found.covariance[0, 0] == pytest.approx(0.4 * 0.6 / (249 * 0.16))


def test_the_inverse_is_unbiased_and_its_errors_cover():
    """2,000 surveys of 500 people: the mean is within 4 standard errors, 95% intervals hold."""
    rng = np.random.default_rng(0)
    matrix, true = keep_or_draw(4, 0.6), np.array([0.5, 0.3, 0.15, 0.05])
    said = rng.multinomial(500, matrix.T @ true, 2000)
    found = [by_inverse(counts.astype(float), matrix) for counts in said]
    shares = np.array([one.shares for one in found])
    errors = np.array([one.deviations for one in found])
    assert np.all(np.abs(shares.mean(axis=0) - true) < 4 * shares.std(axis=0) / math.sqrt(2000))
    covered = (np.abs(shares - true) <= 1.96 * errors).mean(axis=0)
    assert np.all((covered > 0.93) & (covered < 0.97))
    assert (shares.var(axis=0).sum() * 500) == pytest.approx(variance(matrix, true), rel=0.1)


@given(st.lists(st.integers(0, 100), min_size=3, max_size=3).filter(sum), st.floats(0.4, 0.95))
@settings(max_examples=50)
def test_em_is_a_distribution_and_the_inverse_where_that_is_one(counts, truth):
    matrix, said = keep_or_draw(3, truth), np.array(counts, float)
    found = by_em(said, matrix)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(1.0)
    straight = by_inverse(said, matrix).shares
    likely = said @ np.log(np.maximum(matrix.T @ found, 1e-300))
    if straight.min() >= 0:
        best = said @ np.log(np.maximum(matrix.T @ straight, 1e-300))
        assert likely <= best + 1e-9
        assert best - likely < 0.5


@pytest.mark.parametrize(("values", "gamma"), [(2, 3.0), (3, 2.0), (7, 1.5), (7, 19.0), (11, 1.3)])
def test_least_variance_keeps_gamma_and_beats_the_diagonal(values, gamma):
    found = least_variance(values, gamma)
    check_matrix(found, values)
    assert amplification(found) == pytest.approx(gamma)
    usual = keep_or_draw(values, gamma / (gamma + values - 1))
    assert variance(found) <= variance(usual) * (1 + 1e-9)


def test_seven_values_use_a_difference_set():
    """Gamma on three of seven answers (the Fano plane) needs a third fewer people."""
    usual = keep_or_draw(7, 1.5 / 7.5)
    assert variance(least_variance(7, 1.5)) / variance(usual) == pytest.approx(0.642, abs=0.001)


@given(st.integers(2, 5), st.floats(1.2, 20), st.integers(0, 2**32 - 1))
@settings(max_examples=60)
def test_no_random_circulant_of_that_gamma_is_better(values, gamma, seed):
    level = np.random.default_rng(seed).uniform(1, gamma, values)
    level[[0, -1]] = gamma, 1.0
    other = np.array([np.roll(level / level.sum(), i) for i in range(values)])
    if np.linalg.cond(other) < 1e8:
        assert variance(least_variance(values, gamma)) <= variance(other) * (1 + 1e-9)


def test_a_zero_beside_a_nonzero_has_no_gamma():
    assert amplification(np.array([[1.0, 0.0], [0.5, 0.5]])) == math.inf
    assert amplification(warner(0.75)) == pytest.approx(3.0)


@pytest.mark.parametrize(("matrix", "words"), [
    ([[0.5, 0.5], [0.5, 0.5]], "invertible"), ([[0.9, 0.2], [0.1, 0.9]], "sums to one"),
    ([[1.2, -0.2], [0.1, 0.9]], "probabilities"), ([[1.0, 0.0]], "square"), ("text", "square"),
    ([[1.0, 0.0], [0.0, 1.0]], "3 x 3"),
])
def test_impossible_matrices_are_refused(matrix, words):
    with pytest.raises(InputError, match=words):
        check_matrix(matrix, 3 if words == "3 x 3" else None)


def test_answers_that_say_nothing_are_refused():
    with pytest.raises(InputError, match="says nothing"):
        warner(0.5)
    with pytest.raises(InputError, match="says nothing"):
        keep_or_draw(4, 0.25)
    with pytest.raises(InputError, match="'gamma'"):
        least_variance(3, 1.0)
    with pytest.raises(DataError, match="Counts of answers"):
        by_inverse(np.zeros(2), warner(0.7))
