"""Decoding histogram learners, XGBoost and LightGBM: equal to the original, or refused."""

from __future__ import annotations

import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from threadpoolctl import threadpool_limits

from support.replay_cases import Case
from support.toybook import make_book
from unspoken.errors import DecodeError
from unspoken.methods.encoding.decode import decode_with
from unspoken.models.verify import verify

pytestmark = pytest.mark.slow

seeds = st.integers(0, 2**32 - 1)
weights = st.sampled_from([None, "whole", "fraction"])
REGRESSION = {"task": "regression"}


def xgboost(**parameters):
    def fit(X, y, weight, seed):
        wanted = {"nthread": 1, "seed": seed, "max_depth": 5, **parameters}
        return xgb.train(wanted, xgb.DMatrix(X, y, weight=weight), 3)
    return fit


def lightgbm(**parameters):
    def fit(X, y, weight, seed):
        wanted = {"num_threads": 1, "seed": seed, "deterministic": True, "verbose": -1,
                  "force_row_wise": True, "num_leaves": 7, "min_data_in_leaf": 3,
                  "min_data_in_bin": 1, **parameters}
        return lgb.train(wanted, lgb.Dataset(X, y, weight=weight), 3)
    return fit


def histogram(kind=HistGradientBoostingRegressor, **parameters):
    def fit(X, y, weight, seed):
        wanted = {"max_iter": 2, "min_samples_leaf": 3, **parameters}
        with threadpool_limits(1):
            return kind(random_state=seed, **wanted).fit(X, y, sample_weight=weight)
    return fit


@given(seeds, weights, st.sampled_from(["hist", "approx", "exact"]),
       st.sampled_from([{}, {"max_bin": 8}, {"gamma": 0.5}, {"booster": "dart", "rate_drop": 0.5},
                        {"colsample_bytree": 0.6}, {"objective": "reg:absoluteerror"}]))
@settings(max_examples=60)
def test_xgboost(seed, weight, method, parameters):
    fit = xgboost(tree_method=method, **parameters)
    case = Case(fit, seed, weight=weight, **REGRESSION)
    decoded = case.check()
    expected = case.original.predict(xgb.DMatrix(case.unseen))
    assert np.array_equal(decoded.predict(case.unseen), expected)
    case.check(learner=method)


@given(seeds, st.sampled_from([{}, {"subsample": 0.6}, {"num_parallel_tree": 3, "subsample": 0.7},
                               {"grow_policy": "lossguide", "max_leaves": 5}]))
@settings(max_examples=30)
def test_xgboost_hist_needs_the_key_only(seed, parameters):
    Case(xgboost(tree_method="hist", **parameters), seed, **REGRESSION).check(key_only=True)


@given(seeds)
@settings(max_examples=20)
def test_xgboost_hist_with_weights_of_zero(seed):
    Case(xgboost(tree_method="hist"), seed, weight="zero", **REGRESSION).check()


@given(seeds, st.sampled_from(["hist", "approx", "exact"]))
@settings(max_examples=30)
def test_xgboost_with_monotone_constraints(seed, method):
    """They make XGBoost cut below the smallest value, too: missing to the left."""
    fit = xgboost(tree_method=method, monotone_constraints="(1,-1,0)")
    Case(fit, seed, rows=80, features=3, **REGRESSION).check()


def test_xgboost_exact_needs_the_rows_and_all_of_them():
    case = Case(xgboost(tree_method="exact"), 3, rows=60, **REGRESSION)
    with pytest.raises(DecodeError, match="training data"):
        case.decode(key_only=True, learner="exact")
    with pytest.raises(DecodeError, match="cannot have put"):
        case.decode(key_only=True)
    with pytest.raises(DecodeError, match="neither"):
        decode_with(case.mined, case.book, case.X[:30])
    sampled = Case(xgboost(tree_method="exact", subsample=0.5), 3, rows=60, **REGRESSION)
    with pytest.raises(DecodeError, match="neither"):
        sampled.decode()


def test_xgboost_multiclass_estimators_and_files(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3)).round(1)
    y = rng.integers(0, 3, 150)
    book = make_book(X, rng, rename=True)
    order = book.permutation
    names = list(book.released_features)

    def fit(data, columns):
        matrix = xgb.DMatrix(data, y[order], feature_names=columns)
        wanted = {"objective": "multi:softprob", "num_class": 3, "nthread": 1}
        return xgb.train(wanted, matrix, 3)

    mined, original = fit(book.encode(X)[order], names), fit(X[order], list(book.features))
    mined.save_model(tmp_path / "mined.json")
    decoded = decode_with(tmp_path / "mined.json", book, X)
    assert verify(original, decoded)
    assert decoded.feature_names == book.features
    classifier = xgb.XGBClassifier(n_estimators=3, n_jobs=1)
    mined = classifier.fit(book.encode(X)[order], y[order])
    decoded = decode_with(mined, book, X)
    assert verify(xgb.XGBClassifier(n_estimators=3, n_jobs=1).fit(X[order], y[order]), decoded)


def test_xgboost_exact_on_neighbouring_float32_values_is_refused():
    step = np.spacing(np.float32(1))
    X = (1 + np.arange(8) * np.float64(step))[:, None]
    book = make_book(X, np.random.default_rng(0), shuffle=False)
    fit = xgboost(tree_method="exact", min_child_weight=0, reg_lambda=0)
    mined = fit(book.encode(X), np.arange(8.0), None, 0)
    with pytest.raises(DecodeError, match="no float32 midpoint"):
        decode_with(mined, book, X)


def test_xgboost_thresholds_that_fit_both_methods():
    """Codes 1, 2, 3 with nothing at 2 in the root: 2 is a code and a midpoint."""
    X = np.array([[1.0, 0], [1.0, 0], [9.0, 0], [9.0, 0], [4.0, 1], [4.0, 1]])
    y = np.array([0.0, 0, 1, 1, 7, 7])
    book = make_book(X, np.random.default_rng(0), shuffle=False)
    book.tables[0] = (np.array([1.0, 4.0, 9.0]), np.array([1, 2, 3]))
    book.tables[1] = (np.array([0.0, 1.0]), np.array([0, 2]))
    parameters = {"min_child_weight": 0, "reg_lambda": 0, "max_depth": 2}
    fit = xgboost(tree_method="exact", **parameters)
    mined, original = fit(book.encode(X), y, None, 0), fit(X, y, None, 0)
    assert verify(original, decode_with(mined, book, X, learner="exact"))
    assert 2.0 in mined.trees_to_dataframe()["Split"].tolist()


def test_categorical_splits_are_refused():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, (200, 1)).astype(float)
    y = np.isin(X[:, 0], [1, 4]) + 0.0
    book = make_book(X, rng, shuffle=False)
    frame = pd.DataFrame({"x0": pd.Categorical(X[:, 0].astype(int))})
    mined = xgb.train({"nthread": 1, "max_cat_to_onehot": 1},
                      xgb.DMatrix(frame, y, enable_categorical=True), 1)
    with pytest.raises(DecodeError, match="categor"):
        decode_with(mined, book, X)
    data = lgb.Dataset(X, y, categorical_feature=[0])
    mined = lgb.train({"num_threads": 1, "verbose": -1, "min_data_per_group": 1}, data, 1)
    with pytest.raises(DecodeError, match="categor"):
        decode_with(mined, book, X)
    mined = HistGradientBoostingRegressor(categorical_features=[0], max_iter=1).fit(X, y)
    with pytest.raises(DecodeError, match="categor"):
        decode_with(mined, book, X)


@given(seeds, weights, st.sampled_from([
    {}, {"max_bin": 8}, {"min_data_in_bin": 5}, {"bagging_fraction": 0.6, "bagging_freq": 1},
    {"extra_trees": True}, {"path_smooth": 1.0}, {"enable_bundle": False},
    {"zero_as_missing": True}, {"use_missing": False}, {"feature_fraction": 0.6},
    {"boosting": "dart"}, {"use_quantized_grad": True},
]))
@settings(max_examples=60)
def test_lightgbm(seed, weight, parameters):
    case = Case(lightgbm(**parameters), seed, weight=weight, **REGRESSION)
    decoded = case.check()
    assert decoded.text == case.original.model_to_string()
    assert np.array_equal(decoded.predict(case.unseen), case.original.predict(case.unseen))
    case.check(key_only=True)


def test_lightgbm_with_more_values_than_bins():
    for seed in range(3):
        case = Case(lightgbm(), seed, rows=2500, features=3, **REGRESSION)
        assert case.check().text == case.original.model_to_string()


def test_lightgbm_that_places_bins_by_a_sample():
    """Exact where every other value keeps its side of every edge, refused otherwise."""
    seen = set()
    for seed in range(8):
        def few(rng):
            return rng.integers(-3, 4, (400, 2)).astype(float)
        sizes = {"data": few} if seed % 2 else {"rows": 400, "features": 2}
        case = Case(lightgbm(bin_construct_sample_cnt=200), seed, **sizes, **REGRESSION)
        seen.add(case.outcome("sample"))
    assert seen == {"same", "refused"}


def test_lightgbm_refusals():
    case = Case(lightgbm(), 0, rows=300, features=2, sign=False, missing=False, **REGRESSION,
                data=lambda rng: rng.integers(-50, 50, (300, 2)).astype(float))
    with pytest.raises(DecodeError, match="sign and zero"):
        case.decode()
    case = Case(lightgbm(bin_construct_sample_cnt=50), 0, rows=80, **REGRESSION)
    with pytest.raises(DecodeError, match="the key alone"):
        case.decode(key_only=True)
    with pytest.raises(DecodeError, match="linear_tree"):
        Case(lightgbm(linear_tree=True), 1, rows=100, **REGRESSION).decode()
    case = Case(lightgbm(), 2, rows=100, **REGRESSION,
                data=lambda rng: np.nextafter(5.0, 6.0) * rng.integers(1, 3, (100, 1)))
    case.check()
    case = Case(lightgbm(), 2, rows=100, **REGRESSION,
                data=lambda rng: rng.choice([1.0, 3.0, np.nextafter(3.0, 4.0)], (100, 1)))
    with pytest.raises(DecodeError, match="share a code"):
        case.decode()
    case = Case(lightgbm(), 5, rows=100, features=2, **REGRESSION)
    other = Case(lightgbm(), 6, rows=100, features=2, **REGRESSION)
    with pytest.raises(DecodeError, match="cannot have put"):
        decode_with(other.mined, case.book, case.X)


@given(seeds, weights, st.sampled_from([
    {}, {"max_bins": 8}, {"loss": "absolute_error"}, {"max_features": 0.5, "max_depth": 3},
    {"interaction_cst": "no_interactions"},
]))
@settings(max_examples=25)
def test_histogram_boosting(seed, weight, parameters):
    case = Case(histogram(**parameters), seed, weight=weight, **REGRESSION)
    decoded = case.check()
    unseen = np.nan_to_num(case.unseen)
    assert np.array_equal(decoded.predict(unseen), case.original.predict(unseen))
    if weight is None:
        case.check(key_only=True)
    else:
        with pytest.raises(DecodeError, match="the key alone"):
            case.decode(key_only=True)


@given(seeds, st.sampled_from([None, "balanced"]))
@settings(max_examples=10)
def test_histogram_boosting_of_classes(seed, class_weight):
    fit = histogram(HistGradientBoostingClassifier, class_weight=class_weight)
    case = Case(fit, seed)
    case.check()


def test_histogram_boosting_with_more_values_than_bins():
    for weight in (None, "fraction"):
        Case(histogram(), 1, rows=2500, features=3, weight=weight, **REGRESSION).check()
    Case(histogram(), 1, rows=2500, features=3, **REGRESSION).check(key_only=True)


def test_histogram_boosting_with_a_held_out_part():
    seen = set()
    for seed in range(8):
        def few(rng):
            return rng.integers(-3, 4, (400, 2)).astype(float)
        sizes = {"data": few} if seed % 2 else {"rows": 400, "features": 2}
        fit = histogram(HistGradientBoostingClassifier, early_stopping=True)
        case = Case(fit, seed, **sizes)
        seen.add(case.outcome("gone on"))
    assert seen == {"same"}
    with pytest.raises(DecodeError, match="'y' is needed"):
        decode_with(case.mined, case.book, case.X)
    with pytest.raises(DecodeError, match="the key alone"):
        case.decode(key_only=True)


def test_histogram_boosting_that_places_bins_by_a_sample(monkeypatch):
    """scikit-learn samples 200,000 rows; the limit is lowered to keep the test small."""
    from sklearn.ensemble._hist_gradient_boosting import gradient_boosting as module

    class Smaller(module._BinMapper):
        def __init__(self, n_bins=256, subsample=300, is_categorical=None,
                     known_categories=None, random_state=None, n_threads=None):
            super().__init__(n_bins, 300, is_categorical, known_categories, random_state,
                             n_threads)

    monkeypatch.setattr(module, "_BinMapper", Smaller)
    seen = set()
    for seed in range(8):
        def few(rng):
            return rng.integers(-3, 4, (600, 2)).astype(float)
        sizes = {"data": few} if seed % 2 else {"rows": 600, "features": 2}
        weight = "fraction" if seed % 4 == 1 else None
        case = Case(histogram(), seed, weight=weight, **sizes, **REGRESSION)
        assert case.mined._bin_mapper.subsample == 300
        seen.add(case.outcome("another bin"))
    assert seen == {"same", "refused"}
    with pytest.raises(DecodeError, match="the key alone"):
        case.decode(key_only=True)


def test_histogram_boosting_of_other_rows():
    case = Case(histogram(), 1, rows=100, **REGRESSION)
    with pytest.raises(DecodeError, match="other bins"):
        decode_with(case.mined, case.book, case.X[:-30])


def test_values_that_float64_tells_apart():
    X = np.array([2.0**24, 2.0**24 + 1, 5.0, 7.0] * 20)[:, None]
    y = np.arange(80.0)
    book = make_book(X, np.random.default_rng(0), shuffle=False)
    for fit in (histogram(), lightgbm()):
        with pytest.raises(DecodeError, match="share a code"):
            decode_with(fit(book.encode(X), y, None, 0), book, X)
    book.float64_values = False
    for fit in (histogram(), lightgbm()):
        with pytest.raises(DecodeError, match="float32"):
            decode_with(fit(book.encode(X), y, None, 0), book, None)


def test_reversed_and_permuted_codes_are_refused():
    for fit in (histogram(), lightgbm(), xgboost(tree_method="hist"),
                xgboost(tree_method="exact")):
        case = Case(fit, 1, rows=60, increasing=False, sign=False, **REGRESSION)
        with pytest.raises(DecodeError, match="reversed"):
            case.decode()
        case = Case(fit, 1, rows=60, sign=False, shuffle=False, **REGRESSION)
        values, codes = case.book.tables[0]
        case.book.tables[0] = (values, codes[np.r_[1, 0, 2:codes.size]])
        mined = fit(case.book.encode(case.X), case.y, None, 0)
        with pytest.raises(DecodeError, match="permuted"):
            decode_with(mined, case.book, case.X)
