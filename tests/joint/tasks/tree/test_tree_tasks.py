"""Trees as studies: parameters, plans, files, and what a plan forecasts."""

from __future__ import annotations

import numpy as np
import pytest

from support.ledger_totals import received
from support.replayed import forecast_holds
from support.study_people import members_in, saved, stated, study_of, to_all
from support.tree_data import LAYOUT, NAMES, WEATHER, parts_of
from unspoken.errors import DataError
from unspoken.joint import run_local
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.task_list import task_of
from unspoken.joint.tasks.tree.cut_points import CUTS, Span
from unspoken.joint.tasks.tree.params import Attribute, TreeLayout, TreeParams
from unspoken.joint.tasks.tree.pooled import pooled
from unspoken.joint.tasks.tree.program_columns import TreeOverColumns
from unspoken.joint.tasks.tree.program_rows import TreeOverRows, code_rows
from unspoken.joint.tasks.tree.tree_sites import TreeShape, TreeSite, own_cuts
from unspoken.models.site_tree_part import join_parts

pytestmark = pytest.mark.slow

ROWS = {"target": "play", "classes": ["no", "yes"], "most": 64,
        "attributes": list(NAMES[:-1]),
        **{f"categories.{a.name}": list(a.categories) for a in LAYOUT.attributes}}
COLUMNS = {"target": "play", "classes": ["no", "yes"], "class_site": "south", "slots": 3,
           "branches": 3}


@pytest.fixture(scope="module")
def members(tmp_path_factory):
    return members_in(tmp_path_factory.mktemp("people"))


def test_a_study_over_rows_gives_the_tree(members, tmp_path):
    study, task = study_of(members, "tree", ROWS)
    assert Study.from_json(study.to_json()) == study
    paths = saved(tmp_path, parts_of(WEATHER, np.arange(14) % 3, 3))
    given = [task.load(path, study) for path in paths]
    outputs = run_local(task.program(study), given, names=["north", "south", "east"])
    assert outputs[0][0].same_as(pooled(LAYOUT, WEATHER, TreeParams(most=64)))
    assert outputs[1][0].classes[0] == "leaf 1"
    plan = task.plan(study)
    assert "the class of every leaf" in plan.learns["north"]
    assert "the class of every leaf" not in plan.learns["south"]
    assert plan.learns["dora"]


def test_a_study_over_columns_gives_parts(members, tmp_path):
    study, task = study_of(to_all(members), "tree-columns",
                           {**COLUMNS, "ids": "id", "least": 5})
    pytest.importorskip("rbcl")
    ids = np.array([f"r{i}" for i in range(14)], object)
    own = [("outlook",), ("temperature", "humidity", "play"), ("windy",)]
    paths = saved(tmp_path, [{"id": ids} | {n: WEATHER[n] for n in names} for names in own])
    given = [task.load(path, study) for path in paths]
    outputs = run_local(task.program(study), given, names=["north", "south", "east"])
    whole = join_parts([part for part, _ in outputs], NAMES[:-1])
    assert whole.same_as(pooled(LAYOUT, WEATHER))
    assert "s on one machine" in task.plan(study).text()


def test_studies_of_forests_and_boosting_run(members, tmp_path):
    # Every row four times, and nine trees: whatever is drawn, the forest is better than that.
    often = {name: np.tile(column, 4) for name, column in WEATHER.items()}
    paths = saved(tmp_path, parts_of(often, np.arange(56) % 3, 3))
    for name, own in (("forest", {"trees": 9, "attributes_at_a_node": 2, "max_depth": 2}),
                      ("boosted-trees", {"rounds": 2, "max_depth": 1})):
        people = members if name == "forest" else to_all(members)
        study, task = study_of(people, name, {**ROWS, **own})
        given = [task.load(path, study) for path in paths]
        outputs = run_local(task.program(study), given, names=["north", "south", "east"])
        assert len(outputs[0][0].trees) == max(own.get("trees", 0), own.get("rounds", 0))
        assert (outputs[0][0].predict(WEATHER) == WEATHER["play"]).mean() > 0.6
        assert task.plan(study).bytes > 0
        if name == "boosted-trees":
            small = {n: v for n, v in {**ROWS, **own}.items() if n != "most"}
            study, task = study_of(to_all(members), name, small)
            outputs = run_local(task.program(study), given, names=["north", "south", "east"])
            assert len(outputs[0][0].trees) == 2
        if name == "forest":
            # South is no receiver: the same questions, leaves by number.
            mine, theirs = (found.trees for found, _ in outputs[:2])
            assert all(np.array_equal(a.feature, b.feature) for a, b in zip(mine, theirs,
                                                                            strict=True))
            assert theirs[0].classes[0] == "leaf 0"


@pytest.mark.parametrize(("task", "change", "words"), [
    ("forest", {"trees": 0}, "trees"), ("forest", {"trees": 5000}, "from 1 to 1000"),
    ("forest", {"seed": "x"}, "seed"), ("forest", {"rounds": 3}, "no parameter 'rounds'"),
    ("boosted-trees", {"rounds": "x"}, "rounds"), ("boosted-trees", {"rate": 2}, "rate"),
    ("boosted-trees", {"two_may_learn": "no"}, "two_may_learn"),
    ("boosted-trees", {"most": 2**22}, "most")])
def test_bad_parameters_of_ensembles_are_refused(members, task, change, words):
    with pytest.raises(StudyError, match=words):
        study_of(members, task, {**ROWS, **change})


def test_boosting_of_two_is_not_planned_unless_agreed(members):
    two = to_all(m for m in members if m.name != "east")
    study = Study("weather", "boosted-trees", "dealer", two, ROWS)
    with pytest.raises(StudyError, match="two_may_learn"):
        task_of(study).plan(study)


@pytest.mark.parametrize(("task", "parameters"), [("boosted-trees", ROWS),
                                                  ("tree-columns", COLUMNS)])
def test_receivers_that_a_task_cannot_heed_are_refused(members, task, parameters):
    study = Study("weather", task, "dealer", members, stated(task, parameters))
    with pytest.raises(StudyError, match="Receivers were chosen: north"):
        task_of(study).plan(study)
    study = Study("weather", task, "dealer", to_all(members), stated(task, parameters))
    assert task_of(study).plan(study).bytes


@pytest.mark.parametrize(("change", "words"), [
    ({"target": None}, "'target'"), ({"classes": ["no"]}, "'classes'"), ({"most": 0}, "most"),
    ({"attributes": "windy"}, "'attributes'"), ({"colour": 3}, "no parameter 'colour'"),
    ({"attributes": ["age"], "range.age": [0, 9, 7.5]}, "whole numbers"),
    ({"attributes": ["age"], "range.age": [0, 9, 7, float("inf")]}, "whole numbers"),
    ({"cuts.windy": [1.0]}, "Attribute 'windy'"), ({"categories.rain": ["x"]}, "categories.rain"),
    ({"max_depth": -2}, "max_depth")])
def test_bad_parameters_over_rows_are_refused(members, change, words):
    with pytest.raises(StudyError, match=words):
        study_of(members, "tree", {**ROWS, **change})


@pytest.mark.parametrize(("change", "words"), [
    ({"class_known": "no"}, "class_known"),
    ({"slots": 0}, "slots"), ({"branches": "many"}, "branches"), ({"class_site": 3}, "class_site"),
    ({"cut_points": 0}, "cut_points"), ({"colour": 3}, "no parameter 'colour'"),
    ({"ids": "id", "least": -1}, "least")])
def test_bad_parameters_over_columns_are_refused(members, change, words):
    with pytest.raises(StudyError, match=words):
        study_of(members, "tree-columns", {**COLUMNS, **change})


def test_plans_that_cannot_be_kept_are_refused(members):
    for task, parameters in (("tree", ROWS), ("tree-columns", COLUMNS)):
        study = Study("weather", task, "sums", members, stated(task, parameters))
        with pytest.raises(StudyError, match="shares"):
            task_of(study).plan(study)
    study = Study("weather", "tree-columns", "dealer", members,
                  stated("tree-columns", {**COLUMNS, "class_site": "dora"}))
    with pytest.raises(StudyError, match="class site"):
        task_of(study).plan(study)


def test_a_file_without_a_column_is_refused(members, tmp_path):
    study, task = study_of(members, "tree", ROWS)
    [path] = saved(tmp_path, [{n: c for n, c in WEATHER.items() if n != "windy"}])
    with pytest.raises(StudyError, match="'windy' is there"):
        task.load(path, study)
    [path] = saved(tmp_path, [WEATHER | {"windy": np.array(["maybe"] * 14, object)}])
    with pytest.raises(DataError, match="agreed categories"):
        task.load(path, study)


def test_ranges_agree_on_cut_points(members, tmp_path):
    values = np.random.default_rng(5).normal(50, 12, 40).round(1)
    columns = {"age": values, "play": np.where(values > 55, "yes", "no").astype(object)}
    parameters = {"target": "play", "classes": ["no", "yes"], "attributes": ["age"],
                  "range.age": [0, 128, 7, 7], "most": 64}
    study, task = study_of(members, "tree", parameters)
    paths = saved(tmp_path, parts_of(columns, np.arange(40) % 3, 3))
    outputs = run_local(task.program(study), [task.load(p, study) for p in paths],
                        names=["north", "south", "east"])
    tree = outputs[0][0]
    # One point a unit apart: the question nearest to 55 is found from 7 quantiles.
    assert (tree.threshold[tree.feature >= 0] == np.rint(tree.threshold[tree.feature >= 0])).all()
    assert (tree.predict(columns) == columns["play"]).mean() > 0.9


def test_own_cuts_lie_between_values():
    values = np.array([1, 1, 2, 5, 5, 9], float)
    assert own_cuts(values, 3) == [1.5, 3.5, 7.0]
    assert own_cuts(np.ones(4), 3) == [1.0]


@pytest.mark.parametrize("least", [1, 3])
def test_the_plan_over_rows_forecasts_the_bytes(least):
    rules = TreeParams(most=64, min_records=least)
    parts = [code_rows(LAYOUT, part, {}) for part in parts_of(WEATHER, np.arange(14) % 3, 3)]
    real = forecast_holds(TreeOverRows(LAYOUT, rules), dict(zip("abc", parts, strict=True)))
    assert real.outputs["a"].leaves > 2


@pytest.mark.parametrize("spans", [{"x": Span(0, 16, 3, 4)},
                                   {"x": Span(0, 16, 90, 7), "y": Span(-9, 9, 30, 3)}])
def test_the_plan_forecasts_the_bytes_of_cut_points(spans):
    random = np.random.default_rng(1)
    columns = {name: random.normal(5, 4, 60) for name in spans}
    columns["class"] = np.array(["n", "p"] * 30, object)
    layout = TreeLayout(tuple(Attribute(n, cuts=(0.0,)) for n in spans), ("n", "p"))
    parts = parts_of(columns, np.arange(60) % 4, 4)
    rules, coded = TreeParams(max_depth=0, most=64), [code_rows(layout, p, spans) for p in parts]
    program = TreeOverRows(layout, rules, spans=spans)
    real = forecast_holds(program, dict(zip("abcd", coded, strict=True)))
    assert len(real.opened["a"][CUTS]) == max(span.bits for span in spans.values()) + 1


@pytest.mark.parametrize(("task", "own", "agreed"), [
    ("tree", {}, False), ("tree", {}, True),
    ("forest", {"trees": 4, "attributes_at_a_node": 1}, False),
    ("forest", {"trees": 4, "attributes_at_a_node": 1}, True),
    ("boosted-trees", {"rounds": 3}, False), ("boosted-trees", {"rounds": 2}, True)])
def test_plans_over_rows_come_near_what_is_sent(members, tmp_path, task, own, agreed):
    random = np.random.default_rng(3)
    columns = {n: random.normal(50, 20, 400).round() for n in ("x", "y", "z", "w")}
    odds = sum((columns[n] > 50) * 0.2 for n in ("x", "y", "z")) + 0.1
    columns["play"] = np.where(random.random(400) < odds, "yes", "no").astype(object)
    kind = {f"range.{n}": [0, 128, 3, 6] for n in "xyzw"} if agreed else {
        f"cuts.{n}": [30, 50, 70] for n in "xyzw"}
    study, task_ = study_of(to_all(members), task, {
        "target": "play", "classes": ["no", "yes"], "attributes": list("xyzw"), "most": 500,
        "max_depth": 2, **kind, **own})
    paths = saved(tmp_path, parts_of(columns, np.arange(400) % 3, 3))
    outputs = run_local(task_.program(study), [task_.load(p, study) for p in paths],
                        names=["north", "south", "east"])
    sent = received([ledger for _, ledger in outputs])
    assert sent / 2 < task_.plan(study).bytes < sent * 2


def test_the_plan_over_columns_forecasts_the_bytes():
    random = np.random.default_rng(2)
    columns = {n: random.integers(0, 2, 2000).astype(str).astype(object) for n in "abc"}
    part = sum(w * (columns[n] == "1") for w, n in zip((0.4, 0.3, 0.2), "abc", strict=True))
    columns["class"] = np.where(random.random(2000) < part, "p", "n").astype(object)
    layout = TreeLayout(tuple(Attribute(n, ("0", "1")) for n in "abc"), ("n", "p"))
    sites = {n: TreeSite((a,), columns, columns["class"] if n == "a" else None)
             for n, a in zip("abc", layout.attributes, strict=True)}
    shape, rules = TreeShape(("n", "p"), "a", 1, 2), TreeParams(max_depth=2)
    real = forecast_holds(TreeOverColumns(shape, rules, tuple(sites)), sites)
    assert real.outputs["a"].nodes == 7
