"""Replay decoding of exact splitters: equal to the model of the originals, or refused."""

from __future__ import annotations

import copy
import json

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from support.replay_cases import Case
from support.toybook import ToyBook, make_book
from unspoken.errors import DecodeError, InputError
from unspoken.methods.encoding.decode import decode_with, gradient_boosting_replay
from unspoken.models.forest import Forest
from unspoken.models.tree import Tree
from unspoken.models.verify import verify

pytestmark = pytest.mark.slow

seeds = st.integers(0, 2**32 - 1)
weights = st.sampled_from([None, "whole", "zero", "fraction"])


def fitter(kind, **parameters):
    def fit(X, y, weight, seed):
        return kind(random_state=seed, **parameters).fit(X, y, sample_weight=weight)
    return fit


TREES = st.fixed_dictionaries({
    "criterion": st.sampled_from(["gini", "entropy"]),
    "min_samples_leaf": st.sampled_from([1, 1, 3]),
    "max_features": st.sampled_from([None, 1, 0.6]),
    "max_leaf_nodes": st.sampled_from([None, None, 6]),
    "ccp_alpha": st.sampled_from([0.0, 0.01]),
    "class_weight": st.sampled_from([None, "balanced", {0: 0, 1: 2.5}]),
})


@given(seeds, weights, TREES)
@settings(max_examples=60)
def test_classification_trees(seed, weight, parameters):
    case = Case(fitter(DecisionTreeClassifier, **parameters), seed, weight=weight)
    decoded = case.check()
    proba = decoded.predict_proba(np.nan_to_num(case.unseen))
    assert np.array_equal(proba, case.original.predict_proba(np.nan_to_num(case.unseen)))


@given(seeds, weights, st.sampled_from(["squared_error", "absolute_error"]))
@settings(max_examples=30)
def test_regression_trees(seed, weight, criterion):
    fit = fitter(DecisionTreeRegressor, criterion=criterion, min_samples_leaf=2)
    case = Case(fit, seed, task="regression", weight=weight)
    decoded = case.check()
    unseen = np.nan_to_num(case.unseen)
    assert np.array_equal(decoded.predict(unseen), case.original.predict(unseen))


def test_monotonic_constraints():
    for seed in range(10):
        fit = fitter(DecisionTreeClassifier, monotonic_cst=[1, -1])
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 30, (80, 2)).astype(float)
        y = rng.integers(0, 2, 80)
        book = make_book(X, rng, shuffle=False)
        decoded = decode_with(fit(book.encode(X), y, None, 0), book, X)
        assert verify(fit(X, y, None, 0), decoded)


@given(seeds, weights, st.sampled_from([
    {}, {"bootstrap": False}, {"max_samples": 0.5}, {"class_weight": "balanced"},
    {"class_weight": "balanced_subsample"}, {"class_weight": {0: 0.5, 1: 3}},
]))
@settings(max_examples=40)
def test_forests_are_replayed_on_their_in_bag_rows(seed, weight, parameters):
    # A class of no weight at all cannot be balanced.
    assume(not (weight == "zero" and parameters.get("class_weight") == "balanced"))
    fit = fitter(RandomForestClassifier, n_estimators=3, **parameters)
    case = Case(fit, seed, weight=weight)
    case.check()
    mined, original = Forest.from_sklearn(case.mined), Forest.from_sklearn(case.original)
    if parameters.get("bootstrap", True) or weight is None:
        again = Forest.from_json(json.loads(json.dumps(mined.to_json())))
        decoded = decode_with(again, case.book, case.X, case.y, case.weight)
        assert original.same_as(decoded)


def test_in_bag_rows_matter():
    """A forest replayed on all rows would be wrong; here it is refused."""
    case = Case(fitter(RandomForestClassifier, n_estimators=3), 5, missing=False)
    forest = Forest.from_sklearn(case.mined)
    everything = Forest(forest.task, forest.features, forest.classes, forest.trees, None)
    with pytest.raises(DecodeError, match="tree 0, node 0: it says"):
        decode_with(everything, case.book, case.X)


@pytest.mark.parametrize("kind", [RandomForestClassifier, RandomForestRegressor])
def test_out_of_bag_scores_are_those_of_the_original(kind):
    task = "classification" if kind is RandomForestClassifier else "regression"
    for seed in range(4):
        fit = fitter(kind, n_estimators=30, oob_score=True)
        case = Case(fit, seed, task=task, missing=False, rows=60)
        decoded = case.check()
        assert decoded.oob_score_ == case.original.oob_score_
    with pytest.raises(DecodeError, match="'y' is needed"):
        decode_with(case.mined, case.book, case.X)


@given(seeds, st.sampled_from([None, "whole", "fraction"]))
@settings(max_examples=15)
def test_gradient_boosting(seed, weight):
    fit = fitter(GradientBoostingClassifier, n_estimators=3)
    case = Case(fit, seed, weight=weight, missing=False)
    decoded = case.check()
    unseen = case.unseen
    assert np.array_equal(decoded.predict_proba(unseen), case.original.predict_proba(unseen))
    fit = fitter(GradientBoostingRegressor, n_estimators=3, loss="huber")
    Case(fit, seed, task="regression", weight=weight, missing=False).check()


@pytest.mark.parametrize("parameters", [{"subsample": 0.6}, {"n_iter_no_change": 2}])
def test_gradient_boosting_with_rows_outside_the_bag(parameters, monkeypatch):
    """Exact where every row keeps its side; where one does not, later stages are fitted."""
    seen, fitted = set(), []
    plain = gradient_boosting_replay._grown_again
    monkeypatch.setattr(gradient_boosting_replay, "_grown_again",
                        lambda *args: fitted.append(1) or plain(*args))
    for seed in range(12):
        def few(rng):
            return rng.integers(0, 5, (150, 3)).astype(float)
        fit = fitter(GradientBoostingRegressor, n_estimators=3, **parameters)
        sizes = {"rows": 60} if seed % 2 else {"data": few}
        case = Case(fit, seed, task="regression", missing=False, **sizes)
        seen.add(case.outcome("was not in the bag"))
    assert seen == {"same"}
    assert 0 < len(fitted) < 12


def test_gradient_boosting_that_cannot_be_drawn_again():
    case = Case(lambda X, y, w, s: GradientBoostingRegressor(subsample=0.5).fit(X, y), 0,
                task="regression", missing=False)
    with pytest.raises(DecodeError, match="whole number"):
        case.decode()
    case = Case(lambda X, y, w, s: GradientBoostingRegressor(init=LinearRegression()).fit(X, y),
                0, task="regression", missing=False)
    with pytest.raises(DecodeError, match="with 'init' None, 'zero' or a dummy"):
        case.decode()


def three_values():
    """A known example: codes 1->1, 2->8, 10->9 and a node that holds {1, 10}."""
    X = np.array([[1.0, 0.0], [10.0, 0.0], [2.0, 1.0], [2.0, 1.0]])
    tables = [(np.array([1.0, 2.0, 10.0]), np.array([1, 8, 9])),
              (np.array([0.0, 1.0]), np.array([0, 5]))]
    names = ("a", "b")
    return X, np.array([0, 1, 2, 2]), ToyBook(names, names, tables)


def test_the_inverse_of_a_threshold_is_wrong_and_replay_is_right():
    """Theorem 2 decodes 5 (half-way between codes 1 and 9) as 1.5; the truth is 5.5."""
    X, y, book = three_values()
    fit = fitter(DecisionTreeClassifier)
    mined, original = fit(book.encode(X), y, None, 1), fit(X, y, None, 1)
    decoded = decode_with(mined, book, X)
    assert verify(original, decoded)
    at = int(np.flatnonzero(mined.tree_.feature == 0)[0])
    assert mined.tree_.threshold[at] == 5.0
    assert decoded.tree_.threshold[at] == 5.5


def test_rows_of_weight_zero_are_left_out():
    X = np.array([[1.0], [2.0], [3.0], [9.0]])
    weight = np.array([1.0, 0.0, 0.0, 1.0])
    book = make_book(X, np.random.default_rng(0), shuffle=False)
    model = DecisionTreeClassifier().fit(book.encode(X), [0, 0, 1, 1], sample_weight=weight)
    decoded = decode_with(model, book, X, sample_weight=weight)
    assert decoded.tree_.threshold[0] == 5.0
    with pytest.raises(DecodeError, match="node 0: it says 2 rows, and 4 reach it"):
        decode_with(model, book, X)


def test_classes_of_weight_zero_need_the_labels():
    X = np.array([[1.0], [2.0], [3.0], [9.0]])
    y = np.array([0, 2, 2, 1])
    book = make_book(X, np.random.default_rng(0), shuffle=False)
    parameters = {"class_weight": {0: 1, 1: 1, 2: 0}}
    model = DecisionTreeClassifier(**parameters).fit(book.encode(X), y)
    assert verify(DecisionTreeClassifier(**parameters).fit(X, y), decode_with(model, book, X, y))
    with pytest.raises(DecodeError, match="it says 2 rows"):
        decode_with(model, book, X)


def test_a_split_of_missing_against_the_rest_stays():
    X = np.array([[1.0], [2.0], [np.nan], [np.nan]])
    book = make_book(X, np.random.default_rng(0), shuffle=False)
    model = DecisionTreeClassifier(random_state=0).fit(book.encode(X), [0, 0, 1, 1])
    decoded = decode_with(model, book, X)
    assert decoded.tree_.threshold[0] == np.inf


@given(seeds)
@settings(max_examples=20)
def test_json_trees(seed):
    case = Case(fitter(DecisionTreeClassifier, min_samples_leaf=2), seed)
    tree = Tree.from_sklearn(case.mined)
    text = json.dumps(tree.to_json())
    for form in (tree, text, text.encode(), json.loads(text)):
        decoded = decode_with(form, case.book, case.X)
        assert Tree.from_sklearn(case.original).same_as(decoded)


def test_names_and_classes_are_restored_and_the_given_model_is_left_alone():
    rng = np.random.default_rng(3)
    X = rng.integers(0, 20, (80, 2)).astype(float)
    y = np.where(X[:, 0] > 9, "yes", "no")
    pd = pytest.importorskip("pandas")
    book = make_book(X, rng, classes={"A": "no", "B": "yes"}, rename=True)
    order = book.permutation
    codes = pd.DataFrame(book.encode(X)[order], columns=list(book.released_features))
    frame = pd.DataFrame(X[order], columns=list(book.features))
    released = np.where(y[order] == "no", "A", "B")
    for kind in (DecisionTreeClassifier, RandomForestClassifier, GradientBoostingClassifier):
        mined = kind(random_state=0).fit(codes, released)
        before = copy.deepcopy(mined)
        decoded = decode_with(mined, book, X, y)
        assert verify(kind(random_state=0).fit(frame, y[order]), decoded)
        assert decoded.predict(frame).tolist() == y[order].tolist()
        assert list(decoded.feature_names_in_) == ["x0", "x1"]
        assert verify(before, mined)
        assert mined.classes_.tolist() == ["A", "B"]
    weighted = DecisionTreeClassifier(class_weight={"A": 1, "B": 2}).fit(codes, released)
    assert decode_with(weighted, book, X, y).class_weight == {"no": 1, "yes": 2}


def test_foreign_models_are_refused():
    case = Case(fitter(DecisionTreeClassifier), 1, missing=False, rows=60, features=3)
    other = Case(fitter(DecisionTreeClassifier), 2, missing=False, rows=60, features=3)
    with pytest.raises(DecodeError, match="node"):
        decode_with(other.mined, case.book, case.X)
    with pytest.raises(DecodeError, match="node"):
        decode_with(case.mined, case.book, case.X[:-1])
    with pytest.raises(DecodeError, match="node"):
        decode_with(case.original, case.book, case.X)
    narrow = make_book(case.X[:, :2], np.random.default_rng(0))
    with pytest.raises(DecodeError, match="features, and the release has 2"):
        decode_with(case.mined, narrow, case.X[:, :2])


@given(seeds)
@settings(max_examples=40)
def test_a_changed_threshold_is_always_found(seed):
    case = Case(fitter(DecisionTreeClassifier), seed)
    tree = Tree.from_sklearn(case.mined)
    inner = np.flatnonzero(~tree.shape.leaves & np.isfinite(tree.threshold))
    if inner.size == 0:
        return
    moved = tree.threshold.copy()
    moved[inner[seed % inner.size]] += 0.25
    fields = {name: getattr(tree, name) for name in Tree.__dataclass_fields__}
    with pytest.raises(DecodeError, match="node"):
        decode_with(Tree(**{**fields, "threshold": moved}), case.book, case.X)


def test_more_nodes_than_rows_can_make():
    case = Case(fitter(DecisionTreeClassifier), 1, missing=False, rows=60)
    with pytest.raises(DecodeError, match="nodes, and 2 training rows give at most 3"):
        decode_with(case.mined, case.book, case.X[:2])


def test_a_forest_of_other_rows():
    case = Case(fitter(RandomForestClassifier, n_estimators=2), 1, rows=40)
    with pytest.raises(DecodeError, match="mined from 40 rows"):
        decode_with(case.mined, case.book, case.X[:-1])
    forest = Forest.from_sklearn(case.mined).to_json()
    forest["bootstrap"]["draws"] = 2**31 - 1
    with pytest.raises(DecodeError, match=r"bootstrap\.draws"):
        decode_with(forest, case.book, case.X)


def test_key_only_is_refused():
    for kind in (DecisionTreeClassifier, RandomForestClassifier):
        case = Case(fitter(kind), 1, rows=40)
        with pytest.raises(DecodeError, match="training data is needed"):
            case.decode(key_only=True)


@given(seeds)
@settings(max_examples=25)
def test_reversed_codes_give_a_tree_that_is_as_good(seed):
    """Mode anti: every node of the decoded tree separates the rows as the mined one does."""
    case = Case(fitter(DecisionTreeClassifier), seed, increasing=False)
    decoded = case.decode()
    order = case.book.permutation
    assert np.array_equal(decoded.apply(case.X[order]), case.mined.apply(case.codes))
    pattern = decode_with(Tree.from_sklearn(case.mined), case.book, case.X)
    assert Tree.from_sklearn(decoded).same_as(pattern)


def test_values_that_scikit_learn_takes_as_equal():
    """Codes are never within 1e-7, originals can be: identical or refused, never different."""
    def close(rng):
        rows = int(rng.integers(5, 60))
        kinds = [rng.integers(0, 40, rows) * 3e-8, rng.random(rows),
                 1 + rng.integers(0, 9, rows) * 2.0**-23, rng.integers(0, 5, rows) * 1.0]
        return np.column_stack([kinds[i] for i in rng.integers(0, 4, 2)])

    seen = set()
    for seed in range(80):
        kind = DecisionTreeClassifier if seed % 2 else DecisionTreeRegressor
        task = "classification" if seed % 2 else "regression"
        case = Case(fitter(kind, max_features=1), seed, data=close, task=task)
        seen.add(case.outcome("1e-7 apart"))
    assert seen == {"same", "refused"}


def permuted(seed):
    rng = np.random.default_rng(seed)
    X = rng.permutation(np.arange(40.0))[:, None]
    book = make_book(X, rng, shuffle=False)
    values, codes = book.tables[0]
    codes = codes.copy()
    codes[:20] = rng.permutation(codes[:20])
    book.tables[0] = (values, codes)
    return X, np.where(X[:, 0] < 20, 0, (X[:, 0] % 3 > 0) + 1).astype(int), book


def test_permuted_pieces_decode_for_plain_classification_trees():
    for seed in range(5):
        X, y, book = permuted(seed)
        mined = DecisionTreeClassifier(random_state=0).fit(book.encode(X), y)
        original = DecisionTreeClassifier(random_state=0).fit(X, y)
        assert verify(original, decode_with(mined, book, X, y))


@pytest.mark.parametrize(("estimator", "words"), [
    (DecisionTreeClassifier(min_samples_leaf=3), "leaf minima"),
    (DecisionTreeClassifier(min_weight_fraction_leaf=0.1), "leaf minima"),
    (DecisionTreeClassifier(class_weight={0: 0.3, 1: 1, 2: 1}), "dyadic"),
    (DecisionTreeRegressor(), "leaf minima"),
    (RandomForestRegressor(2), "leaf minima"),
    (GradientBoostingClassifier(n_estimators=2), "leaf minima"),
])
def test_permuted_pieces_are_refused_for_other_learners(estimator, words):
    X, y, book = permuted(0)
    mined = estimator.fit(book.encode(X), y)
    with pytest.raises(DecodeError, match=words):
        decode_with(mined, book, X, y)


def test_a_split_inside_a_permuted_piece_has_no_original():
    X, _, book = permuted(1)
    codes = book.encode(X)
    y = (codes[:, 0] > np.median(codes[:20, 0])).astype(int)
    tree = Tree.from_sklearn(DecisionTreeClassifier(random_state=0).fit(codes, y))
    with pytest.raises(DecodeError, match="inside a piece"):
        decode_with(tree, book, X, y)


def test_arguments():
    case = Case(fitter(DecisionTreeClassifier), 1, rows=40)
    with pytest.raises(DecodeError, match="'learner'"):
        decode_with(case.mined, case.book, case.X, learner="other")
    with pytest.raises(InputError, match="training data"):
        decode_with(case.mined, case.book, case.X[:, :-1])
    with pytest.raises(InputError, match="'sample_weight'"):
        decode_with(case.mined, case.book, case.X, sample_weight=[1.0])
