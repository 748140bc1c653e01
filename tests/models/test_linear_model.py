"""The pattern LinearModel: what follows from it, and its way through JSON."""

from __future__ import annotations

import numpy as np
import pytest

from unspoken.errors import DataError, InputError, ModelError
from unspoken.models.linear_model import LinearModel, Smaller
from unspoken.numerics.least_squares import mallows_cp, solve


def model(**changes):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(50, 2))
    found = solve(x, x @ [1.0, -2.0] + rng.normal(size=50))
    fields = {"response": "y", "features": ("a", "b"), "intercept": found.intercept,
              "coefficients": found.coefficients, "records": 50, "errors": found.errors,
              "rss": found.rss, "tss": found.tss, "smaller": (Smaller(("a",), found.rss + 40.0),)}
    return LinearModel(**{**fields, **changes})


def test_it_travels_bit_for_bit(tmp_path):
    found = model()
    found.save(tmp_path / "m.json")
    again = LinearModel.load(tmp_path / "m.json")
    assert again.same_as(found)
    bare = model(errors=np.zeros(0), rss=float("nan"), tss=float("nan"), smaller=())
    assert np.isnan(LinearModel.from_json(bare.to_json()).rss)


@pytest.mark.parametrize(("change", "why"), [
    ({"parameters": [1.0]}, "parameters"), ({"errors": [1.0]}, "errors"),
    ({"sums": [1.0]}, "sums"), ({"records": -1}, "records"), ({"features": ["a", 3]}, "features"),
    ({"format": "unspoken-tree"}, "format"), ({"version": 9}, "version"),
    ({"smaller": [{"features": ["z"], "rss": [1.0]}]}, "smaller"), ({"ridge": ["x"]}, "ridge")])
def test_what_is_malformed_is_refused_by_field(change, why):
    with pytest.raises(ModelError, match=why):
        LinearModel.from_json({**model().to_json(), **change})


def test_differences_are_named():
    found = model()
    assert "parameter 0" in found.same_as(model(intercept=found.intercept + 1e-9)).difference
    assert "feature 1" in found.same_as(model(features=("a", "c"))).difference
    assert "kind" in found.same_as(3).difference


def test_predictions_by_name_with_products():
    found = model(features=("a", "a*b"), smaller=())
    data = {"a": np.array([1.0, 2.0]), "b": np.array([3.0, 5.0])}
    wanted = found.intercept + found.coefficients[0] * data["a"] + found.coefficients[1] * np.array(
        [3.0, 10.0])
    assert np.allclose(found.predict(data), wanted)
    assert np.allclose(found.predict(np.column_stack([data["a"], data["a"] * data["b"]])), wanted)
    with pytest.raises(DataError, match="column 'b'"):
        found.predict({"a": data["a"]})
    with pytest.raises(DataError, match="of shape"):
        found.predict(np.ones((2, 3)))


def test_the_largest_model_has_a_cp_of_its_parameters():
    assert mallows_cp(12.5, 4, 12.5, 4, 100) == pytest.approx(5.0)


def test_what_was_not_opened_cannot_be_asked_for():
    found = model()
    assert found.nested(["a"]).degrees == (1, 47)
    with pytest.raises(InputError, match="Name it in Rules"):
        found.nested(["b"])
    with pytest.raises(InputError, match="'level'"):
        found.intervals(1.0)
    assert "R-square" in found.summary()
    assert "R-square" not in model(rss=float("nan"), errors=np.zeros(0)).summary()
