"""Residual plots without records: they show what real ones show, and nobody's rows."""

from __future__ import annotations

import numpy as np
import pytest

from support.computing import on_shares
from support.regression_data import by_rows, picked
from unspoken.errors import InputError, ModelError
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.tasks.regression.column_blocks import SAME_ROWS, OwnedColumns
from unspoken.joint.tasks.regression.fitting import COUNT
from unspoken.joint.tasks.regression.params import RegressionTerms
from unspoken.joint.tasks.regression.pooled import pooled
from unspoken.joint.tasks.residuals import program_rows as diagnostics
from unspoken.joint.tasks.residuals.program_columns import open_residuals_columns
from unspoken.joint.tasks.residuals.program_rows import (
    GROUPS,
    SYNTHETIC,
    mine_residuals_columns,
    mine_residuals_rows,
    shuffled,
)
from unspoken.joint.tasks.residuals.synthetic_residuals import groups_of, synthetic
from unspoken.models.residuals import Residuals
from unspoken.numerics.random import generator, seed_from

pytestmark = pytest.mark.slow

TERMS = RegressionTerms("y", ("u", "v"))


def bent(rows, seed):
    """Return data whose residuals bend along u and spread along v."""
    rng = np.random.default_rng(seed)
    u, v = rng.normal(size=rows), rng.uniform(1, 5, rows)
    return {"u": u, "v": v, "y": 2 * u + 1.5 * u**2 + v + v * rng.normal(size=rows)}


def true_curve(data, model, name, bins=6):
    order = np.argsort(data[name])
    rest = data["y"] - model.predict(data)
    parts = np.array_split(order, bins)
    return np.array([[data[name][p].mean(), rest[p].mean(), rest[p].std()] for p in parts])


def test_synthetic_residuals_bend_and_spread_like_real_ones(monkeypatch):
    # The same rows in every run of this test; outside of tests seeds are fresh.
    seeds = iter(map(seed_from, range(3)))
    monkeypatch.setattr(diagnostics, "fresh_seed", lambda: next(seeds))
    data = bent(3000, 1)
    model = pooled(TERMS, data)
    results, ledgers = mine_residuals_rows(by_rows(data, np.arange(3000) % 3), TERMS, model,
                                                 200)
    found, real = results[0].binned("u", 6), true_curve(data, model, "u")
    assert found[[0, -1], 1].min() > 0 > found[2:4, 1].max()
    assert np.abs(np.interp(found[1:-1, 0], real[:, 0], real[:, 1]) - found[1:-1, 1]).max() <= 1.2
    spread = results[0].binned("v", 4)[:, 2]
    assert spread[-1] > 1.4 * spread[0]
    assert [o.because for o in ledgers[0].openings].count(SYNTHETIC) == 1
    rows = np.column_stack([results[0].of("u")[:, 0], results[0].of("v")[:, 0]])
    real_rows = np.column_stack([data["u"], data["v"]])
    assert min(np.abs(real_rows - row).max(axis=1).min() for row in rows) > 1e-7


def test_grouped_residuals_of_columns_are_those_of_the_pooled_data():
    data = bent(600, 2)
    columns = OwnedColumns({"a": ("u",), "b": ("v",)}, "y", "b")
    model = pooled(TERMS, data)
    parts = {"a": picked(data, ["u"]), "b": picked(data, ["v", "y"])}
    results, ledgers = mine_residuals_columns(parts, columns, model, 6, 50)
    for name in ("u", "v"):
        assert np.allclose(results[0].of(name), true_curve(data, model, name), atol=1e-4)
    assert {o.because for o in ledgers[0].openings} >= {GROUPS}


@pytest.mark.parametrize(("held", "products"), [
    ("a", (("v", "v"),)), ("split", (("v", "v"),)), ("b", (("u", "v"),)),
    ("split", (("u", "u"), ("v", "u")))])
def test_products_and_split_responses_have_residuals_too(held, products):
    data = bent(600, 2)
    data["v"] = 100 * data["v"]
    columns = OwnedColumns({"a": ("u",), "b": ("v",)}, "y", held, products)
    model = pooled(columns.terms, data)
    parts = {owner: picked(data, columns.needed(owner)) for owner in columns.owners}
    if held == "split":
        parts["b"]["y"] = np.random.default_rng(1).normal(size=600)
        parts["a"]["y"] = data["y"] - parts["b"]["y"]
    results, _ = mine_residuals_columns(parts, columns, model, 6, 50)
    assert results[0].features == ("u", "v")
    for name in ("u", "v"):
        assert np.allclose(results[0].of(name), true_curve(data, model, name), atol=1e-4)


def test_synthetic_residuals_of_a_model_with_a_square_do_not_bend_any_more(monkeypatch):
    seeds = iter(map(seed_from, range(9)))
    monkeypatch.setattr(diagnostics, "fresh_seed", lambda: next(seeds))
    data, bends = bent(3000, 1), []
    for terms in (TERMS, RegressionTerms("y", ("u", "v"), (("u", "u"),))):
        results, _ = mine_residuals_rows(by_rows(data, np.arange(3000) % 2), terms,
                                               pooled(terms, data), 200)
        assert results[0].features == ("u", "v")
        curve = results[0].binned("u", 6)[:, 1]
        bends.append(curve[[0, -1]].mean() - curve[2:4].mean())
    assert abs(bends[1]) < bends[0] / 3


def test_residuals_are_opened_only_where_they_give_no_column_away():
    rng = np.random.default_rng(3)
    data = {f"x{i}": rng.normal(size=100) for i in range(6)}
    data["y"] = data["x0"] - 3 * data["x4"] + rng.normal(size=100) + 50
    columns = OwnedColumns({"a": ("x0", "x1"), "b": ("x2", "x3"), "c": ("x4", "x5")}, "y", "b")
    model = pooled(columns.terms, data)
    parts = {owner: picked(data, columns.needed(owner)) for owner in columns.owners}
    results, ledgers = open_residuals_columns(parts, columns, model, receivers=["a"])
    assert results[1] is None
    assert np.abs(results[0] - (data["y"] - model.predict(data))).max() <= 1e-5
    assert [o.because for o in ledgers[1].learned()] == [SAME_ROWS, COUNT]
    with pytest.raises(RefusedError, match="synthetic residuals"):
        open_residuals_columns(parts, columns, model, models=2)
    crossing = OwnedColumns(columns.owners, "y", "b", (("x0", "x2"), ("x4", "x3")))
    exact = pooled(crossing.terms, data)
    results, _ = open_residuals_columns(parts, crossing, exact)
    assert np.abs(results[2] - (data["y"] - exact.predict(data))).max() <= 1e-5
    two = OwnedColumns({"a": ("u",), "b": ("v",)}, "y", "b")
    with pytest.raises(RefusedError, match="two owners must not be opened"):
        open_residuals_columns({}, two, pooled(TERMS, bent(100, 1)))


def test_small_groups_and_few_records_are_refused():
    data = bent(120, 3)
    columns = OwnedColumns({"a": ("u",), "b": ("v",)}, "y", "b")
    parts = {"a": picked(data, ["u"]), "b": picked(data, ["v", "y"])}
    model = pooled(TERMS, data)
    with pytest.raises(RefusedError, match="at least 20 records"):
        mine_residuals_columns(parts, columns, model, 10)
    with pytest.raises(RefusedError, match="numbers would be opened"):
        mine_residuals_columns(parts, columns, model, 6, 20)
    with pytest.raises(RefusedError, match="4 groups of 20"):
        mine_residuals_rows(by_rows(data, np.arange(120) % 2), TERMS, model, 50)
    with pytest.raises(InputError, match="of the terms u, v"):
        mine_residuals_rows([], TERMS, pooled(RegressionTerms("y", ("u",)), data))


def test_rows_are_shuffled_by_every_holder(monkeypatch):
    rows = np.arange(40.0).reshape(20, 2)
    got = on_shares(lambda party, x: shuffled(party, x), [rows], [(-2**12, 2**12, 4)])
    assert sorted(got.tolist()) == rows.tolist()
    assert not np.array_equal(got, rows)
    used = []
    real = diagnostics.fresh_words

    def watched(count):
        used.append(count)
        return real(count)

    monkeypatch.setattr(diagnostics, "fresh_words", watched)
    again = on_shares(lambda party, x: shuffled(party, x), [rows], [(-2**12, 2**12, 4)])
    assert used == [20, 20]
    assert not np.array_equal(got, again)


def test_every_number_comes_from_a_group():
    for rows in (40, 59, 60, 1000):
        assert min(map(len, groups_of(np.arange(rows, dtype=float), 20))) >= 20
    x = np.full((60, 1), 3.0)
    x[:, 0] += np.arange(60)
    made, residuals = synthetic(x, x[:, 0], np.zeros(60), 30, 20, generator(seed_from(1)))
    assert made.shape == (30, 1)
    assert np.abs(residuals).max() == 0


def test_residuals_travel_as_json():
    found = Residuals(("u",), (np.array([[1.0, 2.0, 0.5], [3.0, -1.0, 0.0]]),))
    assert Residuals.from_json(found.to_json()).same_as(found)
    assert "u: mean residual" in found.summary()
    with pytest.raises(ModelError, match="threes"):
        Residuals.from_json({**found.to_json(), "points": [[1.0, 2.0]]})
    with pytest.raises(InputError, match="A predictor"):
        found.of("w")
