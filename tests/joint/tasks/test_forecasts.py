"""Forecasts are dry runs of the programs themselves: what they say is what a run takes."""

from __future__ import annotations

import numpy as np
import pytest

from support.replayed import assert_same, study_runs
from support.study_cases import CASES, modes_of, study_case
from unspoken.errors import InputError
from unspoken.joint.mpc.engines.modes import mode_of
from unspoken.joint.mpc.randomness import fresh_words
from unspoken.joint.tasks.task import needs_of
from unspoken.joint.tasks.task_list import all_tasks
from unspoken.joint.wire.frames import Message, Purpose, framed
from unspoken.joint.wire.hollow_arrays import dry_running, hollow, is_dry

# Their course follows from parameters alone; that of the others depends on opened values.
FIXED = ("sum", "schema", "summary", "quantiles", "bins", "intersection", "bayes", "bayes-columns",
         "classify", "classify-columns",
         "kmeans-columns", "neighbours", "outliers", "outliers-columns", "regression-columns",
         "residuals",
         "residuals-columns", "forest-columns",
         "percentile", "segments", "forecast", "influence", "intersection-members", "union", "vote")
LONG = ("logistic", "logistic-columns", "regression", "regression-columns", "residuals",
        "residuals-columns", "robust", "influence")
EXACT = [(task, mode) for task in CASES for mode in modes_of(task)
         if mode != "spu" and (task not in LONG or mode == "dealer")
         and (mode != "authenticated" or task in ("sum", "bayes-columns", "tree", "kmeans"))]
SPU = ("bayes", "tree")


def declared(study, name):
    """Return what a study says that a party may learn."""
    return {d.because for d in study.disclosures if not d.to or name in d.to}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "mode"), [
    pytest.param(task, mode, id=f"{task}-{mode}") for task, mode in EXACT])
def test_a_dry_run_takes_what_a_run_takes(name, mode):
    """Rounds, bytes by purpose and every opening are equal to the last one, given its course."""
    study, task, records = study_case(name, mode)
    real, dry = study_runs(study, task, records)
    assert_same(real, dry)
    plan = task.plan(study, records)
    for party in study.names:
        seen = {o.because for o in real.ledgers[party].learned()}
        assert set(plan.opened.get(party, [])) <= declared(study, party)
        assert seen <= declared(study, party)
        if name in FIXED:
            assert set(plan.opened[party]) == seen
    if name in FIXED:
        assert (plan.rounds, plan.bytes) == (real.rounds, real.bytes)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["two-party", "three-party"])
def test_a_long_regression_takes_what_is_forecast(mode):
    """One of those that take long; the others share its steps."""
    study, task, records = study_case("regression-columns", mode)
    real, dry = study_runs(study, task, records)
    assert_same(real, dry)


@pytest.mark.slow
@pytest.mark.parametrize("name", SPU)
def test_what_spu_sends_is_estimated_within_a_half(name):
    if not mode_of("spu").can_run():
        pytest.skip("SPU is not installed")
    study, task, records = study_case(name, "spu")
    real, dry = study_runs(study, task, records)
    assert real.bytes / 1.5 < dry.bytes < real.bytes * 1.5
    assert "estimated" in task.plan(study, records).text()


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("mode", ["two-party", "spu"])
def test_every_task_has_a_forecast_without_a_dealer(name, mode):
    if mode not in modes_of(name) or name in LONG:
        pytest.skip("has no shares, or takes long")
    study, task, records = study_case(name, mode)
    plan = task.plan(study, records)
    assert plan.rounds > 0
    assert plan.bytes > 0
    assert f"{records} records" in plan.text()


@pytest.mark.slow
def test_records_that_are_aligned_are_part_of_the_forecast():
    pytest.importorskip("rbcl")
    study, task, records = study_case("outliers-columns", "dealer", ids="patient")
    real, dry = study_runs(study, task, records)
    assert_same(real, dry)


@pytest.mark.slow
def test_more_records_cost_more_and_nothing_is_drawn():
    study, task, _ = study_case("kmeans", "dealer")
    few, many = task.plan(study, 300), task.plan(study, 30_000)
    assert many.bytes > 20 * few.bytes
    assert not is_dry()


def test_needs_are_those_that_a_dealer_is_asked_for():
    study, task, records = study_case("outliers-columns", "dealer")
    drawn = needs_of(task, study, records)
    real, _ = study_runs(study, task, records)
    dealt = [row.shape[0] for row in real.ledgers["dora"].rows if row.label == "deal.correction"]
    assert [sum(sum(need.sent_lengths) for need in one.needs) for one in drawn] == dealt
    assert {need.kind for one in drawn for need in one.needs} >= {"edabits", "pairs"}


def test_nothing_of_a_dry_run_can_be_sent():
    """Masks that were not drawn hide nothing."""
    with dry_running():
        words = fresh_words(100_000)
        assert not np.asarray(words).any()
        with pytest.raises(InputError, match="dry run"):
            list(framed(Message("x", np.zeros(1, np.uint8), Purpose.MASKED), bytes(16), 0))
    with pytest.raises(InputError, match="dry run"):
        list(framed(Message("x", hollow(5), Purpose.MASKED), bytes(16), 0))
    assert np.unique(fresh_words(1000)).size == 1000


def test_every_task_is_exercised_here():
    assert set(CASES) == set(all_tasks())
