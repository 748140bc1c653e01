"""Regression with noise in parts: within its stated error, and no more than it states."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from support.epsilon_distinguisher import least_epsilon, likelier
from support.study_cases import NAMES, study_case
from unspoken.joint import run_local
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.tasks.common import noise_in_parts
from unspoken.joint.tasks.regression.noisy_sums import NOISY, noisy_model
from unspoken.joint.tasks.regression.pooled import pooled
from unspoken.joint.tasks.regression.study_terms import terms_of
from unspoken.joint.tasks.task_list import all_tasks

PRIVATE = {"epsilon": 2.0, "range.age": [0, 100], "range.cost": [-50, 50], "inference": False,
           "select": None}
TIMES = 1600
LOSS = {"epsilon": 2.0, "delta": 0.1, "colluding": 2}


def study_with(mode="sums", **more):
    study, _, records = study_case("sum", mode)
    draft = {"response": "cost", "columns": ["age"], **PRIVATE, **more}
    parameters = {name: value for name, value in draft.items() if value is not None}
    task = all_tasks()["regression"]
    task.check(parameters)
    study = replace(study, task="regression", parameters=parameters)
    return replace(study, disclosures=task.disclosures(study)), task, records


def plan_of(study):
    return noisy_model(study.parameters, terms_of(study.parameters), 3)


def people(rows, seed):
    rng = np.random.default_rng(seed)
    age = rng.uniform(0, 100, rows)
    return {"age": age, "cost": 0.4 * age - 10 + rng.normal(0, 3, rows)}


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["sums", "dealer"])
def test_a_noisy_model_is_within_the_stated_error_of_the_pooled_one(mode):
    study, task, _ = study_with(mode)
    parts, plan = [people(4000, seed) for seed in range(3)], plan_of(study)
    outcomes = run_local(task.program(study), [plan.table(part) for part in parts], mode,
                         names=NAMES, **({"holders": NAMES[:2]} if mode == "dealer" else {}))
    model = outcomes[0][0]
    assert [one for one, _ in outcomes[1:]] == [None, None]
    exact = pooled(terms_of(study.parameters), {
        name: np.concatenate([part[name] for part in parts]) for name in parts[0]})
    # The spread of an even column is 1/3; half a range is 50 for both columns.
    stated = 3 * plan.deviation * math.sqrt(2) / 12_000
    assert 0 < abs(model.coefficients[0] - exact.coefficients[0]) < 6 * stated
    assert abs(model.intercept - exact.intercept) < 6 * stated * 100
    assert model.errors.size == 0
    notes = " ".join(task.plan(study).notes)
    assert f"{plan.deviation:.4g} (a sum of columns scaled" in notes
    assert "also against any 1 owners" in notes
    assert {one.because for one in study.disclosures} == {NOISY}


def test_products_have_the_range_that_follows_from_their_columns():
    study, _, _ = study_with(products=["age*age"], ridge=1.0)
    plan = plan_of(study)
    table = plan.table({"age": [0.0, 100.0, 1e9], "cost": [0.0, -1e9, 1e9]})
    assert table.tolist() == [[-1, -1, 0], [1, 1, -1], [1, 1, 1]]
    assert plan.model(plan.units(plan.table(people(5000, 1))) / 2.0**24).features == (
        "age", "age*age")


@pytest.mark.slow
def test_one_row_moves_no_more_than_the_noise_is_for():
    rng = np.random.default_rng(4)
    for size in (2, 3, 4):
        reach = (size + 1) * 2.0**24
        units = [one_row(rng, size) for _ in range(400)]
        moved = [np.abs(a - b).astype(float) for a in units[:200] for b in units[200:]]
        assert max(math.sqrt((one**2).sum()) for one in moved) <= reach
        assert max(math.sqrt((one.astype(float)**2).sum()) for one in units) <= reach


def one_row(rng, size):
    z = np.where(rng.random(size) < 0.7, rng.choice([-1.0, 1.0], size), rng.uniform(-1, 1, size))
    steps = np.array([4096, *np.rint(z * 4096)])
    return np.outer(steps, steps)[np.triu_indices(size + 1)].astype(np.int64)


def seen_by_colluders(plan, person):
    """Return noisy sums without the parts that two colluding owners of three know."""
    table = plan.table({name: np.array([value, middle]) for (name, value), middle in zip(
        person.items(), (50.0, 0.0), strict=True)})
    return np.array([plan.noisy(table) for _ in range(TIMES)], float)


def proven(confidence=0.999):
    """Return what noisy sums prove of the worst two neighbours, by their likelihood."""
    plan = plan_of(study_with(**LOSS)[0])
    people_ = [{"age": 900.0, "cost": 900.0}, {"age": -900.0, "cost": 900.0}]
    clamped = [{"age": 100.0, "cost": 50.0}, {"age": 0.0, "cost": 50.0}]
    centres = [plan.units(plan.table({name: np.array([value, middle]) for (name, value), middle
                                      in zip(one.items(), (50.0, 0.0), strict=True)}))
               / plan.scale() for one in clamped]
    reports = [likelier(seen_by_colluders(plan, one) / plan.scale(), *centres, absolute=False)
               for one in people_]
    return least_epsilon(*reports, confidence, LOSS["delta"])


@pytest.mark.slow
def test_no_distinguisher_gets_beyond_what_was_stated():
    assert proven() <= LOSS["epsilon"]


def half_the_noise(monkeypatch):
    real = noise_in_parts.part_scale
    monkeypatch.setattr(noise_in_parts, "part_scale", lambda *a: real(*a) / 2)


def reused_noise(monkeypatch):
    monkeypatch.setattr(noise_in_parts, "draw_part", lambda size, scale: np.arange(size) * 1000)


def no_clamp(monkeypatch):
    monkeypatch.setattr(np, "clip", lambda values, low, high: np.asarray(values))


@pytest.mark.slow
@pytest.mark.parametrize("mutant", [half_the_noise, reused_noise, no_clamp])
def test_noise_that_breaks_its_promise_is_caught(monkeypatch, mutant):
    mutant(monkeypatch)
    assert proven(0.95) > LOSS["epsilon"]


@pytest.mark.parametrize("wrong", [
    {"range.cost": None}, {"inference": True}, {"select": "forward"}, {"epsilon": None},
    {"range.other": [0, 1]}, {"range.age": [1, 0]}, {"range.age": [-1e300, 1e300]},
    {"epsilon": 0.0}, {"delta": 0.5},
    {"epsilon": None, "range.age": None, "range.cost": None, "delta": 1e-6}])
def test_wrong_parameters(wrong):
    with pytest.raises(StudyError):
        study_with(**wrong)


def test_few_records_are_not_refused_as_that_would_tell():
    study, task, _ = study_with()
    tables = [plan_of(study).table({"age": [3.0], "cost": [4.0]}) for _ in range(3)]
    assert run_local(task.program(study), tables, "sums", names=NAMES)[0][0] is not None
