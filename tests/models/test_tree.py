"""Tree and Forest: predictions of scikit-learn to the last bit, JSON there and back."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from unspoken.errors import DataError, ModelError
from unspoken.models.forest import Forest
from unspoken.models.readers import read_model
from unspoken.models.tree import Tree

seeds = st.integers(0, 2**32 - 1)


def table(seed, missing=True):
    rng = np.random.default_rng(seed)
    X = np.column_stack([
        rng.normal(size=120) * 10.0 ** int(rng.integers(-3, 9)),
        rng.integers(0, 5, 120),
        rng.random(120).round(1),
    ])
    if missing:
        X[rng.random(X.shape) < 0.1] = np.nan
    return X, rng.integers(0, 3, 120), rng.normal(size=120)


@pytest.mark.slow
@given(seeds)
@settings(max_examples=25)
def test_a_tree_predicts_as_scikit_learn_does(seed):
    X, labels, numbers = table(seed)
    unseen = table(seed + 1)[0]
    classifier = DecisionTreeClassifier(random_state=0).fit(X, labels)
    tree = Tree.from_sklearn(classifier)
    assert np.array_equal(tree.predict_proba(unseen), classifier.predict_proba(unseen))
    assert np.array_equal(tree.predict(unseen), classifier.predict(unseen))
    assert np.array_equal(tree.apply(unseen), classifier.apply(unseen))
    regressor = DecisionTreeRegressor(random_state=0).fit(X, numbers)
    predicted = Tree.from_sklearn(regressor).predict(unseen)
    assert np.array_equal(predicted, regressor.predict(unseen))


@pytest.mark.slow
@given(seeds)
@settings(max_examples=10)
def test_a_forest_predicts_as_scikit_learn_does(seed):
    X, labels, numbers = table(seed)
    unseen = table(seed + 1)[0]
    classifier = RandomForestClassifier(7, random_state=0, n_jobs=1).fit(X, labels)
    forest = Forest.from_sklearn(classifier)
    assert np.array_equal(forest.predict_proba(unseen), classifier.predict_proba(unseen))
    assert np.array_equal(forest.predict(unseen), classifier.predict(unseen))
    regressor = RandomForestRegressor(7, random_state=0, n_jobs=1).fit(X, numbers)
    predicted = Forest.from_sklearn(regressor).predict(unseen)
    assert np.array_equal(predicted, regressor.predict(unseen))


def test_float32_values_are_compared_in_float64():
    """The trap of numpy 2: a float32 array against a Python float is compared in float32."""
    low, high = np.float32(1), np.nextafter(np.float32(1), np.float32(2))
    threshold = float(low) / 2 + float(high) / 2
    assert np.float32(threshold) == low
    model = DecisionTreeClassifier().fit([[-5.0], [5.0]], [0, 1])
    tree = Tree.from_sklearn(model)
    shifted = Tree(**{**vars_of(tree), "threshold": np.array([threshold, 0.0, 0.0])})
    assert shifted.predict([[low], [high]]).tolist() == [0, 1]


def vars_of(tree):
    return {name: getattr(tree, name) for name in Tree.__dataclass_fields__}


def test_values_are_rounded_to_float32_first():
    model = DecisionTreeClassifier().fit([[2.0**24], [2.0**24 + 2]], [0, 1])
    tree = Tree.from_sklearn(model)
    near = [[2.0**24 + 1.0]]
    assert tree.predict(near).tolist() == model.predict(near).tolist()


@pytest.mark.slow
@given(seeds)
@settings(max_examples=15)
def test_json_there_and_back(seed):
    X, labels, numbers = table(seed)
    for model in (DecisionTreeClassifier(random_state=1).fit(X, labels),
                  DecisionTreeRegressor(random_state=1).fit(X, numbers)):
        tree = Tree.from_sklearn(model)
        text = json.dumps(tree.to_json(), allow_nan=False)
        assert tree.same_as(Tree.load(text))
    forest = Forest.from_sklearn(RandomForestClassifier(3, random_state=1).fit(X, labels))
    again = Forest.from_json(json.loads(json.dumps(forest.to_json(), allow_nan=False)))
    assert forest.same_as(again)
    assert again.bootstrap == forest.bootstrap


def test_an_infinite_threshold_is_written_as_text():
    X = np.array([[1.0], [2.0], [np.nan], [np.nan]])
    tree = Tree.from_sklearn(DecisionTreeClassifier(random_state=0).fit(X, [0, 0, 1, 1]))
    assert tree.threshold[0] == np.inf
    assert tree.to_json()["threshold"][0] == "inf"
    assert tree.same_as(Tree.from_json(tree.to_json()))
    assert tree.predict([[5.0], [np.nan]]).tolist() == [0, 1]


def test_files(tmp_path):
    X, y = load_iris(return_X_y=True, as_frame=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    tree = Tree.from_sklearn(DecisionTreeClassifier(random_state=0).fit(X, names))
    tree.save(tmp_path / "tree.json")
    again = read_model(tmp_path / "tree.json")
    assert tree.same_as(again)
    assert again.classes == ("setosa", "versicolor", "virginica")
    assert again.features[0] == "sepal length (cm)"
    assert again.predict(X.to_numpy()).tolist() == names.tolist()
    forest = Forest.from_sklearn(RandomForestRegressor(2, random_state=0).fit(X, y))
    forest.save(tmp_path / "forest.json")
    assert forest.same_as(Forest.load(str(tmp_path / "forest.json")))


def test_class_labels_keep_their_type():
    X = [[0.0], [1.0], [2.0]]
    for labels in (["a", "b", "c"], [3, 5, 7], [1.0, 2.0, 4.0], [True, False, True]):
        tree = Tree.from_sklearn(DecisionTreeClassifier().fit(X, labels))
        again = Tree.from_json(json.loads(json.dumps(tree.to_json())))
        assert again.same_as(tree)
        assert again.predict(X).tolist() == labels


def test_the_first_difference_in_words():
    X, y = load_iris(return_X_y=True)
    tree = Tree.from_sklearn(DecisionTreeClassifier(random_state=0).fit(X, y))
    assert tree.same_as(tree)
    assert tree.same_as(tree).difference is None
    moved = tree.threshold.copy()
    moved[2] += 1
    other = Tree(**{**vars_of(tree), "threshold": moved})
    found = tree.same_as(other)
    assert not found
    assert found.difference == f"node 2: threshold {tree.threshold[2]} and {moved[2]}"
    stump = Tree.from_sklearn(DecisionTreeClassifier(max_depth=1).fit(X, y))
    assert tree.same_as(stump).difference == f"number of nodes: {tree.nodes} and 3"
    renamed = Tree(**{**vars_of(tree), "classes": ("a", "b", "c")})
    assert tree.same_as(renamed).difference == "class 0: 0 and 'a'"
    assert tree.same_as(3).difference == "kind: Tree and int"


def test_summaries():
    X, y = load_iris(return_X_y=True)
    text = Tree.from_sklearn(DecisionTreeClassifier(random_state=0).fit(X, y)).summary()
    assert text.startswith("classification tree: 17 nodes, 9 leaves, depth 5, 150 rows")
    assert "classes: 0, 1, 2" in text
    assert text.splitlines()[2] == "  x3 <= 0.800000012 -> 0, 100.0% of 50 rows"
    assert text.splitlines()[3] == "  x3 > 0.800000012 or missing"
    assert text.splitlines()[4] == "    x3 <= 1.75 or missing"
    text = Forest.from_sklearn(RandomForestRegressor(3, random_state=0).fit(X, y)).summary()
    assert text.startswith("regression forest: 3 trees, 150 rows drawn for each")


def test_data_that_cannot_be_predicted():
    tree = Tree.from_sklearn(DecisionTreeRegressor().fit([[0.0], [1.0]], [0.0, 1.0]))
    with pytest.raises(DataError, match="shape"):
        tree.predict([[1.0, 2.0]])
    with pytest.raises(DataError, match="infinite"):
        tree.predict([[1e39]])
    with pytest.raises(ModelError, match="regression tree"):
        tree.predict_proba([[1.0]])


def test_several_outputs_are_refused():
    model = DecisionTreeRegressor().fit([[0.0], [1.0]], [[0.0, 1.0], [1.0, 0.0]])
    with pytest.raises(ModelError, match="outputs"):
        Tree.from_sklearn(model)
