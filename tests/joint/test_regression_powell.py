"""Powell's search on shares, and why the literal form is weak."""

from __future__ import annotations

import numpy as np
import pytest
from regression_data import boston, far, made, picked

from tacit.errors import InputError
from tacit.joint.errors import RefusedError
from tacit.joint.protocols.regression import powell
from tacit.joint.protocols.regression.central import central
from tacit.joint.protocols.regression.columns import Columns
from tacit.joint.protocols.regression.powell import STEP, WEAK, mine_regression_powell

FOUR = Columns({"a": ("x0", "x1"), "b": ("x2",), "c": ("x3",)}, "y", "c")


def parts_of(columns, data):
    return {owner: picked(data, columns.needed(owner)) for owner in columns.owners}


def test_the_search_finds_least_squares():
    data = made(150, 4, 3, 0.5, 10.0)
    exact = central(FOUR.terms, data)
    models, ledgers = mine_regression_powell(parts_of(FOUR, data), FOUR)
    for model in models:
        assert far(model, exact) <= 1e-7
        assert model.rss == pytest.approx(exact.rss, rel=1e-7)
        assert model.tss == pytest.approx(exact.tss, rel=1e-9)
    assert WEAK not in {o.because for o in ledgers[0].openings}
    assert all(o.shape == (1,) for o in ledgers[0].openings if o.because == STEP)


def test_boston_columns_of_three_owners(shared):
    data = boston(shared)
    columns = Columns({"a": ("CRIM",), "b": ("NOX",), "c": ("LSTAT",)}, "MEDV", "all")
    models, _ = mine_regression_powell(parts_of(columns, data), columns)
    assert far(models[0], central(columns.terms, data)) <= 1e-7


def test_a_start_that_is_best_along_the_first_direction_does_not_get_stuck(monkeypatch):
    """The response does not depend on the first column at all: the first step is nothing."""
    monkeypatch.setattr(powell, "_rotation", np.eye)
    rng = np.random.default_rng(1)
    x = rng.normal(size=(160, 4))
    x = np.linalg.qr(x - x.mean(axis=0))[0] * 12
    x[:, 3] += 0.5 * x[:, 2] + 0.3 * x[:, 0]
    data = {f"x{i}": x[:, i] for i in range(4)}
    data["y"] = x[:, 1] + 2 * x[:, 2] - x[:, 3] + 0.3 * x[:, 0]
    data["y"] = data["y"] - x[:, 0] * (x[:, 0] @ data["y"]) / (x[:, 0] @ x[:, 0])
    data["y"] += 0.01 * rng.normal(size=160)
    data["y"] -= x[:, 0] * (x[:, 0] @ (data["y"] - data["y"].mean())) / (x[:, 0] @ x[:, 0])
    models, _ = mine_regression_powell(parts_of(FOUR, data), FOUR)
    assert far(models[0], central(FOUR.terms, data)) <= 1e-6


def test_the_literal_form_publishes_columns(monkeypatch):
    """With unit vectors as directions, the first sweep opens every column as it is."""
    monkeypatch.setattr(powell, "_rotation", np.eye)
    seen = []
    real = powell._Search._step

    async def watching(self, direction):
        if self.party.name == "a":
            async def reveal(value, **how):
                seen.append(await type(self.party).reveal(self.party, value, **how))
                return seen[-1]

            monkeypatch.setattr(self.party, "reveal", reveal)
        return await real(self, direction)

    monkeypatch.setattr(powell._Search, "_step", watching)
    data = made(150, 4, 6)
    models, ledgers = mine_regression_powell(parts_of(FOUR, data), FOUR, "literal")
    assert far(models[0], central(FOUR.terms, data)) <= 1e-6
    assert WEAK in {o.because for o in ledgers[0].openings}
    foreign = data["x2"] - data["x2"].mean()
    alike = [abs(np.corrcoef(w.ravel(), foreign)[0, 1]) for w in seen if w.size == 150]
    assert max(alike) > 1 - 1e-9


def test_what_protects_nobody_is_refused():
    with pytest.raises(RefusedError, match="three owners or more"):
        mine_regression_powell({}, Columns({"a": ("x0",), "b": ("x1",)}, "y", "a"))
    with pytest.raises(InputError, match="'method'"):
        mine_regression_powell({}, FOUR, "weak")
    data = made(30, 4, 1)
    with pytest.raises(RefusedError, match="could solve them"):
        mine_regression_powell(parts_of(FOUR, data), FOUR)
