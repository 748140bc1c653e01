"""Places of codes, what lies beside thresholds, and the compiled walk, against plain loops."""

import lightgbm
import numpy as np
import pytest
import xgboost
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.tree import DecisionTreeClassifier

from support.encoding_walk import table_of
from unspoken.methods.encoding.code_book import PiecewiseBook
from unspoken.methods.encoding.decode import leaf_walks
from unspoken.methods.encoding.decode.code_ranks import place_of, ranks_by_sorting
from unspoken.methods.encoding.decode.feature_design import design_of
from unspoken.methods.encoding.decode.node_segments import Segments
from unspoken.methods.encoding.decode.training_rows import training_rows
from unspoken.models.histogram_trees import HistogramTrees
from unspoken.models.readers import LightGBMModel, XGBoostModel
from unspoken.numerics.treewalk import check_shape
from unspoken.protect import PiecewiseEncoder


def holed(rows=400, columns=5, seed=0):
    rng = np.random.default_rng(seed)
    data = rng.normal(size=(rows, columns)).round(1)
    data[:, 1] = rng.integers(-3, 4, rows)
    data[rng.random(data.shape) < 0.1] = np.nan
    return data, np.where(np.nan_to_num(data[:, 0]) + rng.normal(size=rows) > 0, "b", "a")


def test_places_are_found_as_float32_and_strange_values_named():
    known = np.array([-2.0, 0.0, 0.1, 7.0])
    places, strange = place_of(np.array([0.1, -0.0, np.nan, 7.0, -2.0]), known)
    assert places.tolist() == [2, 1, -1, 3, 0]
    assert strange is None
    assert place_of(np.array([0.1, 3.5]), known)[1] == 3.5


def test_ranks_of_the_book_are_those_of_sorted_codes():
    data, labels = holed()
    _, key = PiecewiseEncoder(keep_zero=True).protect(table_of(data, labels))
    design = design_of(PiecewiseBook.from_key(key), None, data.shape[1])
    rows = training_rows(design, design.numbers(data))
    assert np.array_equal(design.encode(design.numbers(data))[design.order(len(data))],
                          rows.codes, equal_nan=True)
    ranks, again = rows.ranks, ranks_by_sorting(rows.codes, rows.values)
    for column in range(data.shape[1]):
        at, place = np.full(len(data), column), ranks.table[:, column]
        assert np.array_equal(ranks.code_at(at, place), rows.codes[:, column], equal_nan=True)
        assert np.array_equal(ranks.value_at(at, place), rows.values[:, column], equal_nan=True)
        assert all(map(np.array_equal, ranks.seen(column), again.seen(column)))
    assert ranks_by_sorting(rows.codes, -rows.values) is None


@pytest.mark.parametrize("depth", [1, 3, None])
def test_what_lies_beside_a_threshold(depth):
    data, labels = holed(seed=depth or 7)
    data = data.astype(np.float32).astype(float)
    tree = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(data, labels).tree_
    bag = np.random.default_rng(1).permutation(len(data))[:300]
    ranks = ranks_by_sorting(data, data)
    shape = check_shape(tree.children_left.astype(np.int64), tree.children_right.astype(np.int64))
    leaf = tree.apply(data[bag].astype(np.float32)).astype(np.int64)
    feature = np.where(shape.leaves, 0, tree.feature).astype(np.int64)
    low, high = Segments(shape, leaf).beside(feature, ranks.table, bag)
    paths = tree.decision_path(data[bag].astype(np.float32)).toarray().astype(bool)
    for node in np.flatnonzero(~shape.leaves):
        left, right = (data[bag[paths[:, child[node]]], feature[node]]
                       for child in (shape.left, shape.right))
        for side, extreme, place in ((left, np.max, low), (right, np.min, high)):
            present = side[~np.isnan(side)]
            value = ranks.value_at(feature[[node]], place[[node]])[0]
            assert (np.isnan(value) if not present.size else value == extreme(present))


def grown(kind, data, labels, sets):
    flags = [place in sets for place in range(data.shape[1])]
    if kind == "xgboost":
        learner = xgboost.XGBClassifier(
            n_estimators=6, n_jobs=1, enable_categorical=True, max_cat_to_onehot=2,
            feature_types=["c" if flag else "q" for flag in flags])
        return XGBoostModel.from_object(learner.fit(data, labels == "b")), leaf_walks.ask_xgboost
    if kind == "histogram":
        learner = HistGradientBoostingClassifier(max_iter=6, categorical_features=flags)
        return HistogramTrees.from_sklearn(learner.fit(data, labels)), leaf_walks.ask_histogram
    learner = lightgbm.LGBMClassifier(n_estimators=6, n_jobs=1, verbose=-1, min_data_per_group=1,
                                      use_missing=kind == "lightgbm")
    learner.fit(data, labels, categorical_feature=list(sets) or "auto")
    return LightGBMModel.from_object(learner), leaf_walks.ask_lightgbm


class Numbers:
    """A code book of numbers that are their own codes."""

    increasing, features = True, tuple("abcde")

    def column(self, index):
        return np.arange(30.0), np.arange(30)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["xgboost", "lightgbm", "lightgbm without missing", "histogram"])
@pytest.mark.parametrize("sets", [(), (0, 1)], ids=["numbers", "sets"])
def test_the_compiled_walk_ends_where_the_plain_one_does(kind, sets):
    from unspoken.methods.encoding.decode.training_rows import Rows

    rng = np.random.default_rng(3)
    data = rng.integers(0, 12, (600, 5)).astype(float)
    data[rng.random(data.shape) < 0.1] = np.nan
    labels = np.where(np.nan_to_num(data[:, 0]) % 3 + rng.normal(size=600) > 1, "b", "a")
    model, ask = grown(kind, data, labels, sets)
    rows = Rows(Numbers(), data, data)
    number = leaf_walks.lightgbm_leaf if kind.startswith("lightgbm") else None
    reached = list(leaf_walks.leaves_in(model.trees, rows, ask, number)(100, 600))
    assert any(np.unique(leaf).size > 2 for leaf in reached)
    for tree, leaf in zip(model.trees, reached, strict=True):
        assert np.array_equal(leaf, plain_leaf(tree, data[100:600]))


def plain_leaf(tree, data):
    if hasattr(tree, "leaf_of"):
        return tree.leaf_of(data)
    bitless = np.zeros(len(data), np.int64)
    for row, record in enumerate(data):
        node = 0
        while tree.left[node] >= 0:
            value = record[tree.feature[node]]
            left = (bool(tree.missing_left[node]) if np.isnan(value) else value in tree.sets[node]
                    if node in tree.sets else value <= tree.threshold[node])
            node = tree.left[node] if left else tree.right[node]
        bitless[row] = node
    return bitless
