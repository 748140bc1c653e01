"""Random studies of every task against references that share no code with it.

A few of each; `bench/random_studies.py` runs two hundred.
"""

from __future__ import annotations

import pytest

from support.random_studies import all_draws, trial_of
from support.random_studies.trials import carried_out, one_connection
from unspoken.joint.tasks.task_list import all_tasks

# Rows that are made up anew in every run: nothing but their number and their limits can be judged.
DRAWN_ANEW = ("residuals",)


@pytest.fixture(autouse=True, scope="module")
def reading():
    with one_connection():
        yield


def test_every_task_has_a_reference():
    assert set(all_draws()) == set(all_tasks())


def not_refused(task):
    return [n for n in range(20) if not trial_of(task, n).refused][:2]


@pytest.mark.slow
@pytest.mark.parametrize("task", all_tasks())
@pytest.mark.filterwarnings("ignore:Variances of")
def test_random_studies_come_out_as_the_reference_says_and_no_other_result_does(task, tmp_path):
    trials = [trial_of(task, number) for number in not_refused(task)]
    outputs = [carried_out(trial, tmp_path) for trial in trials]
    for trial, output in zip(trials, outputs, strict=True):
        assert list(trial.check(output))
    if task in DRAWN_ANEW:
        return
    with pytest.raises((AssertionError, LookupError, ValueError, TypeError)):
        assert not list(trials[0].check(outputs[1])), "the result of other data was taken"


@pytest.mark.slow
@pytest.mark.parametrize("task", ["regression", "regression-columns", "logistic",
                                  "logistic-columns"])
def test_studies_without_an_answer_are_refused(task, tmp_path):
    trial = next(trial for trial in (trial_of(task, n) for n in range(99)) if trial.refused)
    assert carried_out(trial, tmp_path) == {}
