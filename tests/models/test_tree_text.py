"""Drawn trees: known answers, scikit-learn's own drawing beside ours, and where large ones end."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pytest
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, export_text

import unspoken
from unspoken import mine
from unspoken.models.tree import Tree
from unspoken.models.tree_text import SHOWN, Drawing, join_lines


def test_the_whole_iris_tree_is_drawn():
    X, y = load_iris(return_X_y=True, as_frame=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    tree = Tree.from_sklearn(DecisionTreeClassifier(random_state=0, max_depth=2).fit(X, names))
    assert tree.summary().splitlines() == [
        "classification tree: 5 nodes, 3 leaves, depth 2, 150 rows",
        "classes: setosa, versicolor, virginica",
        "  petal width (cm) <= 0.800000012 -> setosa, 100.0% of 50 rows",
        "  petal width (cm) > 0.800000012 or missing",
        "    petal width (cm) <= 1.75 or missing -> versicolor, 90.7% of 54 rows",
        "    petal width (cm) > 1.75 -> virginica, 97.8% of 46 rows"]


@pytest.mark.parametrize("model", [DecisionTreeClassifier, DecisionTreeRegressor])
@pytest.mark.parametrize("depth", [1, 3, None])
def test_scikit_learn_draws_the_same_tree(model, depth):
    X, y = load_iris(return_X_y=True)
    estimator = model(random_state=0, max_depth=depth).fit(X, y)
    tree, theirs = Tree.from_sklearn(estimator), export_text(estimator, decimals=9, max_depth=99)
    ours = tree.to_text()
    assert tree.leaves == estimator.get_n_leaves() == ours.count("->")
    assert tree.leaves == len(re.findall(r"class: |value: ", theirs))
    assert tree.depth == estimator.get_depth()
    deepest = max((len(line) - len(line.lstrip())) // 2 for line in ours.splitlines())
    assert deepest == max(line.count("|   ") for line in theirs.splitlines())
    pattern = r"(\d) (<=|>) +(-?[\d.]+)"
    asked = [(f, s, float(t)) for f, s, t in re.findall("feature_" + pattern, theirs)]
    drawn = [(f, s, float(t)) for f, s, t in re.findall("x" + pattern, ours)]
    assert [one[:2] for one in drawn] == [one[:2] for one in asked]
    assert [one[2] for one in drawn] == pytest.approx([one[2] for one in asked])


def test_numbers_of_a_regression_and_a_single_leaf():
    tree = Tree.from_sklearn(DecisionTreeRegressor().fit([[0.0], [1.0]], [0.5, 2.0]))
    assert tree.summary().splitlines()[1:] == [
        "  x0 <= 0.5 -> 0.5, 1 row", "  x0 > 0.5 or missing -> 2, 1 row"]
    leaf = Tree.from_sklearn(DecisionTreeRegressor().fit([[0.0], [1.0]], [3.0, 3.0]))
    assert leaf.summary().splitlines() == [
        "regression tree: 1 nodes, 1 leaves, depth 0, 2 rows", "-> 3, 2 rows"]


def test_missing_values_are_shown_where_they_go():
    X = np.array([[1.0], [2.0], [np.nan], [np.nan]])
    left = Tree.from_sklearn(DecisionTreeClassifier(random_state=0).fit(X, ["u", "v", "u", "u"]))
    assert left.summary().splitlines()[2:] == [
        "  x0 <= 1.5 or missing -> u, 100.0% of 3 rows", "  x0 > 1.5 -> v, 100.0% of 1 row"]
    right = Tree.from_sklearn(DecisionTreeClassifier(random_state=0).fit(X, ["u", "v", "v", "v"]))
    assert right.summary().splitlines()[2:] == [
        "  x0 <= 1.5 -> u, 100.0% of 1 row", "  x0 > 1.5 or missing -> v, 100.0% of 3 rows"]


def test_a_large_tree_says_how_many_nodes_are_left():
    X = np.arange(200.0).reshape(-1, 1)
    tree = Tree.from_sklearn(DecisionTreeClassifier(random_state=0).fit(X, np.arange(200) % 2))
    lines = tree.summary().splitlines()
    assert len(lines) == 2 + SHOWN + 1
    # The root asks but has no line of its own.
    assert lines[-1] == f"... {tree.nodes - SHOWN - 1} more nodes"
    assert len(tree.to_text().splitlines()) == 2 + tree.nodes - 1


def test_categories_are_named_and_missing_ones_too():
    data = {"status": ["single", None, "widowed", "married", "divorced", "apart"] * 4,
            "y": ["n", "n", "n", "n", "n", "y"] * 4}
    tree = mine.grow(unspoken.read(pa.table(data), target="y", show=False), {"max_leaves": 2})
    text = tree.to_text()
    assert "status in {apart} -> y, 100.0% of 4 rows" in text
    assert re.search(r"status in \{[^}]*missing[^}]*\} -> n", text)
    assert all(name in text for name in ("single", "widowed", "married", "divorced"))
    assert re.search(r"status in \{[^}]*, \.\.\.\} -> n", tree.summary())


def test_a_deep_chain_neither_recurses_nor_fills_memory():
    size = 20_001
    chain = Drawing(size, lambda n: [n + 1, n + 2] if n % 2 == 0 and n < size - 2 else [],
                    lambda n, side: "<>"[side], lambda n: "leaf")
    lines = chain.lines()
    assert len(lines) == size - 1
    assert max(map(len, lines)) < 200
    assert "[level 5000]" in join_lines(lines)
    assert chain.lines(3)[-1] == "... 19,997 more nodes"


def test_one_node_left_is_one_node():
    pair = Drawing(3, lambda n: [] if n else [1, 2], lambda n, side: "<>"[side], lambda n: "leaf")
    assert pair.lines(1) == ["  < -> leaf", "... 1 more node"]
    assert pair.lines(2) == ["  < -> leaf", "  > -> leaf"]


def test_what_a_terminal_would_obey_is_written_out():
    assert join_lines(["a\nb", "\x1b[31mred", "é ± 漢"]) == "a\\nb\n\\x1b[31mred\né ± 漢"
