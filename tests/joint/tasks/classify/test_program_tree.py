"""Private classification by a tree: the class that the tree gives in the clear, and no more."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.bayes_data import WEATHER_LAYOUT
from support.tree_data import LAYOUT as QUESTIONS
from support.tree_data import WEATHER, tables
from support.watching import masked_frames
from unspoken.errors import DataError
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.tasks.classify.program_bayes import PREDICTED, Sides
from unspoken.joint.tasks.classify.program_tree import (
    ClassifyByTree,
    classify_by_tree,
    full_tree,
)
from unspoken.joint.tasks.common.aligned_records import ROWS
from unspoken.joint.tasks.naive_bayes.params import BayesLayout, Numeric
from unspoken.joint.tasks.tree.params import TreeParams
from unspoken.joint.tasks.tree.pooled import pooled
from unspoken.models.categorical_tree import CategoricalTree


def layout_of(questions):
    columns = tuple(Numeric(a.name, -5, 15) if a.cuts else a for a in questions.attributes)
    return BayesLayout(columns, questions.classes, questions.target)


@pytest.mark.slow
@settings(max_examples=15)
@given(tables(most_rows=30), st.integers(0, 3))
def test_classes_are_those_of_the_tree(table, depth):
    questions, columns, _, _ = table
    if not len(columns["class"]):
        return
    tree = pooled(questions, columns, TreeParams(max_depth=depth, most=64))
    found, ledgers = classify_by_tree(tree, columns, layout_of(questions), 9)
    for each in found:
        assert each.tolist() == tree.predict(columns).tolist()
    for ledger in ledgers:
        assert {row.because for row in ledger.openings} == {PREDICTED, ROWS}


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "names"), [("two-party", ("bank", "shop")),
                                             ("three-party", ("bank", "shop", "help"))])
def test_modes_agree(mode, names):
    if mode == "two-party":
        pytest.importorskip("rbcl")
    tree = pooled(QUESTIONS, WEATHER, TreeParams(most=64))
    found, _ = classify_by_tree(tree, WEATHER, WEATHER_LAYOUT, 4, mode, names=names,
                                receivers=["shop"])
    assert found[0] is None
    assert found[1].tolist() == WEATHER["play"].tolist()


def test_a_number_on_the_threshold_goes_left():
    layout = BayesLayout((Numeric("x", 0, 10),), ("n", "p"))
    tree = pooled_stump(3.0)
    found, _ = classify_by_tree(tree, {"x": [2.9, 3.0, 3.1, 3.0000002384185791]}, layout, 1)
    assert found[0].tolist() == tree.predict({"x": [2.9, 3.0, 3.1, 3.0000002384185791]}).tolist()
    assert found[0].tolist() == ["n", "n", "p", "p"]


def pooled_stump(cut):
    from unspoken.joint.tasks.tree.params import Attribute
    from unspoken.joint.tasks.tree.params import TreeLayout as Questions

    questions = Questions((Attribute("x", cuts=(cut,)),), ("n", "p"))
    return pooled(questions, {"x": np.array([1.0, cut, 5, 6]),
                               "class": np.array(["n", "n", "p", "p"], object)})


def test_every_tree_of_a_depth_looks_the_same():
    """A stump, a leaf and the whole weather tree: labels, steps and lengths do not differ."""
    seen = []
    for rules in (
        TreeParams(most=64),
        TreeParams(most=64, max_depth=1),
        TreeParams(most=64, max_depth=0),
    ):
        tree = full_tree(pooled(QUESTIONS, WEATHER, rules), WEATHER_LAYOUT, 4)
        program = ClassifyByTree(WEATHER_LAYOUT, Sides("p0", "p1"), 4)
        _, lengths = masked_frames(program, [tree, WEATHER_LAYOUT.records(WEATHER)], "dealer")
        seen.append([row for row in lengths if row[2] != "agree"])
    assert seen[0] == seen[1] == seen[2]


def test_trees_that_do_not_fit_are_refused():
    tree = pooled(QUESTIONS, WEATHER, TreeParams(most=64))
    with pytest.raises(RefusedError, match="greater depth"):
        classify_by_tree(tree, WEATHER, WEATHER_LAYOUT, 2)
    with pytest.raises(RefusedError, match="1 to 12"):
        ClassifyByTree(WEATHER_LAYOUT, Sides("p0", "p1"), 13)
    other = BayesLayout(WEATHER_LAYOUT.columns, ("yes", "no"), "play")
    with pytest.raises(DataError, match="agreed ones"):
        classify_by_tree(tree, WEATHER, other, 4)
    less = BayesLayout(WEATHER_LAYOUT.columns[1:], ("no", "yes"), "play")
    with pytest.raises(DataError, match="agreed categories"):
        classify_by_tree(tree, WEATHER, less, 4)
    assert isinstance(tree, CategoricalTree)
