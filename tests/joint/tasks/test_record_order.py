"""Records in one order: tasks over columns align them by ids, or a study says that they are.

Each task is run by `unspoken joint local` on files in three different orders, some with records
that others do not have, and must give what the same files give in one order.
"""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from support.joint_commands import OWNERS, joint_command, tried, write
from support.study_cases import study_case
from support.study_people import members_in, study_of, to_all
from unspoken.errors import DataError
from unspoken.joint.joint_errors import PartyError, StudyError
from unspoken.joint.session.run import run_outcomes
from unspoken.joint.tasks.common.ordered_study import UNNOTICED, UNTAGGED
from unspoken.joint.tasks.common.record_order import COMMON, SAME_ORDER
from unspoken.joint.tasks.task_list import all_tasks, task_of

COUNT = 120
LETTERS = np.array([f"r{i:03}" for i in range(COUNT)], object)


def table():
    """Return columns of everybody: two clear clusters, and classes that follow them."""
    random = np.random.default_rng(3)
    side = np.arange(COUNT) % 2
    flip = random.random(COUNT) < 0.1
    return {"id": LETTERS, "a": side * 4.0 + random.normal(0, 0.3, COUNT),
            "b": side * 3.0 + random.normal(0, 0.3, COUNT),
            "c": random.normal(0, 1, COUNT), "u": np.where(side ^ flip, "x", "y"),
            "v": np.where(random.random(COUNT) < 0.5, "x", "y"),
            "y": 2.0 * side + random.normal(0, 0.5, COUNT),
            "yes": (random.random(COUNT) < 0.3 + 0.4 * side).astype(int),
            "class": np.where(side, "p", "n")}


SPREAD = 'columns=["north:a", "south:b", "east:c"]'
LABELLED = ["target=class", 'classes=["n", "p"]', "class_site=south"]
TASKS = {
    "kmeans-columns": ("a b c", ["k=2", "iterations=5", SPREAD]),
    "outliers-columns": ("a b c", ["p=0.9", "distance=3.0", SPREAD]),
    "regression-columns": ("a b c+y", ["response=y", "held=east", "condition=4096", SPREAD]),
    "logistic-columns": ("a b c+yes", ["response=yes", "held=east", SPREAD, "condition=4096"]),
    "residuals-columns": ("a b c+y", ["response=y", "held=east", SPREAD, "condition=4096",
                                      "groups=2"]),
    "tree-columns": ("u v+class a", [*LABELLED, "max_depth=2", "cut_points=1", "slots=2",
                                     "branches=2"]),
    "forest-columns": ("u v+class a", [*LABELLED, "max_depth=1", "cut_points=1", "slots=2",
                                       "branches=2", "trees=2", "questions_at_a_node=6"]),
    "boosted-trees-columns": ("u v+class a", [*LABELLED, "max_depth=2", "cut_points=1", "slots=2",
                                              "rounds=1"]),
    "bayes-columns": ("u v+class a", [*LABELLED, "north=[2]", "south=[2]", 'east=["number"]']),
    "network": ("u v class", ['order=["u", "v", "class"]', "site.u=north", "site.v=south",
                              "site.class=east", "values.u=2", "values.v=2", "values.class=2"]),
    "rules-columns": ("", ["support=0.25", "confidence=0.5", 'items_north=["a"]',
                           'items_south=["b"]', 'items_east=["c"]']),
    "classify-columns": ("u v a", ["class_site=south"]),
}
NEW = ("forest-columns", "bayes-columns")


def test_every_task_over_columns_is_here():
    over = {name for name in all_tasks() if name.endswith("-columns") or name == "network"}
    assert over == set(TASKS)


def files(folder, task, orders):
    """Write each owner's file in an order of its own; the class of some records is not known."""
    columns = table()
    if task in NEW:
        columns["class"] = np.where(np.arange(COUNT) < COUNT - 6, columns["class"], "")
    for name, own, order in zip(OWNERS, TASKS[task][0].split(), orders, strict=False):
        write(folder / f"{name}.csv", {n: columns[n][order] for n in ["id", *own.split("+")]})


def baskets(folder, orders):
    columns = table()
    has = {"north": ("a", columns["u"] == "x"), "south": ("b", columns["class"] == "p"),
           "east": ("c", columns["c"] > 0)}
    for (name, (item, there)), order in zip(has.items(), orders, strict=True):
        lines = [f"{LETTERS[i]},{item}" if there[i] else LETTERS[i] for i in order]
        (folder / f"{name}.csv").write_text("\n".join(["id,goods", *lines]) + "\n")


def written(folder, task, orders, capsys):
    """Write the files of a task; classify-columns needs a tree first."""
    if task == "rules-columns":
        return baskets(folder, orders)
    if task == "classify-columns":
        files(folder, "tree-columns", [np.arange(COUNT)] * 3)
        grown = tried(folder, "tree-columns", [*TASKS["tree-columns"][1], "ids=id",
                                               "same_order=true"], capsys)
        for name in OWNERS:
            (folder / f"{name}.part.json").write_text(json.dumps(grown[name]))
        (folder / "study.toml").unlink()
        (folder / "out.json").unlink()
    return files(folder, task, orders)


@pytest.fixture
def folder(tmp_path):
    for name in (*OWNERS, "dora"):
        joint_command("identity", name, "--folder", tmp_path)
    return tmp_path


def mixed(drop):
    """Return three orders; with `drop`, each owner lacks a record that the others have."""
    random = np.random.default_rng(5)
    return [random.permutation(np.delete(np.arange(COUNT), 10 + place) if drop
                               else np.arange(COUNT)) for place in range(3)]


def by_id(found):
    """Return a result in an order of its own: one value for each id, where it has ids."""
    if "assigned" in found:
        named = dict(zip(found["records"], found["assigned"], strict=True))
        return {name: cluster == named["r000"] for name, cluster in named.items()}
    if "outliers" in found:
        return {found["records"][place] for place in found["outliers"]}
    if "rows" in found:
        [(_, values)] = [item for item in found.items() if item[0] != "rows"]
        return dict(zip(found["rows"], values, strict=True))
    return found


def close(one, other):
    """Say whether two results are equal, numbers but for rounding."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(close(one[k], other[k]) for k in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(close, one, other))
    if isinstance(one, float) or isinstance(other, float):
        return one == pytest.approx(other, rel=1e-5, abs=1e-6)
    return one == other


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
def test_files_in_any_order_give_the_result_of_one_order(folder, task, capsys):
    pytest.importorskip("rbcl")
    settings = TASKS[task][1]
    written(folder, task, [np.arange(COUNT)] * 3, capsys)
    wanted = tried(folder, task, [*settings, "ids=id", "same_order=true"], capsys, planned=False)
    for made in ("study.toml", "out.json"):
        (folder / made).unlink()
    if task == "rules-columns":
        baskets(folder, mixed(False))
    else:
        files(folder, task, mixed(False))
    found = tried(folder, task, [*settings, "ids=id"], capsys, planned=False)
    for name in OWNERS:
        assert close(by_id(found[name]), by_id(wanted[name])), (found[name], wanted[name])


@pytest.fixture(scope="module")
def members(tmp_path_factory):
    return to_all(members_in(tmp_path_factory.mktemp("people")))


def kmeans(members, folder, orders, **more):
    parameters = {"k": 2, "iterations": 2, "columns": ["north:a", "south:b", "east:c"], **more}
    study, task = study_of(members, "kmeans-columns", parameters)
    files(folder, "kmeans-columns", orders)
    inputs = [task.load(folder / f"{name}.csv", study) for name in OWNERS]
    return study, task, run_outcomes(task.program(study), inputs, names=list(OWNERS))


@pytest.mark.slow
def test_files_in_different_orders_are_noticed_by_their_ids(members, tmp_path):
    study, task, outcomes = kmeans(members, tmp_path, mixed(False), ids="id", same_order=True)
    assert all(isinstance(o.error, DataError | PartyError) for o in outcomes)
    assert any("the same records in the same order" in str(o.error) for o in outcomes)
    assert SAME_ORDER in task.plan(study).learns["north"]
    _, _, outcomes = kmeans(members, tmp_path, [np.arange(COUNT)] * 3, ids="id", same_order=True)
    assert [o.error for o in outcomes] == [None] * len(outcomes)
    assert outcomes[0].output.records == tuple(LETTERS)


@pytest.mark.slow
def test_other_numbers_of_records_are_noticed_without_ids(members, tmp_path):
    orders = [np.arange(COUNT), np.arange(COUNT), np.arange(COUNT - 1)]
    _, _, outcomes = kmeans(members, tmp_path, orders, same_order=True)
    assert any("different numbers" in str(o.error) for o in outcomes)


@pytest.mark.slow
def test_records_that_some_lack_are_left_out(members, tmp_path):
    pytest.importorskip("rbcl")
    _, _, outcomes = kmeans(members, tmp_path, mixed(True), ids="id")
    assert [o.error for o in outcomes] == [None] * len(outcomes)
    assert sorted(outcomes[0].output.records) == sorted(np.delete(LETTERS, [10, 11, 12]))


@pytest.mark.parametrize("task", TASKS)
def test_a_study_says_how_records_come_into_one_order(members, task):
    found = {name: value for name, _, value in (s.partition("=") for s in TASKS[task][1])}
    parameters = {name: plain(value) for name, value in found.items()}
    study, _ = study_of(members, task, parameters)
    with pytest.raises(StudyError, match="--set same_order=true"):
        task_of(replace(study, parameters=parameters))
    with pytest.raises(StudyError, match="'least'"):
        task_of(replace(study, parameters={**parameters, "same_order": True, "least": 5}))
    with pytest.raises(StudyError, match="'ids'"):
        task_of(replace(study, parameters={**parameters, "ids": ""}))
    aligned = replace(study, parameters={**parameters, "ids": "id"})
    disclosed = [d.because for d in task_of(aligned).disclosures(aligned)]
    assert COMMON in disclosed
    assert not [d for d in task_of(study).disclosures(study) if d.because in (COMMON, SAME_ORDER)]


def plain(text):
    try:
        return json.loads(text)
    except ValueError:
        return text


@pytest.mark.parametrize(("more", "unnoticed"), [
    ({}, True), ({"ids": "id"}, False), ({"ids": "id", "same_order": False}, False)])
def test_a_plan_says_what_is_not_noticed_without_ids(more, unnoticed):
    study, task, _ = study_case("kmeans-columns", "dealer", **{"same_order": True, **more})
    assert (UNNOTICED in task.outlook(study).notes) is unnoticed


@pytest.mark.parametrize("mode", ["authenticated", "three-party-verified", "dealer"])
@pytest.mark.parametrize("more", [{"same_order": True}, {"ids": "id"}])
def test_a_plan_says_that_tags_do_not_cover_how_records_are_matched(mode, more):
    study, task, _ = study_case("kmeans-columns", mode, **more)
    assert (UNTAGGED in task.outlook(study).notes) is ("ids" in more and mode != "dealer")
