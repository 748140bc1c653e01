"""Naive Bayes as studies: parameters, plans, files, and what a plan forecasts."""

from __future__ import annotations

import numpy as np
import pytest

from support.bayes_data import CLASSES, LAYOUT, apart, parts_of, table
from support.study_people import members_in, saved, stated, study_of
from support.tree_data import LAYOUT as QUESTIONS
from support.tree_data import WEATHER
from unspoken.errors import DataError
from unspoken.joint import run_local
from unspoken.joint.joint_errors import RefusedError, StudyError
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.classify.program_bayes import PREDICTED
from unspoken.joint.tasks.naive_bayes.pooled import pooled
from unspoken.joint.tasks.task_list import task_of
from unspoken.joint.tasks.tree.level_growth import TreeParams as TreeRules
from unspoken.joint.tasks.tree.params import Attribute
from unspoken.joint.tasks.tree.params import TreeLayout as Questions
from unspoken.joint.tasks.tree.pooled import pooled as grown

pytestmark = pytest.mark.slow

ROWS = {"target": "class", "classes": list(CLASSES), "columns": ["a", "h", "b", "w"], "most": 4096,
        "range.h": [-20, 30], "range.w": [0, 100], "categories.a": ["x", "y", "z"],
        "categories.b": ["u", "v"]}
COLUMNS = {"target": "class", "classes": list(CLASSES), "class_site": "south",
           "north": [3, "number"], "south": [2], "east": ["number"]}
ASKED = {n: v for n, v in ROWS.items() if n != "most"} | {"model": "south", "asks": "north"}
NAMES = ["north", "south", "east"]


@pytest.fixture(scope="module")
def members(tmp_path_factory):
    return members_in(tmp_path_factory.mktemp("people"))


def sent(outputs):
    return sum(row.bytes for _, ledger in outputs for row in ledger.rows
               if row.direction == "received") + sum(
        row.bytes for _, ledger in outputs for row in ledger.rows
        if row.direction == "sent" and row.peer == "dealer")


def test_a_study_over_rows_gives_the_model(members, tmp_path):
    study, task = study_of(members, "bayes", {**ROWS, "bits": 20})
    assert Study.from_json(study.to_json()) == study
    columns = table(90, 1)
    paths = saved(tmp_path, parts_of(columns, np.arange(90) % 3, 3))
    given = [task.load(path, study) for path in paths]
    outputs = run_local(task.program(study), given, names=NAMES)
    assert apart(outputs[0][0], pooled(LAYOUT, columns)) < 2.0**-18
    assert outputs[1][0] is None
    plan = task.plan(study)
    assert plan.learns["dora"]
    assert len(plan.learns["north"]) == 2
    assert len(plan.learns["south"]) == 1
    assert 0.6 < plan.bytes / sent(outputs) < 1.6


def test_sums_need_no_shares(members, tmp_path):
    alone = tuple(type(m)(m.name, m.address, tuple(r for r in m.roles if r != "holder"),
                          m.fingerprint, m.certificate) for m in members[:3])
    study, task = study_of(alone, "bayes", {**ROWS, "reveal": "sums"}, "sums")
    columns = table(90, 1)
    given = [task.load(path, study)
             for path in saved(tmp_path, parts_of(columns, np.arange(90) % 3, 3))]
    outputs = run_local(task.program(study), given, "sums", names=NAMES)
    assert apart(outputs[0][0], pooled(LAYOUT, columns)) < 2.0**-30
    assert "any 1 of the 3 owners" in task.plan(study).text()
    ratios, task = study_of(alone, "bayes", ROWS, "sums")
    with pytest.raises(StudyError, match="needs shares"):
        task.plan(ratios)
    two, task = study_of(alone[:2], "bayes", {**ROWS, "reveal": "sums"}, "sums")
    with pytest.raises(RefusedError):
        task.plan(two)


def test_a_study_over_columns_gives_classes_of_new_records(members, tmp_path):
    pytest.importorskip("rbcl")
    study, task = study_of(members, "bayes-columns", {**COLUMNS, "ids": "id", "least": 5})
    columns = table(80, 2)
    columns["h"] = columns["h"] * 4
    ids = np.array([f"r{i}" for i in range(80)], object)
    labels = np.where(np.arange(80) < 60, columns["class"], None)
    own = [{"a": columns["a"], "h": columns["h"]}, {"b": columns["b"], "class": labels},
           {"w": columns["w"]}]
    given = [task.load(path, study) for path in saved(tmp_path, [{"id": ids} | o for o in own])]
    outputs = run_local(task.program(study), given, names=NAMES)
    found = dict(zip(outputs[0][0]["rows"], outputs[0][0][PREDICTED], strict=True))
    assert outputs[1][0] is None
    assert set(found) == set(ids[60:])
    model = pooled(LAYOUT_WIDE, {n: c[:60] for n, c in columns.items()})
    logs = np.sort(model.log_joint({n: c[60:] for n, c in columns.items()}), axis=1)
    sure = logs[:, -1] - logs[:, -2] > 1e-3
    wanted = model.predict({n: c[60:] for n, c in columns.items()})
    assert [found[i] for i in ids[60:][sure]] == wanted[sure].tolist()
    assert "tenth" in task.plan(study).text()


LAYOUT_WIDE = type(LAYOUT)((LAYOUT.columns[0], type(LAYOUT.columns[1])("h", -100, 100),
                            *LAYOUT.columns[2:]), CLASSES)


def test_one_joins_with_a_model_and_another_with_records(members, tmp_path):
    study, task = study_of(members, "classify", ASKED)
    model, new = pooled(LAYOUT, table(90, 3)), table(30, 4)
    model.save(tmp_path / "model.json")
    [records] = saved(tmp_path, [new])
    given = [task.load(records, study), task.load(tmp_path / "model.json", study), None]
    outputs = run_local(task.program(study), given, names=NAMES)
    assert outputs[0][0][PREDICTED] == model.predict(new).tolist()
    assert outputs[1][0] is None
    plan = task.plan(study)
    assert "gives the model away" in plan.text() or "give the model away" in plan.text()


def test_one_joins_with_a_tree(members, tmp_path):
    parameters = {"target": "play", "classes": ["no", "yes"], "model": "south", "asks": "north",
                  "columns": [a.name for a in QUESTIONS.attributes], "depth": 4,
                  **{f"categories.{a.name}": list(a.categories) for a in QUESTIONS.attributes}}
    study, task = study_of(members, "classify", parameters)
    grown(QUESTIONS, WEATHER, TreeRules(most=64)).save(tmp_path / "tree.json")
    [records] = saved(tmp_path, [WEATHER])
    given = [task.load(records, study), task.load(tmp_path / "tree.json", study), None]
    outputs = run_local(task.program(study), given, names=NAMES)
    assert outputs[0][0][PREDICTED] == WEATHER["play"].tolist()
    study = Study("trial", "classify", "dealer", members, {**parameters, "expected": 14})
    assert 0.6 < task.plan(study).bytes / sent(outputs) < 1.6


def test_a_file_meets_a_tree_as_the_tree_meets_it_in_the_clear(members, tmp_path):
    """Trees compare numbers as float64, at equality too: 0.1 is not above a cut at 0.1."""
    questions = Questions((Attribute("x", cuts=(0.1,)),), ("n", "p"))
    tree = grown(questions, {"x": np.array([0.0, 0.05, 0.5, 0.6]),
                             "class": np.array(["n", "n", "p", "p"], object)})
    tree.save(tmp_path / "tree.json")
    study, task = study_of(members, "classify", {
        "target": "class", "classes": ["n", "p"], "model": "south", "asks": "north", "depth": 1,
        "columns": ["x"], "range.x": [0, 1]})
    new = {"x": np.array([0.1, 0.05, 0.5, 1.0])}
    [records] = saved(tmp_path, [new])
    given = [task.load(records, study), task.load(tmp_path / "tree.json", study), None]
    outputs = run_local(task.program(study), given, names=NAMES)
    assert outputs[0][0][PREDICTED] == tree.predict(new).tolist() == ["n", "n", "p", "p"]


@pytest.mark.parametrize("aligned", [False, True])
def test_all_sites_may_know_the_class(members, tmp_path, aligned):
    """The same classes as where one site has it; and the plan comes near what is sent."""
    columns, ids = table(330, 2), np.array([f"r{i}" for i in range(330)], object)
    labels = np.where(np.arange(330) < 300, columns["class"], None)
    own = [{"a": columns["a"], "h": columns["h"]}, {"b": columns["b"], "class": labels},
           {"w": columns["w"]}]
    more = {"expected": 300}
    if aligned:
        pytest.importorskip("rbcl")
        own, more = [{"id": ids} | o for o in own], more | {"ids": "id"}
    answers = []
    for known in (False, True):
        given_ = [o | {"class": labels} for o in own] if known else own
        study, task = study_of(members, "bayes-columns", COLUMNS | more | {"class_known": known})
        given_ = [task.load(path, study) for path in saved(tmp_path, given_)]
        outputs = run_local(task.program(study), given_, names=NAMES)
        answers.append(dict(zip(outputs[0][0]["rows"], outputs[0][0][PREDICTED], strict=True)))
        assert sent(outputs) / 2 < task.plan(study).bytes < sent(outputs) * 2
    assert answers[0] == answers[1]
    assert len(answers[0]) == 30


def test_a_class_that_is_said_to_be_known_must_be_there_and_the_same(members, tmp_path):
    study, task = study_of(members, "bayes-columns", COLUMNS | {"class_known": True})
    columns = table(60, 2)
    labels = np.where(np.arange(60) < 50, columns["class"], None)
    own = [{"a": columns["a"], "h": columns["h"], "class": labels},
           {"b": columns["b"], "class": labels}, {"w": columns["w"]}]
    given_ = [task.load(path, study) for path in saved(tmp_path, own)]
    with pytest.raises(RefusedError, match="The class"):
        run_local(task.program(study), given_, names=NAMES)
    own[2]["class"] = labels[::-1]
    given_ = [task.load(path, study) for path in saved(tmp_path, own)]
    with pytest.raises(DataError, match="same everywhere"):
        run_local(task.program(study), given_, names=NAMES)


def test_more_records_than_there_is_room_for_are_refused(members, tmp_path, monkeypatch):
    from unspoken.joint.tasks.naive_bayes import program_columns as vertical

    monkeypatch.setattr(vertical, "MOST", 79)
    study, task = study_of(members, "bayes-columns", COLUMNS)
    columns = table(80, 2)
    own = [{"a": columns["a"], "h": columns["h"]},
           {"b": columns["b"], "class": np.where(np.arange(80) < 60, columns["class"], None)},
           {"w": columns["w"]}]
    given_ = [task.load(path, study) for path in saved(tmp_path, own)]
    with pytest.raises(RefusedError, match="at most 79"):
        run_local(task.program(study), given_, names=NAMES)


def test_a_new_record_far_off_does_not_change_the_classes_of_others(members, tmp_path):
    study, task = study_of(members, "bayes-columns", COLUMNS)
    columns = table(80, 2)
    labels = np.where(np.arange(80) < 60, columns["class"], None)
    answers = []
    for far in (columns["h"][79], 1e9):
        columns["h"][79] = far
        own = [{"a": columns["a"], "h": columns["h"]}, {"b": columns["b"], "class": labels},
               {"w": columns["w"]}]
        given = [task.load(path, study) for path in saved(tmp_path, own)]
        [(found, _), *_] = run_local(task.program(study), given, names=NAMES)
        assert found["rows"] == list(range(60, 80))
        answers.append(found[PREDICTED][:19])
    assert answers[0] == answers[1]


@pytest.mark.parametrize(("task", "base", "change", "words"), [
    ("bayes-columns", COLUMNS, {"expected": "x"}, "expected"),
    ("bayes-columns", COLUMNS, {"class_known": "no"}, "class_known"),
    ("bayes-columns", COLUMNS, {"expected": 0}, "expected"),
    ("bayes", ROWS, {"target": None}, "'target'"), ("bayes", ROWS, {"classes": ["c"]}, "'classes'"),
    ("bayes", ROWS, {"range.h": [3]}, "range.h"), ("bayes", ROWS, {"range.a": [0, 1]}, "'a'"),
    ("bayes", ROWS, {"colour": 1}, "no parameter 'colour'"),
    ("bayes", ROWS, {"alpha": -1}, "alpha"),
    ("bayes", ROWS, {"range.z": [0, 1]}, "range.z"), ("bayes", ROWS, {"range.h": [3, 3]}, "range"),
    ("bayes-columns", COLUMNS, {"north": []}, "'north'"),
    ("bayes-columns", COLUMNS, {"north": ["text"]}, "'north'"),
    ("bayes-columns", COLUMNS, {"class_site": "dora"}, "class site"),
    ("classify", ASKED, {"asks": "south"}, "two different"),
    ("classify", ASKED, {"expected": 0}, "expected"),
    ("classify", ASKED, {"depth": 40}, "depth")])
def test_bad_parameters_are_refused(members, task, base, change, words):
    with pytest.raises(StudyError, match=words):
        study_of(members, task, {**base, **change})


def test_plans_that_cannot_be_kept_are_refused(members):
    for task, parameters in (("bayes-columns", COLUMNS), ("classify", ASKED)):
        study = Study("trial", task, "sums", members, stated(task, parameters))
        with pytest.raises(StudyError, match="given shares"):
            task_of(study).plan(study)


def test_bad_files_are_refused(members, tmp_path):
    study, task = study_of(members, "bayes", ROWS)
    [path] = saved(tmp_path, [{n: c for n, c in table(9, 1).items() if n != "w"}])
    with pytest.raises(StudyError, match="'w' is there"):
        task.load(path, study)
    study, task = study_of(members, "bayes-columns", COLUMNS)
    [path] = saved(tmp_path, [{"b": ["u", "v"], "class": ["c0", "?"]}])
    with pytest.raises(StudyError, match="agreed classes"):
        task.load(path, study)
    columns = table(9, 1)
    own = [{n: columns[n] for n in names} for names in (("a", "h"), ("b", "class"), ("w",))]
    given = [task.load(path, study) for path in saved(tmp_path, own)]
    with pytest.raises((StudyError, DataError, RefusedError), match=r"class|agreed"):
        run_local(task.program(study), given, names=NAMES)
