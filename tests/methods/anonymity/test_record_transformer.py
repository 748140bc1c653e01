"""Anonymisers as transformers: frames of numbers, texts, dates and gaps, and new records."""

from __future__ import annotations

import datetime
from collections import Counter

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from unspoken.errors import InputError, UnspokenError
from unspoken.protect import (
    Generalizer,
    IsolationGuard,
    Microaggregator,
    MondrianAnonymizer,
    OptimalRecoder,
    build_hierarchy,
)

pd = pytest.importorskip("pandas")
METHODS = [
    MondrianAnonymizer(6), Microaggregator(6), OptimalRecoder(6),
    Generalizer({"town": build_hierarchy([*"abcd"], "flat")}, widths={"age": 30, "born": 365}, k=6,
                suppression=0.5)]


def frame(rows=240, seed=0):
    rng = np.random.default_rng(seed)
    start = datetime.date(1950, 1, 1)
    age = rng.integers(18, 80, rows).astype(float)
    age[rng.random(rows) < 0.05] = np.nan
    return pd.DataFrame({"age": age, "town": rng.choice([*"abcd", None], rows),
                         "born": [start + datetime.timedelta(int(d))
                                  for d in rng.integers(0, 900, rows)]},
                        index=np.arange(rows) * 2), rng.integers(0, 2, rows)


@pytest.mark.parametrize("method", METHODS)
def test_texts_dates_and_gaps_come_in_and_classes_come_out(method):
    X, y = frame()
    one = clone(method).set_output(transform="pandas")
    shown = one.fit_transform(X, y)
    assert list(shown.columns) == list(one.get_feature_names_out()) == ["age", "town", "born"]
    assert one.n_features_in_ == 3
    assert shown.index.equals(X.index)
    rows = [tuple(map(str, row)) for row, owner in
            zip(shown.to_numpy().tolist(), one.owner_, strict=True) if owner >= 0]
    assert min(Counter(rows).values()) >= 6
    assert one.transform(X).equals(shown)
    out = shown.to_numpy()[one.owner_ < 0]
    assert pd.isna(out).all()


@pytest.mark.parametrize("method", METHODS)
def test_nobody_gets_the_classes_of_another_table(method):
    X, y = frame()
    with pytest.raises(NotFittedError):
        clone(method).transform(X)
    one = clone(method).fit(X, y)
    other, _ = frame(seed=1)
    if isinstance(method, OptimalRecoder | Generalizer):
        assert np.array_equal(one.transform(X[50:]).astype(str), one.records_[50:].astype(str))
    else:
        with pytest.raises(InputError, match="only the records that were fitted"):
            one.transform(other)
    with pytest.raises(ValueError, match="feature"):
        one.transform(X[["age"]])


def test_new_records_are_recoded_by_the_fitted_levels():
    X, _ = frame()
    one = OptimalRecoder(6, suppression=0.0).fit(X)
    again = one.transform(X.iloc[::-1])
    assert np.array_equal(again.astype(str), one.records_[::-1].astype(str))
    with pytest.raises(InputError, match="only the records that were fitted"):
        OptimalRecoder(6, local=True).fit(X).transform(X.iloc[::-1])


def test_a_new_record_that_would_be_alone_is_missing():
    X = pd.DataFrame({"a": [*"uvw"] * 30 + ["u"] * 2, "b": [*"xxxyyy"] * 15 + ["z"] * 2})
    one = OptimalRecoder(4, suppression=0.05).fit(X)
    assert one.fitted_method_.optimum_.node == (0, 0)
    alone = one.transform(pd.DataFrame({"a": ["u", "v"], "b": ["z", "x"]}))
    assert alone[0].tolist() == [None, None]
    assert alone[1].tolist() == ["v", "x"]


def test_a_number_that_was_not_seen_joins_its_band():
    ages = np.r_[np.arange(20, 60, 2), np.arange(20, 60, 2)].astype(float)
    one = OptimalRecoder(6, suppression=0.0).fit(pd.DataFrame({"age": ages}))
    shown = one.transform(pd.DataFrame({"age": [31.0, 30.0]}))
    assert one.fitted_method_.optimum_.node != (0,)
    assert shown[0, 0] == shown[1, 0] is not None
    with pytest.raises(UnspokenError, match="not in its hierarchy"):
        one.transform(pd.DataFrame({"age": [999.0]}))


def test_new_records_are_generalised_where_labels_say_what_they_hold():
    X = pd.DataFrame({"code": ["10115", "10117", "20095", "20099"],
                      "born": [datetime.date(1950, m, d) for m in (1, 2) for d in (1, 15)],
                      "job": ["cook", "nurse", "clerk", "smith"], "age": [21, 34, 35, 28]})
    trees = {"code": build_hierarchy(X["code"].tolist(), "prefixes"),
             "born": build_hierarchy(X["born"].tolist(), "dates"),
             "job": build_hierarchy(X["job"].tolist(), "frequency")}
    one = Generalizer(trees, {"code": 1, "born": 1, "job": 2}, widths={"age": 10})
    one.set_output(transform="pandas").fit(X)
    new = X.assign(code=["10119", "20097", None, "10115"], age=[29, 99, np.nan, 30],
                   born=[datetime.date(1950, 1, 31), None, *X["born"][2:]],
                   job=["pilot", "cook", None, "smith"])
    shown = one.transform(new)
    assert shown["code"].tolist()[:2] == ["1011*", "2009*"]
    assert shown["born"][0] == "1950-01"
    assert set(shown["job"]) == {"*"}
    assert shown["age"].tolist()[:2] == [25.0, 95.0]
    assert pd.isna(shown["age"][2])
    assert pd.isna(shown["code"][2])
    for column, value in (("code", "99999"), ("born", datetime.date(1999, 1, 1))):
        with pytest.raises(UnspokenError, match="not in its hierarchy"):
            one.transform(X.assign(**{column: [value] * 4}))
    with pytest.raises(NotFittedError):
        clone(one).transform(X)
    with pytest.raises(InputError, match="nothing would change"):
        Generalizer().fit(X)


def test_bands_of_an_array_are_their_middles():
    X = np.array([[11.0, 3.0], [19.0, 4.0], [np.nan, 5.0]])
    shown = Generalizer(widths={"x0": 10}).fit_transform(X)
    assert np.array_equal(shown, [[15.0, 3.0], [15.0, 4.0], [np.nan, 5.0]], equal_nan=True)


def test_a_new_record_in_no_fitted_band_is_missing_where_k_is_asked_for():
    ages = pd.DataFrame({"age": [21, 22, 23, 24, 25, 41]})
    one = Generalizer(widths={"age": 10}, k=3, suppression=0.2).fit(ages)
    assert np.isnan(one.records_[5, 0])
    shown = one.transform(pd.DataFrame({"age": [29.0, 45.0, 70.0]}))
    assert shown[0, 0] == 25.0
    assert np.isnan(shown[1:, 0]).all()


def test_points_that_isolate_nobody_come_out_of_a_transformer():
    X = pd.DataFrame(np.random.default_rng(1).normal(size=(60, 2)), columns=["a", "b"])
    one = IsolationGuard(4, 5).set_output(transform="pandas")
    shown = one.fit_transform(X)
    assert list(shown.columns) == list(one.get_feature_names_out()) == ["a", "b"]
    assert min(Counter(map(tuple, shown.to_numpy().tolist())).values()) >= 5
    assert one.transform(X).equals(shown)
    with pytest.raises(InputError, match="only the records that were fitted"):
        one.transform(X + 1)


def test_inside_a_pipeline():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(200, 3))
    y = (X[:, 0] > 0).astype(int)
    line = make_pipeline(MondrianAnonymizer(5, cuts="gain"), DecisionTreeClassifier())
    assert line.fit(X, y).score(X, y) > 0.9


def test_named_columns_are_recoded_and_the_others_pass():
    X = pd.DataFrame({"age": np.arange(60) % 17, "pay": np.arange(60.0), "ill": [*"uvw"] * 20})
    method = MondrianAnonymizer(5, columns=["age"], sensitive=["ill"], l=2)
    shown = method.fit_transform(X)
    assert shown[:, 1].tolist() == X["pay"].tolist()
    assert shown[:, 2].tolist() == X["ill"].tolist()
    assert pd.Series(shown[:, 0]).value_counts().min() >= 5
    classes = pd.DataFrame({"age": shown[:, 0], "ill": X["ill"]}).groupby("age")["ill"]
    assert classes.nunique().min() >= 2
    assert np.array_equal(method.transform(X), shown)


@pytest.mark.parametrize("method", [MondrianAnonymizer(5, columns=["nosuch"]),
                                    Generalizer(widths=10, columns=["nosuch"]),
                                    Microaggregator(5, sensitive=["nosuch"])])
def test_columns_that_are_not_there_are_refused(method):
    with pytest.raises(InputError, match="It has no 'nosuch'"):
        method.fit(pd.DataFrame({"age": np.arange(60.0), "pay": np.arange(60.0)}))


def test_new_records_are_refused_where_columns_pass_as_they_are():
    X = pd.DataFrame({"age": [*range(20, 60, 2)] * 2, "pay": np.arange(40.0)})
    one = OptimalRecoder(6, columns=["age"]).fit(X)
    with pytest.raises(InputError, match="only the records that were fitted"):
        one.transform(X.iloc[::-1])


def test_a_generalizer_leaves_other_columns_as_they_are():
    X = pd.DataFrame({"age": np.arange(40.0), "pay": np.arange(40.0)})
    shown = Generalizer(widths=10, columns=["age"], k=5).fit_transform(X)
    assert shown[:, 1].tolist() == X["pay"].tolist()
    assert sorted(set(shown[:, 0])) == [5.0, 15.0, 25.0, 35.0]
