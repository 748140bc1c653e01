"""Model files from outside: everything malformed is refused, quickly and by the field's name."""

from __future__ import annotations

import json
import pickle
import tracemalloc

import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from support.model_cases import naive_bayes
from unspoken.errors import DataError, ModelError
from unspoken.models.forest import Forest
from unspoken.models.hostile_json import Limits
from unspoken.models.naive_bayes import NaiveBayes
from unspoken.models.named_columns import number_rows
from unspoken.models.readers import LightGBMModel, XGBoostModel, as_model, read_model
from unspoken.models.tree import Tree

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 3))
Y = RNG.integers(0, 2, 200)
LGB = {"verbose": -1, "num_threads": 1, "num_leaves": 6}


@pytest.fixture
def tree():
    model = DecisionTreeClassifier(random_state=0, max_depth=3).fit(X, Y)
    return Tree.from_sklearn(model).to_json()


@pytest.fixture
def forest():
    model = RandomForestClassifier(2, random_state=0, max_depth=2).fit(X, Y)
    return Forest.from_sklearn(model).to_json()


@pytest.fixture(scope="module")
def xgboost_bytes():
    return bytes(xgb.train({"max_depth": 3, "nthread": 1}, xgb.DMatrix(X, Y), 2).save_raw("json"))


@pytest.fixture(scope="module")
def lightgbm_text():
    return lgb.train(LGB, lgb.Dataset(X, Y), 2).model_to_string()


def refused(content, field, **limits):
    text = content if isinstance(content, str | bytes) else json.dumps(content)
    with pytest.raises(ModelError, match=field):
        read_model(text if isinstance(text, bytes) else text.encode(), Limits(**limits))


def changed(data, **fields):
    return {**data, **fields}


def first(values, value):
    return [value, *values[1:]]


def test_trees_are_read(tree, forest):
    assert isinstance(read_model(json.dumps(tree)), Tree)
    assert isinstance(read_model(json.dumps(forest)), Forest)


def test_a_column_that_is_named_twice_is_refused(tree, forest):
    """Data by name would have one column less, and every place after it would be another's."""
    for document in (tree, forest):
        names = [document["features"][0]] * len(document["features"])
        refused({**document, "features": names}, "features")
    twice = naive_bayes("first")
    with pytest.raises(ModelError, match="columns"):
        NaiveBayes(twice.classes, twice.prior, twice.columns * 2)
    with pytest.raises(DataError, match="two columns 'a'"):
        number_rows({"a": [1.0], "b": [2.0]}, ("a", "a", "b"))


def test_missing_fields_and_wrong_types(tree):
    for field in tree:
        refused({k: v for k, v in tree.items() if k != field}, field)
        refused(changed(tree, **{field: {"a": 1}}), field)
        refused(changed(tree, **{field: None}), field)


def test_cycles_and_shared_nodes(tree):
    left = tree["left"]
    inner = next(i for i, c in enumerate(left) if c > 0 and i > 0)
    refused(changed(tree, left=[*left[:inner], inner, *left[inner + 1:]]), "left")
    refused(changed(tree, left=first(left, tree["right"][0])), "left")
    refused(changed(tree, left=first(left, 0)), "left")
    refused(changed(tree, left=first(left, -1)), "left")


def test_out_of_range_children_and_features(tree):
    refused(changed(tree, left=first(tree["left"], 10**6)), "left")
    refused(changed(tree, left=first(tree["left"], -7)), "left")
    refused(changed(tree, feature=first(tree["feature"], 3)), "feature")
    refused(changed(tree, feature=first(tree["feature"], -1)), "feature")
    refused(changed(tree, feature=first(tree["feature"], 2**70)), "feature")


def test_numbers_that_are_none(tree):
    text = json.dumps(changed(tree, threshold=first(tree["threshold"], 777.125)))
    refused(text.replace("777.125", "NaN"), "finite")
    refused(text.replace("777.125", "-Infinity"), "finite")
    refused(text.replace("777.125", "1e999"), "threshold")
    refused(text.replace("777.125", "1" + "0" * 400), "threshold")
    refused(text.replace("777.125", "1" + "0" * 5000), "JSON")
    refused(text.replace("777.125", '"nan"'), "threshold")
    refused(text.replace("777.125", "true"), "threshold")
    refused(text.replace("777.125", "null"), "threshold")
    assert read_model(text.replace("777.125", '"inf"')).threshold[0] == np.inf
    refused(changed(tree, value=first(tree["value"], "inf")), "value")


def test_lengths_that_do_not_match(tree):
    for field in ("left", "threshold", "value", "n_samples", "impurity", "missing_left"):
        refused(changed(tree, **{field: tree[field][:-1]}), field)
        refused(changed(tree, **{field: [*tree[field], tree[field][-1]]}), field)
    refused(changed(tree, nodes=tree["nodes"] + 1), "left")
    refused(changed(tree, nodes=0), "nodes")


def test_a_newer_version_and_another_format(tree):
    refused(changed(tree, version=2), "version")
    refused(changed(tree, format="unspoken-shrub"), "format")
    refused({"no": "model"}, "format")


def test_duplicated_keys(tree):
    text = json.dumps(tree)
    refused(text[:-1] + ', "left": [0]}', "left")


def test_deep_nesting_and_text_that_is_no_model():
    refused("[" * 200_000, "model file|file")
    refused('{"a":' * 200_000 + "1" + "}" * 200_000, "nested|deep")
    refused("[1, 2]", "model file|object")
    refused(b"\xff\xfe{", "model file")
    refused(b'{"a": "\xff"}', "UTF-8")
    refused("{", "JSON")
    refused("", "model file")


def test_a_pickle_is_never_read():
    refused(pickle.dumps(DecisionTreeClassifier()), "Pickles are never read")


def test_sizes_are_limited(tree, forest):
    refused(tree, "file", max_bytes=100)
    refused(tree, "nodes", max_nodes=4)
    refused(tree, "depth|left", max_depth=1)
    refused(forest, "trees", max_trees=1)
    refused(forest, "trees", max_total_nodes=8)
    refused("[" * 50 + "]" * 50, "model file|file", max_containers=10)
    refused('{"a": ' + "[" * 50 + "]" * 50 + "}", "lists", max_containers=10)


@pytest.mark.slow
def test_a_million_nodes_in_bounded_memory():
    count = 1_000_001
    chain = {"format": "unspoken-tree", "version": 1, "task": "regression", "features": ["x"],
             "classes": [], "nodes": count}
    # A chain: each inner node has a leaf and the next inner node.
    left = [i + 1 if i % 2 == 0 and i < count - 2 else -1 for i in range(count)]
    text = json.dumps({**chain, "left": left}).encode()
    refused(text, "nodes")
    tracemalloc.start()
    refused(text, "right", max_nodes=count)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40 * len(text)


def test_a_tree_that_is_too_deep():
    size = 20_001
    left = [i + 1 if i % 2 == 0 and i < size - 2 else -1 for i in range(size)]
    right = [i + 2 if i % 2 == 0 and i < size - 2 else -1 for i in range(size)]
    zeros = [0] * size
    deep = {"format": "unspoken-tree", "version": 1, "task": "regression", "features": ["x"],
            "classes": [], "nodes": size, "left": left, "right": right, "feature": zeros,
            "threshold": zeros, "missing_left": zeros, "value": zeros, "n_samples": zeros,
            "weighted_n_samples": zeros, "impurity": zeros}
    refused(deep, "depth")


def test_forest_fields(forest):
    refused(changed(forest, trees=[]), "trees")
    refused(changed(forest, trees=[3]), r"trees\[0\]")
    bootstrap = forest["bootstrap"]
    for field, value in (("seeds", [1]), ("seeds", [1, -2]), ("draws", 0), ("weighted", 1),
                         ("class_weight", "other"), ("class_weight", [[1]])):
        refused(changed(forest, bootstrap={**bootstrap, field: value}), field)


def xgb_tree(document):
    return document["learner"]["gradient_booster"]["model"]["trees"][0]


def test_xgboost_is_read(xgboost_bytes):
    model = read_model(xgboost_bytes)
    assert isinstance(model, XGBoostModel)
    assert "XGBoost gbtree, reg:squarederror: 2 trees" in model.summary()


@pytest.mark.parametrize(("field", "value"), [
    ("left_children", 10**7), ("left_children", -5), ("left_children", 0),
    ("left_children", "1"), ("split_indices", 99), ("split_indices", -1),
    ("split_indices", 1.5), ("split_conditions", 1e39), ("split_conditions", "x"),
    ("split_conditions", True), ("default_left", 7), ("split_type", 9),
])
def test_xgboost_values(xgboost_bytes, field, value):
    document = json.loads(xgboost_bytes)
    xgb_tree(document)[field][0] = value
    refused(document, field)


def test_xgboost_structure(xgboost_bytes):
    for field in ("left_children", "right_children", "split_indices", "split_conditions",
                  "default_left", "split_type", "sum_hessian", "loss_changes", "parents",
                  "base_weights", "tree_param"):
        document = json.loads(xgboost_bytes)
        del xgb_tree(document)[field]
        refused(document, field)
    document = json.loads(xgboost_bytes)
    xgb_tree(document)["right_children"][0] = xgb_tree(document)["left_children"][0]
    refused(document, "left_children")
    document = json.loads(xgboost_bytes)
    xgb_tree(document)["right_children"].append(-1)
    refused(document, "right_children")
    refused({"learner": 3}, "learner")
    refused(xgboost_bytes, "trees", max_trees=1)
    refused(xgboost_bytes, "left_children", max_nodes=3)
    refused(xgboost_bytes, "trees", max_total_nodes=20)
    refused(xgboost_bytes, "left_children", max_depth=1)


def test_xgboost_other_boosters():
    linear = xgb.train({"booster": "gblinear", "nthread": 1}, xgb.DMatrix(X, Y), 1)
    with pytest.raises(ModelError, match="gbtree or dart"):
        as_model(linear)
    many = xgb.train({"multi_strategy": "multi_output_tree", "nthread": 1},
                     xgb.DMatrix(X, np.c_[Y, Y]), 1)
    with pytest.raises(ModelError):
        as_model(many)


def test_lightgbm_is_read(lightgbm_text):
    model = read_model(lightgbm_text)
    assert isinstance(model, LightGBMModel)
    assert model.same_as(LightGBMModel(lightgbm_text))
    assert model.with_thresholds([t.threshold for t in model.trees], model.feature_infos,
                                 model.feature_names).text == lightgbm_text
    assert "2 trees" in model.summary()


def line_of(text, name):
    return next(line for line in text.split("\n") if line.startswith(name + "="))


@pytest.mark.parametrize(("name", "line"), [
    ("left_child", "left_child=0 0 0 0 0"), ("left_child", "left_child=1 99 2 3 4"),
    ("right_child", "right_child=1"), ("threshold", "threshold=nan 1 2 3 4"),
    ("threshold", "threshold=1 2"), ("threshold", "threshold=a b c d e"),
    ("split_feature", "split_feature=0 1 2 3 4"), ("split_feature", "split_feature=0 1 2 -1 0"),
    ("split_feature", "split_feature=0 1 2 0.5 0"), ("num_leaves", "num_leaves=-3"),
    ("num_leaves", "num_leaves=999999999999999"), ("num_leaves", "num_leaves=x"),
    ("leaf_value", "leaf_value=inf 1 2 3 4 5"), ("num_cat", "num_cat=?"),
    ("decision_type", "decision_type=2 2 2 2 999"), ("feature_infos", "feature_infos=[0:1]"),
])
def test_lightgbm_values(lightgbm_text, name, line):
    refused(lightgbm_text.replace(line_of(lightgbm_text, name), line, 1), name)


def test_lightgbm_structure(lightgbm_text):
    refused(lightgbm_text.replace("end of trees", "and more"), "complete")
    refused(lightgbm_text.replace("Tree=1", "Tree=7"), "Tree=1")
    threshold = line_of(lightgbm_text, "threshold")
    refused(lightgbm_text.replace(threshold, threshold + "\n" + threshold, 1), "threshold")
    refused(lightgbm_text.replace(threshold + "\n", "", 1), "threshold")
    refused(lightgbm_text.replace("feature_names=", "names=", 1), "feature_names")
    refused(lightgbm_text, "Tree", max_trees=1)
    refused(lightgbm_text, "Tree", max_total_nodes=6)
    refused(lightgbm_text, "num_leaves", max_nodes=6)
    refused("tree\n" + "\n" * 10_000_000, "lines")


def test_objects_that_are_no_models():
    for thing in (3, object(), [1], DecisionTreeClassifier):
        with pytest.raises(ModelError, match="the model"):
            as_model(thing)
    with pytest.raises(FileNotFoundError):
        read_model("nowhere.json")


def every_tree(document):
    return document["learner"]["gradient_booster"]["model"]["trees"]


def test_parents_are_those_of_the_children(xgboost_bytes):
    """A parent of -1 ended the process inside XGBoost's own loader."""
    for value in (-1, 0, 2, 2**31 - 1, 2**40):
        document = json.loads(xgboost_bytes)
        every_tree(document)[1]["parents"][3] = value
        refused(document, r"trees\[1\].parents")


@pytest.mark.parametrize(("place", "key", "value"), [
    ("learner_model_param", "num_class", "-2147483649"),
    ("learner_model_param", "num_class", "3"), ("learner_model_param", "num_target", "0"),
    ("learner_model_param", "num_feature", "4"), ("learner_model_param", "base_score", "[nan]"),
    ("learner_model_param", "base_score", "[1E0,2E0]"),
    ("learner_model_param", "base_score", "1e999"), ("objective", "name", "reg:unknown"),
    ("objective", "name", "multi:softmax"), ("gradient_booster", "name", "gblinear"),
])
def test_xgboost_parameters(xgboost_bytes, place, key, value):
    document = json.loads(xgboost_bytes)
    document["learner"][place][key] = value
    refused(document, f"{key}|split_indices|num_feature|num_class")


@pytest.mark.parametrize(("key", "value"), [
    ("tree_info", [0]), ("tree_info", [0, 1]), ("tree_info", [0, -1]),
    ("iteration_indptr", [0, 2, 1]), ("iteration_indptr", []), ("iteration_indptr", [0, 5]),
    ("iteration_indptr", [0, 0, 0, 0, 2]),
])
def test_xgboost_layout(xgboost_bytes, key, value):
    document = json.loads(xgboost_bytes)
    document["learner"]["gradient_booster"]["model"][key] = value
    refused(document, key)


def test_nothing_unknown_is_written_again(xgboost_bytes, lightgbm_text):
    document = json.loads(xgboost_bytes)
    clean = read_model(json.dumps(document)).document
    assert clean == document
    document["learner"]["attributes"] = {"scikit_learn": "{}", "note": "x"}
    document["learner"]["unknown"] = document["more"] = [1]
    every_tree(document)[0]["extra"] = 3
    assert read_model(json.dumps(document)).document == clean
    more = lightgbm_text.replace("[verbosity: -1]", "[verbosity: -1]\n[unknown: rm -rf]\nline")
    more = more.replace("label_index=0", "label_index=0\nunknown=3")
    assert read_model(more).text == lightgbm_text


@pytest.mark.parametrize("line", [
    "num_tree_per_iteration=-2147483649", "num_class=-1", "num_class=2", "max_feature_idx=7",
    "max_feature_idx=-2", "label_index=-5", "objective=multiclass num_class:3",
    "objective=unknown", "objective=binary sigmoid:nan", "version=v9",
    "leaf_count=1 2 3 4 5 99999999999", "leaf_count=1 2", "decision_type=1 2 2 2 2",
    "internal_count=a b c d e", "shrinkage=nan", "num_cat=3", "is_linear=7",
])
def test_lightgbm_numbers_that_its_loader_trusts(lightgbm_text, line):
    name = line.partition("=")[0]
    spoiled = lightgbm_text.replace(line_of(lightgbm_text, name), line, 1)
    refused(spoiled, f"{name}|num_cat|num_class|num_tree_per_iteration|cat_boundaries")


def responses(model, data):
    """What `Booster.predict` answers: numbers, chances of the second class, or of all classes."""
    if model.task == "regression":
        return model.predict(data)
    chances = model.predict_proba(data)
    assert np.array_equal(model.predict(data), chances.argmax(axis=1))
    return chances[:, 1] if chances.shape[1] == 2 else chances


@pytest.mark.slow
def test_own_predictions_are_those_of_the_libraries():
    target = np.abs(X[:, 0]) + Y
    for objective in ("reg:squarederror", "binary:logistic", "multi:softprob", "count:poisson"):
        options = {"objective": objective, "nthread": 1, "max_depth": 3}
        options |= {"num_class": 3} if objective.startswith("multi") else {}
        booster = xgb.train(options, xgb.DMatrix(X, target if "reg" in objective else Y), 3)
        mine, theirs = responses(as_model(booster), X), booster.predict(xgb.DMatrix(X))
        assert np.allclose(mine, theirs, rtol=1e-6, atol=0)
        margins = booster.predict(xgb.DMatrix(X), output_margin=True)
        assert np.allclose(as_model(booster).margins(X).reshape(margins.shape), margins, atol=1e-6)
    for objective in ("regression", "binary", "multiclass", "poisson"):
        more = {"num_class": 3} if objective == "multiclass" else {}
        light = lgb.train({**LGB, "objective": objective, **more}, lgb.Dataset(X, Y), 3)
        assert np.allclose(responses(as_model(light), X), light.predict(X), rtol=1e-12)
        raw = light.predict(X, raw_score=True)
        assert np.array_equal(as_model(light).sums(X).reshape(raw.shape), raw)
