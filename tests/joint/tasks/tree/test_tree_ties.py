"""Numbers at cut points: `x <= cut` in float64, against references that share no code.

The reference is a plain recursion over rows with Python's own floats; nothing of unspoken is in it.
"""

from __future__ import annotations

from math import log

import numpy as np
import pytest

from unspoken.joint.tasks.boosted_trees.params import Boost
from unspoken.joint.tasks.boosted_trees.program_rows import mine_boost_rows
from unspoken.joint.tasks.forest.program_rows import mine_forest_rows
from unspoken.joint.tasks.tree.cut_points import Span, plain_cuts
from unspoken.joint.tasks.tree.params import Attribute, TreeLayout, TreeParams
from unspoken.joint.tasks.tree.pooled import pooled
from unspoken.joint.tasks.tree.program_columns import mine_tree_columns
from unspoken.joint.tasks.tree.program_rows import mine_tree_rows
from unspoken.joint.tasks.tree.tree_sites import TreeShape, TreeSite, own_cuts
from unspoken.models.categorical_tree import CategoricalTree
from unspoken.models.site_tree_part import Asked, join_parts

CUTS = (0.1, 1.2, 2.7)
LAYOUT = TreeLayout((Attribute("x", cuts=CUTS), Attribute("z", cuts=(0.3,))), ("n", "p"))


def entropy(labels):
    parts = [labels.count(c) / len(labels) for c in set(labels)]
    return -sum(p * log(p) for p in parts)


def grow(rows, labels, depth):
    """Return a plain tree: ("leaf", class) or (column, cut, left, right)."""
    majority = max(sorted(set(labels)), key=labels.count)
    best, gain = None, 1e-6
    for column, cuts in (("x", CUTS), ("z", (0.3,))):
        for cut in cuts:
            left = [r[column] <= cut for r in rows]
            if depth == 0 or all(left) or not any(left):
                continue
            sides = [[c for c, s in zip(labels, left, strict=True) if s is side]
                     for side in (True, False)]
            found = entropy(labels) - sum(len(s) / len(labels) * entropy(s) for s in sides)
            if found > gain + 1e-9:
                best, gain = (column, cut), found
    if best is None:
        return ("leaf", majority)
    left = [r[best[0]] <= best[1] for r in rows]
    return (*best, *(grow([r for r, s in zip(rows, left, strict=True) if s is side],
                          [c for c, s in zip(labels, left, strict=True) if s is side],
                          depth - 1) for side in (True, False)))


def predict(tree, row):
    while tree[0] != "leaf":
        tree = tree[2] if row[tree[0]] <= tree[1] else tree[3]
    return tree[1]


def table(seed, rows=90):
    """Return values that lie at cut points, close to them, and nowhere else; a constant too."""
    random = np.random.default_rng(seed)
    near = [v for cut in CUTS for v in (cut, np.nextafter(cut, 9), np.nextafter(cut, -9))]
    x = random.choice([*near, 0.0, 3.0], rows)
    label = np.where((x > 1.2) ^ (random.random(rows) < 0.15), "p", "n").astype(object)
    label[:2] = ["n", "p"]
    return {"x": x, "z": np.full(rows, 0.3), "class": label}


def wanted(columns, depth):
    rows = [{"x": float(x), "z": float(z)}
            for x, z in zip(columns["x"], columns["z"], strict=True)]
    tree = grow(rows, columns["class"].tolist(), depth)
    return [predict(tree, row) for row in rows]


@pytest.mark.parametrize("seed", range(12))
def test_the_pooled_tree_is_that_of_a_plain_recursion(seed):
    columns = table(seed)
    tree = pooled(LAYOUT, columns, TreeParams(max_depth=3))
    assert tree.predict(columns).tolist() == wanted(columns, 3)
    assert set(tree.threshold[tree.feature >= 0].tolist()) <= {*CUTS, 0.3}
    again = CategoricalTree.from_json(tree.to_json())
    assert again.predict(columns).tolist() == wanted(columns, 3)


def test_owners_of_rows_grow_the_tree_of_a_plain_recursion():
    columns = table(20)
    parts = [{n: c[place::2] for n, c in columns.items()} for place in range(2)]
    trees, _ = mine_tree_rows(parts, LAYOUT, TreeParams(max_depth=3, most=128))
    assert trees[0].predict(columns).tolist() == wanted(columns, 3)


@pytest.mark.slow
def test_owners_of_columns_grow_the_tree_of_a_plain_recursion():
    columns = table(21)
    sites = {"a": TreeSite((LAYOUT.attributes[0],), {"x": columns["x"]}),
             "b": TreeSite((LAYOUT.attributes[1],), {"z": columns["z"]}, columns["class"])}
    parts, _ = mine_tree_columns(sites, TreeShape(("n", "p"), "b", 3, 2), TreeParams(max_depth=3))
    whole = join_parts(list(parts.values()), ["x", "z"])
    assert whole.predict(columns).tolist() == wanted(columns, 3)


@pytest.mark.slow
def test_forests_and_boosted_trees_count_what_equals_a_cut_to_the_left():
    x = np.repeat([1.2, np.nextafter(1.2, 2), 1.0, 1.4], 20)
    columns = {"x": x, "z": np.zeros(80), "class": np.where(x <= 1.2, "n", "p").astype(object)}
    parts = [{n: c[place::2] for n, c in columns.items()} for place in range(2)]
    rules = TreeParams(max_depth=1, most=128)
    votes, _ = mine_forest_rows(parts, LAYOUT, rules, trees=3, attributes=2)
    sums, _ = mine_boost_rows(parts, LAYOUT, rules, Boost(rounds=2, two_may_learn=True))
    for model in (votes[0], sums[0]):
        assert model.predict(columns).tolist() == columns["class"].tolist()


def test_one_and_two_tenths_are_not_above_one_and_two_tenths():
    tree = pooled(TreeLayout((Attribute("x", cuts=(1.2,)),), ("n", "p")),
                  {"x": [1.2, 1.2, 1.3], "class": ["n", "n", "p"]})
    assert tree.predict({"x": [1.2, 1.3]}).tolist() == ["n", "p"]
    assert Asked("x", cut=1.2).answers([1.2, np.nextafter(1.2, 2)]).tolist() == [0, 1]


def test_agreed_cut_points_are_those_of_counting():
    values = np.array([0.1] * 5 + [0.2] * 3 + [0.7] * 2)
    span = Span(0.0, 1.0, 3, 4)
    grid = [step / 16 for step in range(17)]
    expected = {next(point for point in grid if 4 * sum(v <= point for v in values.tolist())
                     >= k * 10) for k in (1, 2, 3)}
    assert set(plain_cuts(values, span)) == expected
    # A value on the grid counts at its own point: 0.1 of a range of 0.8 in eight steps.
    tenth = Span(0.0, 0.8, 1, 3)
    assert plain_cuts(np.array([0.1, 0.1, 0.8]), tenth) == (0.1,)


def test_own_cuts_part_values_that_lie_side_by_side():
    low = 1.2
    high = float(np.nextafter(low, 2))
    [cut] = own_cuts([low, high], 1)
    assert low <= cut < high
    assert own_cuts([0.3] * 4, 3) == [0.3]
    assert own_cuts([1e308, 1.5e308], 1)[0] < 1.5e308
