"""Population uniqueness: against simulated populations and sums written out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import nbinom

from unspoken.methods.anonymity.measures.population_uniqueness import (
    Pitman,
    fit_pitman,
    individual_risk,
    zayatz,
)


def pitman_population(rng, people, discount, concentration):
    """Seat people one by one, as the model says: who sits alone is unique."""
    sizes = np.zeros(people, np.int64)
    seat = np.zeros(people, np.int64)
    tables = 0
    for person in range(people):
        new = (concentration + tables * discount) / (concentration + person)
        if rng.random() < new:
            seat[person], tables = tables, tables + 1
        else:
            # A seat beside somebody drawn at random, thinned by the discount of their table.
            while True:
                at = seat[rng.integers(person)]
                if rng.random() * sizes[at] < sizes[at] - discount:
                    break
            seat[person] = at
        sizes[seat[person]] += 1
    return seat


@pytest.mark.slow
@pytest.mark.parametrize(("discount", "concentration"), [(0.6, 20.0), (0.2, 300.0)])
def test_pitman_finds_the_unique_of_simulated_populations(discount, concentration):
    rng = np.random.default_rng(7)
    shares, stays, guessed, guessed_stays = [], [], [], []
    for _ in range(6):
        seat = pitman_population(rng, 20_000, discount, concentration)
        whole = np.bincount(seat)
        drawn = rng.permutation(seat)[:2000]
        sizes = np.bincount(drawn)
        model = fit_pitman(sizes[sizes > 0])
        singles = np.flatnonzero(sizes == 1)
        shares.append((whole == 1).sum() / seat.size)
        stays.append((whole[singles] == 1).mean())
        guessed.append(model.unique_share(seat.size))
        guessed_stays.append(model.stays_unique(drawn.size, seat.size))
    assert np.mean(guessed) == pytest.approx(np.mean(shares), rel=0.15)
    assert np.mean(guessed_stays) == pytest.approx(np.mean(stays), rel=0.15)


def test_pitman_formulas_agree_with_seating_by_hand():
    model = Pitman(0.3, 2.0)
    # Two people: unique if the second opens a table of their own.
    assert model.unique_share(2) == pytest.approx((2 + 0.3) / (2 + 1))
    # Alone among three, and the fourth does not join: (3 + b - (1 - a)) / (3 + b).
    assert model.stays_unique(3, 4) == pytest.approx((3 + 2.0 - 0.7) / 5.0)


def test_pitman_says_nothing_about_a_table_of_singles():
    assert fit_pitman(np.ones(50, int)) is None
    assert fit_pitman(np.array([50])) is None


def test_zayatz_is_right_when_half_of_everybody_was_asked():
    rng = np.random.default_rng(3)
    found, true = [], []
    for _ in range(20):
        seat = rng.geometric(0.002, 4000)
        whole = np.bincount(seat)
        drawn = np.bincount(rng.permutation(seat)[:3200], minlength=whole.size)
        true.append((whole[drawn == 1] == 1).mean())
        found.append(zayatz(drawn[drawn > 0], 4000))
    assert np.mean(found) == pytest.approx(np.mean(true), abs=0.05)


def test_zayatz_of_a_whole_population_is_sure():
    assert zayatz(np.array([1, 1, 2, 5]), 9) == 1.0
    assert zayatz(np.array([2, 5]), 20) == 0.0


@pytest.mark.parametrize("f", [1, 2, 7, 39, 40, 300])
def test_individual_risk_is_the_sum_over_population_sizes(f):
    p = 0.1
    more = np.arange(0, 9000)
    expected = (nbinom.pmf(more, f, p) / (f + more)).sum()
    assert individual_risk(np.array([f]), p)[0] == pytest.approx(expected)
    assert individual_risk(np.array([f]), 1.0)[0] == 1 / f


def test_individual_risk_of_large_classes_is_a_number():
    assert np.isfinite(individual_risk(np.array([1, 5000, 10**6]), 0.01)).all()
