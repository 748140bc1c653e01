"""MixedBayes: predictions, JSON that comes back bit for bit, and hostile input."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from unspoken.errors import DataError, ModelError
from unspoken.models.mixed_bayes import MixedBayes, Nominal, Normal


def model(**changes):
    parts = {"target": "y", "classes": ("n", "p"), "prior": np.array([0.25, 0.75]), "columns": (
        Nominal("a", ("x", None), np.array([[0.9, 0.1], [0.5, 0.5]])),
        Normal("h", np.array([0.0, 3.0]), np.array([1.0, 4.0]))), "records": 8}
    return MixedBayes(**{**parts, **changes})


def test_scores_are_prior_times_shares_times_densities():
    found = model().log_joint({"a": ["x", None, "new"], "h": [1.0, 2.0, np.nan]})
    density = stats.norm([0.0, 3.0], [1.0, 2.0]).pdf
    wanted = np.array([[0.25, 0.75] * np.array([0.9, 0.5]) * density(1.0),
                       [0.25, 0.75] * np.array([0.1, 0.5]) * density(2.0), [0.25, 0.75]])
    np.testing.assert_allclose(np.exp(found), wanted, rtol=1e-12)
    shares = model().predict_proba({"a": ["x"], "h": [1.0]})
    np.testing.assert_allclose(shares[0], wanted[0] / wanted[0].sum())
    assert model().predict({"a": ["x", None], "h": [0.0, 3.0]}).tolist() == ["n", "p"]


def test_json_comes_back_bit_for_bit(tmp_path):
    found = model(prior=np.array([1 / 3, 2 / 3]))
    found.save(tmp_path / "model.json")
    assert found.same_as(MixedBayes.load(tmp_path / "model.json"))
    assert "differ by 0.400" in found.summary()
    assert "p 3 ± 2" in found.summary()


@pytest.mark.parametrize(("change", "why"), [
    ({"prior": np.array([0.5, 0.5])}, "prior"), ({"target": "z"}, "target"),
    ({"classes": ("n", "q")}, "class 1"), ({"columns": ()}, "column"),
    ({"columns": (model().columns[0], Normal("h", np.zeros(2), np.ones(2)))}, "mean"),
    ({"columns": (Normal("a", np.zeros(2), np.ones(2)), model().columns[1])}, "kind of a"),
    ({"columns": (Nominal("a", ("x", "y"), model().columns[0].shares), model().columns[1])},
     "value of a 1")])
def test_differences_are_named(change, why):
    assert why in model().same_as(model(**change)).difference
    assert "kind" in model().same_as(3).difference


@pytest.mark.parametrize(("change", "why"), [
    ({"prior": [0.5]}, "prior"), ({"prior": [0.5, 0.6]}, "prior"), ({"classes": ["n"]}, "columns"),
    ({"format": "unspoken-tree"}, "format"), ({"version": 9}, "version"), ({"records": -1},
                                                                           "records"),
    ({"columns": [{"name": "a", "values": ["x"], "shares": [1.0]}]}, "shares"),
    ({"columns": [{"name": "a", "values": ["x"], "shares": [1.0, 0.5]}]}, "shares of a"),
    ({"columns": [{"name": "a", "values": [3], "shares": [1.0, 1.0]}]}, "values"),
    ({"columns": [{"name": "a", "values": [], "shares": []}]}, "values"),
    ({"columns": [{"name": "h", "means": [0.0, 1.0], "variances": [1.0, -1.0]}]}, "variances"),
    ({"columns": [{"name": "h", "means": [0.0], "variances": [1.0]}]}, "means"), ({"columns": [3]},
                                                                                "columns")])
def test_what_is_malformed_is_refused_by_field(change, why):
    with pytest.raises(ModelError, match=why):
        MixedBayes.from_json({**model().to_json(), **change})


def test_a_missing_column_is_named():
    with pytest.raises(DataError, match="column 'h'"):
        model().predict({"a": ["x"]})
