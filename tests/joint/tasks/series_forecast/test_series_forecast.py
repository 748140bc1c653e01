"""Joint forecasts: those of statsmodels and numpy on the sum, and only they are opened."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.joint_commands import write
from support.replayed import real_run
from support.study_cases import NAMES, study_case
from support.study_variants import varied
from unspoken.errors import DataError
from unspoken.joint import mine, run_local
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.shared import public
from unspoken.joint.session.run_roles import roles_for
from unspoken.joint.tasks.series_forecast import program_rows
from unspoken.joint.tasks.series_forecast.laws import GRID, Law
from unspoken.joint.tasks.series_forecast.params import ForecastParams
from unspoken.joint.tasks.series_forecast.pooled import pooled
from unspoken.joint.tasks.series_forecast.program_rows import AHEAD, ForecastOverRows
from unspoken.joint.tasks.task_list import task_of

PERIODS = 24


def series(seed, columns=2):
    """Return a series that rises and wanders, and one that stays where it is."""
    rng = np.random.default_rng(seed)
    rising = 100 + np.cumsum(rng.normal(3, 5, PERIODS))
    return np.column_stack([rising, 50 + rng.normal(0, 4, PERIODS)])[:, :columns]


SERIES = [series(seed) for seed in range(3)]
TOTAL = np.sum(SERIES, axis=0)


def params(**more):
    return ForecastParams(**{"columns": ("orders", "stock"), "periods": PERIODS, "ahead": 3,
                             "most": 1000.0, **more})


def run(chosen, tables=SERIES, mode="dealer"):
    own = [chosen.own(table, len(tables)) for table in tables]
    return run_local(ForecastOverRows(chosen), own, mode, names=list(NAMES)[:len(tables)])


def by_statsmodels(law, column, weight, trend_weight=0.1, ahead=3):
    """Return forecasts from the second period on, the first one being the known start."""
    from statsmodels.tsa.holtwinters import Holt, SimpleExpSmoothing

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if law == "smoothing":
            model = SimpleExpSmoothing(column[1:], initialization_method="known",
                                       initial_level=column[0])
            return model.fit(smoothing_level=weight, optimized=False).forecast(ahead)
        model = Holt(column[1:], initialization_method="known", initial_level=column[0],
                     initial_trend=column[1] - column[0])
        return model.fit(smoothing_level=weight, smoothing_trend=trend_weight,
                         optimized=False).forecast(ahead)


def least_missed(law, column):
    """Return the weight of the grid with the least squared misses, by a plain loop."""
    def missed(weight):
        level, slope, sum_ = column[0], (column[1] - column[0]) * (law == "holt"), 0.0
        for value in column[1:]:
            sum_ += (value - level - slope) ** 2
            new = weight * value + (1 - weight) * (level + slope)
            slope = (0.1 * (new - level) + 0.9 * slope) if law == "holt" else 0.0
            level = new
        return sum_
    return min(GRID, key=missed)


@pytest.mark.parametrize("law", ["smoothing", "holt"])
@pytest.mark.parametrize("weight", [0.3, 0.8])
def test_smoothing_is_that_of_statsmodels_on_the_sum(law, weight):
    [(found, ledger), *_] = run(params(law=law, weight=weight))
    for place, name in enumerate(("orders", "stock")):
        assert found[name] == pytest.approx(by_statsmodels(law, TOTAL[:, place], weight), abs=0.01)
    assert [row.because for row in ledger.openings] == [AHEAD]


@pytest.mark.parametrize("law", ["smoothing", "holt"])
def test_the_weight_that_missed_least_is_found_on_shares(law):
    chosen = params(law=law)
    [(found, ledger), *_] = run(chosen)
    weights = [least_missed(law, TOTAL[:, place]) for place in range(2)]
    assert len(set(weights)) == 2, "a case in which columns differ"
    for place, name in enumerate(("orders", "stock")):
        assert found[name] == pytest.approx(
            by_statsmodels(law, TOTAL[:, place], weights[place]), abs=0.01)
    assert [row.because for row in ledger.openings] == [AHEAD]
    assert found == pooled(SERIES, chosen)


def test_a_line_is_that_of_numpy_and_a_mean_that_of_the_last_periods():
    [(line, _), *_] = run(params(law="trend"))
    [(mean, _), *_] = run(params(law="mean", window=4))
    time = np.arange(PERIODS)
    for place, name in enumerate(("orders", "stock")):
        fit = np.polyfit(time, TOTAL[:, place], 1)
        assert line[name] == pytest.approx(np.polyval(fit, PERIODS + np.arange(3)), abs=0.01)
        assert mean[name] == pytest.approx([TOTAL[-4:, place].mean()] * 3, abs=0.01)


def test_a_straight_line_is_continued_by_hand():
    assert Law("trend").ahead(np.array([[1.0], [3.0], [5.0]]), 2).tolist() == [[7.0], [9.0]]
    assert Law("holt", weight=0.5).ahead(np.array([[1.0], [3.0], [5.0]]), 2).tolist() == [
        [7.0], [9.0]]
    # 8, then 8 + 0.5 (4 - 8) = 6, then 6 + 0.5 (2 - 6) = 4.
    assert Law("smoothing", weight=0.5).ahead(np.array([[8.0], [4.0], [2.0]]), 1) == [[4.0]]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.lists(st.floats(-100, 100), min_size=5, max_size=5), min_size=2, max_size=4),
       st.sampled_from(["mean", "trend", "smoothing", "holt"]), st.sampled_from([0.1, 0.5, 1.0]))
@pytest.mark.slow
def test_forecasts_add_up(rows, law, weight):
    """The forecast of a sum is the sum of the forecasts: every law is linear."""
    parts = [np.array(row)[:, None] for row in rows]
    law = Law(law, 3, weight)
    assert law.ahead(np.sum(parts, axis=0), 2) == pytest.approx(
        np.sum([law.ahead(part, 2) for part in parts], axis=0), abs=1e-8)


def opened_of(chosen):
    own = {name: chosen.own(table, 3) for name, table in zip(NAMES, SERIES, strict=True)}
    real = real_run(ForecastOverRows(chosen), own, roles_for(NAMES, "dealer"))
    [opened] = real.opened["north"][AHEAD]
    return opened


def test_nothing_but_one_forecast_is_opened_and_a_mutant_takes_another(monkeypatch):
    assert opened_of(params()).shape == (3, 2)
    right = opened_of(params()).tolist()

    async def first(party, sums):
        return public(party, np.zeros(sums.shape[0], np.int64)), None

    monkeypatch.setattr(program_rows, "argmin", first)
    assert opened_of(params()).tolist() != right


def test_the_others_are_told_nothing():
    own = [params().own(table, 3) for table in SERIES]
    outputs = run_local(ForecastOverRows(params(), ["south"]), own, names=list(NAMES))
    assert [output is not None for output, _ in outputs] == [False, True, False]


def test_of_two_owners_each_has_the_others_forecast_and_the_plan_says_so():
    chosen = params(law="trend")
    (found, _), _ = run(chosen, SERIES[:2])
    alone = pooled([SERIES[1]], chosen)
    own = pooled([SERIES[0]], chosen)
    assert found["orders"][0] - own["orders"][0] == pytest.approx(alone["orders"][0], abs=0.01)
    study, _ = varied("forecast", "dealer", "two owners")
    notes = task_of(study).outlook(study).notes
    assert any("subtracts its own forecast" in note for note in notes)


@pytest.mark.parametrize(("content", "why"), [
    ("orders\n1\n2\n", "one for each period"), ("orders\n" + "1\n" * 7 + "zzz\n", "numbers"),
    ("orders\n" + "1\n" * 7 + "1e9\n", "greater 'most'"), ("stock\n1\n", "'orders'")])
def test_files_that_do_not_fit_are_refused_without_a_value(tmp_path, content, why):
    study, task, _ = study_case("forecast", "dealer")
    (tmp_path / "a.csv").write_text(content)
    with pytest.raises((StudyError, DataError), match=why) as error:
        task.load(tmp_path / "a.csv", study)
    assert "zzz" not in str(error.value)


@pytest.mark.parametrize("wrong", [{"window": 25}, {"most": 2.0**40, "law": "holt", "scale": 20}])
def test_what_cannot_be_computed_is_refused(wrong):
    with pytest.raises(StudyError):
        params(**wrong)


def test_the_longest_series_with_the_largest_numbers_have_room():
    chosen = ForecastParams(("x",), 10_000, most=1000.0, law="holt")
    steep = np.tile([[-1000.0], [1000.0]], (5000, 1))
    own = chosen.own(steep, 3)
    assert np.abs(own.misses).max() <= chosen.most_missed(3)
    assert np.abs(own.ahead).max() <= chosen.bound
    total = (own.misses.astype(object) * 3)[:, :, 0]
    assert max((row**2).sum() for row in total) < 2**62


@pytest.mark.slow
def test_from_files_to_results(tmp_path):
    for name, table in zip(NAMES, SERIES, strict=True):
        write(tmp_path / f"{name}.csv", {"orders": table[:, 0], "stock": table[:, 1]})
    found = mine("forecast", [tmp_path / f"{name}.csv" for name in NAMES],
                 columns=["orders", "stock"], periods=PERIODS, ahead=3, most=1000.0)
    assert found == pooled(SERIES, params())
