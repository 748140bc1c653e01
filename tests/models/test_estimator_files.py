"""Files of scikit-learn's ensembles: hostile fields, and data that an estimator cannot take."""

from __future__ import annotations

import json
import tracemalloc

import numpy as np
import pytest
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
)
from sklearn.tree import DecisionTreeClassifier

from unspoken import load_model
from unspoken.errors import DataError, ModelError
from unspoken.models.labels import label_array
from unspoken.models.readers import as_pattern

SMALL = {
    "gradient": GradientBoostingClassifier(n_estimators=2, max_depth=2),
    "number": GradientBoostingRegressor(n_estimators=2, max_depth=2),
    "histogram": HistGradientBoostingClassifier(max_iter=2, min_samples_leaf=5),
    "adaboost": AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=2),
    "bagging": BaggingClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=2),
}


ROWS = np.array([[np.nan, 0.0, 0.0], [0.0, 1.0, 2.0]])


@pytest.fixture(scope="module")
def models():
    rng = np.random.default_rng(0)
    data = rng.normal(size=(60, 3))
    labels = (data[:, 1] + data[:, 0] > 0.2).astype(int)
    return {name: as_pattern(each.set_params(random_state=0).fit(data, labels))
            for name, each in SMALL.items()}


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("value", [10**400, -(10**400)], ids=["above", "below"])
def test_a_number_beyond_float64_is_refused_by_its_name(models, name, value):
    for parameter in models[name].params:
        document = models[name].to_json()
        document["params"][parameter] = value
        with pytest.raises(ModelError, match=parameter):
            load_model(json.dumps(document).encode())


def test_long_names_of_classes_are_refused(models):
    document = models["gradient"].to_json()
    document["classes"] = ["x" * 500_000, "y"]
    with pytest.raises(ModelError, match="classes"):
        load_model(json.dumps(document).encode())


def test_many_labels_and_a_long_one_take_no_more_room_than_their_texts():
    classes = ("x" * 9_000, *(f"c{n}" for n in range(20_000)))
    tracemalloc.start()
    labels = label_array(classes)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10_000_000
    assert labels[[0, 5]].tolist() == [classes[0], classes[5]]
    assert label_array(("a", "bc")).dtype == np.dtype("<U2")
    assert label_array((1, 2)).dtype == np.dtype(np.int64)


@pytest.mark.parametrize("name", ["gradient", "number", "adaboost"])
def test_a_missing_value_is_refused_by_its_column(models, name):
    model = models[name]
    with pytest.raises(DataError, match="column 'x0' has missing values"):
        model.predict(ROWS)
    named = model.with_categories({"x2": (("red",), ("blue",))})
    with pytest.raises(DataError, match="column 'x2' has missing values, or categories"):
        named.predict({"x0": [1.0], "x1": [0.0], "x2": ["green"]})


@pytest.mark.parametrize("name", ["histogram", "bagging"])
def test_missing_values_are_taken_where_the_estimator_takes_them(models, name):
    assert models[name].predict(ROWS).shape == (2,)


@pytest.mark.parametrize("name", SMALL)
def test_no_records_have_no_predictions(models, name):
    model = models[name]
    nothing = model.predict(np.zeros((0, 3)))
    assert nothing.shape == (0,)
    assert nothing.dtype == model.predict(np.zeros((1, 3))).dtype
    if model.classes:
        assert model.predict_proba(np.zeros((0, 3))).shape == (0, 2)


@pytest.mark.parametrize("name", SMALL)
def test_a_file_without_features_is_refused(models, name):
    document = {**models[name].to_json(), "features": []}
    with pytest.raises(ModelError, match="features"):
        load_model(json.dumps(document).encode())


@pytest.mark.slow
@pytest.mark.parametrize("strange", [256.0, 0.5, -1.0, 7.0, np.inf])
def test_a_number_that_is_no_category_counts_as_missing(strange):
    rng = np.random.default_rng(1)
    data = np.column_stack([rng.integers(0, 4, 80), rng.normal(size=80)]).astype(float)
    labels = (data[:, 0] % 2 == 0).astype(int)
    estimator = HistGradientBoostingClassifier(max_iter=3, categorical_features=[0],
                                               min_samples_leaf=5).fit(data, labels)
    changed, missing = data.copy(), data.copy()
    changed[:, 0], missing[:, 0] = strange, np.nan
    wanted = estimator.predict_proba(missing)
    assert np.array_equal(as_pattern(estimator).predict_proba(changed), wanted)
