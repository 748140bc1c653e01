"""Choosing terms on shares: the choice of pooled data, and no number but the choice."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.computing import on_shares
from support.regression_data import boston, by_rows, far, made, picked
from unspoken.errors import InputError
from unspoken.joint import narrow
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.tasks.regression.column_blocks import OwnedColumns
from unspoken.joint.tasks.regression.params import (
    CRITERIA,
    RegressionParams,
    RegressionTerms,
    Selection,
)
from unspoken.joint.tasks.regression.pooled import pooled
from unspoken.joint.tasks.regression.program_columns import mine_regression_columns
from unspoken.joint.tasks.regression.program_rows import (
    RegressionOverRows,
    mine_regression_rows,
)
from unspoken.joint.tasks.regression.sweep import reciprocals, sweep
from unspoken.joint.tasks.regression.term_selection import (
    BEST,
    STEP,
    Score,
)
from unspoken.numerics.least_squares import mallows_cp

pytestmark = pytest.mark.slow

EASY = RegressionParams(condition=2.0**12)


def textbook(data, terms, criterion):
    """Return the best of all subsets by the criteria as statsmodels defines them."""
    api = pytest.importorskip("statsmodels.api")
    y, n = data[terms.response], len(data[terms.response])

    def ols(chosen):
        x = np.column_stack([np.ones(n), *(data[name] for name in chosen)])
        return api.OLS(y, x).fit()

    full = ols(terms.features)

    def value(chosen):
        found = ols(chosen)
        return {"aic": found.aic, "bic": found.bic, "adjusted": -found.rsquared_adj,
                "cp": found.ssr / full.mse_resid + 2 * (len(chosen) + 1)}[criterion]

    subsets = [tuple(name for j, name in enumerate(terms.features) if i >> j & 1)
               for i in range(2 ** len(terms.features))]
    return min(subsets, key=value)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_best_subset_is_that_of_the_textbook(shared, criterion):
    data = boston(shared)
    terms = RegressionTerms("MEDV", ("CRIM", "INDUS", "NOX", "AGE", "RM"))
    [model, _], [ledger, _] = mine_regression_rows(
        by_rows(data, np.arange(506) % 2), terms, EASY, selection=Selection("best", criterion))
    assert model.features == textbook(data, terms, criterion)
    assert [o.because for o in ledger.openings].count(BEST) == 1


@pytest.mark.parametrize(("method", "criterion"), [("forward", "bic"), ("backward", "cp"),
                                                   ("stepwise", "aic")])
def test_steps_are_those_of_pooled_data_and_stand_in_the_ledger(shared, method, criterion):
    data = boston(shared)
    terms = RegressionTerms("MEDV", ("INDUS", "AGE", "CRIM", "NOX", "RM", "TAX"))
    columns = OwnedColumns({"a": terms.columns[:2], "b": terms.columns[2:]}, "MEDV", "a")
    selection = Selection(method, criterion)
    parts = {owner: picked(data, columns.needed(owner)) for owner in columns.owners}
    [model, _], [ledger, _] = mine_regression_columns(parts, columns, EASY, selection=selection)
    exact = pooled(terms, data, selection=selection)
    assert model.features == exact.features
    assert far(model, exact) <= 1e-9
    moved = (len(model.features) if method != "backward" else 6 - len(model.features))
    steps = [o for o in ledger.openings if o.because == STEP]
    assert len(steps) == moved + (moved < 6)
    assert all(o.shape == () for o in steps)


@settings(max_examples=3)
@given(owners=st.integers(2, 5), seed=st.integers(0, 10**6),
       method=st.sampled_from(["forward", "backward", "stepwise", "best"]),
       criterion=st.sampled_from(CRITERIA))
def test_any_choice_is_that_of_pooled_data(owners, seed, method, criterion):
    data = made(120, 3, seed, 0.5, noise=3.0)
    terms, selection = RegressionTerms("y", ("x0", "x1", "x2")), Selection(method, criterion)
    exact = pooled(terms, data, selection=selection)
    models, _ = mine_regression_rows(by_rows(data, np.arange(120) % owners), terms, EASY,
                                           selection=selection)
    assert models[0].features == exact.features
    assert models[0].rss == pytest.approx(exact.rss, rel=1e-9)
    assert far(models[0], exact) <= 1e-8


def test_no_term_at_all_leaves_the_mean():
    rng = np.random.default_rng(1)
    data = {"x0": rng.normal(size=80), "y": np.tile([3.0, 5.0], 40)}
    data["x0"] -= data["y"] * 0
    data["x0"][1::2] = data["x0"][::2]
    models, _ = mine_regression_rows(
        by_rows(data, np.arange(80) // 40),
        RegressionTerms("y", ("x0",)),
        EASY,
        selection=Selection("forward", "bic"),
    )
    assert models[0].features == ()
    assert models[0].intercept == pytest.approx(4.0, rel=1e-12)
    assert models[0].errors == pytest.approx([np.sqrt(80 / 79 / 80)], rel=1e-12)


def test_terms_that_are_kept_stay():
    data = made(120, 3, 3, noise=50.0)
    selection = Selection("stepwise", "bic", ("x1",))
    terms = RegressionTerms("y", ("x0", "x1", "x2"))
    models, _ = mine_regression_rows(by_rows(data, np.arange(120) % 2), terms, EASY,
                                           selection=selection)
    assert "x1" in models[0].features
    assert models[0].features == pooled(terms, data, selection=selection).features


def test_a_sweep_there_and_back_changes_nothing():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(30, 4))
    matrix = np.corrcoef(x.T)

    async def what(party, m):
        turned = await reciprocals(party, m[1, 1].reshape(1))
        there = await sweep(party, m, 1, turned, False)
        again = await reciprocals(party, (-there)[1, 1].reshape(1))
        back = await sweep(party, there, 1, again, True)
        return await narrow(party, there, 36, 2.0**20), await narrow(party, back, 36, 2.0**20)

    there, back = on_shares(what, [matrix], [("wide", 1.5, 96)])
    assert np.abs(back - matrix).max() <= 2.0**-34
    rest = [0, 2, 3]
    outer = np.outer(matrix[rest, 1], matrix[1, rest]) / matrix[1, 1]
    assert np.abs(there[np.ix_(rest, rest)] - (matrix[np.ix_(rest, rest)] - outer)).max() <= 1e-10
    assert there[1, 1] == pytest.approx(-1.0, abs=1e-10)


def test_reciprocals_hold_over_the_whole_range():
    values = np.array([2.0**-22, 2.0**-24 * 1.01, 1e-3, 0.7, 1.0, 1.1])

    async def what(party, m):
        return await narrow(party, await reciprocals(party, m), 34, 2.0**25)

    got = on_shares(what, [values], [("wide", 1.5, 96)])
    assert np.abs(got * values - 1).max() <= 1e-10


def test_what_cannot_be_chosen_is_refused():
    many = RegressionTerms("y", tuple(f"x{i}" for i in range(11)))
    with pytest.raises(InputError, match="at most 10 terms"):
        RegressionOverRows(many, None, Selection("best"))
    with pytest.raises(InputError, match="'method' must be"):
        Selection("greedy")
    with pytest.raises(InputError, match="must not go with a selection"):
        RegressionOverRows(many, RegressionParams(smaller=(("x0",),)), Selection())
    with pytest.raises(RefusedError, match="chosen by least squares"):
        mine_regression_rows(by_rows(made(60, 2, 1), np.arange(60) % 2),
                                   RegressionTerms("y", ("x0", "x1")), RegressionParams(ridge=1.0),
                                   selection=Selection())


def test_criteria_are_those_of_the_textbook_up_to_what_is_the_same_for_all_models():
    """Scores are increasing functions of the criteria: their differences or ratios must agree."""
    n, p, full, tss = 50, 5, 20.0, 90.0
    sums = [tss, 60.0, 41.0, 33.0, 24.0, full]

    def scores(criterion):
        score = Score(criterion, n, p)
        return np.array([rss * score.factor(k) + full * score.added(k)
                         for k, rss in enumerate(sums)])

    cp = [mallows_cp(rss, k, full, p, n) for k, rss in enumerate(sums)]
    assert np.allclose(np.diff(scores("cp")) / (full / (n - p - 1)), np.diff(cp))
    for criterion, weight in (("aic", 2.0), ("bic", np.log(n))):
        wanted = [n * np.log(rss) + weight * k for k, rss in enumerate(sums)]
        assert np.allclose(n * np.diff(np.log(scores(criterion))), np.diff(wanted))
    adjusted = [1 - (rss / (n - k - 1)) / (tss / (n - 1)) for k, rss in enumerate(sums)]
    assert np.allclose(1 - scores("adjusted") / tss, adjusted)


def test_criteria_grow_with_the_number_of_terms():
    for criterion in CRITERIA:
        score = Score(criterion, 50, 5)
        values = [score.factor(k) + score.added(k) for k in range(6)]
        assert all(a < b for a, b in pairwise(values))
        assert values[-1] <= score.most()
