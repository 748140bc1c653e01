"""Files of learners with classes of no weight, long AdaBoost and monotonic constraints decode.

Nothing in such a file names the weights or the constraints; all of these were promised and refused.
"""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from support.encoding_walk import table_of
from unspoken.errors import DecodeError
from unspoken.methods.encoding.code_book import PiecewiseBook
from unspoken.models.readers import as_pattern, read_model
from unspoken.protect import PiecewiseEncoder, decode

WEIGHTS = {0: 0, 1: 1, 2: 0.3}


def drawn(seed, classes=3, rows=200):
    rng = np.random.default_rng(seed)
    data = np.column_stack([rng.integers(0, top, rows) for top in (3, 20, 500)]).astype(float)
    score = data @ [0.3, -0.05, 0.002] + rng.normal(size=rows) * rng.choice([0.1, 1.0])
    ends = np.quantile(score, np.arange(1, classes) / classes)
    return data, score.round(3) if classes == 1 else np.searchsorted(ends, score)


def promised(estimator, data, target, seed, **options):
    """Return a mined model's file, what opens it, and the estimator fitted to the original."""
    table = table_of(data, target)
    release, key = PiecewiseEncoder(random_state=seed, **options).protect(table)
    assert release.guarantee.covers(estimator)
    mined = clone(estimator).fit(release.table.numbers(), release.table.labels())
    order = PiecewiseBook.from_key(key).order(len(target))
    original = clone(estimator).fit(data[order], target[order])
    return json.dumps(as_pattern(mined).to_json()), key, table, original


def same(decoded, original, data):
    rng = np.random.default_rng(0)
    unseen = np.vstack([data, data + rng.choice([-0.5, 0.25, 0.5, 1.0], data.shape)])
    ask = "predict_proba" if hasattr(original, "classes_") else "predict"
    return np.array_equal(getattr(decoded.to_sklearn(), ask)(unseen),
                          getattr(original, ask)(unseen))


@pytest.mark.parametrize("estimator", [
    DecisionTreeClassifier(class_weight=WEIGHTS, max_depth=5, random_state=0),
    RandomForestClassifier(3, class_weight=WEIGHTS, bootstrap=False, random_state=0),
    RandomForestClassifier(3, class_weight=WEIGHTS, random_state=0),
    AdaBoostClassifier(DecisionTreeClassifier(class_weight=WEIGHTS, max_depth=2), n_estimators=4,
                       random_state=0),
    BaggingClassifier(DecisionTreeClassifier(class_weight=WEIGHTS), 3, random_state=0),
], ids=["tree", "forest", "drawn forest", "adaboost", "bagging"])
def test_a_class_without_weight_is_left_out(estimator):
    for seed in range(3):
        data, target = drawn(seed)
        file, key, table, original = promised(estimator, data, target, seed)
        assert same(decode(read_model(file), key, table), original, data)


@pytest.mark.parametrize("params", [
    {"n_estimators": 150, "estimator": DecisionTreeClassifier(max_depth=3)},
    {"n_estimators": 12, "learning_rate": 300.0},
], ids=["many rounds", "large steps"])
def test_adaboost_whose_weights_would_vanish(params):
    data, target = drawn(0, classes=2)
    model = AdaBoostClassifier(random_state=0, **params)
    file, key, table, original = promised(model, data, target, 0)
    assert same(decode(read_model(file), key, table), original, data)


CONSTRAINED = [
    (2, DecisionTreeClassifier(monotonic_cst=[1, -1, 1], min_samples_leaf=2, random_state=0)),
    (2, DecisionTreeClassifier(monotonic_cst=[1, -1, 0], class_weight="balanced", max_depth=6,
                               random_state=0)),
    (2, RandomForestClassifier(3, monotonic_cst=[0, -1, 1], random_state=0)),
    (2, BaggingClassifier(DecisionTreeClassifier(monotonic_cst=[1, 0, 1]), 3, random_state=0)),
    (1, DecisionTreeRegressor(monotonic_cst=[1, -1, 0], min_samples_leaf=2, random_state=0)),
    (1, RandomForestRegressor(3, monotonic_cst=[1, 0, 1], random_state=0)),
    (1, BaggingRegressor(DecisionTreeRegressor(monotonic_cst=[0, -1, 1]), 3, random_state=0)),
]


@pytest.mark.parametrize(("classes", "estimator"), CONSTRAINED,
                         ids=[f"{type(each).__name__}{n}" for n, (_, each) in
                              enumerate(CONSTRAINED)])
def test_monotonic_constraints_in_files(classes, estimator):
    for seed in range(3):
        data, target = drawn(seed, classes)
        file, key, table, original = promised(
            estimator, data, target, seed, **({"clear_target": "y"} if classes == 1 else {}))
        assert same(decode(read_model(file), key, table), original, data)


@pytest.mark.parametrize("kind", [0, 4])
def test_an_exchanged_leaf_under_constraints_is_refused(kind):
    classes, estimator = CONSTRAINED[kind]
    data, target = drawn(1, classes)
    file, key, table, _ = promised(
        estimator, data, target, 1, **({"clear_target": "y"} if classes == 1 else {}))
    document = read_model(file).to_json()
    values = np.reshape(document["value"], (len(document["left"]), -1))
    leaves = np.array(document["left"]) < 0
    for leaf in np.flatnonzero(leaves & (values[:, 0] != 0.5))[[0, 3, -1]]:
        changed = values.copy()
        changed[leaf] = changed[leaf, ::-1] if classes == 2 else changed[leaf] + 0.5
        forged = json.dumps({**document, "value": changed.ravel().tolist()})
        with pytest.raises(DecodeError, match=rf"leaf {leaf}"):
            decode(forged, key, table)


def test_a_clipped_leaf_of_histogram_boosting_is_no_forgery():
    """Leaves of constrained trees can lead away from the labels: they are clipped."""
    for seed in range(3):
        data, target = drawn(seed, classes=2)
        estimator = HistGradientBoostingClassifier(
            monotonic_cst=[1, -1, 1], learning_rate=1.0, max_iter=20, max_bins=16,
            min_samples_leaf=5, early_stopping=False, random_state=4)
        file, key, table, original = promised(estimator, data, target, seed)
        assert same(decode(read_model(file), key, table), original, data)
        document = json.loads(file)
        for tree in document["trees"]:
            tree["value"] = [-each for each in tree["value"]]
        with pytest.raises(DecodeError, match="lead away from the labels"):
            decode(json.dumps(document), key, table)


@pytest.mark.parametrize("estimator", [
    DecisionTreeClassifier(class_weight={0: -1, 1: 1}),
    RandomForestClassifier(class_weight={0: float("nan"), 1: 1}),
    DecisionTreeRegressor(monotonic_cst=[1, 0, 0], criterion="absolute_error"),
])
def test_what_is_not_covered(estimator):
    data, target = drawn(0, classes=2)
    release, _ = PiecewiseEncoder(random_state=0).protect(table_of(data, target))
    verdict = release.guarantee.covers(estimator)
    assert not verdict
    assert "class_weight" in verdict.reason or "monotonic_cst" in verdict.reason
