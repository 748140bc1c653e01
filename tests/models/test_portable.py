"""What comes back lives on: files both ways, estimators, SHAP, partial dependence, ONNX."""

import json
import warnings

import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.inspection import partial_dependence
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import unspoken
from unspoken.errors import ModelError
from unspoken.models.load_model import load_model
from unspoken.models.readers import as_model, as_pattern

RNG = np.random.default_rng(3)
NAMES = ["age", "income", "debt", "years"]
ROWS = RNG.normal(size=(150, 4)).astype(np.float32).astype(float)
NUMBER = ROWS[:, 0] * 2 + RNG.normal(size=150)
TWO = np.where(NUMBER > 0, "yes", "no")
THREE = np.where(ROWS[:, 1] > 0.8, "maybe", TWO)
FRAME = pd.DataFrame(ROWS, columns=NAMES)
LGB = {"n_estimators": 3, "verbose": -1, "n_jobs": 1}

ESTIMATORS = {
    "tree": (DecisionTreeClassifier(max_depth=4), THREE),
    "tree of numbers": (DecisionTreeRegressor(max_depth=4), NUMBER),
    "forest": (RandomForestClassifier(4, random_state=0), THREE),
    "forest of numbers": (RandomForestRegressor(4, random_state=0), NUMBER),
    "gradient": (GradientBoostingClassifier(n_estimators=4), TWO),
    "gradient, three": (GradientBoostingClassifier(n_estimators=3), THREE),
    "gradient of numbers": (GradientBoostingRegressor(n_estimators=4, loss="huber"), NUMBER),
    "gradient from zero": (GradientBoostingRegressor(n_estimators=4, init="zero"), NUMBER),
    "histogram": (HistGradientBoostingClassifier(max_iter=4), TWO),
    "histogram, three": (HistGradientBoostingClassifier(max_iter=3), THREE),
    "histogram of numbers": (HistGradientBoostingRegressor(max_iter=4), NUMBER),
    "adaboost": (AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=4), THREE),
    "bagging": (BaggingClassifier(n_estimators=4, max_features=2, random_state=0), THREE),
    "bagging of numbers": (BaggingRegressor(n_estimators=4, random_state=0), NUMBER),
    "xgboost": (xgboost.XGBClassifier(n_estimators=3, n_jobs=1), (TWO == "yes").astype(int)),
    "xgboost of numbers": (xgboost.XGBRegressor(n_estimators=3, n_jobs=1), NUMBER),
    "lightgbm": (lightgbm.LGBMClassifier(**LGB), THREE),
    "lightgbm of numbers": (lightgbm.LGBMRegressor(**LGB), NUMBER),
}
EXPLAINED = [name for name in ESTIMATORS if name not in (
    "adaboost", "bagging", "bagging of numbers", "gradient, three", "gradient from zero")]
"""What SHAP's TreeExplainer takes of scikit-learn."""


@pytest.fixture(scope="module")
def fitted():
    return {name: estimator.fit(FRAME, target)
            for name, (estimator, target) in ESTIMATORS.items()}


def loaded(estimator):
    """Return a fitted estimator after its way through a file."""
    model = as_pattern(as_model(estimator))
    if model.kind == "LightGBMModel":
        model = model.with_classes(tuple(getattr(estimator, "classes_", [])))
        return load_model(model.text.encode())
    return load_model(json.dumps(model.to_json(), allow_nan=False).encode())


@pytest.mark.slow
@pytest.mark.parametrize("name", ESTIMATORS)
def test_an_estimator_comes_back_from_its_file(name, fitted):
    estimator, model = fitted[name], loaded(fitted[name])
    rebuilt = model.to_sklearn()
    assert type(rebuilt) is type(estimator)
    assert list(rebuilt.feature_names_in_) == NAMES
    assert unspoken.verify(estimator, rebuilt)
    assert np.array_equal(rebuilt.predict(FRAME), estimator.predict(FRAME))
    if hasattr(estimator, "predict_proba"):
        assert np.array_equal(rebuilt.predict_proba(FRAME), estimator.predict_proba(FRAME))
        assert rebuilt.classes_.tolist() == estimator.classes_.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("name", ESTIMATORS)
def test_columns_are_found_by_name(name, fitted):
    model = loaded(fitted[name])
    turned = FRAME[NAMES[::-1]].assign(other=1.0)
    assert np.array_equal(model.predict(turned), model.predict(ROWS))
    assert np.array_equal(model.matrix(turned), ROWS)


@pytest.mark.slow
@pytest.mark.parametrize("name", ESTIMATORS)
def test_partial_dependence_is_the_estimators_own(name, fitted):
    rebuilt = loaded(fitted[name]).to_sklearn()
    mine, theirs = (partial_dependence(model, FRAME, [0])["average"]
                    for model in (rebuilt, fitted[name]))
    assert np.array_equal(mine, theirs)


@pytest.mark.slow
@pytest.mark.parametrize("name", EXPLAINED)
def test_shap_explains_what_comes_back(name, fitted):
    shap = pytest.importorskip("shap")
    model = loaded(fitted[name])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mine = shap.TreeExplainer(model.to_sklearn()).shap_values(model.matrix(FRAME))
        theirs = shap.TreeExplainer(fitted[name]).shap_values(ROWS)
    assert np.array_equal(np.asarray(mine), np.asarray(theirs))


@pytest.mark.slow
@pytest.mark.parametrize("name", ESTIMATORS)
def test_onnx_predicts_the_same(name, fitted):
    """Classes are equal; float32 sums may move the last digits of numbers and probabilities."""
    runtime = pytest.importorskip("onnxruntime")
    model = loaded(fitted[name])
    options = runtime.SessionOptions()
    options.log_severity_level = 3
    session = runtime.InferenceSession(model.to_onnx(), options,
                                       providers=["CPUExecutionProvider"])
    out = session.run(None, {"X": model.matrix(FRAME).astype(np.float32)})
    expected = fitted[name].predict(FRAME)
    if model.task == "regression":
        assert np.abs(out[0].ravel() - expected).max() < 2e-6
        return
    assert np.array_equal(np.asarray(out[0]), expected)
    assert np.abs(np.asarray(out[1]) - fitted[name].predict_proba(FRAME)).max() < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tree", "forest", "bagging", "histogram"])
def test_onnx_sends_missing_values_where_the_model_does(name):
    runtime = pytest.importorskip("onnxruntime")
    holes = ROWS.copy()
    holes[RNG.random(holes.shape) < 0.2] = np.nan
    estimator = ESTIMATORS[name][0].__class__(random_state=0).fit(holes, TWO)
    session = runtime.InferenceSession(loaded(estimator).to_onnx(),
                                       providers=["CPUExecutionProvider"])
    out = session.run(None, {"X": holes.astype(np.float32)})
    assert np.array_equal(np.asarray(out[0]), estimator.predict(holes))


@pytest.mark.slow
def test_sets_of_categories_have_no_onnx():
    frame = pd.DataFrame({"colour": pd.Categorical(RNG.choice(["blue", "green", "red"], 150))})
    model = HistGradientBoostingClassifier(max_iter=2).fit(frame, frame["colour"] == "red")
    pattern = as_pattern(model)
    assert pattern.categories == {"colour": (("blue",), ("green",), ("red",))}
    assert np.array_equal(pattern.predict(frame), model.predict(frame))
    with pytest.raises(ModelError, match="sets of categories"):
        pattern.to_onnx()


def test_what_a_converter_refuses_is_said_in_our_words(monkeypatch):
    def refuses(estimator, features):
        raise RuntimeError("no such operator")

    monkeypatch.setattr("unspoken.models.onnx_export._plain", refuses)
    pattern = as_pattern(DecisionTreeClassifier(max_depth=1).fit(ROWS, TWO))
    with pytest.raises(ModelError, match="cannot write DecisionTreeClassifier: no such operator"):
        pattern.to_onnx()


def test_what_no_file_can_hold_is_refused():
    start = DecisionTreeRegressor(max_depth=1)
    model = GradientBoostingRegressor(n_estimators=2, init=start).fit(ROWS, NUMBER)
    with pytest.raises(ModelError, match="init"):
        as_pattern(model)
    twice = BaggingClassifier(n_estimators=2, bootstrap_features=True, random_state=0)
    with pytest.raises(ModelError, match="bootstrap_features"):
        as_pattern(twice.fit(ROWS, TWO))
