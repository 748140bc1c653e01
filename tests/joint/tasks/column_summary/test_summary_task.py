"""Task `summary` against pandas on all rows in one place, and what it keeps to itself."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.joint_tables import OWNERS, outputs_of, owners_tables, study_of
from support.mining_views import watched
from support.replayed import real_run
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.session.run_roles import roles_for
from unspoken.joint.tasks.column_summary import params as rules
from unspoken.joint.tasks.column_summary.params import NUMBERS, SummaryParams
from unspoken.joint.tasks.column_summary.pooled import pooled
from unspoken.joint.tasks.column_summary.program_rows import SUMMARY, SummaryOverRows
from unspoken.joint.tasks.task_list import all_tasks, task_of

RANGES = {"range.tied": [0, 8], "range.spread": [-30, 70], "range.gaps": [-4, 4],
          "range.same": [0, 10]}
COLUMNS = ["tied", "spread", "gaps", "same"]
SPANS = {name.partition(".")[2]: tuple(map(float, ends)) for name, ends in RANGES.items()}


def by_pandas(tables, fewest):
    """Return the summary of all rows in one place, written apart from what it checks."""
    whole, out = pd.concat(tables), {}
    for name in COLUMNS:
        column, (low, high) = whole[name].astype(float), SPANS[name]
        if column.count() < fewest:
            out[name] = None
            continue
        kept = column.clip(low, high)
        out[name] = (int(column.count()), int(column.isna().sum()), int((column < low).sum()),
                     int((column > high).sum()), kept.mean(), kept.var(ddof=1))
    return out


def assert_same(result, expected):
    for name, numbers in expected.items():
        shown = result["summary"][name]
        assert shown["range"] == list(SPANS[name])
        if numbers is None:
            assert all(value is None for key, value in shown.items() if key != "range")
            continue
        assert [shown[key] for key in ("known", "missing", "below", "above")] == list(numbers[:4])
        width = SPANS[name][1] - SPANS[name][0]
        assert shown["mean"] == pytest.approx(numbers[4], rel=1e-12, abs=1e-11 * width)
        if np.isnan(numbers[5]):
            assert shown["variance"] is None
        else:
            assert shown["variance"] == pytest.approx(numbers[5], rel=1e-9, abs=1e-10 * width**2)
            assert shown["deviation"] == pytest.approx(shown["variance"] ** 0.5)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_the_joint_summary_is_that_of_all_rows_in_one_place(seed, tmp_path):
    tables = owners_tables(seed)
    outputs = outputs_of("summary", tables, tmp_path, columns=COLUMNS, **RANGES)
    assert_same(outputs[0], by_pandas(tables, 5))
    assert outputs[1] == outputs[2] == outputs[0]
    assert outputs[0]["summary"]["same"]["variance"] in (0.0, None), "a constant has no variance"


@pytest.mark.slow
def test_two_hundred_random_studies_are_right():
    """Owners' numbers are added up here, without shares: these are exact."""
    params = SummaryParams(columns=tuple(COLUMNS), ranges=SPANS, fewest=0)
    for seed in range(200):
        tables = owners_tables(1000 + seed, 12)
        own = [np.stack([params.numbers(name, table[name].to_numpy(float), 3)
                         for name in COLUMNS], axis=1) for table in tables]
        result = params.described(np.sum(own, axis=0), 3)
        known = {name: numbers for name, numbers in by_pandas(tables, 0).items() if numbers[0]}
        assert_same(result, known)
        assert_same(pooled([table.to_dict("series") for table in tables], params), known)


@pytest.mark.parametrize(("apart", "close"), [(1e-3, 0.1), (1.0, 1e-6)])
def test_values_far_from_the_middle_and_close_together_keep_their_variance(apart, close):
    params = SummaryParams(columns=("x",), ranges={"x": (0.0, 1000.0)})
    values = 999.0 + apart * np.random.default_rng(3).random(1000)
    totals = sum(params.numbers("x", part, 4) for part in np.split(values, 4))
    shown = params.described(totals[:, None], 4)["summary"]["x"]
    assert shown["variance"] == pytest.approx(np.var(values, ddof=1), rel=close)
    many = params.numbers("x", np.full(1 << 20, 999.7), 4)
    assert params.described(many[:, None], 4)["summary"]["x"]["variance"] == 0.0


def test_no_value_anywhere_is_said_without_a_mean():
    params = SummaryParams(columns=("x",), ranges={"x": (0.0, 1.0)}, fewest=0)
    shown = pooled([{"x": [np.nan, np.nan]}, {"x": []}], params)["summary"]["x"]
    assert (shown["known"], shown["missing"], shown["mean"]) == (0, 2, None)


# What is kept back --------------------------------------------------------------------------

def few_known(values):
    """Return the inputs of three owners of whom one has four values in all."""
    params = SummaryParams(columns=("x",), ranges={"x": (0.0, 10.0)})
    parts = [np.array([]), np.array(values), np.array([np.nan] * 3)]
    return [params.numbers("x", part, 3)[:, None] for part in parts]


def small_study(owners=OWNERS, **more):
    return study_of("summary", {"columns": ["x"], "range.x": [0, 10], **more}, owners)


def opened_by(study, inputs):
    run = real_run(task_of(study).program(study), dict(zip(OWNERS, inputs, strict=True)),
                   roles_for(list(OWNERS), "dealer"))
    return run.opened["north"][SUMMARY][0]


def test_a_column_with_too_few_values_shows_nothing(monkeypatch):
    study = small_study()
    assert not opened_by(study, few_known([1, 2, 3, 9])).any()
    assert opened_by(study, few_known([1, 2, 3, 9, 9])).any()
    numbered = small_study(("p0", "p1", "p2"))
    views = [watched(task_of(numbered).program(numbered), few_known(values))
             for values in ([1, 2, 3, 9], [5])]
    assert views[0] == views[1]

    async def not_kept(self, party, totals):
        return totals

    monkeypatch.setattr(SummaryOverRows, "_where_enough", not_kept)
    assert opened_by(study, few_known([1, 2, 3, 9])).any()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(-20, 20) | st.just(float("nan")), min_size=1, max_size=6),
       st.floats(-20, 20) | st.just(float("nan")), st.booleans())
def test_a_row_moves_noisy_numbers_by_no_more_than_what_noise_is_made_for(values, other, leaves):
    params = SummaryParams(columns=("x",), ranges={"x": (-10.0, 10.0)}, epsilon=1.0)
    first, rest = np.array(values), values[1:] if leaves else [other, *values[1:]]
    moved = params.numbers("x", first, 3) - params.numbers("x", np.array(rest, float), 3)
    assert np.sqrt((moved[:4] ** 2).sum()) <= np.sqrt(2) + 1e-12
    assert abs(moved[4]) <= 2 << 20
    assert abs(moved[5]) <= 1 << 20


def test_every_owner_adds_its_part_of_the_noise(monkeypatch):
    drawn = []

    def part(size, scale):
        drawn.append((size, scale))
        return np.full(size, 7, np.int64)

    monkeypatch.setattr(rules, "draw_part", part)
    study = small_study(epsilon=1.0)
    inputs = [np.zeros((NUMBERS, 1), np.int64)] * 3
    assert (opened_by(study, inputs) == 21).all()
    params = SummaryParams.of(study.parameters)
    assert drawn == 3 * list(zip((4, 1, 1), params.parts(3), strict=True))


@pytest.mark.slow
def test_noise_in_the_result_stays_within_what_the_plan_says():
    study = small_study(epsilon=2.0)
    params = SummaryParams.of(study.parameters)
    values = np.random.default_rng(1).uniform(0, 10, 3000)
    inputs = [params.numbers("x", part, 3)[:, None] for part in np.split(values, 3)]
    totals = opened_by(study, inputs)
    shown = params.described(totals, 3)["summary"]["x"]
    spread = params.deviations(3)
    assert abs(shown["known"] - 3000) < 6 * spread["counts"] * np.sqrt(3)
    assert shown["mean"] == pytest.approx(values.mean(), abs=0.5)
    assert any("standard deviation of the noise" in note
               for note in task_of(study).outlook(study).notes)


# Plans and refusals -------------------------------------------------------------------------

def test_two_owners_are_told_that_each_can_work_the_other_out():
    two = study_of("summary", {"columns": ["x"], "range.x": [0, 10]}, OWNERS[:2])
    words = task_of(two).outlook(two).determined["north"][0]
    assert words.startswith("can work out: the counts, the mean and the variance of each column of "
                            "south")
    three = task_of(small_study()).outlook(small_study()).determined["north"]
    assert all("in some cases" in line for line in three)
    refusing = study_of("summary", {"columns": ["x"], "range.x": [0, 10],
                                    "result_control": "refuse"}, OWNERS[:2])
    with pytest.raises(StudyError, match="could work out the counts"):
        task_of(refusing).plan(refusing)


@pytest.mark.parametrize(("parameters", "match"), [
    ({"columns": ["a"]}, "needs a range of column 'a'"),
    ({"columns": ["a"], "range.a": [0, 1], "range.b": [0, 1]}, "'range.b' of task 'summary'"),
    ({"columns": ["a"], "range.a": [0, 1], "epsilon": 1.0, "fewest": 3}, "Leave one of them out"),
    ({"columns": ["a"], "epsilon": 1.0}, "needs a range of column 'a'"),
    ({"columns": ["a"], "range.a": [1, 0]}, "two increasing numbers")])
def test_what_does_not_fit_together_is_refused(parameters, match):
    with pytest.raises(StudyError, match=match):
        all_tasks()["summary"].check(parameters)


@pytest.mark.slow
def test_more_records_than_agreed_are_refused_before_anything_is_sent(tmp_path):
    study = small_study(most=3)
    (tmp_path / "north.csv").write_text("x\n1\n2\n3\n4\n")
    with pytest.raises(StudyError, match="at most 3 records"):
        task_of(study).load(tmp_path / "north.csv", study)
