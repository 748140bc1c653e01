"""ID3 over rows of several owners: the tree of pooled data, whoever has which rows."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from support.near_ties import near
from support.tree_data import LAYOUT, WEATHER, figure_4_1, parts_of, tables
from unspoken.errors import DataError, InputError
from unspoken.joint import run_outcomes
from unspoken.joint.joint_errors import PartyError, RefusedError
from unspoken.joint.mpc.engines.spu.spu_handle import spu_python
from unspoken.joint.tasks.tree import program_rows as horizontal
from unspoken.joint.tasks.tree.cut_points import Span, plain_cuts
from unspoken.joint.tasks.tree.params import Attribute, TreeLayout, TreeParams, attributes_of
from unspoken.joint.tasks.tree.pooled import pooled
from unspoken.joint.tasks.tree.program_rows import (
    LEAVES,
    SPLITS,
    TOO_MANY,
    TreeOverRows,
    code_rows,
    mine_tree_rows,
)
from unspoken.models.categorical_tree import CategoricalTree

pytestmark = pytest.mark.slow

SMALL = TreeParams(most=64)


def textbook_id3(columns, rows, attributes, target, depth):
    """Quinlan's ID3 by recursion over lists, as a nested tuple; ties as the book leaves them."""
    labels = [columns[target][i] for i in rows]
    if not attributes or len(set(labels)) < 2 or depth == 0:
        return Counter(labels).most_common(1)[0][0]

    def entropy(some):
        shares = np.array(list(Counter(columns[target][i] for i in some).values())) / len(some)
        return -(shares * np.log(shares)).sum()

    def left(name):
        groups = [[i for i in rows if columns[name][i] == v] for v in set(columns[name])]
        return sum(len(g) / len(rows) * entropy(g) for g in groups if g)

    chosen = min(attributes, key=left)
    rest = [a for a in attributes if a != chosen]
    return chosen, {v: textbook_id3(columns, [i for i in rows if columns[chosen][i] == v], rest,
                                    target, depth - 1) for v in sorted(set(columns[chosen]))}


def nested(tree, node=0):
    """Return a pattern as the nested tuple of the textbook."""
    if tree.feature[node] < 0:
        return tree.classes[int(tree.value[node].argmax())]
    name, first = tree.features[tree.feature[node]], tree.first_child[node]
    return name, {c: nested(tree, first + tree.route[node][i])
                  for i, c in enumerate(tree.categories[name])}


def test_the_weather_tree_comes_out_in_the_clear():
    tree = pooled(LAYOUT, WEATHER, SMALL)
    names = [a.name for a in LAYOUT.attributes]
    assert nested(tree) == textbook_id3(WEATHER, list(range(14)), names, "play", 5)
    wanted = [figure_4_1(o, h, w) for o, h, w in zip(
        WEATHER["outlook"], WEATHER["humidity"], WEATHER["windy"], strict=True)]
    assert tree.predict(WEATHER).tolist() == wanted == WEATHER["play"].tolist()
    assert tree.nodes == 8


@pytest.mark.parametrize(("mode", "owners"), [("dealer", 2), ("dealer", 3), ("three-party", 3),
                                              ("two-party", 2), ("authenticated", 3)])
def test_the_weather_tree_comes_out_jointly(mode, owners):
    if mode == "two-party":
        pytest.importorskip("rbcl")
    parts = parts_of(WEATHER, np.arange(14) % owners, owners)
    trees, ledgers = mine_tree_rows(parts, LAYOUT, SMALL, mode)
    for tree in trees:
        assert tree.same_as(pooled(LAYOUT, WEATHER, SMALL))
    for ledger in ledgers:
        assert {row.because for row in ledger.openings} == {SPLITS, LEAVES, TOO_MANY}


@pytest.mark.skipif(spu_python() is None, reason="SPU is not installed")
def test_the_weather_tree_comes_out_of_spu():
    trees, _ = mine_tree_rows(parts_of(WEATHER, np.arange(14) % 3, 3), LAYOUT, SMALL, "spu")
    assert all(tree.same_as(pooled(LAYOUT, WEATHER, SMALL)) for tree in trees)


def test_adult_gives_the_tree_of_pooled_rows(shared):
    table = pq.read_table(shared("adult_data.parquet"))
    names = ["workclass", "education", "marital-status", "relationship", "age", "hours-per-week"]
    target = table.column_names[-1]
    columns = {n: table[n].to_numpy(zero_copy_only=False) for n in (*names, target)}
    cuts = {"age": (24.5, 30.5, 40.5, 55.5), "hours-per-week": (39.5, 40.5, 45.5)}
    layout = TreeLayout(attributes_of(columns, cuts, names), ("<=50K", ">50K"), target)
    rules = TreeParams(max_depth=3, min_records=50, most=1 << 15)
    owner = np.random.default_rng(1).integers(0, 3, table.num_rows)
    trees, _ = mine_tree_rows(parts_of(columns, owner, 3), layout, rules)
    expected = pooled(layout, columns, rules)
    assert expected.nodes > 100
    assert trees[0].same_as(expected)
    assert (trees[0].predict(columns) == columns[target]).mean() > 0.8


@settings(max_examples=25)
@given(tables(), st.integers(0, 4), st.integers(1, 6))
def test_the_joint_tree_is_the_tree_of_pooled_rows(table, depth, least):
    layout, columns, assignment, owners = table
    rules = TreeParams(max_depth=depth, min_records=least, most=64)
    assume(not near(layout, columns, rules))
    trees, _ = mine_tree_rows(parts_of(columns, assignment, owners), layout, rules)
    expected = pooled(layout, columns, rules)
    for tree in trees:
        assert tree.same_as(expected)
        assert tree.same_as(CategoricalTree.from_json(tree.to_json()))


def test_equal_gains_take_the_first_attribute():
    twice = {"b": np.array(["x", "y"] * 8, object)}
    twice |= {"a": twice["b"], "class": np.array(["n", "p"] * 8, object)}
    layout = TreeLayout((Attribute("b", ("x", "y")), Attribute("a", ("x", "y"))), ("n", "p"))
    for order in (layout, TreeLayout(layout.attributes[::-1], ("n", "p"))):
        for _ in range(5):
            trees, _ = mine_tree_rows(parts_of(twice, np.arange(16) % 2, 2), order, SMALL)
            assert trees[0].features[trees[0].feature[0]] == order.attributes[0].name


def test_a_gain_of_nothing_makes_a_leaf():
    exclusive = {"a": np.array(["x", "x", "y", "y"], object), "b": np.array(["u", "v"] * 2, object),
                 "class": np.array(["n", "p", "p", "n"], object)}
    layout = TreeLayout((Attribute("a", ("x", "y")), Attribute("b", ("u", "v"))), ("n", "p"))
    for _ in range(5):
        trees, _ = mine_tree_rows(parts_of(exclusive, [0, 1, 0, 1], 2), layout, SMALL)
        assert trees[0].nodes == 1


def test_an_empty_leaf_has_its_parents_class():
    columns = {"a": np.array(["x", "x", "x", "y"], object),
               "class": np.array(["p", "p", "p", "n"], object)}
    layout = TreeLayout((Attribute("a", ("x", "y", "z")),), ("n", "p"))
    trees, _ = mine_tree_rows(parts_of(columns, [0, 1, 0, 1], 2), layout, SMALL)
    assert trees[0].predict({"a": ["x", "y", "z"]}).tolist() == ["p", "n", "p"]


def test_leaf_classes_can_be_for_one_alone():
    trees, _ = mine_tree_rows(parts_of(WEATHER, np.arange(14) % 3, 3), LAYOUT, SMALL,
                                    names=["north", "south", "east"], receivers=["south"])
    expected = pooled(LAYOUT, WEATHER, SMALL)
    assert trees[1].same_as(expected)
    for tree in (trees[0], trees[2]):
        assert tree.classes == ("leaf 1", "leaf 4", "leaf 5", "leaf 6", "leaf 7")
        assert np.array_equal(tree.feature, expected.feature)
        assert np.array_equal(tree.apply(WEATHER), expected.apply(WEATHER))


@pytest.mark.parametrize("assignment", [np.zeros(14), WEATHER["play"] == "yes"])
def test_an_empty_owner_and_a_class_that_one_has_alone_are_no_matter(assignment):
    trees, _ = mine_tree_rows(parts_of(WEATHER, assignment, 2), LAYOUT, SMALL)
    assert trees[0].same_as(pooled(LAYOUT, WEATHER, SMALL))


def test_cut_points_are_quantiles_of_all_rows():
    random = np.random.default_rng(3)
    columns = {"x": np.round(random.normal(size=60), 2), "y": random.integers(0, 9, 60) * 1.0}
    columns["class"] = np.where(columns["x"] > 0.3, "p", "n").astype(object)
    spans = {"x": Span(-3, 3, 3, 6), "y": Span(0, 16, 2, 4)}
    layout = TreeLayout((Attribute("x", cuts=(0.0,)), Attribute("y", cuts=(0.0,))), ("n", "p"))
    found, _ = mine_tree_rows(parts_of(columns, random.integers(0, 3, 60), 3), layout, SMALL,
                                    spans=spans)
    cuts = {name: plain_cuts(columns[name], span) for name, span in spans.items()}
    expected = TreeLayout(tuple(Attribute(n, cuts=c) for n, c in cuts.items()), ("n", "p"))
    assert found[0].same_as(pooled(expected, columns, SMALL))
    # On whole numbers the grid meets the values: at or below counts.
    for k, cut in enumerate(cuts["y"], 1):
        assert (columns["y"] <= cut).mean() >= k / 3 > (columns["y"] <= cut - 1).mean()
    for k, cut in enumerate(cuts["x"], 1):
        below = (columns["x"] <= cut).mean()
        assert below >= k / 4 > (columns["x"] <= cut - 6 / 64).mean()


def test_more_records_than_agreed_are_refused():
    parts = parts_of(WEATHER, np.arange(14) % 2, 2)
    with pytest.raises(RefusedError, match="This owner alone has more"):
        mine_tree_rows(parts, LAYOUT, TreeParams(most=6))
    with pytest.raises(RefusedError, match="All owners together have more"):
        mine_tree_rows(parts, LAYOUT, TreeParams(most=13))
    mine_tree_rows(parts, LAYOUT, TreeParams(most=14, max_depth=0))


BAD = {
    "a column is missing": (lambda p: p.pop("windy"), "such that 'windy' is there"),
    "the class is missing": (lambda p: p.pop("play"), "the class 'play' is there"),
    "another category": (lambda p: p.update(windy=np.array(["?"] * 7, object)),
                         "'windy' must hold the agreed categories"),
    "another class": (lambda p: p.update(play=np.array(["maybe"] * 7, object)),
                      "'play' must hold the agreed categories"),
    "another length": (lambda p: p.update(play=p["play"][:3]), "of one length"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_rows_are_refused_before_anything_is_sent(name):
    spoil, words = BAD[name]
    parts = parts_of(WEATHER, np.arange(14) % 2, 2)
    spoil(parts[1])
    with pytest.raises(DataError, match=words):
        mine_tree_rows(parts, LAYOUT, SMALL)


def test_a_party_that_fails_is_named_to_the_others():
    good = code_rows(LAYOUT, parts_of(WEATHER, np.arange(14) % 2, 2)[0], {})
    bad = horizontal.Given(good.codes[:2], good.labels)
    first, second, *_ = run_outcomes(TreeOverRows(LAYOUT, SMALL), [good, bad])
    assert isinstance(second.error, DataError)
    assert isinstance(first.error, PartyError)
    assert first.error.party == "p1"
    sent = {row.label for row in second.ledger.rows if row.direction == "sent"}
    assert sent == {"agree", "abort"}


@pytest.mark.parametrize("classes", [2, 300])
def test_as_many_records_as_may_be_agreed_on_have_room(classes):
    names = tuple(f"c{i}" for i in range(classes))
    layout = TreeLayout(
        (Attribute("x", cuts=tuple(map(float, range(20)))), Attribute("a", ("u", "v"))), names
    )
    columns = {"x": np.arange(60) % 21 * 1.0, "a": np.array(["u", "v"] * 30, object),
               "class": np.array([names[i % 7 % classes] for i in range(60)], object)}
    rules = TreeParams(max_depth=2, most=1 << 27)
    trees, _ = mine_tree_rows(parts_of(columns, np.arange(60) % 2, 2), layout, rules)
    assert trees[0].same_as(pooled(layout, columns, rules))


@pytest.mark.parametrize("given_", [{"max_depth": -1}, {"min_records": 0}, {"most": 2**27 + 1}])
def test_rules_out_of_range_are_refused(given_):
    with pytest.raises(InputError):
        TreeParams(**given_)
