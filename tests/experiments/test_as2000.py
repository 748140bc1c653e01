"""The experiment of as2000 in small: Global is worst, reconstruction beats the reports."""

from __future__ import annotations

import numpy as np
import pytest

from unspoken_experiments.as2000.quest import COLUMNS, RANGES, group, people
from unspoken_experiments.as2000.run import Study, densities, figure_5, figure_6

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def study():
    return Study(5000, 1)


def test_tables_have_a_line_for_every_setting(study):
    lines = list(figure_5(study, (1,), ("original", "refined", "global", "randomized")))
    assert len(lines) == 2 + 4
    last = [float(cell) for cell in lines[-1].split("|")[4:-1]]
    assert last[0] > 99
    assert last[1] > last[2] + 10
    assert len(list(figure_6(study, (1,), (0.25,)))) == 2 + 8
    assert len(list(densities(2000, range(1)))) == 2 + 4


def test_people_are_as_described():
    found = people(20_000, 0)
    assert tuple(found) == COLUMNS
    for name, (low, high) in RANGES.items():
        assert low <= found[name].min()
        assert found[name].max() <= high
    assert np.all((found["commission"] == 0) == (found["salary"] >= 75e3))
    price = 100e3 * (found["zipcode"] + 1)
    assert np.all((found["hvalue"] >= 0.5 * price) & (found["hvalue"] <= 1.5 * price))


def test_the_functions_by_hand():
    one = {name: np.array([0.0, 0.0, 0.0]) for name in COLUMNS}
    one["age"] = np.array([30.0, 50.0, 60.0])
    one["salary"] = np.array([60e3, 60e3, 60e3])
    one["elevel"] = np.array([0.0, 4.0, 1.0])
    assert group(one, 1).tolist() == ["A", "B", "A"]
    assert group(one, 2).tolist() == ["A", "B", "A"]
    assert group(one, 3).tolist() == ["A", "B", "A"]
    one["loan"] = np.array([0.0, 151e3, 150e3])
    assert group(one, 4).tolist() == ["A", "B", "A"]
    one["hvalue"], one["hyears"] = np.full(3, 100e3), np.array([0.0, 21.0, 20.0])
    assert group(one, 5).tolist() == ["A", "A", "A"]
