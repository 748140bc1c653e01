"""Trees over numbers and categories: predictions, files, and hostile ones."""

from __future__ import annotations

import json
from itertools import product

import numpy as np
import pyarrow as pa
import pytest

import unspoken
from unspoken import mine
from unspoken.errors import DataError, InputError, ModelError
from unspoken.models.categorical_tree import CategoricalTree
from unspoken.models.child_spans import check_spans
from unspoken.models.readers import read_model
from unspoken.models.site_tree_part import TreePart

COLUMNS = {
    "age": [20.0, 60, 65, 30, 70, 25, 40, 50, None, 45],
    "town": ["a", "a", "a", "b", "b", "b", "c", "c", "c", None],
    "y": ["no", "no", "no", "yes", "yes", "yes", "no", "yes", "no", "yes"],
}


@pytest.fixture(scope="module")
def table():
    return unspoken.read(pa.table(COLUMNS), target="y", kinds={"age": "numeric"}, show=False)


@pytest.mark.parametrize("categories", ["two-way", "multiway"])
def test_a_full_tree_predicts_its_own_rows(table, categories):
    tree = mine.grow(table, {"categories": categories, "max_leaves": 99})
    assert tree.predict(COLUMNS).tolist() == COLUMNS["y"]


def test_a_regression_tree_predicts_the_means():
    table = unspoken.read(pa.table({"a": [1, 1, 2, 2], "y": [0.5, 1.5, 10.25, 12.25]}), target="y",
                       show=False)
    tree = mine.grow(table)
    assert tree.task == "regression"
    assert tree.predict({"a": [1, 2]}).tolist() == [1.0, 11.25]
    assert tree.impurity.tolist()[1:3] == [0.25, 1.0]
    assert tree.impurity[0] == pytest.approx(np.var([0.5, 1.5, 10.25, 12.25]), rel=1e-14)


def test_unknown_categories_go_with_the_largest_child(table):
    only = unspoken.read(pa.table({"t": list("aabbb"), "y": [0, 0, 1, 1, 1]}), target="y",
                         show=False)
    tree = mine.grow(only, {"categories": "multiway"})
    assert tree.predict({"t": ["never seen"]}).tolist() == [1]


def test_files_come_back_bit_for_bit(table, tmp_path):
    tree = mine.grow(table, {"max_leaves": 99})
    tree.save(tmp_path / "t.json")
    for loaded in (CategoricalTree.load(tmp_path / "t.json"), read_model(tmp_path / "t.json")):
        assert loaded.same_as(tree)
        assert loaded.to_json() == tree.to_json()
    assert unspoken.verify(tree, tmp_path / "t.json")


def test_same_as_says_where(table):
    first = mine.grow(table, {"max_leaves": 99})
    data = json.loads(json.dumps(first.to_json()))
    node = next(i for i, v in enumerate(data["threshold"]) if v)
    data["threshold"][node] += 1e-9
    assert f"node {node}: threshold" in str(first.same_as(CategoricalTree.from_json(data)))
    assert "number of nodes" in str(first.same_as(mine.grow(table, {"max_leaves": 2})))
    assert "kind" in str(first.same_as(object()))


HOSTILE = {
    "a cycle": lambda d: d.update(first_child=[1, 1, *d["first_child"][2:]]),
    "a child too many": lambda d: d["children"].__setitem__(0, 3),
    "a leaf with a column": lambda d: d["feature"].__setitem__(-1, 0),
    "a short route": lambda d: d["route"].__setitem__(0, [0]),
    "a route of texts": lambda d: d["route"].__setitem__(0, ["x"]),
    "no such child": lambda d: d["route"].__setitem__(0, [5] * 99),
    "a text as a number": lambda d: d["value"].__setitem__(0, "1"),
    "too few nodes": lambda d: d.update(nodes=1),
    "another format": lambda d: d.update(format="unspoken-tree"),
    "numbers as categories": lambda d: d.update(categories={"town": [1, 2]}),
    "no categories": lambda d: d.update(categories={"age": []}),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_refused(table, name):
    data = json.loads(json.dumps(mine.grow(table, {"max_leaves": 99}).to_json()))
    HOSTILE[name](data)
    with pytest.raises(ModelError):
        CategoricalTree.from_json(data)


def _refused(first, counts):
    try:
        check_spans(np.array(first), np.array(counts))
    except ModelError:
        return True
    return False


@pytest.mark.slow
def test_children_stand_after_their_parent_and_each_node_once():
    """Every way to point five nodes at pairs or triples of children, by brute force."""
    allowed = 0
    for first in product(range(-1, 6), repeat=5):
        for many in (2, 3):
            counts = [many if i == 0 else 2 for i in range(5)]
            below = [child for f, n in zip(first, counts, strict=True) if f >= 0
                     for child in range(f, f + n)]
            good = (sorted(below) == [1, 2, 3, 4]
                    and all(f > node for node, f in enumerate(first) if f >= 0))
            counts = [n if f >= 0 else 0 for f, n in zip(first, counts, strict=True)]
            assert _refused(first, counts) != good
            allowed += good
    assert allowed == 2


@pytest.mark.parametrize("first", [0, 2])
def test_a_part_of_a_tree_that_points_elsewhere_is_refused(first):
    rest = {"owner": np.array([0, -1, -1]), "children": np.array([2, 0, 0]),
            "leaf_class": np.full(3, -1), "asked": {}}
    assert TreePart("s", ("s",), ("no",), first_child=np.array([1, -1, -1]), **rest).nodes == 3
    with pytest.raises(ModelError, match="first_child"):
        TreePart("s", ("s",), ("no",), first_child=np.array([first, -1, -1]), **rest)


def test_missing_columns_and_wrong_growths_speak(table):
    tree = mine.grow(table, {"max_leaves": 99})
    with pytest.raises(DataError, match="is there"):
        tree.predict({"other": [1]})
    with pytest.raises(InputError, match="'criterion' must be one of"):
        mine.grow(table, {"criterion": "luck"})
    with pytest.raises(InputError, match="a mapping with some of"):
        mine.grow(table, {"colour": "red"})
    with pytest.raises(InputError, match="no gain ratio"):
        mine.grow(table, {"criterion": "gain-ratio", "learner": "scikit-learn"})


def test_information_gain_of_a_known_table():
    """Quinlan's weather table: outlook first, with a gain of 0.247 bits of 0.940."""
    rows = ("sunny hot high weak no|sunny hot high strong no|overcast hot high weak yes|"
            "rain mild high weak yes|rain cool normal weak yes|rain cool normal strong no|"
            "overcast cool normal strong yes|sunny mild high weak no|sunny cool normal weak yes|"
            "rain mild normal weak yes|sunny mild normal strong yes|overcast mild high strong yes|"
            "overcast hot normal weak yes|rain mild high strong no")
    names = ("outlook", "temperature", "humidity", "wind", "play")
    columns = dict(zip(names, map(list, zip(*(r.split() for r in rows.split("|")), strict=True)),
                       strict=True))
    table = unspoken.read(pa.table(columns), target="play", show=False)
    tree = mine.grow(table, {"criterion": "entropy", "categories": "multiway", "max_leaves": 99})
    asked = [tree.features[f] for f in tree.feature if f >= 0]
    assert asked[0] == "outlook"
    assert sorted(asked) == ["humidity", "outlook", "wind"]
    assert tree.leaves == 5
    assert tree.impurity[0] == pytest.approx(0.940, abs=5e-4)
    below = sum(n * h for n, h in zip(tree.n_samples[1:4], tree.impurity[1:4], strict=True)) / 14
    assert tree.impurity[0] - below == pytest.approx(0.247, abs=5e-4)
    assert tree.predict(columns).tolist() == columns["play"]


def test_the_summary_draws_the_tree():
    table = unspoken.read(pa.table({"a": [1, 1, 2, 2], "t": list("uvuv"), "y": list("nnny")}),
                       target="y", show=False)
    tree = mine.grow(table, {"categories": "multiway"})
    assert tree.summary().splitlines() == [
        "classification tree: 5 nodes, 3 leaves, depth 2, 4 rows", "classes: n, y",
        "  a <= 1.5 or missing -> n, 100.0% of 2 rows",
        "  a > 1.5", "    t in {u} -> n, 100.0% of 1 row", "    t in {v} -> y, 100.0% of 1 row"]


def test_a_leaf_of_a_part_has_no_children():
    """With one child at a leaf, drawing went round in a circle."""
    with pytest.raises(ModelError, match="children"):
        TreePart("s", ("s",), ("no",), owner=np.array([0, -1, -1]),
                 first_child=np.array([1, -1, -1]), children=np.array([2, 0, 1]),
                 leaf_class=np.full(3, -1), asked={})
