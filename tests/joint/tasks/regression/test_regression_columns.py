"""Regression over columns of several owners: the model of all columns in one place."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.regression_data import boston, far, made, picked
from support.watching import masked_frames
from unspoken.errors import DataError, InputError
from unspoken.joint import narrow, reveal, run_outcomes
from unspoken.joint.joint_errors import DisclosureError, PartyError, RefusedError
from unspoken.joint.session.play import in_memory
from unspoken.joint.tasks.regression import fitting
from unspoken.joint.tasks.regression.column_blocks import Given, OwnedColumns
from unspoken.joint.tasks.regression.disclosure_guards import refuse_residuals, refuse_solvable
from unspoken.joint.tasks.regression.params import RegressionParams
from unspoken.joint.tasks.regression.pooled import pooled
from unspoken.joint.tasks.regression.program_columns import (
    RegressionOverColumns,
    mine_regression_columns,
)
from unspoken.joint.tasks.regression.second_moments import exact_moments, exact_sums
from unspoken.joint.wire.endpoint import Roles

pytestmark = pytest.mark.slow

NAMES = ("a", "b", "c", "d", "e")


def parts_of(columns, data):
    """Return what every owner must have; a response that is split is cut into random parts."""
    parts = {owner: picked(data, columns.needed(owner)) for owner in columns.owners}
    if columns.held == "split":
        rng = np.random.default_rng(7)
        for owner in list(parts)[1:]:
            parts[owner][columns.response] = rng.normal(size=len(data["y"])) * 3
        others = sum(parts[owner][columns.response] for owner in list(parts)[1:])
        parts[next(iter(parts))][columns.response] = data[columns.response] - others
    return parts


def test_boston_equals_statsmodels_with_products_across_owners(shared):
    api = pytest.importorskip("statsmodels.api")
    data = boston(shared)
    names = list(data)[:-1]
    products = (("CRIM", "RM"), ("NOX", "LSTAT"), ("RM", "LSTAT"))
    columns = OwnedColumns({"north": tuple(names[:5]), "south": tuple(names[5:])}, "MEDV", "north",
                      products)
    x = np.column_stack([*(data[n] for n in names), *(data[a] * data[b] for a, b in products)])
    exact = api.OLS(data["MEDV"], api.add_constant(x)).fit()
    models, _ = mine_regression_columns(parts_of(columns, data), columns)
    for model in models:
        assert np.abs(model.parameters / exact.params - 1).max() <= 1e-8
        assert np.abs(model.errors / exact.bse - 1).max() <= 1e-9
        assert np.abs(model.p_values / exact.pvalues - 1).max() <= 1e-7
        assert model.r_squared == pytest.approx(exact.rsquared, rel=1e-11)
        assert np.allclose(model.predict(data), exact.predict(), rtol=1e-9)
        assert model.features[-1] == "RM*LSTAT"


@settings(max_examples=8)
@given(st.data())
def test_any_spread_of_columns_gives_the_central_model(draw):
    owners = NAMES[:draw.draw(st.integers(2, 5))]
    terms = draw.draw(st.integers(len(owners), 6))
    data = made(150, terms, draw.draw(st.integers(0, 10**6)), 0.1,
                draw.draw(st.sampled_from([0.0, 100.0])))
    whose = [*owners, *(draw.draw(st.sampled_from(owners)) for _ in range(terms - len(owners)))]
    held = draw.draw(st.sampled_from(["all", "split", *owners]))
    columns = OwnedColumns(
        {o: tuple(f"x{i}" for i in range(terms) if whose[i] == o) for o in owners}, "y", held
    )
    exact = pooled(columns.terms, data)
    models, _ = mine_regression_columns(parts_of(columns, data), columns,
                                         RegressionParams(condition=2.0**16))
    for model in models:
        assert far(model, exact) <= 1e-8
        assert np.allclose(model.errors, exact.errors, rtol=1e-8)
        assert model.rss == pytest.approx(exact.rss, rel=1e-8)


TWO = OwnedColumns({"a": ("x0",), "b": ("x1",)}, "y", "b")


@pytest.mark.parametrize("held", ["b", "split"])
def test_ridge_equals_scikit_learn(held):
    from sklearn.linear_model import Ridge

    data = {name: values / values.std() for name, values in made(150, 3, 4, 0.3).items()}
    x = np.column_stack([data[f"x{i}"] for i in range(3)])
    exact = Ridge(alpha=5.0, solver="cholesky", tol=1e-14).fit(x, data["y"])
    columns = OwnedColumns({"a": ("x0", "x1"), "b": ("x2",)}, "y", held)
    models, ledgers = mine_regression_columns(parts_of(columns, data), columns,
                                               RegressionParams(ridge=5.0, condition=2.0**10))
    assert np.allclose(models[0].coefficients, exact.coef_, rtol=1e-8, atol=0)
    assert models[0].intercept == pytest.approx(exact.intercept_, rel=1e-8, abs=1e-10)
    assert models[0].rss == pytest.approx(((data["y"] - exact.predict(x)) ** 2).sum(), rel=1e-9)
    assert fitting.ERRORS not in {o.because for o in ledgers[0].openings}


def test_smaller_models_equal_statsmodels(shared):
    api = pytest.importorskip("statsmodels.api")
    data = boston(shared)
    names, few = ("CRIM", "RM", "LSTAT", "DIS"), ("RM", "LSTAT")
    columns = OwnedColumns({"a": names[:2], "b": names[2:]}, "MEDV", "a")

    def ols(chosen):
        return api.OLS(data["MEDV"], api.add_constant(
            np.column_stack([data[name] for name in chosen]))).fit()

    full, small = ols(names), ols(few)
    rules = RegressionParams(condition=2.0**10, smaller=(few,))
    [model, _], [ledger, _] = mine_regression_columns(parts_of(columns, data), columns, rules)
    test = model.nested(few)
    assert (test.statistic, test.p_value) == pytest.approx(full.compare_f_test(small)[:2],
                                                           rel=1e-9)
    assert model.mallows_cp(few) == pytest.approx(small.ssr / full.mse_resid - (506 - 2 * 3),
                                                  rel=1e-9)
    assert model.adjusted_r_squared == pytest.approx(full.rsquared_adj, rel=1e-10)
    assert np.allclose(model.intervals(), full.conf_int(), rtol=1e-8)
    assert [o.because for o in ledger.openings].count(fitting.SMALLER) == 1


def test_ids_that_do_not_fit_are_refused():
    pytest.importorskip("rbcl")
    parts, ids = parts_of(TWO, made(60, 2, 8)), np.arange(60)
    with pytest.raises(DataError, match="'b' must have one id for each record"):
        mine_regression_columns(parts, TWO, ids={"a": ids, "b": ids[1:]})
    with pytest.raises(RefusedError, match="Some stand twice"):
        mine_regression_columns(parts, TWO, ids={"a": ids, "b": np.maximum(ids, 1)})
    with pytest.raises(RefusedError, match=r"in common|records in all"):
        mine_regression_columns(parts, TWO, ids={"a": ids, "b": ids + 55})
    with pytest.raises(DataError, match="those of the columns"):
        mine_regression_columns(parts, TWO, ids={"a": ids})
    with pytest.raises(DataError, match="those of the columns"):
        mine_regression_columns({"a": parts["a"]}, TWO)


@pytest.mark.parametrize(("mode", "owners"), [("three-party", 3), ("two-party", 2)])
def test_other_modes(mode, owners):
    if mode == "two-party":
        pytest.importorskip("rbcl")
    columns = TWO if owners == 2 else OwnedColumns({"a": ("x0",), "b": ("x1",), "c": ()}, "y", "c")
    data = made(40, 2, 3)
    models, _ = mine_regression_columns(parts_of(columns, data), columns,
                                         RegressionParams(condition=16.0), mode)
    assert far(models[-1], pooled(columns.terms, data)) <= 1e-9


def test_records_are_aligned_by_ids():
    pytest.importorskip("rbcl")
    data = made(60, 2, 8)
    ids = np.array([f"id{i}" for i in range(60)])
    rng = np.random.default_rng(1)
    mine, theirs = rng.permutation(np.arange(0, 55)), rng.permutation(np.arange(5, 60))
    parts = {"a": {"x0": data["x0"][mine]},
             "b": {"x1": data["x1"][theirs], "y": data["y"][theirs]}}
    models, ledgers = mine_regression_columns(parts, TWO,
                                               ids={"a": ids[mine], "b": ids[theirs]})
    common = {name: values[5:55] for name, values in data.items()}
    assert models[0].records == 50
    assert far(models[0], pooled(TWO.terms, common)) <= 1e-9
    assert any("which records all owners have" in o.because for o in ledgers[0].openings)


def failing(columns, parts, rules=None):
    """Return the errors of every owner."""
    program = RegressionOverColumns(columns, rules)
    return [o.error for o in run_outcomes(program, [Given(part) for part in parts.values()],
                                          names=list(parts)) if o.name != "dealer"]


def test_different_numbers_of_records_are_refused_on_all_sides():
    parts = parts_of(TWO, made(60, 2, 1))
    parts["a"]["x0"] = parts["a"]["x0"][:-1]
    for error in failing(TWO, parts):
        assert isinstance(error, RefusedError)
        assert "different numbers of records" in str(error)


def test_different_responses_are_refused_on_all_sides():
    columns = OwnedColumns({"a": ("x0",), "b": ("x1",)}, "y", "all")
    data = made(60, 2, 1)
    assert failing(columns, parts_of(columns, data)) == [None, None]
    for change in (lambda y: y[::-1], lambda y: np.where(np.arange(60) == 59, y + 1e-12, y)):
        parts = parts_of(columns, data)
        parts["b"]["y"] = change(parts["b"]["y"])
        for error in failing(columns, parts):
            assert isinstance(error, RefusedError)
            assert "different ones" in str(error)


def test_collinear_columns_of_two_owners_are_refused_on_all_sides():
    data = made(60, 2, 1)
    data["x1"] = 3 - 2 * data["x0"]
    for error in failing(TWO, parts_of(TWO, data)):
        assert isinstance(error, RefusedError)
        assert "depend on each other" in str(error)


def test_an_owner_without_records_or_with_bad_ones_is_named():
    parts = parts_of(TWO, made(60, 2, 1))
    parts["a"]["x0"] = np.zeros(0)
    first, second = failing(TWO, parts)
    assert isinstance(first, DataError)
    assert "'a' must have records" in str(first)
    assert isinstance(second, PartyError)
    assert "'a'" in str(second)


def test_a_column_with_two_owners_is_refused():
    with pytest.raises(InputError, match="'x0' stands twice"):
        OwnedColumns({"a": ("x0",), "b": ("x0", "x1")}, "y", "b")
    with pytest.raises(InputError, match="Who has the response"):
        OwnedColumns({"a": ("x0",), "b": ("x1",)}, "y", "c")
    with pytest.raises(InputError, match="neither"):
        OwnedColumns({"a": ("x0",), "b": ()}, "y", "a")


def test_models_that_could_be_solved_for_columns_are_refused():
    wide = OwnedColumns({"a": ("x0",), "b": tuple(f"x{i}" for i in range(1, 9))}, "y", "b")
    for error in failing(wide, parts_of(wide, made(60, 9, 1))):
        assert isinstance(error, RefusedError)
        assert "columns of 'a' hold 60 values. 22 numbers" in str(error)
    refuse_solvable(88, wide.widths(), 22)
    with pytest.raises(RefusedError):
        refuse_solvable(87, wide.widths(), 22)


@pytest.mark.parametrize("widths", [{"a": 1, "b": 1}, {"a": 5, "b": 5}, {"a": 3, "b": 1, "c": 2},
                                    {"a": 3, "b": 4, "c": 0}])
def test_residuals_that_give_columns_away_are_refused(widths):
    with pytest.raises(RefusedError, match="synthetic residuals"):
        refuse_residuals(widths)


def test_exact_moments_are_exact():
    rng = np.random.default_rng(0)
    points = rng.integers(-2**47, 2**47 + 1, (30, 3))
    points[0] = [-2**47, 2**47, 0]
    exact = points.astype(object).T @ points.astype(object)
    assert (exact_moments(points) == exact).all()
    # As many as do not fit into 64 bits any more.
    many = np.full((70_000, 2), [2**47, -2**47])
    assert exact_sums(many).tolist() == [70_000 * 2**47, -70_000 * 2**47]
    assert exact_moments(many)[0].tolist() == [70_000 * 2**94, -70_000 * 2**94]


def test_nothing_is_opened_that_was_not_declared(monkeypatch):
    async def leaking(party, moments, sizes, rows, names):
        await reveal(party, await narrow(party, moments, 30, rows), because="X'X")

    monkeypatch.setattr("unspoken.joint.tasks.regression.program_columns.scaled", leaking)
    with pytest.raises(DisclosureError, match="must be declared"):
        mine_regression_columns(parts_of(TWO, made(60, 2, 1)), TWO)


def test_what_is_sent_does_not_depend_on_values():
    names = {"a": "p0", "b": "p1"}
    columns = OwnedColumns({names[o]: c for o, c in TWO.owners.items()}, "y", "p1", (("x0", "x1"),))
    program = RegressionOverColumns(columns, RegressionParams(condition=2.0**10))
    tables = [made(40, 2, seed, near) for seed, near in ((1, 1.0), (1, 1.0), (5, 0.3))]
    runs = [masked_frames(program, [Given(part) for part in parts_of(columns, data).values()],
                          "dealer") for data in tables]
    assert runs[0][1] == runs[1][1] == runs[2][1]
    seen = [{frame for frame in frames if len(frame) >= 8} for frames, _ in runs]
    assert not seen[0] & seen[1]


def test_somebody_without_data_may_be_the_only_one_to_learn_the_model():
    data = made(80, 2, 6)
    roles = Roles(("a", "b", "reader"), ("a", "b"), ("a", "b"), "dealer")
    rules = RegressionParams(condition=2.0**8, receivers=("reader",))
    inputs = [Given(part) for part in parts_of(TWO, data).values()]
    outcomes = asyncio.run(in_memory(RegressionOverColumns(TWO, rules), [*inputs, None], roles))
    assert [o.error for o in outcomes] == [None] * 4
    assert [o.output is None for o in outcomes] == [True, True, False, True]
    assert far(outcomes[2].output, pooled(TWO.terms, data)) <= 1e-9
