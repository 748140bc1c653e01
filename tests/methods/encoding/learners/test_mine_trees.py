"""Mining: the library's own model, in the manifest's order, with everything pinned recorded."""

import json
import sys

import numpy as np
import pytest
import xgboost
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import unspoken
from unspoken.errors import (
    DataError,
    InputError,
    MissingExtraError,
    ModelError,
    NotCoveredError,
    SchemaError,
)
from unspoken.methods.encoding.learners.mine_trees import task_of
from unspoken.mine import LEARNERS, Recipe
from unspoken.models.readers import read_model
from unspoken.protect import PiecewiseEncoder


@pytest.fixture(scope="module")
def raw():
    bunch = load_breast_cancer()
    return bunch.data[:, :6], np.array(["malignant", "benign"])[bunch.target]


@pytest.fixture(scope="module")
def table(raw):
    data, labels = raw
    return unspoken.read({**{f"m{i}": data[:, i] for i in range(6)}, "y": labels}, target="y")


@pytest.fixture(scope="module")
def release(table):
    return PiecewiseEncoder(keep_zero=True, random_state=1).protect(table)[0]


def test_tree_is_scikit_learns_own(table, raw):
    data, labels = raw
    fitted = DecisionTreeClassifier(max_depth=4, random_state=0).fit(data, labels)
    fitted.feature_names_in_ = np.array([f"m{i}" for i in range(6)], dtype=object)
    assert unspoken.mine.tree(table, max_depth=4).same_as(unspoken.Tree.from_sklearn(fitted))


def test_forest_is_scikit_learns_own(table, raw):
    data, labels = raw
    fitted = RandomForestClassifier(5, random_state=3).fit(data, labels)
    fitted.feature_names_in_ = np.array([f"m{i}" for i in range(6)], dtype=object)
    mined = unspoken.mine.forest(table, n_estimators=5, random_state=3)
    assert mined.same_as(unspoken.Forest.from_sklearn(fitted))


def test_regression_follows_the_target():
    data, response = load_diabetes(return_X_y=True)
    source = {**{f"m{i}": data[:, i] for i in range(4)}, "y": response + 0.5}
    mined = unspoken.mine.fit(unspoken.read(source, target="y"), max_depth=3)
    assert isinstance(mined.estimator, DecisionTreeRegressor)
    assert mined.recipe.task == mined.model.task == "regression"


@pytest.mark.parametrize(("labels", "task"), [
    (["a", "b"], "classification"), ([0, 1, 1], "classification"),
    ([0.0, 1.0], "classification"), ([0.5, 1.0], "regression"),
    (list(range(101)), "regression"), ([True, False], "classification"),
])
def test_task_of(labels, task):
    assert task_of(np.array(labels)) == task


def test_the_seed_is_pinned_and_recorded(release):
    recipe = unspoken.mine.fit(release).recipe
    assert recipe.params["random_state"] == 0
    assert recipe.release == release.fingerprint
    assert recipe.columns == tuple(f"m{i}" for i in range(6))
    assert "scikit-learn" in recipe.versions
    with pytest.raises(InputError, match="random_state"):
        unspoken.mine.tree(release, random_state=None)


def test_what_the_guarantee_does_not_cover_is_refused(table):
    release, _ = PiecewiseEncoder(mode="anti", random_state=1).protect(table)
    reason = release.guarantee.covers(DecisionTreeClassifier(random_state=0)).reason
    with pytest.raises(NotCoveredError, match="anyway=True") as error:
        unspoken.mine.tree(release)
    assert reason in str(error.value)
    with pytest.warns(UserWarning, match="without a promise"):
        mined = unspoken.mine.fit(release, anyway=True)
    assert not mined.verdict
    assert mined.model.nodes > 1


def test_random_splits_are_refused(release):
    with pytest.raises(NotCoveredError):
        unspoken.mine.tree(release, splitter="random")


def test_a_table_has_no_guarantee_to_ask(table):
    assert unspoken.mine.fit(table).verdict is None


def test_categories_are_mined_by_number(raw):
    data, labels = raw
    source = {"m0": data[:, 0], "town": ["x", "y", "z"] * 189 + ["x", "x"], "y": labels}
    table = unspoken.read(source, target="y")
    mined = unspoken.mine.fit(table)
    assert mined.recipe.left_out == ()
    assert mined.model.features == ("m0", "town")
    assert mined.model.categories == {"town": (("x",), ("y",), ("z",))}
    assert "town in {x" in mined.model.to_text()
    with pytest.raises(SchemaError, match="numeric"):
        unspoken.mine.tree(unspoken.read({"name": ["a"], "y": [1]}, target="y",
                                         identifiers="name"))


@pytest.mark.parametrize(("learner", "params", "words"), [
    ("stump", {}, "one of tree, forest"), ("tree", {"depth": 3}, "depth"),
    ("tree", {"max_depth": -1}, "max_depth"), ("tree", {"task": "guess"}, "one of classif"),
])
def test_bad_requests_are_refused(table, learner, params, words):
    with pytest.raises(InputError, match=words):
        unspoken.mine.fit(table, learner, **params)


def test_a_target_with_holes_is_refused():
    table = unspoken.read({"m": [1.0, 2.0, 3.0], "y": ["a", None, "b"]}, target="y")
    with pytest.raises(DataError, match="every row"):
        unspoken.mine.tree(table)


@pytest.mark.slow
@pytest.mark.parametrize("learner", LEARNERS)
def test_saved_models_read_back(release, learner, tmp_path):
    rounds = {"tree": {}, "c45": {}, "histogram": {"max_iter": 4}}
    mined = unspoken.mine.fit(release, learner, **rounds.get(learner, {"n_estimators": 4}))
    mined.save(tmp_path / "model.json")
    assert read_model(tmp_path / "model.json").summary()
    assert Recipe.load(tmp_path / "model.json.recipe") == mined.recipe
    assert mined.recipe.learner in mined.summary()
    with pytest.raises(FileExistsError):
        mined.save(tmp_path / "model.json")


def test_a_model_that_cannot_be_written_leaves_no_recipe(release, tmp_path, monkeypatch):
    mined = unspoken.mine.fit(release)
    monkeypatch.setattr(type(mined), "to_bytes", lambda self: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        mined.save(tmp_path / "model.json")
    assert list(tmp_path.iterdir()) == []


def test_xgboost_classes_keep_their_order(release, raw):
    mined = unspoken.mine.fit(release, "xgboost", n_estimators=3)
    wanted = np.unique(release.table.labels(), return_inverse=True)[1]
    fitted = xgboost.XGBClassifier(n_estimators=3, random_state=0, n_jobs=1)
    fitted.fit(release.table.numbers(), wanted)
    mine, theirs = (m.predict(release.table.numbers()) for m in (mined.estimator, fitted))
    assert np.array_equal(mine, theirs)


def test_a_missing_library_is_named(release, monkeypatch):
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    with pytest.raises(MissingExtraError, match="pip install lightgbm"):
        unspoken.mine.fit(release, "lightgbm")


@pytest.mark.parametrize(("field", "value"), [
    ("format", "pickle"), ("version", 99), ("version", True), ("mined", 1), ("task", None),
    ("params", []), ("params", {"max_depth": [1] * 10}), ("params", {"class_weight": {"a": 1}}),
    ("columns", "a"), ("columns", [1]), ("left_out", None), ("release", 5), ("versions", 1),
])
def test_hostile_recipes_name_the_field(release, tmp_path, field, value):
    good = unspoken.mine.fit(release).recipe.to_json()
    (tmp_path / "r").write_text(json.dumps(good | {field: value}))
    with pytest.raises(ModelError, match=field):
        Recipe.load(tmp_path / "r")


@pytest.mark.parametrize(("learner", "params"), [
    ("lightgbm", {"machines": "elsewhere:1", "num_machines": 2}),
    ("lightgbm", {"forcedsplits_filename": "elsewhere.json"}), ("xgboost", {"plugin": "x"}),
])
def test_parameters_that_do_more_than_shape_trees_are_refused(table, learner, params):
    with pytest.raises(InputError, match=next(iter(params))):
        unspoken.mine.fit(table, learner, **params)


def test_lightgbms_own_names_are_taken(release):
    mined = unspoken.mine.fit(release, "lightgbm", n_estimators=3, max_bin=15)
    assert mined.recipe.params["max_bin"] == 15
