"""C4.5 grows the trees that are known of it: golf, iris, and a subtree that Quinlan prunes."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris

from unspoken.numerics.c45_tree import C45, SplitColumn, added_errors

OUTLOOK = list("ssorrrossrsoor")
TEMPERATURE = [85, 80, 83, 70, 68, 65, 64, 72, 69, 75, 75, 72, 81, 71]
HUMIDITY = [85, 90, 86, 96, 80, 70, 65, 95, 70, 80, 70, 90, 75, 91]
WINDY = list("FTFFFTTFFFTTFT")
PLAY = np.array([0, 0, 1, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1, 0])


def drawn(node, columns):
    """Return a tree as nested tuples: column and cut, then branches; counts for leaves."""
    if not node.branches:
        return tuple(node.counts.tolist())
    values = columns[node.column].values
    cut = None if values is None else float(values[node.cut])
    return (node.column, cut, *(drawn(one, columns) for one in node.branches))


def grown(columns, labels, classes, **how):
    return drawn(C45(columns, np.asarray(labels), classes, **how).grow(), columns)


def test_golf_is_the_tree_of_every_textbook():
    columns = [SplitColumn.categories(OUTLOOK), SplitColumn.numbers(TEMPERATURE),
               SplitColumn.numbers(HUMIDITY), SplitColumn.categories(WINDY)]
    # outlook = overcast: yes (4); rainy: windy = FALSE yes (3), TRUE no (2); sunny: humidity <= 75
    # yes (2), > 75 no (3).
    assert grown(columns, PLAY, 2) == (
        0, None, (0, 4), (3, None, (0, 3), (2, 0)), (2, 75.0, (0, 2), (3, 0)))


def test_iris_is_the_tree_that_j48_prints():
    data = load_iris()
    columns = [SplitColumn.numbers(data.data[:, i]) for i in range(4)]
    assert grown(columns, data.target, 3) == (
        3, 0.6, (50, 0, 0), (3, 1.7, (2, 4.9, (0, 47, 1), (3, 1.5, (0, 0, 3), (0, 2, 1))),
                             (0, 1, 45)))


def test_upper_limits_are_quinlan_s():
    assert pytest.approx(added_errors(6, 0), abs=0.01) == 6 * 0.206
    assert pytest.approx(added_errors(9, 0), abs=0.01) == 9 * 0.143
    assert added_errors(1, 0) == pytest.approx(0.75)
    # He has 0.157 from the binomial; release 8 approximates it.
    assert (1 + added_errors(16, 1)) / 16 == pytest.approx(0.157, abs=0.003)


def test_the_subtree_that_quinlan_prunes_becomes_a_leaf():
    """Leaves (6, 0), (9, 0) and (1, 0) expect 3.273 errors, one leaf (16, 1) 2.512."""
    columns = [SplitColumn.categories(["n"] * 6 + ["y"] * 9 + ["u"])]
    labels = [0] * 15 + [1]
    assert grown(columns, labels, 2, prune=False) == (0, None, (6, 0), (0, 1), (9, 0))
    assert grown(columns, labels, 2) == (15, 1)


def test_the_largest_branch_is_raised_where_it_errs_less():
    """By hand: kept apart, (2, 0) and (2, 1) expect 1.00 + 2.04 errors; together (4, 1) 2.25."""
    data = [[0, 0, 1, 0, 0, 1, 0, 1, 1, 1, 1, 1], [1, 1, 0, 0, 1, 0, 1, 0, 1, 1, 1, 0],
            [1, 0, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1]]
    labels = [0, 0, 1, 0, 1, 0, 0, 1, 1, 1, 1, 0]
    columns = [SplitColumn.categories(one) for one in data]
    assert grown(columns, labels, 2, prune=False) == (
        2, None, (2, 0), (0, None, (2, 1), (1, None, (2, 2), (0, 3))))
    assert grown(columns, labels, 2) == (0, None, (4, 1), (2, 5))


def test_order_alone_decides_about_numbers():
    """What makes codes work: increasing codes give the same tree at the same places."""
    rng = np.random.default_rng(5)
    data = rng.integers(0, 60, (400, 3)).astype(float)
    labels = ((data[:, 0] > 30) ^ (data[:, 1] > 20)).astype(np.int64)
    labels = np.where(rng.random(400) < 0.1, 1 - labels, labels)
    plain = [SplitColumn.numbers(data[:, i]) for i in range(3)]
    coded = [SplitColumn.numbers(data[:, i] ** 3 + 7) for i in range(3)]
    trees = [C45(columns, labels, 2).grow() for columns in (plain, coded)]
    shapes = [[(node.column, node.counts.tolist()) for _, node in tree.walk()] for tree in trees]
    assert shapes[0] == shapes[1]
    assert len(shapes[0]) > 5


def test_too_few_records_give_a_leaf():
    assert grown([SplitColumn.numbers([1.0, 2.0, 3.0])], [0, 1, 1], 2) == (1, 2)
    assert grown([SplitColumn.numbers([1.0] * 6)], [0, 1] * 3, 2) == (3, 3)
