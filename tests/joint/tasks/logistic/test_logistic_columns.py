"""Logistic regression over columns of several owners: the model of all columns in one place."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.computing import on_shares, run
from support.logistic_data import EASY, TERMS, made
from support.regression_data import picked
from unspoken.errors import DataError
from unspoken.joint import reveal, run_outcomes, share
from unspoken.joint.joint_errors import PartyError, RefusedError
from unspoken.joint.mpc.declared import declares
from unspoken.joint.tasks.logistic import program_columns as logistic_columns
from unspoken.joint.tasks.logistic.cross_products import CELL, products
from unspoken.joint.tasks.logistic.pooled import pooled_logistic
from unspoken.joint.tasks.logistic.program_columns import (
    LogisticOverColumns,
    mine_logistic_columns,
)
from unspoken.joint.tasks.logistic.sigmoid import log_likelihoods, sigmoid
from unspoken.joint.tasks.regression.column_blocks import Given, OwnedColumns
from unspoken.joint.tasks.regression.fitting import ERRORS, SPREADS
from unspoken.joint.tasks.regression.params import RegressionParams

pytestmark = pytest.mark.slow

COLUMNS = OwnedColumns({"a": ("u",), "b": ("v",)}, "yes", "b")


def columns_of(data):
    return {"a": {"u": data["u"]}, "b": {"v": data["v"], "yes": data["yes"]}}


ODDS = np.concatenate([np.linspace(-40, 40, 801), [0, 2.0**-26, -2.0**-26, 16, -16, 15.99]])


def test_probabilities_on_shares_are_right_everywhere():
    got = on_shares(lambda party, x: sigmoid(party, x), [ODDS], [(-(64 << 26), 64 << 26, 26)])
    assert np.abs(got - 1 / (1 + np.exp(-ODDS))).max() <= 2e-7


def test_log_likelihoods_on_shares_are_right_everywhere():
    yes = np.arange(ODDS.size) % 2
    got = on_shares(log_likelihoods, [ODDS, yes], [(-(64 << 26), 64 << 26, 26), (0, 1)])
    assert np.abs(got - (yes * ODDS - np.logaddexp(0, ODDS))).max() <= 3e-7


@pytest.mark.parametrize(("mode", "offset"), [("dealer", 20.0), ("three-party", 0.0),
                                              ("authenticated", 20.0)])
def test_columns_of_several_owners_equal_statsmodels(mode, offset):
    api = pytest.importorskip("statsmodels.api")
    data = made(400, 7, 1.5, offset)
    x = np.column_stack([np.ones(400), data["u"], data["v"]])
    exact = api.Logit(data["yes"], x).fit(disp=0, tol=1e-14, maxiter=100)
    columns, parts = COLUMNS, columns_of(data)
    if mode == "three-party":
        columns = OwnedColumns({"a": ("u",), "b": ("v",), "c": ()}, "yes", "c")
        parts = {"a": {"u": data["u"]}, "b": {"v": data["v"]}, "c": {"yes": data["yes"]}}
    models, ledgers = mine_logistic_columns(parts, columns, EASY, mode)
    for model in models:
        assert (np.abs(model.parameters - exact.params) / exact.bse).max() <= 1e-4
        assert np.abs(model.errors / exact.bse - 1).max() <= 1e-3
        assert np.allclose(model.z_values, exact.tvalues, rtol=2e-3)
        assert np.allclose(model.p_values, exact.pvalues, atol=1e-3)
        assert model.likelihood == pytest.approx(exact.llf, abs=400 * 3e-7)
    assert {o.because for o in ledgers[0].openings} <= {
        d.because for d in LogisticOverColumns(columns).disclosures}


def test_columns_are_aligned_by_ids():
    pytest.importorskip("rbcl")
    data, ids = made(330, 9, 0.5), np.arange(330)
    parts = columns_of(data)
    mine, theirs = np.arange(320), np.arange(329, 9, -1)
    parts = {"a": {"u": data["u"][mine]},
             "b": {"v": data["v"][theirs], "yes": data["yes"][theirs]}}
    models, _ = mine_logistic_columns(parts, COLUMNS, EASY,
                                       ids={"a": ids[mine], "b": ids[theirs]})
    exact = pooled_logistic(TERMS, {name: values[10:320] for name, values in data.items()})
    assert models[0].records == 310
    assert (np.abs(models[0].parameters - exact.parameters) / exact.errors).max() <= 1e-4


def test_columns_that_do_not_fit_are_refused():
    data = made(200, 5)
    with pytest.raises(DataError, match="must be 0 or 1"):
        mine_logistic_columns(columns_of({**data, "yes": data["yes"] * 2}), COLUMNS)
    with pytest.raises(RefusedError, match="'u' must vary"):
        mine_logistic_columns(columns_of({**data, "u": np.ones(200)}), COLUMNS)
    with pytest.raises(RefusedError, match=r"numbers would be opened|records in all"):
        mine_logistic_columns(columns_of(made(60, 1)), COLUMNS)
    with pytest.raises(RefusedError, match="no ridge with products"):
        LogisticOverColumns(
            OwnedColumns(COLUMNS.owners, "yes", "b", (("u", "v"),)), RegressionParams(ridge=1.0)
        )
    with pytest.raises(RefusedError, match="no response that is split"):
        LogisticOverColumns(OwnedColumns(COLUMNS.owners, "yes", "split"))
    with pytest.raises(RefusedError, match="must not hide the data"):
        mine_logistic_columns(columns_of(data), COLUMNS, RegressionParams(1e9, 2.0**8))
    with pytest.raises(DataError, match="one id for each record"):
        mine_logistic_columns(columns_of(data), COLUMNS, ids={"a": range(200), "b": range(199)})


def test_collinear_columns_and_different_responses_are_refused_on_all_sides():
    data = made(200, 5)
    twice = {**data, "v": 3 - 2 * data["u"]}
    for error in failing(COLUMNS, columns_of(twice)):
        assert isinstance(error, RefusedError)
        assert "depend on each other" in str(error)
    columns = OwnedColumns(COLUMNS.owners, "yes", "all")
    parts = {"a": {"u": data["u"], "yes": data["yes"]}, "b": {"v": data["v"],
                                                             "yes": data["yes"][::-1]}}
    for error in failing(columns, parts):
        assert isinstance(error, RefusedError)
        assert "different ones" in str(error)
    first, second = failing(COLUMNS, {**columns_of(data), "a": {"u": np.zeros(0)}})
    assert "'a' must have records" in str(first)
    assert isinstance(second, PartyError)


def failing(columns, parts):
    program = LogisticOverColumns(columns, EASY)
    return [o.error for o in run_outcomes(program, [Given(part) for part in parts.values()],
                                          names=list(parts)) if o.name != "dealer"]


@pytest.mark.parametrize("ridge", [0.5, 20.0])
def test_a_ridge_over_columns_equals_scikit_learn(ridge):
    from sklearn.linear_model import LogisticRegression

    data = made(300, 2)
    data["v"] = data["v"] / 100
    x = np.column_stack([data["u"], data["v"]])
    exact = LogisticRegression(C=1 / ridge, solver="newton-cholesky", tol=1e-12).fit(
        x, data["yes"])
    models, ledgers = mine_logistic_columns(
        columns_of(data), COLUMNS, RegressionParams(ridge, 2.0**10)
    )
    errors = pooled_logistic(TERMS, data).errors
    assert (np.abs(models[0].coefficients - exact.coef_[0]) / errors[1:]).max() <= 1e-4
    assert abs(models[0].intercept - float(exact.intercept_[0])) <= 1e-4 * errors[0]
    assert not models[0].errors.size
    assert ERRORS not in {o.because for o in ledgers[0].openings}


def test_classes_that_columns_tell_apart_need_a_ridge():
    data = made(200, 3)
    data["yes"] = (data["u"] > 0).astype(float)
    with pytest.raises(RefusedError, match="separable"):
        mine_logistic_columns(columns_of(data), COLUMNS, RegressionParams(condition=2.0**6))
    models, _ = mine_logistic_columns(columns_of(data), COLUMNS, RegressionParams(1.0, 2.0**12))
    exact = pooled_logistic(TERMS, data, RegressionParams(ridge=1.0))
    assert np.allclose(models[0].parameters, exact.parameters, rtol=1e-3)


@settings(max_examples=2)
@given(st.data())
def test_any_spread_of_columns_gives_the_central_model(draw):
    owners = "abcde"[:draw.draw(st.integers(2, 5))]
    names = tuple(f"x{i}" for i in range(len(owners)))
    rng = np.random.default_rng(draw.draw(st.integers(0, 10**6)))
    x = rng.normal(size=(420, len(names))) + draw.draw(st.sampled_from([0.0, 30.0]))
    odds = (x - x.mean(axis=0)) @ rng.normal(size=len(names)) / 2
    data = {**dict(zip(names, x.T, strict=True)),
            "yes": (rng.uniform(size=420) < 1 / (1 + np.exp(-odds))).astype(float)}
    order = draw.draw(st.permutations(names))
    columns = OwnedColumns({o: (n,) for o, n in zip(owners, order, strict=True)}, "yes",
                      draw.draw(st.sampled_from(["all", *owners])))
    parts = {owner: picked(data, columns.needed(owner)) for owner in columns.owners}
    exact = pooled_logistic(columns.terms, data)
    models, _ = mine_logistic_columns(parts, columns, RegressionParams(condition=2.0**12))
    for model in models:
        assert (np.abs(model.parameters - exact.parameters) / exact.errors).max() <= 1e-4
        assert np.allclose(model.errors, exact.errors, rtol=1e-3)


def test_products_of_one_owners_columns_are_terms():
    rng = np.random.default_rng(4)
    x = rng.normal(size=(500, 3))
    odds = x @ [1.0, -0.5, 0.3] + 0.8 * x[:, 0] * x[:, 1]
    data = {**{f"x{i}": x[:, i] for i in range(3)},
            "yes": (rng.uniform(size=500) < 1 / (1 + np.exp(-odds))).astype(float)}
    columns = OwnedColumns({"a": ("x0", "x1"), "b": ("x2",)}, "yes", "b", (("x0", "x1"),))
    parts = {owner: picked(data, columns.needed(owner)) for owner in columns.owners}
    models, _ = mine_logistic_columns(parts, columns, EASY)
    exact = pooled_logistic(columns.terms, data)
    assert models[0].features[-1] == "x0*x1"
    assert np.allclose(models[0].predict_proba(data), exact.predict_proba(columns.terms.table(
        data)[:, :-1]), atol=1e-4)
    assert (np.abs(models[0].parameters - exact.parameters) / exact.errors).max() <= 1e-4


@pytest.mark.parametrize(("offset", "scale", "rows"), [
    ((0.0, 0.0, 0.0), (1.0, 1.0, 1.0), 600), ((5.0, -3.0, 20.0), (1.0, 10.0, 0.01), 600),
    ((0.0, 50.0, 0.0), (100.0, 1.0, 3.0), 3000)])
def test_products_across_owners_equal_statsmodels(offset, scale, rows):
    api = pytest.importorskip("statsmodels.api")
    rng = np.random.default_rng(4)
    x = rng.normal(size=(rows, 3))
    odds = x @ [1.0, -0.5, 0.3] + 0.8 * x[:, 0] * x[:, 2] - 0.4 * x[:, 1] * x[:, 2]
    data = {**{f"x{i}": x[:, i] * scale[i] + offset[i] for i in range(3)},
            "yes": (rng.uniform(size=rows) < 1 / (1 + np.exp(-odds))).astype(float)}
    columns = OwnedColumns({"a": ("x0",), "b": ("x1",), "c": ("x2",)}, "yes", "b",
                      (("x0", "x2"), ("x1", "x2")))
    parts = {owner: picked(data, columns.needed(owner)) for owner in columns.owners}
    models, ledgers = mine_logistic_columns(parts, columns, RegressionParams(condition=2.0**10))
    wide = np.column_stack([np.ones(rows), columns.terms.table(data)[:, :-1]])
    exact = api.Logit(data["yes"], wide).fit(disp=0, tol=1e-10, maxiter=200)
    for model in models:
        assert (np.abs(model.parameters - exact.params) / exact.bse).max() <= 1e-4
        assert np.abs(model.errors / exact.bse - 1).max() <= 1e-4
        assert model.likelihood == pytest.approx(exact.llf, abs=rows * 3e-7)
    assert {o.because for o in ledgers[0].openings} <= {
        d.because for d in LogisticOverColumns(columns).disclosures}


def test_units_of_products_are_next_to_their_spread():
    rng = np.random.default_rng(2)
    one = rng.normal(size=(200, 4)) * [1.0, 0.9, 0.01, 0.5]
    other = rng.normal(size=(200, 4)) * [1.0, 0.1, 0.01, 0.7]
    other[:, 0] = one[:, 0]
    one, other = (part / np.sqrt((part**2).mean(axis=0).max()) for part in (one, other))

    @declares(SPREADS, "answer")
    async def program(party, data):
        shared = [await share(party, part if party.name == "p0" else None, "p0", (200, 4),
                              -(16 << CELL), 16 << CELL, CELL) for part in (one, other)]
        made_, sizes = await products(party, *shared)
        return await reveal(party, made_, because="answer"), sizes

    [values, sizes], _ = run(program, [None, None])
    exact = one * other
    wanted = np.maximum(np.floor(np.log2(np.sqrt((exact**2).mean(axis=0)))) + 1, -8)
    assert sizes.tolist() == wanted.tolist()
    # Each factor is off by 2^-21, the product by 2^-20 more, and by as much in its own units.
    off = (np.abs(one).max(axis=0) + np.abs(other).max(axis=0)) * 2.0**-21 + 2.0**-20
    assert (np.abs(values - exact / 2.0**sizes) <= off / 2.0**sizes + 2.0**-20).all()


def test_no_more_steps_are_opened_than_could_be_solved_for(monkeypatch):
    """Steps that do not become small: values are counted, not the loop's patience."""
    monkeypatch.setattr(logistic_columns, "CLOSE", -1.0)
    errors = failing(COLUMNS, columns_of(made(120, 6, 0.3)))
    # A quarter of 120 values, less 8 for the model, are 22: seven steps of three numbers.
    assert all("coefficients of 8 steps" in str(error) for error in errors)
