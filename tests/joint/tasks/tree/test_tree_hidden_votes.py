"""A forest over columns that nobody sees: its votes are those of the forest of pooled columns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from support import tree_data
from support.hidden_tree_sites import NAMES, RULES, SHAPE, sites_of, three_sites
from support.ledger_totals import measured
from support.mining_views import watched
from support.near_ties import near
from support.replayed import forecast_holds
from support.study_people import members_in, saved, study_of
from support.tree_data import LAYOUT, WEATHER, smooth_table, tables, unseen
from unspoken.errors import InputError, ModelError
from unspoken.joint import reveal, run_local
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.tasks.classify.program_columns import PREDICTED
from unspoken.joint.tasks.common.aligned_records import ROWS
from unspoken.joint.tasks.common.unlabelled_rows import NEW
from unspoken.joint.tasks.forest.program_rows import draw_rows
from unspoken.joint.tasks.tree import hidden_steps as hidden_growing
from unspoken.joint.tasks.tree.hidden_part import HiddenPart
from unspoken.joint.tasks.tree.hidden_program import (
    ClassifyHidden,
    HiddenTree,
    classify_hidden,
    mine_tree_hidden,
)
from unspoken.joint.tasks.tree.hidden_votes import HiddenForest, pooled_forest_columns
from unspoken.joint.tasks.tree.params import TreeLayout, TreeParams
from unspoken.joint.tasks.tree.tree_sites import TreeShape, own_attributes

pytestmark = pytest.mark.slow

WEATHERS = TreeLayout(LAYOUT.attributes, LAYOUT.classes)


def with_draws(patch, seed):
    """Let the class site draw from a seed that the test knows."""
    patch.setattr(hidden_growing, "draw_rows",
                  lambda rows, trees: draw_rows(rows, trees, bytes([seed]) * 32))


def spread(layout, columns, sites, known, extra=0):
    """Return sites that have some attributes each, their shape, and whose each question is."""
    given_, shape = tree_data.spread(layout, columns, sites, known, extra)
    ends = np.cumsum([0, *(len(s.questions) for s in given_.values())])
    places = [list(range(*pair)) for pair in zip(ends[:-1].tolist(), ends[1:].tolist(),
                                                 strict=True)]
    return given_, replace(shape, branches=4), places


@settings(max_examples=15)
@given(tables(), st.integers(0, 3), st.integers(1, 4), st.booleans(), st.integers(1, 5),
       st.integers(0, 255))
def test_votes_are_those_of_pooled_columns(table, depth, questions, known, trees, seed):
    layout, columns, _, owners = table
    rows = len(columns["class"])
    assume(rows > 0)
    sites, shape, places = spread(layout, columns, min(owners, len(layout.attributes)), known)
    rules, forest = TreeParams(max_depth=depth, min_records=2), HiddenForest(trees, questions, seed)
    draws = draw_rows(rows, trees, bytes([seed]) * 32)
    for drawn in draws:
        again = {name: np.repeat(column, drawn) for name, column in columns.items()}
        assume(not near(layout, again, rules, len(sites) * shape.slots))
    with pytest.MonkeyPatch.context() as patch:
        with_draws(patch, seed)
        parts, _ = mine_tree_hidden(sites, shape, rules, forest=forest)
    expected = pooled_forest_columns(layout, columns, rules, forest, draws, shape, places)
    for records in (columns, unseen(layout, seed)):
        found, ledgers = classify_hidden(parts, dict.fromkeys(sites, records))
        assert found["p0"].tolist() == expected.predict(records).tolist()
        assert [o.because for o in ledgers["p0"].openings] == [ROWS, PREDICTED]


@pytest.mark.parametrize("mode", ["two-party", "three-party"])
def test_modes_agree(mode, monkeypatch):
    if mode == "two-party":
        pytest.importorskip("rbcl")
    layout, columns = WEATHERS, WEATHER | {"class": WEATHER["play"]}
    sites, shape, places = spread(layout, columns, 3, False)
    forest, rules = HiddenForest(3, 3, 5), TreeParams(max_depth=2)
    with_draws(monkeypatch, 7)
    parts, _ = mine_tree_hidden(sites, shape, rules, mode, forest=forest)
    found, _ = classify_hidden(parts, dict.fromkeys(sites, columns), mode)
    expected = pooled_forest_columns(layout, columns, rules, forest,
                                      draw_rows(14, 3, bytes([7]) * 32), shape, places)
    assert found["p1"].tolist() == expected.predict(columns).tolist()


def test_every_run_draws_anew():
    layout, columns = smooth_table(100)
    sites, shape, _ = spread(layout, columns, 3, False)
    runs = [mine_tree_hidden(sites, shape, TreeParams(max_depth=2), forest=HiddenForest(4))[0]
            for _ in range(2)]
    one, other = (parts["p0"].share + parts["p1"].share for parts in runs)
    assert not np.array_equal(one, other)


def test_which_questions_count_is_public_and_follows_the_seed():
    first = HiddenForest(3, 2, 8).allowed(1, range(12), 9)
    assert first.shape == (12, 9)
    assert (first.sum(axis=1) == 2).all()
    assert np.array_equal(first, HiddenForest(3, 2, 8).allowed(1, range(12), 9))
    assert not np.array_equal(first, HiddenForest(3, 2, 9).allowed(1, range(12), 9))
    assert not np.array_equal(first, HiddenForest(3, 2, 8).allowed(2, range(12), 9))
    assert HiddenForest().count(9) == 5
    assert HiddenForest(questions=20).count(9) == 9


FOREST = HiddenTree(SHAPE, RULES, forest=HiddenForest(3, 3))


def told_apart():
    first, second = (watched(FOREST, sites_of(kind)) for kind in ("pure", "split"))
    return first != second


def test_all_that_shows_follows_from_public_sizes():
    assert not told_apart()
    assert watched(FOREST, sites_of("split"))[0] == []


def test_draws_that_are_opened_are_caught(monkeypatch):
    real = hidden_growing.HiddenGrowing._classes

    async def leaking(self, hot, count):
        found = await real(self, hot, count)
        await reveal(self.party, found.inside, because=ROWS)
        return found

    monkeypatch.setattr(hidden_growing.HiddenGrowing, "_classes", leaking)
    assert told_apart()


def test_bad_forests_are_refused():
    for change, words in (({"trees": 0}, "trees"), ({"trees": 5000}, "from 1 to 1000"),
                          ({"questions": -1}, "questions"), ({"seed": "x"}, "seed")):
        with pytest.raises(InputError, match=words):
            HiddenForest(**change)
    with pytest.raises(InputError, match="4,096 leaves in all"):
        HiddenTree(SHAPE, TreeParams(max_depth=6), forest=HiddenForest(100))


def test_parts_of_forests_are_kept_and_hostile_ones_refused():
    sites = dict(zip(NAMES, sites_of("split"), strict=True))
    parts, _ = mine_tree_hidden(sites, SHAPE, RULES, forest=HiddenForest(3))
    loaded = {name: HiddenPart.from_json(part.to_json()) for name, part in parts.items()}
    records = dict.fromkeys(NAMES, sites["p0"].columns)
    before, after = (classify_hidden(p, records)[0]["p0"].tolist() for p in (parts, loaded))
    assert before == after
    assert "3 hidden trees" in parts["p0"].summary()
    for value in (0, 2, 10**9, "x"):
        with pytest.raises(ModelError):
            HiddenPart.from_json(parts["p0"].to_json() | {"trees": value})


# The task.

TASK = {"target": "class", "classes": ["n", "p"], "class_site": "south", "slots": 7,
        "branches": 3, "max_depth": 2, "trees": 5}


@pytest.fixture(scope="module")
def members(tmp_path_factory):
    return members_in(tmp_path_factory.mktemp("people"))


def test_a_study_gives_the_classes_of_new_records(members, tmp_path, monkeypatch):
    with_draws(monkeypatch, 3)
    study, task = study_of(members, "forest-columns", TASK | {"expected": 200})
    _, columns = smooth_table(220)
    labels = np.where(np.arange(220) < 200, columns["class"], None)
    paths = saved(tmp_path, [{"x": columns["x"]}, {"y": columns["y"], "class": labels},
                             {"group": columns["group"]}])
    given_ = [task.load(path, study) for path in paths]
    outputs = run_local(task.program(study), given_, names=["north", "south", "east"])
    found = outputs[0][0]
    assert found["rows"] == list(range(200, 220))
    old, new = ({n: c[part] for n, c in columns.items()} for part in (slice(200),
                                                                      slice(200, 220)))
    attributes = own_attributes({n: old[n] for n in ("x", "y", "group")}, ("x", "y"), 7)
    expected = pooled_forest_columns(
        TreeLayout(attributes, ("n", "p")), old, TreeParams(max_depth=2), HiddenForest(5),
        draw_rows(200, 5, bytes([3]) * 32), TreeShape(("n", "p"), "south", 7, 3),
        [range(7), range(7, 14), [14]])
    assert found[PREDICTED] == expected.predict(new).tolist()
    assert (expected.predict(new) == new["class"]).mean() > 0.7
    assert [output for output, _ in outputs[1:]] == [None, None]
    assert [o.because for o in outputs[2][1].openings] == [ROWS, NEW, PREDICTED]
    plan = task.plan(study)
    assert set(plan.learns["south"]) == {ROWS, NEW}
    _, size = measured({n: ledger for n, (_, ledger) in zip("abc", outputs, strict=True)})
    assert size / 2 < plan.bytes < size * 2


@pytest.mark.parametrize(("change", "words"), [
    ({"trees": 0}, "trees"), ({"trees": 5000}, "from 1 to 1000"), ({"seed": -1}, "seed"),
    ({"questions_at_a_node": "x"}, "questions"), ({"max_depth": 9}, "4,096 leaves"),
    ({"structure": "known"}, "no parameter 'structure'"), ({"expected": 0}, "expected")])
def test_bad_parameters_are_refused(members, change, words):
    with pytest.raises(StudyError, match=words):
        study_of(members, "forest-columns", {**TASK, **change})


def test_plans_that_cannot_be_kept_are_refused(members):
    study, task = study_of(members, "forest-columns", TASK | {"class_site": "dora"})
    with pytest.raises(StudyError, match="class site"):
        task.plan(study)


@pytest.mark.parametrize("kinds", [("n", "p"), ("n", "p", "q")])
def test_plans_forecast_bytes(kinds):
    shape, rules, forest = TreeShape(kinds, "a", 3, 2), TreeParams(2, 3), HiddenForest(4, 5)
    sites, columns = three_sites(400)
    real = forecast_holds(HiddenTree(shape, rules, forest), sites)
    forecast_holds(ClassifyHidden(["b"]), {n: (real.outputs[n], columns) for n in "abc"})
