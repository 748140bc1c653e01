"""verify: identical, or the first difference in words, for every supported kind of model."""

from __future__ import annotations

import copy
import json

import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.tree import DecisionTreeClassifier

from unspoken.errors import ModelError
from unspoken.models.readers import as_model
from unspoken.models.tree import Tree
from unspoken.models.verify import verify

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 3))
Y = RNG.integers(0, 3, 300)
LGB = {"verbose": -1, "num_threads": 1, "num_leaves": 6}
ESTIMATORS = [
    DecisionTreeClassifier(random_state=0),
    RandomForestClassifier(3, random_state=0),
    GradientBoostingClassifier(n_estimators=3, random_state=0),
    GradientBoostingRegressor(n_estimators=3, random_state=0),
    HistGradientBoostingClassifier(max_iter=3, random_state=0),
]


@pytest.mark.slow
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_an_estimator_equals_its_copy_and_not_one_of_other_rows(estimator):
    first = copy.deepcopy(estimator).fit(X, Y)
    assert verify(first, copy.deepcopy(first))
    assert not verify(first, copy.deepcopy(estimator).fit(X[:-1], Y[:-1]))


@pytest.mark.parametrize("estimator", ESTIMATORS[:4], ids=lambda e: type(e).__name__)
def test_classes_and_names(estimator):
    first = copy.deepcopy(estimator).fit(X, Y)
    other = copy.deepcopy(first)
    other.feature_names_in_ = np.array(["a", "b", "c"], dtype=object)
    assert "feature name 0: 'x0' and 'a'" in verify(first, other).difference
    if hasattr(first, "classes_"):
        other.classes_ = np.array(["p", "q", "r"])
        assert verify(first, other).difference == "class 0: 0 and 'p'"


def test_words_for_a_threshold_and_a_value():
    first = DecisionTreeClassifier(random_state=0).fit(X, Y)
    other = copy.deepcopy(first)
    before = float(first.tree_.threshold[0])
    other.tree_.threshold[0] = np.nextafter(before, 9)
    assert verify(first, other).difference == (
        f"tree, node 0: threshold {before} and {np.nextafter(before, 9)}"
    )
    other = copy.deepcopy(first)
    other.tree_.value[0, 0, 1] = -1.0
    assert verify(first, other).difference.startswith("tree, node 0: value[0, 1] ")
    assert str(verify(first, other)).startswith("different: ")
    assert str(verify(first, first)) == "identical"


def test_words_for_a_forest():
    first = RandomForestClassifier(3, random_state=0).fit(X, Y)
    other = copy.deepcopy(first)
    other.estimators_[2].tree_.threshold[0] += 1
    assert verify(first, other).difference.startswith("tree 2, node 0: threshold")
    assert verify(first, RandomForestClassifier(2, random_state=0).fit(X, Y)).difference == (
        "number of trees: 3 and 2"
    )


@pytest.mark.slow
def test_words_for_histogram_boosting():
    first = HistGradientBoostingClassifier(max_iter=2).fit(X, Y)
    other = copy.deepcopy(first)
    other._bin_mapper.bin_thresholds_[1][4] += 1
    assert verify(first, other).difference.startswith("feature 1, bin 4: edge")
    other = copy.deepcopy(first)
    other._predictors[1][2].nodes["value"][1] += 1
    assert verify(first, other).difference.startswith("tree 5, node 1: value")
    other = copy.deepcopy(first)
    other._baseline_prediction = other._baseline_prediction + 1
    assert verify(first, other).difference.startswith("output 0: start")


def test_words_for_xgboost():
    booster = xgb.train({"nthread": 1, "max_depth": 3}, xgb.DMatrix(X, Y), 2)
    document = json.loads(booster.save_raw("json"))
    assert verify(booster, document)
    tree = document["learner"]["gradient_booster"]["model"]["trees"][1]
    tree["split_conditions"][0] = 0.5
    assert verify(booster, document).difference.startswith("tree 1, node 0: condition")
    document = json.loads(booster.save_raw("json"))
    document["learner"]["learner_model_param"]["base_score"] = "[9E0]"
    assert "base_score" in verify(booster, document).difference


def test_the_two_zeros_are_one_threshold():
    booster = xgb.train({"nthread": 1, "max_depth": 1}, xgb.DMatrix(X, Y), 1)
    first, second = (json.loads(booster.save_raw("json")) for _ in range(2))
    for document, zero in ((first, 0.0), (second, -0.0)):
        document["learner"]["gradient_booster"]["model"]["trees"][0]["split_conditions"][0] = zero
    assert verify(first, second)


def test_words_for_lightgbm():
    booster = lgb.train(LGB, lgb.Dataset(X, Y), 2)
    text = booster.model_to_string()
    assert verify(booster, text)
    line = next(part for part in text.split("\n") if part.startswith("threshold="))
    words = line[10:].split(" ")
    other = text.replace(line, "threshold=" + " ".join(["5", *words[1:]]), 1)
    assert verify(booster, other).difference == f"tree 0, node 0: threshold {words[0]} and 5"


def test_kinds():
    model = DecisionTreeClassifier().fit(X, Y)
    found = verify(model, Tree.from_sklearn(model))
    assert found.difference == "kind: DecisionTreeClassifier and Tree"
    with pytest.raises(ModelError, match="the model"):
        verify(model, 3)


@pytest.mark.slow
def test_decoded_files_load_and_predict_in_their_library(tmp_path):
    booster = xgb.train({"nthread": 1, "max_depth": 3}, xgb.DMatrix(X, Y), 2)
    model = as_model(booster)
    model.save(tmp_path / "model.json")
    loaded = xgb.Booster(model_file=str(tmp_path / "model.json"))
    assert np.array_equal(loaded.predict(xgb.DMatrix(X)), booster.predict(xgb.DMatrix(X)))
    assert np.array_equal(model.predict(X), booster.predict(xgb.DMatrix(X)))
    light = lgb.train(LGB, lgb.Dataset(X, Y), 2)
    model = as_model(light)
    model.save(tmp_path / "model.txt")
    loaded = lgb.Booster(model_file=str(tmp_path / "model.txt"))
    assert np.array_equal(loaded.predict(X), light.predict(X))
    assert np.array_equal(model.predict(X), light.predict(X))
