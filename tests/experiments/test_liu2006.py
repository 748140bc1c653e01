"""The experiments of liu2006 run, and say what they say."""

from __future__ import annotations

import pytest

from unspoken_experiments.liu2006 import run

pytestmark = pytest.mark.slow


def cells(table):
    return [[cell.strip() for cell in line.strip("|").split("|")]
            for line in table.strip().splitlines()[2:]]


def test_breach_probabilities_lie_inside_their_intervals():
    for row in cells(run.breach_table(20_000)):
        found, error = (float(part) for part in row[3].split(" ± "))
        assert abs(found - float(row[2])) <= 2.5 * error + 1e-4


def test_errors_fall_with_the_sample_and_stay_below_the_mean_s(monkeypatch):
    monkeypatch.setattr(run, "TRIALS", 10)
    rows = cells(run.by_ratio(run.gaussian, (0.02, 0.2)))
    paper, origin, mean = ([float(row[i].split(" ± ")[0]) for row in rows] for i in (1, 2, 3))
    assert origin[1] < origin[0] < mean[0]
    assert origin[0] < paper[0]


def test_more_columns_of_a_projection_hide_less(monkeypatch):
    monkeypatch.setattr(run, "TRIALS", 8)
    plain = [float(row[1].split(" ± ")[0]) for row in cells(run.projections())]
    assert plain == sorted(plain, reverse=True)


def test_run_times_stand_beside_the_paper_s():
    rows = cells(run.seconds((2,)))
    assert rows[0][:2] == ["2", "143"]
