"""Joint robust regression is statsmodels' RLM on all rows, and no record is shown as an outlier."""

from __future__ import annotations

import warnings
from math import sqrt

import numpy as np
import pytest

from support.joint_commands import write
from support.study_cases import NAMES
from unspoken.joint import mine, run_local
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.ops.matrix_inverse import ILL
from unspoken.joint.tasks.regression.fitting import COUNT, ERRORS, SPREADS
from unspoken.joint.tasks.regression.params import RegressionParams, RegressionTerms
from unspoken.joint.tasks.regression.second_moments import SIZES
from unspoken.joint.tasks.robust_regression import program_rows
from unspoken.joint.tasks.robust_regression.params import (
    counted,
    new_scale,
    normal_square,
    stepped_scale,
)
from unspoken.joint.tasks.robust_regression.pooled import pooled
from unspoken.joint.tasks.robust_regression.program_rows import SCALE, STEP, RobustOverRows

TERMS = RegressionTerms("cost", ("age", "stay"))
RULES = RegressionParams(condition=256.0)


def columns(rows=900, seed=1):
    """Return costs with a fifteenth of gross errors on one side."""
    rng = np.random.default_rng(seed)
    age, stay = rng.normal(40, 12, rows), rng.exponential(5, rows)
    cost = 3 + 2 * age - 4 * stay + rng.normal(0, 3, rows)
    cost[::15] += rng.normal(80, 10, cost[::15].size)
    return {"age": age, "stay": stay, "cost": cost}


WHOLE = columns()


def parts(whole=WHOLE, owners=3):
    return [{name: column[place::owners] for name, column in whole.items()}
            for place in range(owners)]


def run(whole=WHOLE, owners=3, rules=RULES, **more):
    tables = [TERMS.table(part) for part in parts(whole, owners)]
    return run_local(RobustOverRows(TERMS, rules, **more), tables, names=list(NAMES)[:owners])


@pytest.fixture(scope="module")
def found():
    return run()


def by_statsmodels(whole, tuning):
    import statsmodels.api as sm

    design = sm.add_constant(np.column_stack([whole["age"], whole["stay"]]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sm.RLM(whole["cost"], design, M=sm.robust.norms.HuberT(tuning)).fit(
            scale_est=sm.robust.scale.HuberScale(d=tuning, tol=1e-12, maxiter=500), tol=1e-12,
            maxiter=500)


def same(result, model, rel):
    assert list(result["coefficients"].values()) == pytest.approx(model.params, rel=rel)
    assert list(result["errors"].values()) == pytest.approx(model.bse, rel=rel)
    assert result["scale"] == pytest.approx(model.scale, rel=rel)


@pytest.mark.slow
def test_the_joint_model_is_that_of_statsmodels(found):
    for result, _ in found:
        same(result, by_statsmodels(WHOLE, 1.345), 1e-5)
        assert result["records"] == 900
        assert result["held down"] == pooled(TERMS, WHOLE)["held down"]


@pytest.mark.slow
@pytest.mark.parametrize("tuning", [0.8, 1.345, 3.0])
def test_the_reference_is_that_of_statsmodels(tuning):
    whole = columns(300, 2)
    same(pooled(TERMS, whole, tuning), by_statsmodels(whole, tuning), 1e-6)


@pytest.mark.slow
def test_outliers_move_least_squares_and_not_this(found):
    """Truth: 3 + 2 age - 4 stay. Gross errors of 80 in a fifteenth lift the mean by 5."""
    from unspoken.joint.tasks.regression.pooled import pooled as least_squares

    plain = least_squares(TERMS, WHOLE)
    robust = np.array(list(found[0][0]["coefficients"].values()))
    at = np.array([1.0, 40.0, 5.0])
    assert plain.parameters @ at - (3 + 80 - 20) > 4
    assert abs(robust @ at - (3 + 80 - 20)) < 1


@pytest.mark.slow
def test_only_what_is_declared_is_opened(found):
    for _, ledger in found:
        opened = [row.because for row in ledger.openings]
        assert set(opened) == {SIZES, COUNT, SPREADS, ILL, STEP, SCALE, ERRORS}
        # Two numbers a step beside coefficients, and nothing as long as the records.
        assert all(np.prod(row.shape) <= 4 for row in ledger.openings)


@pytest.mark.slow
def test_the_others_are_told_no_model():
    tables = [TERMS.table(part) for part in parts()]
    rules = RegressionParams(condition=256.0, receivers=("south",))
    outputs = run_local(RobustOverRows(TERMS, rules), tables, names=list(NAMES))
    assert [output is not None for output, _ in outputs] == [False, True, False]
    assert {row.to for row in outputs[0][1].openings if row.because == ERRORS} == {("south",)}


@pytest.mark.slow
def test_a_mutant_that_holds_nothing_down_is_least_squares(monkeypatch, found):
    """Were residuals not held down, the first step would be 0, and the scale another."""
    monkeypatch.setattr(program_rows, "counted", lambda rest, reach: rest / reach / 100)
    with pytest.raises(RefusedError):
        run()


def test_known_answers():
    assert counted(np.array([-9.0, 1.0, 4.0]), 2.0).tolist() == [-1.0, 0.5, 1.0]
    # Without a limit the mean square of normal errors is 1; huge limits come near it.
    assert 10.0**2 * normal_square(10.0) == pytest.approx(1.0, abs=1e-9)
    draws = np.random.default_rng(0).normal(size=400_000)
    mean = float((counted(draws, 1.345) ** 2).mean())
    # Squares have a deviation of 0.37: five of the mean's are 0.003.
    assert mean == pytest.approx(normal_square(1.345), abs=0.003)
    assert new_scale(2.0, normal_square(1.345) * 0.9, 1.345, 0.9) == pytest.approx(2.0)
    assert stepped_scale(2.0, normal_square(1.345) * 0.9, 0.8, 1.345, 0.9) == pytest.approx(2.0)
    assert stepped_scale(1.0, 1.0, 0.0, 1.345, 1.0) == pytest.approx(np.e)


def test_both_ways_to_the_scale_end_at_the_same():
    rest = np.random.default_rng(3).standard_t(3, 500)
    ends = []
    for newton in (False, True):
        scale = 5.0
        for _ in range(400):
            square = float((counted(rest, 1.345 * scale) ** 2).mean())
            inside = float((np.abs(rest) <= 1.345 * scale).mean())
            scale = (stepped_scale(scale, square, inside, 1.345, 1.0) if newton
                     else new_scale(scale, square, 1.345, 1.0))
        ends.append(scale)
    assert ends[0] == pytest.approx(ends[1], rel=1e-9)
    # By hand: c^2 mean u^2 is that of normal errors, E psi^2 = 0.7102.
    assert 1.345**2 * float((counted(rest, 1.345 * ends[0]) ** 2).mean()) == pytest.approx(
        0.71016, abs=1e-4)


@pytest.mark.slow
def test_an_owner_with_few_records_is_refused_before_anything_is_sent():
    with pytest.raises(RefusedError, match="at least 160 records"):
        run({name: column[:300] for name, column in WHOLE.items()})


@pytest.mark.slow
def test_residuals_that_vanish_are_refused():
    exact = {**WHOLE, "cost": 3 + 2 * WHOLE["age"] - 4 * WHOLE["stay"]}
    with pytest.raises(RefusedError, match=r"must vary|did not become small"):
        run(exact)


@pytest.mark.slow
def test_from_files_to_results(tmp_path):
    for name, part in zip(NAMES, parts(), strict=True):
        write(tmp_path / f"{name}.csv", part)
    result = mine("robust", [tmp_path / f"{name}.csv" for name in NAMES], response="cost",
                  columns=["age", "stay"], condition=256.0)
    reference = pooled(TERMS, WHOLE)
    assert list(result["coefficients"].values()) == pytest.approx(
        list(reference["coefficients"].values()), rel=1e-5)
    assert sqrt(result["scale"]) == pytest.approx(sqrt(reference["scale"]), rel=1e-5)
