"""Orthogonal matrices and breach probabilities against known answers and simulation."""

from __future__ import annotations

import numpy as np
import pytest

from unspoken.errors import InputError
from unspoken.numerics.orthogonal import (
    breach_probability,
    completed,
    haar,
    orthogonality,
    paper_breach,
    shrunken_radius,
    trilaterate,
)
from unspoken.numerics.random import generator, seed_from


def rng(number=0):
    return generator(seed_from(number))


@pytest.mark.parametrize("size", [1, 2, 3, 7, 60])
@pytest.mark.parametrize("proper", [False, True])
def test_orthogonal_to_1e_12(size, proper):
    for number in range(10):
        matrix = haar(size, rng(number), proper)
        assert orthogonality(matrix) <= 1e-14 * size + 1e-15
        if proper:
            assert np.linalg.det(matrix) == pytest.approx(1.0)


@pytest.mark.slow
def test_reflections_come_in_half_of_the_draws():
    mirrored = sum(np.linalg.det(haar(3, rng(i))) < 0 for i in range(2000))
    assert abs(mirrored - 1000) < 4 * np.sqrt(500)


@pytest.mark.slow
def test_haar_is_uniform():
    """Every entry has mean 0 and variance 1/n; a plain QR without the signs does not."""
    source = rng(5)
    drawn = np.array([haar(3, source) for _ in range(4000)])
    assert np.abs(drawn.mean(axis=0)).max() < 5 * np.sqrt(1 / 3 / 4000)
    assert np.abs((drawn**2).mean(axis=0) - 1 / 3).max() < 0.03
    # In three dimensions a coordinate of a uniform direction is uniform on [-1, 1].
    shares = np.array([(drawn[:, i, j] < 0.5).mean() for i in range(3) for j in range(3)])
    assert np.abs(shares - 0.75).max() < 5 * np.sqrt(0.75 * 0.25 / 4000)


@pytest.mark.parametrize(("q", "known"), [(1, 0.5), (2, 0.3333), (3, 0.25), (5, 0.1562),
                                          (10, 0.0587)])
def test_the_table_for_half_a_diameter(q, known):
    assert float(breach_probability(0.5, q)) == pytest.approx(known, abs=5e-5)


def test_the_papers_formula_is_the_case_of_two_unknown_dimensions():
    s = np.linspace(0, 1.2, 50)
    assert np.allclose(breach_probability(s, 2), paper_breach(s), atol=1e-12)
    assert np.abs(breach_probability(s, 3) - paper_breach(s)).max() > 0.05


def test_the_shrunken_guess_is_never_worse_and_sure_from_one_half_on():
    s = np.linspace(0, 1.5, 200)
    for q in (1, 2, 3, 5, 10, 30):
        assert np.all(breach_probability(s, q, "shrunken") >= breach_probability(s, q) - 1e-12)
        assert np.all(breach_probability(s[s >= 0.5], q, "shrunken") == 1)
    assert float(breach_probability(0.45, 10)) == pytest.approx(0.027, abs=5e-4)
    assert float(breach_probability(0.45, 10, "shrunken")) == pytest.approx(0.090, abs=5e-4)


@pytest.mark.parametrize("q", [1, 2, 3, 5, 10])
@pytest.mark.parametrize("guess", ["uniform", "shrunken"])
def test_breaches_by_simulation(q, guess):
    """40,000 directions: the share lies within four standard errors of the exact number."""
    s, trials, source = 0.45, 40_000, rng(q)
    direction = source.standard_normal((trials, q))
    direction /= np.linalg.norm(direction, axis=1)[:, None]
    radius = 1.0 if guess == "uniform" else float(shrunken_radius(np.array(1.0), np.array(2 * s)))
    truth = np.eye(q)[0]
    hits = np.linalg.norm(radius * direction - truth, axis=1) <= 2 * s
    exact = float(breach_probability(s, q, guess))
    assert abs(hits.mean() - exact) <= 4 * np.sqrt(exact * (1 - exact) / trials)


def test_nothing_unknown_is_a_sure_breach_and_nonsense_is_refused():
    assert float(breach_probability(0.1, 0)) == 1.0
    for wrong in ({"s": -1.0, "q": 2}, {"s": 0.1, "q": -1}, {"s": np.nan, "q": 2},
                  {"s": 0.1, "q": 2, "guess": "best"}):
        with pytest.raises(InputError):
            breach_probability(**wrong)


def test_completed_and_trilaterate():
    source = rng(1)
    basis = haar(5, source)[:, :2]
    rest = completed(basis)
    assert rest.shape == (5, 3)
    assert np.abs(basis.T @ rest).max() < 1e-14
    known, points = source.standard_normal((4, 3)), source.standard_normal((20, 3))
    distances = np.linalg.norm(points[:, None] - known, axis=2)
    assert np.allclose(trilaterate(known, distances), points, atol=1e-10)
    with pytest.raises(InputError, match="leave a direction open"):
        trilaterate(known[:3], distances[:, :3])
