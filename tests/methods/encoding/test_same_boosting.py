"""The promise for XGBoost and LightGBM: model files decode to the original, bit for bit."""

from __future__ import annotations

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.tree import DecisionTreeClassifier

import unspoken
from support.encoding_walk import table_of, walk
from support.random_tables import random_table
from support.toybook import ToyBook
from unspoken.errors import DecodeError
from unspoken.methods.encoding.decode import decode_with
from unspoken.methods.encoding.guarantee import SameTree
from unspoken.protect import PiecewiseEncoder, decode

pytestmark = pytest.mark.slow

seeds = st.integers(0, 2**32 - 1)
XGB = {"n_estimators": 4, "max_depth": 4, "n_jobs": 1, "random_state": 0}
LGB = {"n_estimators": 4, "num_leaves": 7, "n_jobs": 1, "random_state": 0, "verbose": -1,
       "deterministic": True, "force_row_wise": True}


def holds(data, labels, estimator, seed):
    lightgbm = type(estimator).__module__.startswith("lightgbm")
    found = walk(data, labels, estimator, random_state=seed, keep_zero=lightgbm)
    verdict = found.release.guarantee.covers(estimator)
    assert verdict, verdict.reason
    same = unspoken.verify(found.original, found.decoded)
    assert same, same.difference
    return found


@settings(max_examples=12)
@given(seeds, st.sampled_from(["hist", "approx", "exact"]))
def test_xgboost(seed, method):
    # Neighbouring float32 values are a case of its own below.
    data, labels, rng = random_table(seed, avoid=("offset",) if method == "exact" else ())
    bins = {} if method == "exact" else {"max_bin": int(rng.choice([8, 256]))}
    labels = np.unique(labels, return_inverse=True)[1]
    holds(data, labels, xgb.XGBClassifier(tree_method=method, **XGB, **bins), seed)
    target = labels + rng.normal(size=len(labels)).round(1)
    holds(data, target, xgb.XGBRegressor(tree_method=method, **XGB, **bins), seed)


@settings(max_examples=12)
@given(seeds)
def test_xgboost_with_subsampling_and_drawn_columns(seed):
    data, labels, rng = random_table(seed)
    labels = np.unique(labels, return_inverse=True)[1]
    estimator = xgb.XGBClassifier(tree_method="hist", subsample=0.7, colsample_bytree=0.6,
                                  booster=str(rng.choice(["gbtree", "dart"])), **XGB)
    holds(data, labels, estimator, seed)


@settings(max_examples=15)
@given(seeds)
def test_lightgbm(seed):
    data, labels, rng = random_table(seed)
    data = data.astype(np.float32).astype(np.float64)
    labels = np.unique(labels, return_inverse=True)[1]
    extra = {"max_bin": int(rng.choice([7, 255])), "min_child_samples": int(rng.integers(1, 20)),
             "subsample": float(rng.choice([1.0, 0.7])), "subsample_freq": 1,
             "colsample_bytree": float(rng.choice([1.0, 0.6])),
             "extra_trees": bool(rng.random() < 0.2), "zero_as_missing": bool(rng.random() < 0.2)}
    holds(data, labels, lgb.LGBMClassifier(**LGB, **extra), seed)
    target = labels + rng.normal(size=len(labels)).round(1)
    holds(data, target, lgb.LGBMRegressor(**LGB, **extra), seed)


def test_predictions_of_decoded_files(tmp_path):
    data, labels, rng = random_table(5, rows=150, nulls=True, classes=3)
    data = data.astype(np.float32).astype(np.float64)
    fresh = data[rng.integers(0, 150, 60)] + 0.25
    for estimator in (xgb.XGBClassifier(**XGB), lgb.LGBMClassifier(**LGB)):
        found = holds(data, labels, estimator, 5)
        found.decoded.save(tmp_path / "model")
        if isinstance(estimator, xgb.XGBClassifier):
            again = xgb.XGBClassifier()
            (tmp_path / "model").rename(tmp_path / "model.json")
            again.load_model(tmp_path / "model.json")
            assert np.array_equal(again.predict_proba(fresh), found.original.predict_proba(fresh))
        else:
            again = lgb.Booster(model_file=str(tmp_path / "model"))
            assert np.array_equal(again.predict(fresh), found.original.predict_proba(fresh))


def test_lightgbm_needs_zero_to_be_kept():
    """The trap: zero has a bin of its own, so hiding it changes the model."""
    rng = np.random.default_rng(0)
    data = rng.integers(-400, 400, (3000, 2)).astype(float)
    labels = (data[:, 0] > 3).astype(int) ^ (rng.random(3000) < 0.2)
    estimator = lgb.LGBMClassifier(**LGB, max_bin=15)
    found = walk(data, labels, estimator, random_state=1, keep_zero=True)
    assert found.release.guarantee.covers(estimator)
    assert found.identical
    release, _ = PiecewiseEncoder().protect(table_of(data, labels))
    assert "zero" in release.guarantee.covers(estimator).reason


def test_xgboost_exact_on_neighbouring_float32_values():
    """The trap: no float32 lies between them, so the original itself splits elsewhere."""
    data = 1e5 + np.arange(40).reshape(-1, 1) / 128
    labels = (np.arange(40) % 3 == 0).astype(int)
    estimator = xgb.XGBClassifier(tree_method="exact", **XGB)
    encoder = PiecewiseEncoder(shuffle_rows=False, keep_zero=True)
    release, key = encoder.protect(table_of(data, labels))
    verdict = release.guarantee.covers(estimator)
    assert not verdict
    assert "no midpoint" in verdict.reason
    assert release.guarantee.covers(xgb.XGBClassifier(tree_method="hist"))
    mined = estimator.fit(release.table.numbers(), labels)
    with pytest.raises(DecodeError, match="midpoint"):
        decode(mined, key, data)


@pytest.mark.parametrize("estimator", [
    xgb.XGBClassifier(booster="gblinear"), xgb.XGBClassifier(tree_method="exact", subsample=0.5),
    xgb.XGBClassifier(device="cuda"), xgb.XGBRanker(),
    xgb.XGBRFClassifier(tree_method="exact"),
    xgb.XGBClassifier(multi_strategy="multi_output_tree"),
    lgb.LGBMClassifier(linear_tree=True), lgb.LGBMClassifier(subsample_for_bin=5),
    lgb.LGBMClassifier(categorical_feature=[0]), lgb.LGBMRanker(),
])
def test_what_is_not_covered(estimator):
    release, _ = PiecewiseEncoder(keep_zero=True).protect(table_of(*random_table(1)[:2]))
    verdict = release.guarantee.covers(estimator)
    assert not verdict
    assert verdict.reason


@pytest.mark.parametrize("seed", range(6))
def test_xgboost_approx_on_a_sample_of_the_rows(seed):
    """Rows that a tree did not draw may lie beyond its outermost cut, and keep their bin."""
    rng = np.random.default_rng(seed)
    data = np.column_stack([rng.standard_cauchy(90).round(3), rng.integers(0, 40, 90) * 1.0])
    data[rng.random(data.shape) < 0.4] = np.nan
    estimator = xgb.XGBClassifier(**{**XGB, "tree_method": "approx", "subsample": 0.4,
                                     "min_child_weight": 0})
    found = walk(data, rng.integers(0, 2, 90), estimator, keep_zero=True)
    assert found.release.guarantee.covers(estimator)
    assert found.identical, found.identical


def test_the_key_alone_decodes_histogram_learners():
    data, labels, _ = random_table(21, rows=120, classes=2)
    data = data.astype(np.float32).astype(np.float64)
    encoder = PiecewiseEncoder(shuffle_rows=False, keep_zero=True)
    release, key = encoder.protect(table_of(data, labels))
    codes = release.table.numbers()
    for estimator in (xgb.XGBClassifier(**XGB), lgb.LGBMClassifier(**LGB),
                      HistGradientBoostingClassifier(max_iter=4, random_state=0)):
        mined, original = clone(estimator).fit(codes, labels), clone(estimator).fit(data, labels)
        same = unspoken.verify(original, decode(mined, key))
        assert same, same.difference
    for estimator in (DecisionTreeClassifier(), xgb.XGBClassifier(tree_method="exact", **XGB)):
        with pytest.raises(DecodeError, match=r"(?i)training data"):
            decode(estimator.fit(codes, labels), key)


def test_bins_placed_by_a_part_of_the_rows_are_not_covered():
    small, _ = PiecewiseEncoder(keep_zero=True).protect(
        table_of(*random_table(1, avoid=("offset",))[:2]))
    facts = dict(small.guarantee.facts) | {"float32_exact": True}
    auto, never = HistGradientBoostingClassifier(), HistGradientBoostingClassifier(
        early_stopping=False)
    always = HistGradientBoostingClassifier(early_stopping=True)
    # Where early stopping ends training is replayed; bins placed by a sample are not.
    facts["least_rows"] = 1
    for rows, expected in ((9_000, (True, True, True)), (11_000, (True, True, True)),
                           (200_001, (False, False, False))):
        promise = SameTree("", (), facts | {"rows": rows})
        found = tuple(bool(promise.covers(e)) for e in (auto, never, always))
        assert found == expected
    shared = SameTree("", (), facts | {"rows": 500_000, "least_rows": 60})
    assert shared.covers(auto)
    assert shared.covers(lgb.LGBMClassifier())
    assert not SameTree("", (), facts | {"rows": 5_000_000, "least_rows": 60}).covers(auto)
    promise = SameTree("", (), facts | {"rows": 200_001})
    assert not promise.covers(lgb.LGBMClassifier())
    assert promise.covers(lgb.LGBMClassifier(subsample_for_bin=200_001))
    assert promise.covers(xgb.XGBClassifier())
    assert not SameTree("", (), {k: v for k, v in facts.items() if k != "rows"}).covers(never)


@pytest.mark.parametrize("neutral", [False, True])
def test_lightgbm_with_blanks_in_column_names(neutral):
    """LightGBM writes blanks in names as underscores, in the original as in the decoded model."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"mean radius": rng.normal(size=150).round(1),
                          "area  (cm)": rng.integers(0, 40, 150).astype(float)})
    labels = rng.integers(0, 2, 150)
    table = unspoken.read(frame.assign(y=labels), target="y", show=False)
    encoder = PiecewiseEncoder(shuffle_rows=False, neutral_names=neutral, keep_zero=True)
    release, key = encoder.protect(table)
    codes = release.table.arrow().to_pandas().drop(columns=release.schema.target)
    released = release.table.labels()
    mined = lgb.LGBMClassifier(**LGB).fit(codes, released)
    original = lgb.LGBMClassifier(**LGB).fit(frame, labels)
    same = unspoken.verify(original, decode(mined, key, table))
    assert same, same.difference


def test_xgboost_is_decoded_as_it_was_trained():
    """The saved form does not say hist or exact: a live estimator does, and so may the caller."""
    data = np.array([[1.0], [1], [1], [5], [5], [5], [2]])
    labels = np.array([0, 0, 0, 1, 1, 1, 0])
    weight = np.array([1.0, 1, 1, 1, 1, 1, 0])
    book = ToyBook(("a",), ("a",), [(np.array([1.0, 2, 5]), np.array([1, 2, 3]))])
    codes = book.encode(data)
    options = XGB | {"n_estimators": 1, "max_depth": 1, "min_child_weight": 0}
    for method in ("hist", "exact"):
        estimator = xgb.XGBClassifier(tree_method=method, **options)
        mined = clone(estimator).fit(codes, labels, sample_weight=weight)
        original = clone(estimator).fit(data, labels, sample_weight=weight)
        decoded = decode_with(mined, book, data, labels, weight)
        same = unspoken.verify(original, decoded)
        assert same, same.difference
        saved = mined.get_booster().save_raw("json").decode()
        told = decode_with(saved, book, data, labels, weight, learner=method)
        assert unspoken.verify(original, told)
