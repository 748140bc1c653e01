"""Logistic regression over rows of several owners: the model of pooled rows."""

from __future__ import annotations

import numpy as np
import pytest
from computing import on_shares
from hypothesis import given, settings
from hypothesis import strategies as st
from regression_data import by_rows, far

from tacit.core.logistic_model import LogisticModel
from tacit.errors import DataError, InputError, ModelError
from tacit.joint.errors import RefusedError
from tacit.joint.protocols.regression.columns import Columns
from tacit.joint.protocols.regression.logistic import (
    STEP,
    central_logistic,
    mine_logistic_horizontal,
)
from tacit.joint.protocols.regression.logistic_columns import (
    VerticalLogistic,
    mine_logistic_vertical,
)
from tacit.joint.protocols.regression.sigmoid import sigmoid
from tacit.joint.protocols.regression.terms import Rules, Terms

TERMS = Terms("yes", ("u", "v"))
EASY = Rules(condition=2.0**8)


def made(rows, seed, strength=1.0, offset=0.0):
    rng = np.random.default_rng(seed)
    u, v = rng.normal(size=rows) + offset, 100 * rng.normal(size=rows)
    odds = strength * ((u - offset) - v / 80) - 0.5
    return {"u": u, "v": v, "yes": (rng.uniform(size=rows) < 1 / (1 + np.exp(-odds))).astype(float)}


def test_equals_statsmodels():
    api = pytest.importorskip("statsmodels.api")
    data = made(400, 1)
    x = np.column_stack([np.ones(400), data["u"], data["v"]])
    exact = api.Logit(data["yes"], x).fit(disp=0, tol=1e-14, maxiter=100)
    models, ledgers = mine_logistic_horizontal(by_rows(data, np.arange(400) % 3), TERMS, EASY)
    for model in models:
        assert np.abs(model.parameters / exact.params - 1).max() <= 1e-8
        assert np.abs(model.errors / exact.bse - 1).max() <= 1e-8
        assert np.abs(model.p_values / exact.pvalues - 1).max() <= 1e-6
        assert np.allclose(model.intervals(), exact.conf_int(), rtol=1e-7)
        assert model.likelihood == pytest.approx(exact.llf, abs=1e-3)
        assert np.allclose(model.predict_proba(data), exact.predict(), rtol=1e-7)
    # Every step is an opening of its own.
    steps = [o for o in ledgers[0].openings if o.because == STEP]
    assert 8 <= len(steps) <= 20


def test_a_ridge_equals_scikit_learn():
    from sklearn.linear_model import LogisticRegression

    data = made(300, 2)
    data["v"] = data["v"] / 100
    x = np.column_stack([data["u"], data["v"]])
    exact = LogisticRegression(C=0.5, solver="newton-cholesky", tol=1e-12).fit(x, data["yes"])
    models, _ = mine_logistic_horizontal(by_rows(data, np.arange(300) % 2), TERMS,
                                         Rules(2.0, 2.0**10))
    assert np.allclose(models[0].coefficients, exact.coef_[0], rtol=1e-6)
    assert models[0].intercept == pytest.approx(float(exact.intercept_[0]), rel=1e-6)
    with pytest.raises(InputError, match="standard errors"):
        _ = models[0].z_values


@settings(max_examples=2)
@given(owners=st.integers(2, 4), seed=st.integers(0, 10**6), strength=st.sampled_from([0.0, 2.0]),
       offset=st.sampled_from([0.0, 5.0]))
def test_any_spread_of_rows_gives_the_central_model(owners, seed, strength, offset):
    data = made(360, seed, strength, offset)
    exact = central_logistic(TERMS, data)
    models, _ = mine_logistic_horizontal(by_rows(data, np.arange(360) % owners), TERMS, EASY)
    assert far(models[0], exact) <= 1e-7
    assert np.allclose(models[-1].errors, exact.errors, rtol=1e-6)


def test_only_receivers_learn_errors():
    data = made(200, 4, 0.3)
    models, _ = mine_logistic_horizontal(by_rows(data, np.arange(200) % 2), TERMS,
                                         Rules(condition=2.0**6, receivers=("p1",)))
    assert models[0] is None
    assert models[1] is not None


def test_separable_classes_are_refused():
    data = made(200, 3)
    data["yes"] = (data["u"] > 0).astype(float)
    with pytest.raises(RefusedError, match=r"ridge|ill-conditioned|depend"):
        mine_logistic_horizontal(by_rows(data, np.arange(200) % 2), TERMS,
                                 Rules(condition=2.0**6))
    models, _ = mine_logistic_horizontal(by_rows(data, np.arange(200) % 2), TERMS,
                                         Rules(1.0, 2.0**14))
    exact = central_logistic(TERMS, data, Rules(ridge=1.0))
    assert far(models[0], exact) <= 1e-6


def test_bad_input_is_refused():
    data = made(200, 5)
    with pytest.raises(DataError, match="must be 0 or 1"):
        mine_logistic_horizontal(by_rows({**data, "yes": data["yes"] + 1}, np.arange(200) % 2),
                                 TERMS)
    with pytest.raises(RefusedError, match="at least 60 records"):
        mine_logistic_horizontal(by_rows(data, np.arange(200) // 150), TERMS)


COLUMNS = Columns({"a": ("u",), "b": ("v",)}, "yes", "b")


def columns_of(data):
    return {"a": {"u": data["u"]}, "b": {"v": data["v"], "yes": data["yes"]}}


def test_probabilities_on_shares_are_right_everywhere():
    odds = np.concatenate([np.linspace(-40, 40, 801), [0, 2.0**-26, -2.0**-26, 16, -16, 15.99]])
    got = on_shares(lambda party, x: sigmoid(party, x), [odds], [(-(64 << 26), 64 << 26, 26)])
    assert np.abs(got - 1 / (1 + np.exp(-odds))).max() <= 2e-7


@pytest.mark.parametrize(("mode", "offset"), [("dealer", 20.0), ("three-party", 0.0)])
def test_columns_of_several_owners_equal_statsmodels(mode, offset):
    api = pytest.importorskip("statsmodels.api")
    data = made(400, 7, 1.5, offset)
    x = np.column_stack([np.ones(400), data["u"], data["v"]])
    exact = api.Logit(data["yes"], x).fit(disp=0, tol=1e-14, maxiter=100)
    columns, parts = COLUMNS, columns_of(data)
    if mode == "three-party":
        columns = Columns({"a": ("u",), "b": ("v",), "c": ()}, "yes", "c")
        parts = {"a": {"u": data["u"]}, "b": {"v": data["v"]}, "c": {"yes": data["yes"]}}
    models, ledgers = mine_logistic_vertical(parts, columns, EASY, mode)
    for model in models:
        assert (np.abs(model.parameters - exact.params) / exact.bse).max() <= 1e-4
        assert np.abs(model.errors / exact.bse - 1).max() <= 1e-3
    assert {o.because for o in ledgers[0].openings} <= {
        d.because for d in VerticalLogistic(columns).disclosures}


def test_columns_are_aligned_by_ids():
    pytest.importorskip("rbcl")
    data, ids = made(330, 9, 0.5), np.arange(330)
    parts = columns_of(data)
    mine, theirs = np.arange(320), np.arange(329, 9, -1)
    parts = {"a": {"u": data["u"][mine]},
             "b": {"v": data["v"][theirs], "yes": data["yes"][theirs]}}
    models, _ = mine_logistic_vertical(parts, COLUMNS, EASY,
                                       ids={"a": ids[mine], "b": ids[theirs]})
    exact = central_logistic(TERMS, {name: values[10:320] for name, values in data.items()})
    assert models[0].records == 310
    assert (np.abs(models[0].parameters - exact.parameters) / exact.errors).max() <= 1e-4


def test_columns_that_do_not_fit_are_refused():
    data = made(200, 5)
    with pytest.raises(DataError, match="must be 0 or 1"):
        mine_logistic_vertical(columns_of({**data, "yes": data["yes"] * 2}), COLUMNS)
    with pytest.raises(RefusedError, match="'u' must vary"):
        mine_logistic_vertical(columns_of({**data, "u": np.ones(200)}), COLUMNS)
    with pytest.raises(RefusedError, match=r"numbers would be opened|records in all"):
        mine_logistic_vertical(columns_of(made(60, 1)), COLUMNS)
    with pytest.raises(RefusedError, match="no ridge"):
        VerticalLogistic(COLUMNS, Rules(ridge=1.0))


def test_models_travel_as_json():
    model = central_logistic(TERMS, made(100, 1))
    again = LogisticModel.from_json(model.to_json())
    assert again.same_as(model)
    assert "log-likelihood" in model.summary()
    assert model.odds_ratios == pytest.approx(np.exp(model.coefficients))
    assert set(model.predict(made(50, 2)).tolist()) <= {0, 1}
    bare = LogisticModel("yes", ("u",), 0.5, np.ones(1), 9, np.zeros(0))
    assert np.isnan(LogisticModel.from_json(bare.to_json()).likelihood)
    assert "log-likelihood" not in bare.summary()
    with pytest.raises(ModelError, match="parameters"):
        LogisticModel.from_json({**model.to_json(), "parameters": [1.0]})
