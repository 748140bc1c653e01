"""Results in steps that a study chose: right to half a step, and the same for data within it."""

from __future__ import annotations

import numpy as np
import pytest

from support.brute_force import World, study_in
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.result_control.verdict import Certainty
from unspoken.joint.tasks.common.controlled_results import verdicts_of
from unspoken.joint.tasks.kmeans.params import KMeansParams
from unspoken.joint.tasks.kmeans.program_rows import kmeans_rows
from unspoken.joint.tasks.regression.column_blocks import OwnedColumns
from unspoken.joint.tasks.regression.params import RegressionParams, RegressionTerms
from unspoken.joint.tasks.regression.program_columns import mine_regression_columns
from unspoken.joint.tasks.regression.program_rows import mine_regression_rows
from unspoken.joint.tasks.task_list import task_of

TERMS = RegressionTerms("y", ("x", "z"))
BITS = 10


def rows(count, seed):
    rng = np.random.default_rng(seed)
    x, z = rng.normal(50, 10, count), rng.normal(-3, 0.5, count)
    return {"x": x, "z": z, "y": 0.2 * x - z + rng.normal(size=count)}


def numbers(model):
    """Return what is opened of a model but its number of records."""
    return np.array([model.intercept, *model.coefficients, *model.errors, model.rss, model.tss])


def fitted(parts, bits):
    models, _ = mine_regression_rows(parts, TERMS, RegressionParams(bits=bits))
    return models[0]


def test_a_model_in_steps_is_right_to_half_a_step_and_hides_what_is_smaller():
    parts = [rows(400, 1), rows(700, 2)]
    fine, coarse = fitted(parts, None), fitted(parts, BITS)
    # Spreads lie between a half and one of a power of two: a step is 2^-BITS of such powers.
    steps = np.array([2.0**2 / 2.0**4, 2.0**2]) * 2.0**-BITS
    assert (np.abs(coarse.coefficients - fine.coefficients) <= steps / 2 * 1.01).all()
    assert (np.abs(coarse.coefficients - fine.coefficients) > steps / 1000).any()
    assert np.abs(coarse.rss / coarse.tss - fine.rss / fine.tss) < 2.0 ** (3 - BITS)
    parts[1]["y"][7] += 1e-4
    np.testing.assert_array_equal(numbers(fitted(parts, BITS)), numbers(coarse))
    assert (numbers(fitted(parts, None)) != numbers(fine)).any()


@pytest.mark.slow
def test_a_model_over_columns_is_opened_in_steps_too():
    data = rows(400, 1)
    columns = OwnedColumns({"north": ("x",), "south": ("z",)}, "y", "north")
    given = {"north": {"x": data["x"], "y": data["y"]}, "south": {"z": data["z"]}}
    found = [mine_regression_columns(given, columns, RegressionParams(bits=bits))[0][0]
             for bits in (None, BITS)]
    gap = np.abs(found[0].coefficients - found[1].coefficients)
    assert 0 < gap.max() < 2.0 ** (3 - BITS)


def test_centres_are_opened_in_steps():
    parts = [np.random.default_rng(seed).normal(size=(40, 2)) for seed in (1, 2)]
    fine, coarse = (kmeans_rows(parts, KMeansParams(k=2, iterations=4, bits=bits))[0][0].centres
                    for bits in (None, 3))
    np.testing.assert_array_equal(coarse, np.floor(fine * 8 + 0.5) / 8)
    assert (fine != coarse).all()


def announced(task, **parameters):
    study = study_in(World(task, parameters, (), (), lambda a, b: None, {}))
    task_of(study).outlook(study)
    return {v.quantity: v for v in verdicts_of(task_of(study), study, "north")}


def test_what_follows_of_whole_numbers_is_announced_with_its_reach():
    found = announced("regression", response="y", columns=["x"], bits=BITS)
    assert found["number of records"].certainty is Certainty.ALWAYS
    assert found["means"].certainty is Certainty.USUALLY
    assert "1,024" in found["means"].why
    assert announced("regression", response="y", columns=["x"])["means"].certainty is (
        Certainty.ALWAYS)
    one = announced("kmeans", columns=["x"], k=1, bits=6)["the mean of each column"]
    assert (one.certainty, "16 records" in one.why) == (Certainty.USUALLY, True)


@pytest.mark.parametrize(("task", "parameters", "words"), [
    ("kmeans", {"columns": ["x"], "k": 2, "bits": 9, "scale": 4}, "at most 'scale'"),
    ("kmeans", {"columns": ["x"], "k": 2, "bits": 3, "way": "revealed"}, "'bits' needs"),
    ("regression", {"response": "y", "columns": ["x"], "bits": 8, "epsilon": 1.0,
                    "inference": False, "range.x": [0, 1], "range.y": [0, 1]}, "Leave one")])
def test_steps_that_nothing_is_opened_in_are_refused_by_the_plan(task, parameters, words):
    owners = ("north", "south", "east")
    study = study_in(World(task, parameters, (), (), lambda a, b: None, {}, owners))
    with pytest.raises(StudyError, match=words):
        task_of(study).plan(study)
