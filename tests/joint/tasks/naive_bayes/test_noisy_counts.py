"""Naive Bayes with noise in parts: within its stated error, and no more than it states."""

from __future__ import annotations

import math

import numpy as np
import pytest

from support.epsilon_distinguisher import least_epsilon, likelier
from support.study_cases import NAMES, study_case
from unspoken.joint import run_local
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.tasks.common import noise_in_parts
from unspoken.joint.tasks.naive_bayes.class_tallies import class_counts, class_sums
from unspoken.joint.tasks.naive_bayes.noisy_counts import BITS, NOISY, noisy_of
from unspoken.joint.tasks.naive_bayes.params import layout_of
from unspoken.joint.tasks.naive_bayes.pooled import pooled
from unspoken.joint.tasks.task_list import all_tasks

PRIVATE = {"epsilon": 2.0, "reveal": "sums"}
TIMES = 1600
LOSS = {"epsilon": 2.0, "delta": 0.1, "colluding": 2}


def people(rows, seed):
    rng = np.random.default_rng(seed)
    sick = rng.random(rows) < 0.4
    return {"age": np.where(sick, 0.5, -0.2) + rng.normal(0, 0.2, rows),
            "sex": np.where(rng.random(rows) < np.where(sick, 0.8, 0.3), "f", "m").astype(object),
            "class": np.where(sick, "yes", "no").astype(object)}


def joined(parts):
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["sums", "dealer"])
def test_a_noisy_model_is_within_the_stated_error_of_the_pooled_one(mode):
    study, task, _ = study_case("bayes", mode, **PRIVATE)
    parts = [people(3000, seed) for seed in range(3)]
    layout, plan = layout_of(study.parameters), noisy_of(study)
    outcomes = run_local(task.program(study), [layout.rows(part) for part in parts], mode,
                         names=NAMES, **({"holders": NAMES[:2]} if mode == "dealer" else {}))
    model = outcomes[0][0]
    assert [one for one, _ in outcomes[1:]] == [None, None]
    exact = pooled(layout, joined(parts))
    count, sums = plan.deviations().values()
    assert 0 < np.abs(model.prior - exact.prior).max() < 8 * count / 9000
    age, true = model.columns[0], exact.columns[0]
    assert np.abs(age.means - true.means).max() < 8 * (sums + count) / 3000
    assert np.abs(age.variances - true.variances).max() < 16 * (sums + count) / 3000
    assert np.abs(model.columns[1].shares - exact.columns[1].shares).max() < 16 * count / 3000
    notes = " ".join(task.plan(study).notes)
    assert f"{count:.4g} (a count)" in notes
    assert "also against any 1 owners" in notes
    assert {one.because for one in study.disclosures} == {NOISY}


def test_two_owners_may_learn_noisy_sums_on_shares():
    study, task, _ = study_case("bayes", "dealer", **PRIVATE)
    assert task.plan(study).learns["north"] == [NOISY]
    layout = layout_of(study.parameters)
    model = run_local(task.program(study), [layout.rows(people(2000, k)) for k in (1, 2)],
                      "dealer", names=NAMES[:2], holders=NAMES[:2])[0][0]
    assert abs(float(model.prior[1]) - 0.4) < 0.1


def test_more_colluders_tolerated_means_more_noise():
    one, two = (noisy_of(study_case("bayes", "sums", **PRIVATE, colluding=c)[0]) for c in (1, 2))
    for less, more in zip(one.scales(), two.scales(), strict=True):
        assert more == pytest.approx(less * math.sqrt(2), rel=0.01)
    with pytest.raises(StudyError, match="below the number of owners"):
        noisy_of(study_case("bayes", "sums", **PRIVATE)[0]).noise.scale(1.0, 1)


@pytest.mark.parametrize("wrong", [
    {"epsilon": 1.0}, {"epsilon": 0.0, "reveal": "sums"}, {"delta": 1e-6}, {"colluding": 1},
    {"epsilon": 1.0, "reveal": "sums", "delta": 0.5},
    {"epsilon": 1.0, "reveal": "sums", "colluding": 0}])
def test_wrong_parameters(wrong):
    base = study_case("bayes", "sums", **PRIVATE)[0].parameters
    kept = {name: value for name, value in base.items() if name not in ("epsilon", "reveal")}
    with pytest.raises(StudyError):
        all_tasks()["bayes"].check({**kept, **wrong})


def test_one_row_moves_no_more_than_the_noise_is_for():
    plan = noisy_of(study_case("bayes", "sums", **PRIVATE)[0])
    rng = np.random.default_rng(4)
    squares = plan._squares
    for _ in range(300):
        moved = [plan.units(plan.layout.rows(any_person(rng))) for _ in range(2)]
        counts, sums = (np.abs(a - b).astype(float) for a, b in zip(*moved, strict=True))
        assert (counts**2).sum() <= squares[0]
        assert (sums**2).sum() <= squares[1] * 4.0**BITS


def any_person(rng):
    age = rng.choice([-1.0, 1.0, rng.uniform(-1, 1), 1e9, -1e9])
    return {"age": np.array([age]), "sex": np.array([rng.choice(["f", "m"])], object),
            "class": np.array([rng.choice(["no", "yes"])], object)}


def who(age, sex, label):
    return {"age": np.array([age, 0.1]), "sex": np.array([sex, "f"], object),
            "class": np.array([label, "yes"], object)}


def seen_by_colluders(plan, person):
    """Return noisy numbers without the parts that two colluding owners of three know."""
    coded = plan.layout.rows(person)
    return np.array([np.concatenate([each.ravel() for each in plan.noisy(coded)])
                     for _ in range(TIMES)], float)


def proven(confidence=0.999):
    """Return what noisy numbers prove of the worst two neighbours, by their likelihood."""
    plan = noisy_of(study_case("bayes", "sums", **LOSS, reveal="sums")[0])
    people_ = who(30.0, "f", "no"), who(-30.0, "m", "yes")
    clamped = who(1.0, "f", "no"), who(-1.0, "m", "yes")
    counts, sums = plan.scales()
    exact = [plan.units(plan.layout.rows(one)) for one in clamped]
    weight = np.concatenate([np.full(exact[0][0].size, counts), np.full(exact[0][1].size, sums)])
    centres = [np.concatenate([each.ravel() for each in one]) / weight for one in exact]
    reports = [likelier(seen_by_colluders(plan, one) / weight, *centres, absolute=False)
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


def test_few_records_of_a_class_are_not_refused_as_that_would_tell():
    study, task, _ = study_case("bayes", "sums", **PRIVATE)
    layout = layout_of(study.parameters)
    parts = [layout.rows(who(0.3, "f", "no")) for _ in range(3)]
    assert run_local(task.program(study), parts, "sums", names=NAMES)[0][0] is not None
    assert class_counts(parts[0], layout)[0].tolist() == [1, 1]
    assert class_sums(parts[0], layout).shape == (2, 2)
