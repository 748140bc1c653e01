"""Models in the form of other tools predict what they predict here."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unspoken
from unspoken import mine
from unspoken.errors import ModelError
from unspoken.models.binary_form import binary_form
from unspoken.models.clusters import Clusters
from unspoken.models.handed_on import handed_on
from unspoken.models.linear_model import LinearModel
from unspoken.models.logistic_model import LogisticModel
from unspoken.models.mixed_bayes import MixedBayes, Nominal, Normal

ROWS = {"a": [0.0, 1.5, -2.0, 40.0], "b": [3.0, -1.0, 0.25, 7.5]}
NO_ERRORS = np.zeros(0)
LINEAR = LinearModel("y", ("a", "b"), 1.25, np.array([2.0, -0.5]), 10, NO_ERRORS)
LOGISTIC = LogisticModel("y", ("a", "b"), -1.0, np.array([0.25, 1.0]), 10, NO_ERRORS)
CENTRES = Clusters(("a", "b"), np.array([[0.0, 0.0], [40.0, 8.0]]), scale=np.array([2.0, 0.1]))
NORMAL = MixedBayes("y", ("no", "yes"), np.array([0.25, 0.75]), (
    Normal("a", np.array([0.0, 30.0]), np.array([4.0, 9.0])),
    Normal("b", np.array([1.0, 2.0]), np.array([1.0, 2.0]))))
NOMINAL = MixedBayes("y", ("no", "yes"), np.array([0.5, 0.5]), (
    Nominal("town", ("x", "y", "z"), np.array([[0.5, 0.25, 0.25], [0.125, 0.125, 0.75]])),))
TOWNS = {"town": ["x", "y", "z", "z"]}


@pytest.mark.parametrize(("model", "rows"), [
    (LINEAR, ROWS), (LOGISTIC, ROWS), (CENTRES, ROWS), (NORMAL, ROWS), (NOMINAL, TOWNS)],
    ids=["linear", "logistic", "clusters", "normal bayes", "nominal bayes"])
def test_counterparts_predict_the_same(model, rows):
    form = handed_on(model)
    estimator = form.to_sklearn()
    predicted = estimator.predict(form.matrix(rows))
    assert np.asarray(model.predict(rows)).tolist() == pytest.approx(predicted.tolist()) \
        if model is LINEAR else np.asarray(model.predict(rows)).tolist() == predicted.tolist()
    if hasattr(model, "predict_proba") and model is not LOGISTIC:
        assert np.allclose(estimator.predict_proba(form.matrix(rows)), model.predict_proba(rows))
    assert list(estimator.feature_names_in_) == list(model.features)


def test_probabilities_of_a_logistic_model_are_its_own():
    form = handed_on(LOGISTIC)
    yes = form.to_sklearn().predict_proba(form.matrix(ROWS))[:, 1]
    assert np.allclose(yes, LOGISTIC.predict_proba(ROWS))


def test_what_has_no_counterpart_is_refused_by_name():
    mixed = MixedBayes("y", NOMINAL.classes, NOMINAL.prior, (*NOMINAL.columns, NORMAL.columns[0]))
    with pytest.raises(ModelError, match="no counterpart of MixedBayes"):
        handed_on(mixed)
    with pytest.raises(ModelError, match="no counterpart of Clusters"):
        handed_on(Clusters(("a",), np.array([[1.0]]), learner="other"))


CELLS = st.lists(st.tuples(st.integers(0, 9), st.sampled_from("abcde"), st.booleans()),
                 min_size=6, max_size=30)


@settings(max_examples=15, deadline=None, derandomize=True)
@given(CELLS, st.sampled_from(["two-way", "multiway"]))
def test_a_tree_of_yes_and_no_predicts_what_the_tree_does(cells, categories):
    columns = {"age": [float(cell[0]) for cell in cells], "town": [cell[1] for cell in cells],
               "y": ["yes" if cell[2] else "no" for cell in cells]}
    if len(set(columns["y"])) < 2:
        return
    table = unspoken.read(pa.table(columns), target="y", kinds={"age": "numeric"}, show=False)
    tree = mine.grow(table, {"categories": categories, "max_leaves": 99})
    asked = {"age": [*columns["age"], 4.5, None], "town": [*columns["town"], "never seen", "a"]}
    asked["age"] = [np.nan if value is None else value for value in asked["age"]]
    if tree.nodes == 1:
        return
    form = binary_form(tree)
    assert form.predict(asked).tolist() == tree.predict(asked).tolist()
    estimator = form.to_sklearn()
    assert estimator.predict(form.matrix(asked)).tolist() == tree.predict(asked).tolist()


@pytest.mark.slow
@pytest.mark.parametrize("model", [LINEAR, LOGISTIC, CENTRES, NORMAL],
                         ids=["linear", "logistic", "clusters", "normal bayes"])
def test_onnx_files_predict_the_same(model):
    runtime = pytest.importorskip("onnxruntime")
    form = handed_on(model)
    session = runtime.InferenceSession(form.to_onnx(), providers=["CPUExecutionProvider"])
    out = np.asarray(session.run(None, {"X": form.matrix(ROWS).astype(np.float32)})[0]).ravel()
    expected = np.asarray(model.predict(ROWS))
    if model is LINEAR:
        assert np.abs(out - expected).max() < 1e-4
    else:
        assert out.tolist() == expected.tolist()
