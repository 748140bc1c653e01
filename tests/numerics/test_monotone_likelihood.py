"""Lining up groups with a grid: the search finds what trying everything finds."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from unspoken.numerics.monotone_likelihood import Gains, Places, align
from unspoken.numerics.value_grid import grid_of, step_of


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_no_increasing_assignment_is_more_likely(seed):
    rng = np.random.default_rng(seed)
    grid = grid_of(np.sort(rng.poisson(3, 30)).astype(float), 5)
    groups = rng.integers(1, 60, 5)
    places = Places.of([grid])
    gains = Gains(places, int(groups.sum()))
    every = np.arange(grid.values.size)[None, :]
    table = np.array([gains.at(int(size), every)[0] for size in groups])

    def total(chosen):
        return table[np.arange(5), list(chosen)].sum()

    (found,) = align(groups, places)
    assert np.all(np.diff(found) > 0)
    best = max(combinations(range(grid.values.size), 5), key=total)
    assert total(found) == pytest.approx(total(best))


def test_several_samples_are_lined_up_each_on_its_own():
    rng = np.random.default_rng(1)
    grids = [grid_of(np.sort(rng.integers(0, 40, 300)).astype(float), 40) for _ in range(3)]
    groups = np.bincount(rng.integers(0, 40, 4000), minlength=40)
    together = align(groups, Places.of(grids))
    for row, grid in enumerate(grids):
        assert np.array_equal(together[row], align(groups, Places.of([grid]))[0])


@pytest.mark.parametrize(("values", "step"), [
    ([1.0, 4.0, 10.0], 3.0), ([0.1, 0.3, 0.4], 0.1), ([0.25, 0.5], 0.25), ([7.0], 1.0),
    ([0.1, 2**0.5], None),
])
def test_the_step_of_a_grid(values, step):
    found = step_of(np.array(values))
    assert found is None if step is None else found == pytest.approx(step)


def test_a_grid_has_room_beyond_the_sample():
    grid = grid_of(np.array([10.0, 12.0, 13.0]), 20)
    assert grid.values[0] <= 10 - 8
    assert grid.values[-1] >= 13 + 8
    assert grid.counts.sum() == 3
    assert np.all(grid.share > 0)
