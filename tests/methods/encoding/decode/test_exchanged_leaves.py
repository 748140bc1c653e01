"""Trees whose leaves are not those of the labels are refused by tree and leaf."""

from __future__ import annotations

import json

import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from support.encoding_walk import table_of
from unspoken.errors import DecodeError
from unspoken.models.forest import Forest
from unspoken.models.tree import Tree
from unspoken.protect import PiecewiseEncoder, decode

RNG = np.random.default_rng(2)
DATA = RNG.integers(0, 400, (300, 3)) / 4
SCORE = DATA[:, 0] - DATA[:, 1]
LABELS = (SCORE + RNG.normal(size=300) * 10 > 0).astype(int)
REPLY = np.round(SCORE + RNG.normal(size=300), 2)


def encoded(labels):
    table = table_of(DATA, labels)
    release, key = PiecewiseEncoder(keep_zero=True, random_state=0).protect(table)
    return table, key, release.table.numbers(), release.table.labels()


@pytest.fixture(scope="module")
def classes():
    return encoded(LABELS)


@pytest.fixture(scope="module")
def numbers():
    return encoded(REPLY)


def fitted(estimator, setting):
    _, _, codes, labels = setting
    return estimator.fit(codes, labels)


TREES = [
    (Tree, DecisionTreeClassifier(max_depth=3, random_state=0)),
    (Tree, DecisionTreeClassifier(max_depth=3, class_weight="balanced", random_state=0)),
    (Forest, RandomForestClassifier(4, max_depth=3, random_state=0)),
    (Forest, RandomForestClassifier(4, max_depth=3, bootstrap=False, random_state=0)),
    (Forest, RandomForestClassifier(4, max_depth=3, class_weight="balanced_subsample",
                                    random_state=0)),
]


@pytest.mark.parametrize(("kind", "estimator"), TREES)
def test_inverted_classes_are_refused(classes, kind, estimator):
    table, key, *_ = classes
    document = kind.from_sklearn(fitted(estimator, classes)).to_json()
    decode(json.dumps(document), key, table)
    for each in document.get("trees", [document]):
        pairs = np.reshape(each["value"], (-1, 2))
        each["value"] = pairs[:, ::-1].ravel().tolist()
    with pytest.raises(DecodeError, match=r"tree.*leaf.*shares of classes"):
        decode(json.dumps(document), key, table)


@pytest.mark.parametrize("leaf", [0, -1])
def test_one_exchanged_leaf_is_refused(classes, leaf):
    table, key, *_ = classes
    estimator = DecisionTreeClassifier(max_depth=3, random_state=0)
    document = Tree.from_sklearn(fitted(estimator, classes)).to_json()
    place = 2 * np.flatnonzero(np.array(document["left"]) < 0)[leaf]
    one, two = document["value"][place : place + 2]
    document["value"][place : place + 2] = [two, one]
    with pytest.raises(DecodeError, match="shares of classes"):
        decode(json.dumps(document), key, table)
    assert decode(json.dumps(document), key, table, trust_leaves=True) is not None


@pytest.mark.parametrize(("kind", "estimator"), [
    (Tree, DecisionTreeRegressor(max_depth=3, random_state=0)),
    (Tree, DecisionTreeRegressor(max_depth=3, criterion="absolute_error", random_state=0)),
    (Forest, RandomForestRegressor(3, max_depth=3, random_state=0)),
])
def test_inverted_numbers_are_refused(numbers, kind, estimator):
    table, key, *_ = numbers
    document = kind.from_sklearn(fitted(estimator, numbers)).to_json()
    decode(json.dumps(document), key, table)
    for each in document.get("trees", [document]):
        each["value"] = (-np.array(each["value"])).tolist()
    with pytest.raises(DecodeError, match="neither the mean nor the median"):
        decode(json.dumps(document), key, table)


def negated(model, only=None):
    document = json.loads(bytes(model.get_booster().save_raw("json")))
    for number, tree in enumerate(document["learner"]["gradient_booster"]["model"]["trees"]):
        for node, left in enumerate(tree["left_children"]):
            if left < 0 and only in (None, number):
                tree["split_conditions"][node] *= -1
    return json.dumps(document)


@pytest.mark.slow
@pytest.mark.parametrize("only", [None, 0, 2])
@pytest.mark.parametrize("options", [{}, {"max_delta_step": 0.7, "reg_alpha": 0.3}])
def test_inverted_trees_of_xgboost_are_refused(classes, options, only):
    table, key, *_ = classes
    model = fitted(xgb.XGBClassifier(n_estimators=3, max_depth=3, n_jobs=1, **options), classes)
    decode(model, key, table)
    with pytest.raises(DecodeError, match="lead away from the labels"):
        decode(negated(model, only), key, table, learner="hist")


def test_an_inverted_model_grown_on_parts_of_the_rows_is_refused(classes):
    table, key, *_ = classes
    model = fitted(xgb.XGBClassifier(n_estimators=9, subsample=0.6, n_jobs=1), classes)
    decode(model, key, table)
    with pytest.raises(DecodeError, match="XGBoost model: its leaves lead away"):
        decode(negated(model), key, table, learner="hist")


def lightgbm_lines(text, name, turn):
    return "\n".join(f"{name}={turn(line[len(name) + 1:])}" if line.startswith(name + "=")
                     else line for line in text.split("\n"))


def test_inverted_leaves_of_lightgbm_are_refused(classes, numbers):
    for setting, kind in ((classes, lgb.LGBMClassifier), (numbers, lgb.LGBMRegressor)):
        table, key, *_ = setting
        model = fitted(kind(n_estimators=3, num_leaves=5, n_jobs=1, verbose=-1), setting)
        text = model.booster_.model_to_string()
        decode(text, key, table)
        turned = lightgbm_lines(text, "leaf_value", lambda words: " ".join(
            repr(-float(word)) for word in words.split(" ")))
        with pytest.raises(DecodeError, match="lead away from the labels"):
            decode(turned, key, table)


def test_counts_of_lightgbm_leaves_are_compared(classes):
    table, key, *_ = classes
    model = fitted(lgb.LGBMClassifier(n_estimators=2, num_leaves=5, n_jobs=1, verbose=-1), classes)
    text = lightgbm_lines(model.booster_.model_to_string(), "leaf_count",
                          lambda words: " ".join(reversed(words.split(" "))))
    with pytest.raises(DecodeError, match=r"tree 0.*rows as it says"):
        decode(text, key, table)
