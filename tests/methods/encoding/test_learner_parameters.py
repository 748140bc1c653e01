"""`covers` looks at every parameter of every learner: unknown ones and changed meanings mean no."""

from __future__ import annotations

import lightgbm as lgb
import numpy as np
import pyarrow as pa
import pytest
import xgboost as xgb
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import unspoken
from support.encoding_walk import table_of
from support.random_tables import random_table
from unspoken.errors import DecodeError
from unspoken.methods.encoding.learner_parameters import _BY_NAME, FREE, outside
from unspoken.protect import PiecewiseEncoder, decode

LEARNERS = [
    DecisionTreeClassifier, DecisionTreeRegressor, RandomForestClassifier, RandomForestRegressor,
    GradientBoostingClassifier, GradientBoostingRegressor, HistGradientBoostingClassifier,
    HistGradientBoostingRegressor, xgb.XGBClassifier, xgb.XGBRegressor, xgb.XGBRFClassifier,
    xgb.XGBRFRegressor, lgb.LGBMClassifier, lgb.LGBMRegressor,
]
CHANGED_MEANING = [
    HistGradientBoostingClassifier(class_weight={0: 0.0, 1: 1.0}),
    xgb.XGBClassifier(missing=-999), xgb.XGBClassifier(missing=0.0),
    xgb.XGBRegressor(missing=1), xgb.XGBClassifier(feature_types=["q", "c"]),
    xgb.XGBClassifier(feature_types=["c", "q", "q"]), xgb.XGBClassifier(early_stopping_rounds=3),
    xgb.XGBClassifier(callbacks=[object()]), xgb.XGBRegressor(objective=lambda y, p: (y, p)),
    xgb.XGBClassifier(sampling_method="gradient_based"),
    xgb.XGBClassifier(process_type="update"), xgb.XGBClassifier(updater="refresh"),
    xgb.XGBClassifier(a_new_parameter=1), xgb.XGBClassifier(booster="gblinear"),
    lgb.LGBMClassifier(boosting_type="other"), lgb.LGBMRegressor(objective=lambda y, p: (y, p)),
    lgb.LGBMClassifier(a_new_parameter=1), lgb.LGBMClassifier(linear_tree=True),
    lgb.LGBMClassifier(monotone_constraints_method="advanced"),
    lgb.LGBMClassifier(max_bin_by_feature=[3, 4, 5]), lgb.LGBMClassifier(input_model="m.txt"),
    DecisionTreeClassifier(splitter="random"), DecisionTreeRegressor(splitter="random"),
    RandomForestClassifier(warm_start=True), RandomForestClassifier(oob_score=lambda y, p: 0.0),
    GradientBoostingClassifier(warm_start=True), GradientBoostingClassifier(subsample=0.5),
    GradientBoostingClassifier(init=DecisionTreeClassifier()),
    HistGradientBoostingClassifier(warm_start=True),
    HistGradientBoostingClassifier(categorical_features=[0]),
    HistGradientBoostingClassifier(scoring=lambda e, x, y: 0.0),
]


@pytest.fixture(scope="module")
def promise():
    data, labels, _ = random_table(1, avoid=("offset",))
    data = data.astype(np.float32).astype(np.float64)
    release, _ = PiecewiseEncoder(keep_zero=True, random_state=0).protect(table_of(data, labels))
    return release.guarantee


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda kind: kind.__name__)
def test_defaults_are_covered_and_every_parameter_is_listed(promise, learner):
    estimator = learner()
    assert outside(learner.__name__, estimator.get_params(deep=False)) == ""
    verdict = promise.covers(estimator)
    assert verdict, verdict.reason


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda kind: kind.__name__)
def test_each_parameter_alone_can_mean_no(learner):
    """A value of no known kind is refused for every parameter that has a closed rule."""
    kind = learner.__name__.removesuffix("Classifier").removesuffix("Regressor")
    for name, value in learner().get_params(deep=False).items():
        strange = outside(learner.__name__, {name: object()})
        assert (strange == "") == (_BY_NAME[kind][name] is FREE), name
        assert outside(learner.__name__, {name: value}) == "", name
        assert f"'{name}_'" in outside(learner.__name__, {f"{name}_": value})


@pytest.mark.parametrize("estimator", CHANGED_MEANING, ids=lambda e: type(e).__name__)
def test_changed_meanings_are_not_covered(promise, estimator):
    verdict = promise.covers(estimator)
    assert not verdict
    assert type(estimator).__name__ in verdict.reason


def test_the_reason_names_the_parameter(promise):
    assert "missing=-999" in promise.covers(xgb.XGBClassifier(missing=-999)).reason
    assert "'a_new_parameter'" in promise.covers(xgb.XGBClassifier(a_new_parameter=1)).reason


@pytest.fixture
def encoded():
    data, labels, _ = random_table(3, rows=80)
    release, key = PiecewiseEncoder(keep_zero=True, random_state=0).protect(table_of(data, labels))
    codes = release.table.numbers()
    order = np.unique(release.table.labels(), return_inverse=True)[1]
    return table_of(data, labels), key, codes, order


def test_decoding_another_missing_value_is_refused(encoded):
    table, key, codes, labels = encoded
    mined = xgb.XGBClassifier(missing=-999, n_estimators=2, n_jobs=1).fit(codes, labels)
    with pytest.raises(DecodeError, match="'missing'"):
        decode(mined, key, table)


def test_decoding_random_splits_is_refused_by_name(encoded):
    table, key, codes, labels = encoded
    mined = DecisionTreeClassifier(splitter="random", random_state=0).fit(codes, labels)
    with pytest.raises(DecodeError, match="splitter='random'"):
        decode(mined, key, table)


def test_decoding_reversed_codes_says_what_it_returns():
    data, labels, _ = random_table(3, rows=80)
    release, key = PiecewiseEncoder(mode="anti", random_state=0).protect(table_of(data, labels))
    mined = DecisionTreeClassifier(random_state=0).fit(release.table.numbers(),
                                                       release.table.labels())
    with pytest.warns(UserWarning, match="equally good"):
        decode(mined, key, table_of(data, labels))


@pytest.mark.slow
@pytest.mark.parametrize(("learner", "name"), [("xgboost", "early_stopping_rounds"),
                                               ("lightgbm", "early_stopping_round"),
                                               ("lightgbm", "n_iter_no_change")])
def test_stopping_by_an_evaluation_set_is_refused_by_name(learner, name):
    kind = xgb.XGBClassifier if learner == "xgboost" else lgb.LGBMClassifier
    data, labels = np.arange(80.0).reshape(40, 2), np.arange(40) % 2
    release, key = PiecewiseEncoder(keep_zero=True).protect(table_of(data, labels))
    verdict = release.guarantee.covers(kind(**{name: 5}))
    assert not verdict
    assert name in verdict.reason
    assert "evaluation set" in verdict.reason
    assert release.guarantee.covers(kind(**{name: None if learner == "xgboost" else 0}))
    codes, released = release.table.numbers(), release.table.labels()
    more = {"callbacks": [lgb.early_stopping(2, verbose=False)]} if learner == "lightgbm" else {}
    fitted = kind(n_estimators=20, **({name: 2} if learner == "xgboost" else {"verbose": -1}))
    fitted.fit(codes[:30], released[:30], eval_set=[(codes[30:], released[30:])],
               **({"verbose": False} if learner == "xgboost" else more))
    with pytest.raises(DecodeError, match="evaluation set decided"):
        decode(fitted, key, table_of(data, labels), rows=np.arange(30))


def test_columns_of_categories_alone_are_covered_whatever_draws_rows():
    frame = pa.table({"a": ["x", "y", "z", "x"] * 9, "b": ["p", "q"] * 18, "c": [0.5, 1.0] * 18,
                      "y": ["n", "m", "m", "n"] * 9})
    release, _ = PiecewiseEncoder().protect(unspoken.read(frame, target="y", show=False))
    learner = xgb.XGBClassifier(tree_method="exact", subsample=0.5)
    assert release.guarantee.covers(learner, ["a", "b"])
    assert not release.guarantee.covers(learner, ["a", "c"])
    assert not release.guarantee.covers(learner)
    drawn = DecisionTreeClassifier(splitter="random", random_state=0)
    assert not release.guarantee.covers(drawn, ["a", "b"])
