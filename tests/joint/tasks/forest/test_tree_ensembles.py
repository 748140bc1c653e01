"""Forests and boosted trees of several owners: those of pooled rows, and what they show."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from support.near_ties import near
from support.tree_data import LAYOUT, WEATHER, parts_of, smooth_table, tables
from unspoken.errors import InputError, ModelError
from unspoken.joint import run_local
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.tasks.boosted_trees.pooled import pooled_boost
from unspoken.joint.tasks.boosted_trees.program_rows import (
    Boost,
    BoostOverRows,
    gradients,
    mine_boost_rows,
)
from unspoken.joint.tasks.forest.pooled import pooled_forest
from unspoken.joint.tasks.forest.program_rows import (
    Attributes,
    ForestOverRows,
    draw_rows,
    mine_forest_rows,
)
from unspoken.joint.tasks.tree.cut_points import CUTS, Span, plain_cuts
from unspoken.joint.tasks.tree.params import Attribute, TreeLayout, TreeParams
from unspoken.joint.tasks.tree.program_rows import Given, code_rows
from unspoken.models.tree_ensemble import TreeSum, TreeVote

pytestmark = pytest.mark.slow

RULES = TreeParams(max_depth=3, most=512)


def pooled(given_):
    """Return all owners' rows as one."""
    weights = None if given_[0].weights is None else np.concatenate(
        [g.weights for g in given_], axis=1)
    return Given(np.concatenate([g.codes for g in given_], axis=1),
                 np.concatenate([g.labels for g in given_]), weights=weights)


@settings(max_examples=8)
@given(tables(), st.integers(1, 4), st.integers(0, 9))
def test_the_joint_forest_is_the_forest_of_pooled_rows(table, trees, seed):
    layout, columns, assignment, owners = table
    given_ = [code_rows(layout, part, {}) for part in parts_of(columns, assignment, owners)]
    given_ = [replace(g, weights=draw_rows(g.labels.size, trees, bytes([i, seed]) * 16))
              for i, g in enumerate(given_)]
    rules = TreeParams(max_depth=3, most=64)
    everything = pooled(given_)
    assume(not any(near(layout, drawn(layout, columns, everything, t), rules)
                   for t in range(trees)))
    program = ForestOverRows(layout, rules, trees, attributes=2, seed=seed)
    forests = [forest for forest, _ in run_local(program, given_)]
    expected = pooled_forest(layout, everything, rules, trees, attributes=2, seed=seed)
    for forest in forests:
        assert forest.same_as(expected)


def drawn(layout, columns, everything, tree):
    """Return columns with every row as often as it was drawn for a tree."""
    times = everything.weights[tree]
    found = {"class": np.repeat(np.array(layout.classes, object)[everything.labels], times)}
    for attribute, codes in zip(layout.attributes, everything.codes, strict=True):
        cells = np.array([*attribute.cuts, 99.0]) if attribute.cuts else np.array(
            attribute.categories, object)
        found[attribute.name] = np.repeat(cells[codes], times)
    return found


def test_a_few_attributes_count_at_a_node_and_others_elsewhere():
    layout, _ = smooth_table()
    chosen = Attributes(layout, 2, 7)
    asked = layout.asked[0]
    found = chosen(None, range(40))
    counted = [frozenset(asked[row].tolist()) for row in found]
    assert {len(each) for each in counted} == {2}
    assert len(set(counted)) == 3
    for row, each in zip(found, counted, strict=True):
        assert row.tolist() == [a in each for a in asked.tolist()]
    assert np.array_equal(found[3:5], chosen(None, [3, 4]))
    assert not np.array_equal(found, Attributes(layout, 2, 8)(None, range(40)))


def test_draws_are_as_many_as_rows_and_differ():
    draws = draw_rows(500, 3)
    assert draws.sum(axis=1).tolist() == [500] * 3
    assert not np.array_equal(draws[0], draws[1])
    assert not np.array_equal(draws, draw_rows(500, 3))
    # About 1/e of the rows are left out.
    assert 0.30 < (draws == 0).mean() < 0.43
    assert draw_rows(0, 2).shape == (2, 0)


def test_a_forest_takes_the_rounds_of_a_tree():
    layout, columns = smooth_table()
    parts = parts_of(columns, np.arange(240) % 3, 3)
    runs = [mine_forest_rows(parts, layout, RULES, trees=n)[1][0] for n in (1, 6)]
    steps = [max(row.step for row in ledger.rows) for ledger in runs]
    assert steps[1] <= steps[0] + 12


def test_a_forest_predicts_better_than_chance_and_is_saved():
    layout, columns = smooth_table()
    forests, ledgers = mine_forest_rows(parts_of(columns, np.arange(240) % 3, 3), layout,
                                              RULES, trees=5)
    forest = forests[0]
    assert (forest.predict(columns) == columns["class"]).mean() > 0.75
    assert forest.same_as(TreeVote.from_json(json.loads(json.dumps(forest.to_json()))))
    assert forest.votes(columns).sum(axis=1) == pytest.approx(np.ones(240))
    assert "5 trees" in forest.summary()
    assert ledgers[0].openings


@pytest.mark.parametrize("mode", ["dealer", "three-party"])
def test_joint_boosting_is_boosting_of_pooled_rows(mode):
    layout, columns = smooth_table()
    parts = parts_of(columns, np.arange(240) % 3, 3)
    boost = Boost(rounds=3, rate=0.5)
    rules = TreeParams(max_depth=2, min_records=5, most=256)
    models, _ = mine_boost_rows(parts, layout, rules, boost, mode)
    expected = pooled_boost(layout, pooled([code_rows(layout, p, {}) for p in parts]), rules,
                             boost)
    for model in models:
        assert len(model.trees) == 3
        for mine, theirs in zip(model.trees, expected.trees, strict=True):
            assert np.array_equal(mine.feature, theirs.feature)
            assert np.array_equal(mine.threshold, theirs.threshold)
            assert mine.value == pytest.approx(theirs.value, abs=2**-17)


@pytest.mark.parametrize("penalty", [0.01, 1000])
def test_boosting_has_room_for_as_many_records_as_may_be_agreed_on(penalty):
    layout, columns = smooth_table()
    parts = parts_of(columns, np.arange(240) % 3, 3)
    found = [mine_boost_rows(parts, layout, TreeParams(max_depth=2, most=most),
                                   Boost(2, penalty=penalty))[0][0] for most in (1 << 19, 256)]
    for one, two in zip(*(model.trees for model in found), strict=True):
        assert np.array_equal(one.feature, two.feature)
        assert one.value == pytest.approx(two.value, abs=2**-16)


def test_boosting_agrees_on_cut_points_first():
    layout, columns = smooth_table()
    spans = {"x": Span(-3, 3, 5, 6), "y": Span(-3, 3, 3, 5)}
    cuts = {name: plain_cuts(columns[name], span) for name, span in spans.items()}
    fixed = TreeLayout((*(Attribute(n, cuts=c) for n, c in cuts.items()), layout.attributes[2]),
                   layout.classes)
    parts, rules = parts_of(columns, np.arange(240) % 3, 3), TreeParams(max_depth=2, most=256)
    models, ledgers = mine_boost_rows(parts, layout, rules, Boost(2), spans=spans)
    expected, _ = mine_boost_rows(parts, fixed, rules, Boost(2))
    for mine, theirs in zip(models[0].trees, expected[0].trees, strict=True):
        assert np.array_equal(mine.feature, theirs.feature)
        assert np.array_equal(mine.threshold, theirs.threshold)
        assert mine.value == pytest.approx(theirs.value, abs=2**-17)
    assert CUTS in {o.because for o in ledgers[0].openings}


def test_boosting_finds_what_newton_steps_find():
    """One round on one question, by hand: G / (H + lambda) on each side."""
    columns = {"a": np.array(["x"] * 30 + ["y"] * 30, object),
               "class": np.array(["p"] * 25 + ["n"] * 10 + ["p"] * 5 + ["n"] * 20, object)}
    layout = TreeLayout((Attribute("a", ("x", "y")),), ("n", "p"))
    models, _ = mine_boost_rows(parts_of(columns, np.arange(60) % 3, 3), layout,
                                      TreeParams(max_depth=1, most=64), Boost(1, 1.0, 2.0))
    tree = models[0].trees[0]
    # x: 25 p and 5 n; y: 5 p and 25 n. g = 1/2 - y, h = 1/4.
    wanted = [(25 - 5) / 2 / (30 / 4 + 2), (5 - 25) / 2 / (30 / 4 + 2)]
    assert tree.value[1:, 0] == pytest.approx(wanted, abs=2**-18)
    assert models[0].predict(columns).tolist() == ["p"] * 30 + ["n"] * 30


def test_boosting_learns_and_its_loss_falls():
    layout, columns = smooth_table()
    given_ = pooled([code_rows(layout, columns, {})])
    losses = []
    for rounds in (1, 4, 12):
        model = pooled_boost(layout, given_, TreeParams(max_depth=2, most=256), Boost(rounds))
        chance = model.predict_proba(columns)[np.arange(240), given_.labels]
        losses.append(-np.log(chance).mean())
    assert losses[0] > losses[1] > losses[2]
    assert losses[2] < 0.45


def test_gradients_are_whole_and_bounded():
    numbers = gradients(np.array([-50.0, 0.0, 50.0]), np.array([0, 1, 0]))
    assert numbers[:, 1].tolist() == [-2048, 1024, 1]
    assert (np.abs(numbers[0]) <= 512 * np.maximum(1, numbers[1])).all()


def test_two_owners_are_refused_unless_they_agree():
    parts = parts_of(WEATHER, np.arange(14) % 2, 2)
    with pytest.raises(RefusedError, match="two_may_learn"):
        mine_boost_rows(parts, LAYOUT)
    mine_boost_rows(parts, LAYOUT, TreeParams(max_depth=1, most=64),
                          Boost(1, two_may_learn=True))


@pytest.mark.parametrize("bad", [
    lambda: Boost(rounds=0), lambda: Boost(rate=0), lambda: Boost(penalty=0),
    lambda: BoostOverRows(LAYOUT, TreeParams(most=(1 << 19) + 1), Boost()),
    lambda: BoostOverRows(TreeLayout(LAYOUT.attributes, ("a", "b", "c")), RULES, Boost()),
    lambda: ForestOverRows(LAYOUT, RULES, 0)])
def test_bad_parameters_are_refused(bad):
    with pytest.raises(InputError):
        bad()


def test_hostile_models_are_refused():
    layout, columns = smooth_table(60)
    model = pooled_boost(layout, code_rows(layout, columns, {}), RULES, Boost(2))
    data = json.loads(json.dumps(model.to_json()))
    assert model.same_as(TreeSum.from_json(data))
    for field, value in (("trees", []), ("classes", ["a"]), ("start", "x"), ("format", "no"),
                         ("trees", [{"nodes": 10**12}])):
        with pytest.raises(ModelError):
            TreeSum.from_json({**data, field: value})
    with pytest.raises(ModelError):
        TreeVote.from_json({**data, "format": "unspoken-tree-vote"})
