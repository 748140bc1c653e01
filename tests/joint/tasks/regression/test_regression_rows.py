"""Regression over rows of several owners: the model of pooled rows, whoever has which."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.regression_data import boston, by_rows, far, made
from support.watching import masked_frames
from unspoken.errors import DataError, InputError
from unspoken.joint import narrow, reveal, run_outcomes
from unspoken.joint.joint_errors import DisclosureError, PartyError, RefusedError
from unspoken.joint.mpc.ops.matrix_inverse import ILL
from unspoken.joint.tasks.regression import fitting
from unspoken.joint.tasks.regression.params import RegressionParams, RegressionTerms
from unspoken.joint.tasks.regression.pooled import pooled
from unspoken.joint.tasks.regression.program_rows import (
    RegressionOverRows,
    mine_regression_rows,
)
from unspoken.joint.tasks.regression.second_moments import SIZES, row_moments, whole

pytestmark = pytest.mark.slow

THREE = RegressionTerms("y", ("x0", "x1", "x2"))


def spread(rows, owners, seed=0):
    """Return owners of rows so that each has many."""
    return np.random.default_rng(seed).permutation(np.arange(rows) % owners)


def test_boston_equals_statsmodels(shared):
    api = pytest.importorskip("statsmodels.api")
    data = boston(shared)
    names = list(data)[:-1]
    x = np.column_stack([data[name] for name in names])
    exact = api.OLS(data["MEDV"], api.add_constant(x)).fit()
    models, _ = mine_regression_rows(by_rows(data, spread(506, 3)),
                                           RegressionTerms("MEDV", tuple(names)))
    for model in models:
        assert np.abs(model.parameters / exact.params - 1).max() <= 1e-10
        assert np.abs(model.errors / exact.bse - 1).max() <= 1e-11
        assert np.abs(model.t_values / exact.tvalues - 1).max() <= 1e-10
        assert np.abs(model.p_values / exact.pvalues - 1).max() <= 1e-9
        assert np.allclose(model.intervals(0.95), exact.conf_int(0.05), rtol=1e-9)
        assert model.r_squared == pytest.approx(exact.rsquared, rel=1e-12)
        assert model.adjusted_r_squared == pytest.approx(exact.rsquared_adj, rel=1e-12)
        assert model.f_test().statistic == pytest.approx(exact.fvalue, rel=1e-10)
        assert model.f_test().p_value == pytest.approx(exact.f_pvalue, rel=1e-8)
        assert model.variance == pytest.approx(exact.mse_resid, rel=1e-11)


def test_smaller_models_equal_statsmodels(shared):
    api = pytest.importorskip("statsmodels.api")
    data = boston(shared)
    names, few = ("CRIM", "RM", "LSTAT", "DIS"), ("RM", "LSTAT")

    def ols(chosen):
        return api.OLS(data["MEDV"], api.add_constant(
            np.column_stack([data[name] for name in chosen]))).fit()

    full, small = ols(names), ols(few)
    statistic, p_value, df = full.compare_f_test(small)
    rules = RegressionParams(smaller=(few,))
    [model, _], [ledger, _] = mine_regression_rows(by_rows(data, spread(506, 2)),
                                                         RegressionTerms("MEDV", names), rules)
    test = model.nested(["LSTAT", "RM"])
    assert (test.statistic, test.p_value) == pytest.approx((statistic, p_value), rel=1e-9)
    assert test.degrees == (int(df), 501)
    # With an intercept C_p of the full model is its number of parameters.
    assert model.mallows_cp(few) == pytest.approx(small.ssr / full.mse_resid - (506 - 2 * 3),
                                                  rel=1e-9)
    assert [o.because for o in ledger.openings].count(fitting.SMALLER) == 1


@pytest.mark.parametrize("ridge", [0.01, 5.0])
def test_ridge_equals_scikit_learn(ridge):
    from sklearn.linear_model import Ridge

    data = made(200, 3, 1)
    x = np.column_stack([data[f"x{i}"] for i in range(3)])
    exact = Ridge(alpha=ridge, solver="cholesky", tol=1e-14).fit(x, data["y"])
    models, _ = mine_regression_rows(by_rows(data, spread(200, 2)), THREE,
                                           RegressionParams(ridge=ridge))
    assert np.allclose(models[0].coefficients, exact.coef_, rtol=1e-8, atol=0)
    assert models[0].intercept == pytest.approx(exact.intercept_, rel=1e-8)
    assert models[0].rss == pytest.approx(((data["y"] - exact.predict(x)) ** 2).sum(), rel=1e-9)
    with pytest.raises(InputError, match="standard errors"):
        _ = models[0].t_values


def test_a_ridge_that_would_hide_the_data_is_refused():
    with pytest.raises(RefusedError, match="must not hide the data"):
        mine_regression_rows(by_rows(made(200, 3, 1), spread(200, 2)), THREE,
                                   RegressionParams(ridge=1e11))


@settings(max_examples=8)
@given(owners=st.integers(2, 5), seed=st.integers(0, 10**6), terms=st.integers(1, 4),
       near=st.sampled_from([1.0, 1e-2]), offset=st.sampled_from([0.0, 1e3]))
def test_any_spread_of_rows_gives_the_central_model(owners, seed, terms, near, offset):
    data = made(180, terms, seed, near, offset)
    names = RegressionTerms("y", tuple(f"x{i}" for i in range(terms)))
    exact = pooled(names, data)
    models, _ = mine_regression_rows(by_rows(data, spread(180, owners, seed)), names,
                                           RegressionParams(condition=2.0**20))
    for model in models:
        assert far(model, exact) <= 1e-7
        assert model.features == exact.features
        assert np.allclose(model.errors, exact.errors, rtol=1e-7)
        assert model.rss == pytest.approx(exact.rss, rel=1e-8)


def test_products_and_squares_of_columns_are_terms():
    data = made(150, 2, 9, offset=2.0)
    terms = RegressionTerms("y", ("x0", "x1"), (("x0", "x1"), ("x1", "x1")))
    models, _ = mine_regression_rows(by_rows(data, spread(150, 2)), terms)
    assert models[0].features == ("x0", "x1", "x0*x1", "x1*x1")
    assert far(models[0], pooled(terms, data)) <= 1e-8
    assert np.allclose(models[0].predict(data), pooled(terms, data).predict(data))


def test_sorted_rows_with_far_means_do_not_cancel():
    """Owners whose rows lie far apart: moments around zero would lose what varies inside."""
    data = made(300, 3, 5, offset=1e6)
    order = np.argsort(data["x0"])
    owners = np.zeros(300, int)
    owners[order[150:]] = 1
    exact = pooled(THREE, data)
    models, _ = mine_regression_rows(by_rows(data, owners), THREE)
    assert far(models[0], exact) <= 1e-6


@pytest.mark.parametrize(("mode", "owners"), [("three-party", 3), ("two-party", 2)])
def test_other_modes(mode, owners):
    if mode == "two-party":
        pytest.importorskip("rbcl")
    names = RegressionTerms("y", ("x0",))
    data = made(60, 1, 3)
    models, _ = mine_regression_rows(by_rows(data, spread(60, owners)), names,
                                           RegressionParams(condition=16.0), mode)
    assert far(models[-1], pooled(names, data)) <= 1e-9


def test_only_receivers_learn_the_model():
    rules = RegressionParams(receivers=("p1",))
    models, ledgers = mine_regression_rows(by_rows(made(90, 3, 2), spread(90, 2)), THREE,
                                                 rules)
    assert models[0] is None
    assert models[1] is not None
    assert {o.because for o in ledgers[0].learned()} == {SIZES, fitting.COUNT, fitting.SPREADS, ILL}


def test_coefficients_alone():
    models, ledgers = mine_regression_rows(by_rows(made(90, 3, 2), spread(90, 2)), THREE,
                                                 RegressionParams(inference=False))
    assert models[0].errors.size == 0
    assert np.isnan(models[0].rss)
    assert {fitting.SUMS, fitting.ERRORS}.isdisjoint(o.because for o in ledgers[0].openings)


def failing(parts, terms=THREE, rules=None):
    """Return the errors of every party."""
    program = RegressionOverRows(terms, rules)
    return [o.error for o in run_outcomes(program, [terms.table(part) for part in parts])
            if o.name != "dealer"]


@pytest.mark.parametrize("spoil", ["same", "sum", "constant"])
def test_collinear_and_constant_columns_are_refused_on_all_sides(spoil):
    data = made(90, 3, 4)
    data["x2"] = {"same": data["x0"], "sum": data["x0"] + data["x1"],
                  "constant": np.full(90, 7.0)}[spoil]
    errors = failing(by_rows(data, spread(90, 2)))
    said = "'x2' must vary" if spoil == "constant" else "too ill-conditioned|depend on each other"
    for error in errors:
        assert isinstance(error, RefusedError)
        with pytest.raises(RefusedError, match=said):
            raise error


def test_too_few_records_are_refused_before_anything_is_sent():
    data = made(100, 3, 4)
    owners = np.zeros(100, int)
    owners[:15] = 1
    errors = failing(by_rows(data, owners))
    assert "'p1' must have at least 16 records" in str(errors[1])
    assert isinstance(errors[0], PartyError)
    assert "p1" in str(errors[0])
    owners[:16] = 1
    assert failing(by_rows(data, owners)) == [None, None]


def test_bad_data_is_refused_by_name():
    data = made(60, 3, 4)
    parts = by_rows(data, spread(60, 2))
    with pytest.raises(DataError, match="with a column 'x2'"):
        mine_regression_rows([parts[0], {k: v for k, v in parts[1].items() if k != "x2"}],
                                   THREE)
    parts[1]["x1"][3] = np.nan
    with pytest.raises(DataError, match="'x1' must have a finite number"):
        mine_regression_rows(parts, THREE)
    with pytest.raises(RefusedError, match="'p1' must have at least"):
        mine_regression_rows([parts[0], {k: np.zeros(0) for k in data}], THREE)
    with pytest.raises(InputError, match="'x0' stands twice"):
        RegressionTerms("y", ("x0", "x1", "x0"))
    with pytest.raises(InputError, match="'ridge' must be"):
        RegressionParams(ridge=-1.0)


def test_nothing_is_opened_that_was_not_declared(monkeypatch):
    """A program that opens the moments themselves must be stopped."""
    real = fitting.fit

    async def leaking(party, moments, rules):
        found = await real(party, moments, rules)
        await reveal(party, await narrow(party, moments.matrix, 50, 2), because="X'X")
        return found

    monkeypatch.setattr("unspoken.joint.tasks.regression.program_rows.fit", leaking)
    with pytest.raises(DisclosureError, match="must be declared"):
        mine_regression_rows(by_rows(made(60, 3, 1), spread(60, 2)), THREE)


def test_what_is_sent_does_not_depend_on_values_or_on_whose_rows_they_are():
    names = RegressionTerms("y", ("x0", "x1"))
    program = RegressionOverRows(names, RegressionParams(condition=2.0**6))
    one, other = made(80, 2, 1), made(140, 2, 2, 0.5)
    owners = spread(80, 2), np.arange(140) // 110
    runs = [masked_frames(program, [names.table(part) for part in by_rows(data, who)], "dealer")
            for data, who in zip((one, one, other), (owners[0], owners[0], owners[1]),
                                 strict=True)]
    assert runs[0][1] == runs[1][1] == runs[2][1]
    seen = [{frame for frame in frames if len(frame) >= 8} for frames, _ in runs]
    assert not seen[0] & seen[1]


def test_moments_are_exact_to_rounding():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(50, 3)) + 1e4
    sizes = np.array([14, 15, 14])
    scaled = np.column_stack([np.ones(50), table * 2.0**-sizes])
    exact = whole(scaled, 80).T @ whole(scaled, 80)
    found = row_moments(table, sizes)
    assert max(abs(a - (b >> 64)) for a, b in zip(found.ravel(), exact.ravel(), strict=True)
               ) <= 2**96 * 50 * 2.0**-52 * 2.0**-10
    weighted = row_moments(table, sizes, np.full(50, 0.25))
    assert max(abs(4 * a - b) for a, b in zip(weighted.ravel(), found.ravel(), strict=True)
               ) <= 2**46
