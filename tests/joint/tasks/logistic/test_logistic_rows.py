"""Logistic regression over rows of several owners: the model of pooled rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.logistic_data import EASY, TERMS, made
from support.regression_data import by_rows, far
from unspoken.errors import DataError, InputError, ModelError
from unspoken.joint import run_outcomes
from unspoken.joint.joint_errors import PartyError, RefusedError
from unspoken.joint.tasks.logistic import program_rows as logistic
from unspoken.joint.tasks.logistic.pooled import pooled_logistic
from unspoken.joint.tasks.logistic.program_rows import (
    STEP,
    LogisticOverRows,
    mine_logistic_rows,
)
from unspoken.joint.tasks.regression.params import RegressionParams, RegressionTerms
from unspoken.models.logistic_model import LogisticModel

pytestmark = pytest.mark.slow


def test_equals_statsmodels():
    api = pytest.importorskip("statsmodels.api")
    data = made(400, 1)
    x = np.column_stack([np.ones(400), data["u"], data["v"]])
    exact = api.Logit(data["yes"], x).fit(disp=0, tol=1e-14, maxiter=100)
    models, ledgers = mine_logistic_rows(by_rows(data, np.arange(400) % 3), TERMS, EASY)
    for model in models:
        assert np.abs(model.parameters / exact.params - 1).max() <= 1e-8
        assert np.abs(model.errors / exact.bse - 1).max() <= 1e-8
        assert np.abs(model.p_values / exact.pvalues - 1).max() <= 1e-6
        assert np.allclose(model.intervals(), exact.conf_int(), rtol=1e-7)
        assert model.likelihood == pytest.approx(exact.llf, rel=1e-10)
        assert model.aic == pytest.approx(exact.aic, rel=1e-10)
        assert np.allclose(model.z_values, exact.tvalues, rtol=1e-7)
        assert np.allclose(model.predict_proba(data), exact.predict(), rtol=1e-7)
    # Every step is opened on its own: the columns', and the intercept's in two parts.
    steps = [o for o in ledgers[0].openings if o.because == STEP]
    assert 4 <= len(steps) / 3 <= 10
    assert [o.shape for o in steps] == [(2,), (1,), (1,)] * (len(steps) // 3)


def test_means_far_from_zero_and_a_great_condition_leave_the_intercept_its_digits():
    data = made(400, 1, 1.0, 200.0)
    exact = pooled_logistic(TERMS, data)
    models, _ = mine_logistic_rows(by_rows(data, np.arange(400) % 2), TERMS, RegressionParams())
    off = np.abs(models[0].parameters - exact.parameters) / exact.errors
    assert off[0] <= 2e-11
    assert off.max() <= 1e-8


def test_a_ridge_equals_scikit_learn():
    from sklearn.linear_model import LogisticRegression

    data = made(300, 2)
    data["v"] = data["v"] / 100
    x = np.column_stack([data["u"], data["v"]])
    exact = LogisticRegression(C=0.5, solver="newton-cholesky", tol=1e-12).fit(x, data["yes"])
    models, _ = mine_logistic_rows(by_rows(data, np.arange(300) % 2), TERMS,
                                         RegressionParams(2.0, 2.0**10))
    assert np.allclose(models[0].coefficients, exact.coef_[0], rtol=1e-6)
    assert models[0].intercept == pytest.approx(float(exact.intercept_[0]), rel=1e-6)
    with pytest.raises(InputError, match="standard errors"):
        _ = models[0].z_values


@settings(max_examples=2)
@given(owners=st.integers(2, 5), seed=st.integers(0, 10**6), strength=st.sampled_from([0.0, 2.0]),
       offset=st.sampled_from([0.0, 5.0]))
def test_any_spread_of_rows_gives_the_central_model(owners, seed, strength, offset):
    rows = 130 * owners
    data = made(rows, seed, strength, offset)
    exact = pooled_logistic(TERMS, data)
    models, _ = mine_logistic_rows(by_rows(data, np.arange(rows) % owners), TERMS, EASY)
    assert far(models[0], exact) <= 1e-7
    assert np.allclose(models[-1].errors, exact.errors, rtol=1e-6)


def test_only_receivers_learn_errors():
    data = made(200, 4, 0.3)
    models, _ = mine_logistic_rows(by_rows(data, np.arange(200) % 2), TERMS,
                                         RegressionParams(condition=2.0**6, receivers=("p1",)))
    assert models[0] is None
    assert models[1] is not None


def test_separable_classes_are_refused():
    data = made(200, 3)
    data["yes"] = (data["u"] > 0).astype(float)
    with pytest.raises(RefusedError, match="separable"):
        mine_logistic_rows(by_rows(data, np.arange(200) % 2), TERMS,
                                 RegressionParams(condition=2.0**6))
    models, _ = mine_logistic_rows(by_rows(data, np.arange(200) % 2), TERMS,
                                         RegressionParams(1.0, 2.0**14))
    exact = pooled_logistic(TERMS, data, RegressionParams(ridge=1.0))
    assert far(models[0], exact) <= 1e-6


def test_bad_input_is_refused():
    data = made(200, 5)
    with pytest.raises(DataError, match="must be 0 or 1"):
        mine_logistic_rows(by_rows({**data, "yes": data["yes"] + 1}, np.arange(200) % 2),
                                 TERMS)
    with pytest.raises(RefusedError, match="at least 60 records"):
        mine_logistic_rows(by_rows(data, np.arange(200) // 150), TERMS)


def test_two_parties_need_no_dealer():
    pytest.importorskip("rbcl")
    data, terms = made(90, 6, 0.3), RegressionTerms("yes", ("u",))
    models, _ = mine_logistic_rows(by_rows(data, np.arange(90) % 2), terms,
                                         RegressionParams(condition=4.0), "two-party")
    assert far(models[0], pooled_logistic(terms, data)) <= 1e-7


def test_models_travel_as_json():
    model = pooled_logistic(TERMS, made(100, 1))
    again = LogisticModel.from_json(model.to_json())
    assert again.same_as(model)
    assert "log-likelihood" in model.summary()
    assert model.odds_ratios == pytest.approx(np.exp(model.coefficients))
    assert set(model.predict(made(50, 2)).tolist()) <= {0, 1}
    flat = LogisticModel("yes", ("u",), 0.0, np.zeros(1), 9, np.array([0.5, 0.25]))
    assert flat.intervals(0.95)[:, 1] == pytest.approx([1.96 * 0.5, 1.96 * 0.25], rel=1e-4)
    bare = LogisticModel("yes", ("u",), 0.5, np.ones(1), 9, np.zeros(0))
    assert np.isnan(LogisticModel.from_json(bare.to_json()).likelihood)
    assert "log-likelihood" not in bare.summary()
    with pytest.raises(ModelError, match="parameters"):
        LogisticModel.from_json({**model.to_json(), "parameters": [1.0]})


def test_no_more_steps_are_opened_than_could_be_solved_for(monkeypatch):
    """Steps that do not become small: an owner's records are counted, not the loop's patience."""
    monkeypatch.setattr(logistic, "CLOSE", -1.0)
    data, terms = made(120, 6, 0.3), RegressionTerms("yes", ("u",))
    program = LogisticOverRows(terms, RegressionParams(condition=4.0))
    outcomes = run_outcomes(program, [terms.table(part) for part in
                                      by_rows(data, (np.arange(120) >= 48).astype(int))])
    assert "coefficients of 7 steps" in str(outcomes[0].error)
    assert isinstance(outcomes[1].error, PartyError)
    # A step has three openings: the columns', and the intercept's in two parts.
    assert sum(o.because == STEP for o in outcomes[1].ledger.openings) == 3 * 6
