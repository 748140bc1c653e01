"""Powell's search on shares, and why the literal form is weak."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import block_diag

from support.plain_powell import orthogonal, scaled, searched
from support.regression_data import boston, far, made, picked
from support.replayed import forecast_holds
from unspoken.errors import InputError
from unspoken.joint import run_outcomes
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.ops.matrix_inverse import ILL
from unspoken.joint.museum import line_search as searching
from unspoken.joint.museum.line_search import ENDS, STEP, WEAK
from unspoken.joint.museum.powell import (
    ACCEPT,
    PowellRegression,
    expected_searches,
    mine_regression_powell,
)
from unspoken.joint.tasks.regression import fitting
from unspoken.joint.tasks.regression.column_blocks import Given, OwnedColumns
from unspoken.joint.tasks.regression.params import RegressionParams
from unspoken.joint.tasks.regression.pooled import pooled

pytestmark = pytest.mark.slow

EASY = RegressionParams(condition=2.0**10)
FOUR = OwnedColumns({"a": ("x0", "x1"), "b": ("x2",), "c": ("x3",)}, "y", "c")


def parts_of(columns, data):
    return {owner: picked(data, columns.needed(owner)) for owner in columns.owners}


def test_the_search_finds_least_squares():
    data = made(240, 4, 3, 0.5, 10.0)
    exact = pooled(FOUR.terms, data)
    models, ledgers = mine_regression_powell(parts_of(FOUR, data), FOUR)
    for model in models:
        assert far(model, exact) <= 1e-7
        assert model.rss == pytest.approx(exact.rss, rel=1e-7)
        assert model.tss == pytest.approx(exact.tss, rel=1e-9)
        assert np.allclose(model.errors, exact.errors, rtol=1e-9)
    assert WEAK not in {o.because for o in ledgers[0].openings}
    assert all(o.shape == (1,) for o in ledgers[0].openings if o.because == STEP)


def test_boston_equals_statsmodels(shared):
    api = pytest.importorskip("statsmodels.api")
    data = boston(shared)
    names = ("CRIM", "NOX", "RM", "LSTAT")
    columns = OwnedColumns({"a": names[:1], "b": names[1:3], "c": names[3:]}, "MEDV", "all")
    x = np.column_stack([data[name] for name in names])
    exact = api.OLS(data["MEDV"], api.add_constant(x)).fit()
    small = api.OLS(data["MEDV"], api.add_constant(x[:, 2:])).fit()
    rules = RegressionParams(condition=2.0**10, smaller=(("RM", "LSTAT"),))
    models, _ = mine_regression_powell(parts_of(columns, data), columns, rules=rules)
    for model in models:
        assert np.abs(model.parameters / exact.params - 1).max() <= 1e-7
        assert np.abs(model.errors / exact.bse - 1).max() <= 1e-9
        assert np.abs(model.t_values / exact.tvalues - 1).max() <= 1e-7
        assert np.allclose(model.p_values, exact.pvalues, rtol=1e-6)
        assert np.allclose(model.intervals(0.95), exact.conf_int(0.05), rtol=1e-7)
        assert model.r_squared == pytest.approx(exact.rsquared, rel=1e-9)
        assert model.adjusted_r_squared == pytest.approx(exact.rsquared_adj, rel=1e-9)
        test = model.nested(["RM", "LSTAT"])
        assert (test.statistic, test.p_value) == pytest.approx(exact.compare_f_test(small)[:2],
                                                               rel=1e-7)


@settings(max_examples=2)
@given(st.data())
def test_any_spread_of_columns_gives_the_central_model(draw):
    owners = "abcde"[:draw.draw(st.integers(3, 5))]
    terms = max(len(owners), draw.draw(st.integers(3, 4)))
    data = made(260, terms, draw.draw(st.integers(0, 10**6)), 0.5,
                draw.draw(st.sampled_from([0.0, 100.0])))
    whose = [*owners, *(draw.draw(st.sampled_from(owners)) for _ in range(terms - len(owners)))]
    held = draw.draw(st.sampled_from(["all", *owners]))
    columns = OwnedColumns(
        {o: tuple(f"x{i}" for i in range(terms) if whose[i] == o) for o in owners}, "y", held
    )
    exact = pooled(columns.terms, data)
    models, _ = mine_regression_powell(parts_of(columns, data), columns, rules=EASY)
    for model in models:
        assert far(model, exact) <= 1e-7
        assert np.allclose(model.errors, exact.errors, rtol=1e-8)


def test_a_ridge_is_the_central_one():
    data = {name: values / values.std() for name, values in made(200, 4, 3, 0.3, 1.0).items()}
    rules = RegressionParams(ridge=7.0, condition=2.0**10)
    models, ledgers = mine_regression_powell(parts_of(FOUR, data), FOUR, rules=rules)
    exact = pooled(FOUR.terms, data, rules)
    assert far(models[0], exact) <= 1e-7
    assert models[0].rss == pytest.approx(exact.rss, rel=1e-7)
    assert not models[0].errors.size
    assert {fitting.ERRORS, ILL}.isdisjoint(o.because for o in ledgers[0].openings)
    with pytest.raises(RefusedError, match="must not hide the data"):
        mine_regression_powell(parts_of(FOUR, data), FOUR, rules=RegressionParams(1e6, 2.0**10))


def test_coefficients_alone_need_no_matrix_in_three_party_mode():
    columns = OwnedColumns({"a": ("x0",), "b": ("x1",), "c": ("x2",)}, "y", "a")
    data = made(160, 3, 5)
    rules = RegressionParams(condition=2.0**8, inference=False, receivers=("b",))
    models, ledgers = mine_regression_powell(parts_of(columns, data), columns, "shares",
                                             "three-party", rules=rules)
    assert [model is None for model in models] == [True, False, True]
    assert far(models[1], pooled(columns.terms, data)) <= 1e-7
    assert np.isnan(models[1].rss)
    assert {ILL, fitting.SUMS, fitting.ERRORS}.isdisjoint(o.because for o in ledgers[1].openings)
    assert fitting.COEFFICIENTS not in {o.because for o in ledgers[0].learned()}


def test_products_of_one_owners_columns_are_terms():
    columns = OwnedColumns({"a": ("x0", "x1"), "b": ("x2",), "c": ()}, "y", "c", (("x0", "x1"),))
    data = made(260, 3, 9)
    models, _ = mine_regression_powell(parts_of(columns, data), columns,
                                       rules=RegressionParams(condition=2.0**8, inference=False))
    assert far(models[0], pooled(columns.terms, data)) <= 1e-7


def test_records_are_aligned_by_ids():
    pytest.importorskip("rbcl")
    columns = OwnedColumns({"a": ("x0",), "b": ("x1",), "c": ("x2",)}, "y", "c")
    data, ids = made(180, 3, 8), np.arange(180)
    rows = {"a": ids[:170], "b": ids[::-1], "c": ids[10:]}
    parts = {owner: {name: data[name][rows[owner]] for name in columns.needed(owner)}
             for owner in columns.owners}
    models, _ = mine_regression_powell(
        parts, columns, rules=RegressionParams(condition=2.0**8), ids=rows
    )
    exact = pooled(columns.terms, {name: values[10:170] for name, values in data.items()})
    assert models[0].records == 160
    assert far(models[0], exact) <= 1e-7


def failing(columns, data, rules=EASY):
    """Return every owner's error, and the reasons of what was opened before it."""
    program = PowellRegression(columns, rules)
    outcomes = [o for o in run_outcomes(program, [Given(p) for p in data.values()],
                                        names=list(columns.owners)) if o.name != "dealer"]
    return [o.error for o in outcomes], {x.because for o in outcomes for x in o.ledger.openings}


BOOK = ("CRIM", "ZN", "INDUS", "CHAS", "NOX", "RM", "AGE", "DIS", "RAD", "TAX", "PTRATIO", "B",
        "LSTAT")
HOUSES = OwnedColumns({"a": BOOK[:6], "b": BOOK[6:9], "c": BOOK[9:]}, "MEDV", "c")


def test_the_books_own_case_equals_statsmodels(shared):
    """Boston, 13 columns of three owners, 6, 3 and 4 of them."""
    api = pytest.importorskip("statsmodels.api")
    data = boston(shared)
    x = np.column_stack([data[name] for name in BOOK])
    exact = api.OLS(data["MEDV"], api.add_constant(x)).fit()
    models, ledgers = mine_regression_powell(parts_of(HOUSES, data), HOUSES)
    for model in models:
        assert np.abs(model.parameters / exact.params - 1).max() <= 1e-7
        assert np.abs(model.errors / exact.bse - 1).max() <= 1e-9
        assert model.r_squared == pytest.approx(exact.rsquared, rel=1e-9)
    steps = [o for o in ledgers[0].openings if o.because == STEP]
    assert len(steps) <= expected_searches(13)


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.integers(3, 5), st.integers(3, 14),
       st.sampled_from([0.3, 1.0, 3.0]))
def test_searches_end_within_what_is_reserved_for_them(seed, owners, terms, common):
    """In the clear: what goes on until it is refused would have opened steps in vain."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(400, terms)) + common * rng.normal(size=(400, 1))
    x[:, terms // 2] += common * x[:, 0]
    y = x @ rng.normal(size=terms) + rng.normal(size=400)
    blocks = [orthogonal(x[:, at]) for at in np.array_split(np.arange(terms), owners) if at.size]
    turned = [np.linalg.qr(rng.normal(size=(b.shape[1],) * 2))[0] for b in blocks]
    steps, _ = searched(np.column_stack(blocks), scaled(y), block_diag(*turned))
    assert len(steps) <= expected_searches(terms, 2.0**12)


def test_columns_of_different_owners_that_depend_on_each_other_cost_no_step():
    """Without inference nothing else would notice."""
    data = made(200, 4, 1)
    data["x3"] = data["x0"] - 2 * data["x2"] * data["x0"].std() / data["x2"].std()
    errors, seen = failing(FOUR, parts_of(FOUR, data),
                           RegressionParams(condition=2.0**10, inference=False))
    assert all(isinstance(e, RefusedError) and "would not end in time" in str(e) for e in errors)
    assert ENDS in seen
    assert STEP not in seen


def test_columns_of_one_owner_that_depend_on_each_other_cost_nothing():
    data = made(200, 4, 1)
    data["x1"] = 3 * data["x0"] + 5
    errors, seen = failing(FOUR, parts_of(FOUR, data),
                           RegressionParams(condition=2.0**10, inference=False))
    assert any("must not depend on each other" in str(e) for e in errors)
    assert {STEP, ENDS}.isdisjoint(seen)


def test_columns_of_one_owner_that_go_together_take_no_longer():
    """How much they do does not matter: each owner makes its own ones orthogonal."""
    data = made(200, 3, 3, 0.5)
    data["x1"] = data["x0"] * (1 + 0.02 * np.random.default_rng(9).normal(size=200))
    columns = OwnedColumns({"a": ("x0", "x1"), "b": ("x2",), "c": ()}, "y", "c")
    rules = RegressionParams(condition=2.0**16, inference=False)
    models, ledgers = mine_regression_powell(parts_of(columns, data), columns, rules=rules)
    assert far(models[0], pooled(columns.terms, data)) <= 1e-7
    assert sum(o.because == STEP for o in ledgers[0].openings) <= expected_searches(3, 2.0**12)


def test_collinear_columns_are_refused_before_any_step_is_seen():
    data = made(200, 4, 1)
    data["x3"] = data["x0"] - 2 * data["x2"]
    errors, seen = failing(FOUR, parts_of(FOUR, data))
    assert all(isinstance(e, RefusedError) and "depend on each other" in str(e) for e in errors)
    assert STEP not in seen


def test_bad_columns_are_refused_on_all_sides():
    data = made(200, 4, 1)
    columns = OwnedColumns(FOUR.owners, "y", "all")
    parts = parts_of(columns, data)
    parts["b"]["y"] = data["y"][::-1]
    errors, _ = failing(columns, parts)
    assert all("different ones" in str(e) for e in errors)
    parts = parts_of(FOUR, data)
    parts["b"]["x2"] = parts["b"]["x2"][1:]
    errors, _ = failing(FOUR, parts)
    assert all("different numbers of records" in str(e) for e in errors)
    data["x2"] = np.full(200, 4.0)
    errors, _ = failing(
        FOUR, parts_of(FOUR, data), RegressionParams(condition=2.0**10, inference=False)
    )
    assert all("'x2' must vary" in str(e) for e in errors)


def test_no_more_steps_are_opened_than_could_be_solved_for(monkeypatch):
    """A search that does not end: it is stopped by what it has opened, not by its patience."""
    monkeypatch.setattr(searching, "CLOSE", -1.0)
    columns = OwnedColumns({"a": ("x0",), "b": ("x1",), "c": ("x2",)}, "y", "c")
    rows, data = 120, made(120, 3, 2)
    program = PowellRegression(columns, RegressionParams(condition=2.0**8, inference=False))
    outcomes = run_outcomes(program, [Given(p) for p in parts_of(columns, data).values()],
                            names=list(columns.owners))
    for outcome in outcomes[:3]:
        assert "must end before" in str(outcome.error)
        steps = [o for o in outcome.ledger.openings if o.because == STEP]
        # Four coefficients are still to come: together a quarter of the values of one column.
        assert len(steps) == rows // 4 - 4 > expected_searches(3)


def test_a_start_that_is_best_along_the_first_direction_does_not_get_stuck(monkeypatch):
    """The response does not depend on the first column at all: the first step is nothing."""
    monkeypatch.setattr(searching, "_rotation", np.eye)
    rng = np.random.default_rng(1)
    x = rng.normal(size=(200, 4))
    x = np.linalg.qr(x - x.mean(axis=0))[0] * 12
    x[:, 3] += 0.5 * x[:, 2] + 0.3 * x[:, 0]
    data = {f"x{i}": x[:, i] for i in range(4)}
    data["y"] = x[:, 1] + 2 * x[:, 2] - x[:, 3] + 0.3 * x[:, 0]
    data["y"] = data["y"] - x[:, 0] * (x[:, 0] @ data["y"]) / (x[:, 0] @ x[:, 0])
    data["y"] += 0.01 * rng.normal(size=200)
    data["y"] -= x[:, 0] * (x[:, 0] @ (data["y"] - data["y"].mean())) / (x[:, 0] @ x[:, 0])
    models, _ = mine_regression_powell(parts_of(FOUR, data), FOUR)
    assert far(models[0], pooled(FOUR.terms, data)) <= 1e-6


def test_the_literal_form_publishes_columns(monkeypatch):
    """With unit vectors as directions, the first sweep opens every column as it is."""
    monkeypatch.setattr(searching, "_rotation", np.eye)
    seen, real = [], searching.reveal

    async def watching(party, value, **how):
        opened = await real(party, value, **how)
        if party.name == "a":
            seen.append(opened)
        return opened

    monkeypatch.setattr(searching, "reveal", watching)
    data = made(150, 4, 6)
    models, ledgers = mine_regression_powell(parts_of(FOUR, data), FOUR, "literal", accept=ACCEPT)
    assert far(models[0], pooled(FOUR.terms, data)) <= 1e-6
    assert WEAK in {o.because for o in ledgers[0].openings}
    foreign = data["x2"] - data["x2"].mean()
    alike = [abs(np.corrcoef(w.ravel(), foreign)[0, 1]) for w in seen if w.size == 150]
    assert max(alike) > 1 - 1e-9


def test_what_protects_nobody_is_refused():
    with pytest.raises(RefusedError, match="three owners or more"):
        mine_regression_powell({}, OwnedColumns({"a": ("x0",), "b": ("x1",)}, "y", "a"))
    with pytest.raises(InputError, match="'method'"):
        mine_regression_powell({}, FOUR, "weak")
    with pytest.raises(RefusedError, match="columns can be read off what every search opens"):
        mine_regression_powell({}, FOUR, "literal")
    with pytest.raises(RefusedError, match="not split"):
        PowellRegression(OwnedColumns(FOUR.owners, "y", "split"))
    with pytest.raises(RefusedError, match="different owners"):
        PowellRegression(OwnedColumns(FOUR.owners, "y", "c", (("x0", "x2"),)))
    with pytest.raises(InputError, match="at most 65536"):
        PowellRegression(FOUR, RegressionParams())
    data = made(30, 4, 1)
    with pytest.raises(RefusedError, match="could solve them"):
        mine_regression_powell(parts_of(FOUR, data), FOUR)


@pytest.mark.parametrize(("owners", "method", "inference"), [
    (3, "shares", True), (4, "shares", False), (3, "literal", True)])
def test_a_dry_run_says_what_a_run_takes(owners, method, inference):
    names = [f"o{i}" for i in range(owners)]
    columns = OwnedColumns({name: tuple(f"x{j}" for j in range(3) if j % owners == i)
                       for i, name in enumerate(names)}, "y", names[-1])
    rules, data = RegressionParams(condition=256, inference=inference), made(400, 3, 1)
    program = PowellRegression(columns, rules, method, accept=ACCEPT)
    forecast_holds(program, {name: Given(picked(data, columns.needed(name))) for name in names})
