"""Every trap of the papers' table, by name: it is real, and the encoder does not fall into it."""

from __future__ import annotations

import itertools

import numpy as np
import pyarrow as pa
import pytest
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier

import unspoken
from support.encoding_walk import table_of, walk
from support.random_tables import random_table
from unspoken.errors import DataError, SchemaError, UnseenValueError
from unspoken.methods.encoding.code_book import PiecewiseBook
from unspoken.methods.encoding.draw_column import Recipe, draw_column
from unspoken.protect import PiecewiseEncoder


def tree(**parameters):
    return DecisionTreeClassifier(random_state=0, **parameters)


def column(*values):
    return np.array(values, float).reshape(-1, 1)


def grown(data, labels, **parameters):
    return tree(**parameters).fit(data, labels).tree_


@pytest.mark.slow
def test_codes_never_come_close():
    """Polynomials near zero put values closer than float32 tells; our codes are whole."""
    rng = np.random.default_rng(0)
    data = rng.integers(0, 300, (300, 1)) / 16
    labels = rng.integers(0, 2, 300)
    for seed in range(30):
        found = walk(data, labels, tree(), families=("polynomial",), random_state=seed)
        codes = np.unique(found.release.table.numbers())
        assert np.array_equal(codes, np.rint(codes))
        assert np.diff(codes).min() >= 1
        assert np.array_equal(codes.astype(np.float32), codes)
        assert found.identical


def test_values_that_are_one_as_float32_get_one_code():
    data = column(2**24, 2**24 + 1, 2**24 + 2, 2**24 + 4)
    encoder = PiecewiseEncoder(conditioning="none").fit(data)
    codes = encoder.transform(data)[:, 0]
    # float32 rounds 2^24 + 1 down to 2^24.
    assert codes[0] == codes[1] < codes[2] < codes[3]
    assert not encoder.facts_.float32_exact
    rounded = PiecewiseEncoder().fit(data)
    assert rounded.facts_.float32_exact
    assert rounded.book_.columns[0].rounded(data[:, 0])[1] == 2**24


@pytest.mark.slow
def test_offset_values_decode_exactly():
    rng = np.random.default_rng(1)
    data = 1e5 + rng.integers(0, 500, (200, 2)) / 1000
    for seed in range(20):
        assert walk(data, rng.integers(0, 2, 200), tree(), random_state=seed).identical


def test_anti_breaks_a_true_tie_the_other_way():
    """x = 1, 2, 3 and y = 0, 1, 0: the root is 1.5 or 2.5."""
    data, labels = column(1, 2, 3), np.array([0, 1, 0])
    assert grown(data, labels).threshold[0] == 1.5
    found = walk(data, labels, tree(), mode="anti", shuffle_rows=False)
    assert found.decoded.tree_.threshold[0] == 2.5
    verdict = found.release.guarantee.covers(tree())
    assert not verdict
    assert "equally good" in verdict.reason


def test_seed_columns_and_labels_are_published():
    release, _ = PiecewiseEncoder().protect(table_of(*random_table(3)[:2]))
    assert {"seed", "columns", "labels"} <= set(release.manifest["miner"])
    assert release.schema.names[0] == "c0"


def test_neutral_class_names_keep_the_order_of_labels():
    data, labels, _ = random_table(4, rows=60, classes=8)
    named = np.array(["b", "a", "é", "Z", "10", "9", "_", "x"])[labels]
    _, key = PiecewiseEncoder(neutral_names=True).protect(table_of(data, named))
    pairs = PiecewiseBook.from_key(key).classes
    assert sorted(pairs) == list(pairs)
    assert [pairs[name] for name in sorted(pairs)] == sorted(set(named.tolist()))


@pytest.mark.slow
def test_reversing_a_mixed_piece_changes_the_tree_and_never_happens():
    """{1}, {2, 3}, {4} and y = 0011: with the middle reversed 3 nodes become 7."""
    labels = np.array([0, 0, 1, 1])
    assert grown(column(1, 2, 3, 4), labels).node_count == 3
    assert grown(column(1, 3, 2, 4), labels).node_count == 7
    for seed, mode in itertools.product(range(50), ("strict", "max-mono")):
        encoder = PiecewiseEncoder(mode, pieces="random", breakpoints=3, random_state=seed)
        codes = encoder.fit_transform(column(1, 2, 3, 4), labels)[:, 0]
        assert codes[:2].max() < codes[2:].min()


def test_leaf_minima_break_permuted_pieces():
    """x = 1..4, y = 0001 with a leaf minimum of 2."""
    labels = np.array([0, 0, 0, 1])
    plain = grown(column(1, 2, 3, 4), labels, min_samples_leaf=2)
    permuted = grown(column(2, 3, 1, 4), labels, min_samples_leaf=2)
    # Both cut in the middle, but the right leaf holds another record.
    right = np.flatnonzero(column(2, 3, 1, 4)[:, 0] > permuted.threshold[0])
    assert right.tolist() != np.flatnonzero(column(1, 2, 3, 4)[:, 0] > plain.threshold[0]).tolist()
    release, _ = PiecewiseEncoder("max-mono").protect(table_of(column(1, 2, 3, 4), labels))
    for wrong in ({"min_samples_leaf": 2}, {"min_samples_leaf": 0.1},
                  {"min_weight_fraction_leaf": 0.1}):
        assert not release.guarantee.covers(tree(**wrong))
    assert release.guarantee.covers(tree())
    assert release.guarantee.covers(tree(min_samples_leaf=1, min_samples_split=5))


@pytest.mark.slow
def test_splitting_between_pieces_is_no_proof():
    """A tree that never splits inside a permuted piece can still be another tree."""
    missed = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        data = rng.integers(0, 12, (24, 3)).astype(float)
        labels = (data[:, 0] + rng.normal(size=24) > 6).astype(int)
        encoder = PiecewiseEncoder("max-mono", min_width=2, random_state=seed)
        codes = encoder.fit_transform(data, labels)
        mined = tree(min_samples_leaf=3).fit(codes, labels)
        original = tree(min_samples_leaf=3).fit(data, labels)
        inside = any(_cuts_inside(mined.tree_, i, c) for i, c in enumerate(encoder.book_.columns))
        same = np.array_equal(mined.apply(codes), original.apply(data))
        missed += not inside and not same
    assert missed > 0


def _cuts_inside(grown_tree, index, code):
    cuts = grown_tree.threshold[grown_tree.feature == index][:, None]
    mono = code.pieces.mono
    return ((cuts > code.low[mono]) & (cuts < code.high[mono])).any()


def test_fractional_weights_break_permuted_pieces():
    release, _ = PiecewiseEncoder("max-mono").protect(table_of(*random_table(5)[:2]))
    for wrong in ("balanced", {0: 0.1, 1: 1.0}, [{0: 1}]):
        verdict = release.guarantee.covers(tree(class_weight=wrong))
        assert not verdict
        assert "dyadic" in verdict.reason
    assert not release.guarantee.covers(RandomForestClassifier(class_weight="balanced_subsample"))
    for right in (None, {0: 1, 1: 3}, {0: 0.25, 1: 7.5}):
        assert release.guarantee.covers(tree(class_weight=right))


@pytest.mark.slow
def test_a_missing_value_stays_missing_and_a_sentinel_keeps_its_place():
    rng = np.random.default_rng(2)
    data = np.where(rng.random((200, 2)) < 0.2, -999.0, rng.integers(0, 50, (200, 2)))
    data[rng.random(data.shape) < 0.1] = np.nan
    labels = rng.integers(0, 2, 200)
    for seed, mode in itertools.product(range(20), ("strict", "max-mono")):
        found = walk(data, labels, tree(), mode=mode, random_state=seed, shuffle_rows=False)
        codes = found.release.table.numbers()
        assert np.array_equal(np.isnan(codes), np.isnan(data))
        for index in range(2):
            sentinel = codes[data[:, index] == -999, index]
            assert sentinel.max() <= np.nanmin(codes[:, index]) or mode == "max-mono"
        assert found.identical


def with_category():
    columns = {"x": [1.0, 2, 3, 4], "c": ["red", "blue", "red", "green"], "y": [0, 1, 0, 1]}
    return unspoken.read(pa.table(columns), target="y", show=False)


def test_categories_are_refused_relabelled_or_dropped():
    with pytest.raises(SchemaError, match="categorical='relabel'"):
        PiecewiseEncoder(categorical="refuse").protect(with_category())
    dropped, _ = PiecewiseEncoder(categorical="drop").protect(with_category())
    assert dropped.schema.names == ("x", "y")
    assert dropped.guarantee.covers(tree())
    release, key = PiecewiseEncoder().protect(with_category())
    labels = set(release.table.arrow(["c"])["c"].to_pylist())
    assert labels == {"c0", "c1", "c2"}
    assert set(PiecewiseBook.from_key(key).categories["c"]["labels"]) == {"red", "blue", "green"}
    verdict = release.guarantee.covers(tree())
    assert verdict
    assert "sorted order of their labels" in verdict.reason
    assert release.guarantee.covers(tree(), columns=["x"])
    for named in (["c"], [1], [False, True]):
        assert release.guarantee.covers(HistGradientBoostingClassifier(categorical_features=named))
    for named in (["x"], [0], [True, True], [True], [7], 3, "c"):
        assert not release.guarantee.covers(
            HistGradientBoostingClassifier(categorical_features=named))


NOT_COVERED = [
    DecisionTreeClassifier(splitter="random"), DecisionTreeRegressor(splitter="random"),
    ExtraTreesClassifier(), ExtraTreeClassifier(), AdaBoostRegressor(),
    AdaBoostClassifier(LogisticRegression()), BaggingClassifier(bootstrap_features=True),
    GradientBoostingClassifier(subsample=0.5), GradientBoostingClassifier(init=tree()),
    HistGradientBoostingClassifier(categorical_features=[0]),
    LogisticRegression(), KNeighborsClassifier(), DecisionTreeClassifier, "tree", None,
]


@pytest.mark.slow
@pytest.mark.parametrize("miner", NOT_COVERED, ids=repr)
@pytest.mark.parametrize("mode", ["strict", "max-mono", "anti"])
def test_learners_that_see_more_than_the_order(miner, mode):
    release, _ = PiecewiseEncoder(mode).protect(table_of(*random_table(6)[:2]))
    verdict = release.guarantee.covers(miner)
    assert not verdict
    assert verdict.reason


@pytest.mark.slow
@pytest.mark.parametrize("miner", [
    DecisionTreeRegressor(), RandomForestRegressor(), GradientBoostingClassifier(),
    HistGradientBoostingClassifier(), AdaBoostClassifier(), BaggingClassifier(),
], ids=repr)
def test_learners_that_need_strict(miner):
    data, labels, _ = random_table(7, avoid=("signed", "fraction", "huge", "tiny", "offset"))
    strict, _ = PiecewiseEncoder().protect(table_of(data, labels))
    assert strict.guarantee.covers(miner)
    loose, _ = PiecewiseEncoder("max-mono").protect(table_of(data, labels))
    assert "'strict' only" in loose.guarantee.covers(miner).reason


def test_a_subclass_is_another_learner():
    class Mine(DecisionTreeClassifier):
        pass

    release, _ = PiecewiseEncoder().protect(table_of(*random_table(6)[:2]))
    assert not release.guarantee.covers(Mine())


def test_regression_is_refused_where_pieces_are_permuted():
    data, labels, rng = random_table(8)
    for mode, pieces in (("max-mono", None), ("strict", "max-mono")):
        encoder = PiecewiseEncoder(mode, pieces=pieces)
        with pytest.raises(DataError, match="mode='strict' for regression"):
            encoder.fit(np.nan_to_num(data), rng.random(len(labels)))
    rows = 1500
    table = table_of(rng.random((rows, 1)), rng.random(rows))
    with pytest.raises(DataError, match="at most 1000 classes"):
        PiecewiseEncoder("max-mono").protect(table)


def test_c45_minimum_objects_as_a_leaf_minimum():
    """Class counts [0,2], [0,1], [1,0] with at least two records in a branch."""
    labels = np.array([1, 1, 1, 0])
    plain = grown(column(1, 1, 2, 3), labels, min_samples_leaf=2)
    permuted = grown(column(2, 2, 1, 3), labels, min_samples_leaf=2)
    assert plain.node_count != permuted.node_count or plain.threshold[0] != permuted.threshold[0]
    release, _ = PiecewiseEncoder("max-mono").protect(table_of(column(1, 1, 2, 3), labels))
    assert not release.guarantee.covers(tree(min_samples_leaf=2))


def test_new_records_are_not_encoded_by_default():
    encoder = PiecewiseEncoder(random_state=0).fit(column(1, 2, 10))
    with pytest.raises(UnseenValueError, match="decode the model and use it on original values"):
        encoder.transform(column(5))
    nearest = PiecewiseEncoder(random_state=0, unseen="nearest").fit(column(1, 2, 10))
    assert nearest.transform(column(5)) == nearest.transform(column(2))


def test_row_order_matters_for_sums_so_identity_is_in_the_released_order():
    rng = np.random.default_rng(9)
    data, target = rng.integers(0, 9, (400, 3)).astype(float), rng.random(400)
    found = walk(data, target, DecisionTreeRegressor(random_state=0), random_state=1)
    assert found.identical
    unmoved = DecisionTreeRegressor(random_state=0).fit(data, target)
    assert not unspoken.verify(unmoved, found.decoded)


@pytest.mark.slow
def test_more_distinct_values_than_float32_holds_are_refused():
    values = np.arange(2.0**24)
    with pytest.raises(DataError, match="at most 16,777,214 distinct values"):
        draw_column(("big", "big"), values, None, Recipe(), bytes(32))


def test_values_within_1e_7_are_not_covered():
    """scikit-learn's splitter takes them for equal, on the original but not on the codes."""
    data, labels = column(0, 5e-8, 1, 2), np.array([0, 1, 0, 1])
    assert grown(data, labels).node_count != grown(column(0, 1, 2, 3), labels).node_count
    release, _ = PiecewiseEncoder(conditioning="none").protect(table_of(data, labels))
    assert "1e-7" in release.guarantee.covers(tree()).reason
    rounded = walk(data, labels, tree())
    assert rounded.release.guarantee.covers(tree())
    assert rounded.release.guarantee.facts["rounded"] == ["c0"]
    assert rounded.identical
    scaled, _ = PiecewiseEncoder().protect(table_of(data * 2**20, labels))
    assert scaled.guarantee.covers(tree())


def test_values_beyond_float32_are_not_covered_for_histogram_boosting():
    data = column(*(1 + np.arange(50) * 1e-9))
    release, _ = PiecewiseEncoder().protect(table_of(data, np.arange(50) % 2))
    assert "float32" in release.guarantee.covers(HistGradientBoostingClassifier()).reason


@pytest.mark.parametrize(("bad", "words"), [
    (np.inf, "must be finite"), (-np.inf, "must be finite"), (1e300, "must fit float32"),
])
def test_values_no_learner_accepts(bad, words):
    with pytest.raises(DataError, match=words):
        PiecewiseEncoder().protect(table_of(column(1, bad, 3, 4), np.array([0, 1, 0, 1])))
    with pytest.raises(DataError, match=words):
        PiecewiseEncoder().fit(column(1, bad, 3, 4))


def test_targets_that_cannot_be_mined():
    one = unspoken.read(pa.table({"x": [1.0, 2], "y": [1, 1]}), target="y", show=False)
    with pytest.raises(DataError, match="at least 2 different values"):
        PiecewiseEncoder().protect(one)
    gap = unspoken.read(pa.table({"x": [1.0, 2, 3], "y": ["a", None, "b"]}), target="y", show=False)
    with pytest.raises(DataError, match="1 rows have none"):
        PiecewiseEncoder().protect(gap)
    none = unspoken.read(pa.table({"x": [1.0, 2]}), show=False)
    with pytest.raises(SchemaError, match="needs a table with a target"):
        PiecewiseEncoder("max-mono").protect(none)
    release, _ = PiecewiseEncoder().protect(none)
    assert release.schema.names == ("x",)


def test_a_column_of_nothing_but_missing_values():
    table = unspoken.read(pa.table({"x": [1.0, 2, 3], "n": pa.array([None] * 3, pa.float64()),
                                 "y": [0, 1, 0]}), target="y", show=False)
    release, _ = PiecewiseEncoder().protect(table)
    assert release.table.arrow(["n"])["n"].null_count == 3


def test_keep_zero_is_only_for_strict():
    with pytest.raises(unspoken.errors.InputError, match="unless mode is 'strict'"):
        PiecewiseEncoder("anti", keep_zero=True).fit(column(1, 2))


def test_inverse_transform_gives_the_values_back():
    data, labels, _ = random_table(11)
    data = data.astype(np.float32).astype(np.float64)
    for mode in ("strict", "max-mono", "anti"):
        encoder = PiecewiseEncoder(mode)
        back = encoder.inverse_transform(encoder.fit_transform(data, labels))
        assert np.array_equal(back, data, equal_nan=True)
    with pytest.raises(UnseenValueError, match="only codes of this key"):
        encoder.inverse_transform(np.full((1, data.shape[1]), -5.0))


def test_neither_errors_nor_reprs_show_the_key():
    data, labels, _ = random_table(12)
    encoder = PiecewiseEncoder().fit(data, labels)
    column_code = encoder.book_.columns[0]
    shown = repr(encoder) + repr(encoder.book_) + repr(column_code) + repr(encoder.key_)
    assert column_code.seed.hex() not in shown
    assert repr(column_code.seed) not in shown
    assert str(column_code.codes[0]) not in shown
