"""Hidden trees as studies: new records are classified in one run; plans forecast what it costs."""

from __future__ import annotations

import json

import numpy as np
import pytest

from support.hidden_tree_sites import three_sites
from support.joint_commands import OWNERS, tried, write
from support.ledger_totals import measured
from support.replayed import forecast_holds
from support.study_people import ROLES, members_in, saved, study_of
from support.tree_data import LAYOUT, WEATHER
from unspoken.errors import DataError
from unspoken.joint import run_local, run_outcomes
from unspoken.joint.joint_errors import RefusedError, StudyError
from unspoken.joint.session.play import in_memory
from unspoken.joint.session.run_roles import roles_of
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.classify.program_columns import PREDICTED
from unspoken.joint.tasks.common.aligned_records import ROWS
from unspoken.joint.tasks.common.unlabelled_rows import NEW
from unspoken.joint.tasks.tree.hidden_program import ClassifyHidden, HiddenTree
from unspoken.joint.tasks.tree.params import TreeParams
from unspoken.joint.tasks.tree.pooled import pooled
from unspoken.joint.tasks.tree.tree_sites import TreeShape

pytestmark = pytest.mark.slow

HIDDEN = {"target": "play", "classes": ["no", "yes"], "class_site": "south", "slots": 2,
          "branches": 3, "max_depth": 2, "structure": "hidden"}
OWN = {"north": ("outlook",), "south": ("temperature", "humidity"), "east": ("windy",)}
IDS = np.array([f"r{i}" for i in range(14)], object)
FRESH = np.array([2, 5, 13])


@pytest.fixture(scope="module")
def members(tmp_path_factory):
    return members_in(tmp_path_factory.mktemp("people"))


def files_of(known=False, ids=False):
    """Return the columns of every site's file; three records have no class."""
    labels = np.where(np.isin(np.arange(14), FRESH), None, WEATHER["play"])
    return {name: ({"id": IDS} if ids else {}) | {n: WEATHER[n] for n in names}
            | ({"play": labels} if known or name == "south" else {})
            for name, names in OWN.items()}


def expected_classes():
    old = np.setdiff1d(np.arange(14), FRESH)
    tree = pooled(LAYOUT, {n: c[old] for n, c in WEATHER.items()}, TreeParams(max_depth=2))
    return tree.predict({n: c[FRESH] for n, c in WEATHER.items()}).tolist()


@pytest.mark.parametrize("known", [False, True])
def test_a_study_gives_the_classes_of_new_records(members, tmp_path, known):
    study, task = study_of(members, "tree-columns", HIDDEN | {"class_known": known,
                                                             "expected": 14})
    assert Study.from_json(study.to_json()) == study
    paths = saved(tmp_path, list(files_of(known).values()))
    given = [task.load(path, study) for path in paths]
    outputs = run_local(task.program(study), given, names=list(OWN))
    assert outputs[0][0] == {"rows": FRESH.tolist(), PREDICTED: expected_classes()}
    assert [found for found, _ in outputs[1:]] == [None, None]
    for _, ledger in outputs:
        assert [(o.because, tuple(o.to)) for o in ledger.openings] == [
            (ROWS, tuple(OWN)), (NEW, tuple(OWN)), (PREDICTED, ("north",))]
    plan = task.plan(study)
    assert set(plan.learns["north"]) == {ROWS, NEW, PREDICTED}
    assert set(plan.learns["south"]) == set(plan.learns["east"]) == {ROWS, NEW}
    assert "can copy the tree" in plan.text()
    rounds, size = measured({n: ledger for n, (_, ledger) in zip("abc", outputs, strict=True)})
    assert 0.5 < plan.rounds / rounds < 2
    assert 0.5 < plan.bytes / size < 2


def test_new_records_do_not_change_the_tree(members, tmp_path):
    study, task = study_of(members, "tree-columns", HIDDEN | {"cut_points": 1, "slots": 1})
    values = np.r_[np.arange(8.0), 2.5, 5.0]
    labels = np.array([*["no"] * 4, *["yes"] * 4, None, None], object)
    answers = []
    for far in (np.array([]), np.array([7.5, 1e9, 1e9, 1e9])):
        # The one cut point is the median of old records, 3.5; of all with far ones it is 6.5.
        size, every = 10 + far.size, np.r_[values, far]
        files = [{"x": every}, {"play": np.r_[labels, np.full(far.size, None)]},
                 {"k": np.array(["a", "b"] * (size // 2) + ["c"] * far.size)[:size]}]
        given = [task.load(path, study) for path in saved(tmp_path, files)]
        [(found, _), *_] = run_local(task.program(study), given, names=list(OWN))
        answers.append(found[PREDICTED][:2])
    assert answers == [["no", "yes"], ["no", "yes"]]


def test_somebody_without_data_may_be_the_receiver(tmp_path):
    roles = {n: tuple(r for r in role if r != "receiver") for n, role in ROLES.items()}
    people = members_in(tmp_path, roles | {"ruth": ("receiver",)})
    for known in (False, True):
        study, task = study_of(people, "tree-columns", HIDDEN | {"class_known": known})
        given = [task.load(path, study)
                 for path in saved(tmp_path, list(files_of(known).values()))]
        given.append(None)
        outcomes = run_in(study, task.program(study), given)
        assert [o.error for o in outcomes] == [None] * len(outcomes)
        by_name = {o.name: o.output for o in outcomes}
        assert by_name["ruth"] == {"rows": FRESH.tolist(), PREDICTED: expected_classes()}
        assert by_name["north"] is None


def run_in(study, program, given):
    import asyncio

    return asyncio.run(in_memory(program, given, roles_of(study)))


def test_bad_files_are_refused(members, tmp_path):
    study, task = study_of(members, "tree-columns", HIDDEN)
    files = files_of()
    files["south"]["play"] = np.where(np.arange(14) == 3, "maybe", files["south"]["play"])
    with pytest.raises(StudyError, match="agreed classes, or nothing"):
        task.load(saved(tmp_path, [files["south"]])[0], study)
    for change, words, error in (
            ({"south": {"play": WEATHER["play"]}}, "some must not", StudyError),
            ({"south": {"play": np.full(14, None)}}, "some must not", StudyError),
            ({"east": {"play": WEATHER["play"]}}, "given by 'south' alone", RefusedError),
            ({"east": {"colour": np.array(["red", "blue"] * 7)},
              "north": {"day": IDS}}, "at most 2 questions", RefusedError),
            ({"east": {"windy": WEATHER["windy"][:3]}}, "same records", DataError)):
        files = {name: columns | change.get(name, {}) for name, columns in files_of().items()}
        given = [task.load(path, study) for path in saved(tmp_path, list(files.values()))]
        outcomes = run_outcomes(task.program(study), given, names=list(OWN))
        assert all(o.error is not None for o in outcomes[:3])
        with pytest.raises(error, match=words):
            run_local(task.program(study), given, names=list(OWN))


@pytest.mark.parametrize(("change", "words"), [
    ({"structure": "secret"}, "'structure'"), ({"structure": 1}, "'structure'"),
    ({"max_depth": 12}, "4,096 leaves"), ({"max_depth": 10**9}, "4,096 leaves"),
    ({"expected": 0}, "expected"), ({"colour": 3}, "no parameter 'colour'")])
def test_bad_parameters_are_refused(members, change, words):
    with pytest.raises(StudyError, match=words):
        study_of(members, "tree-columns", {**HIDDEN, **change})


def test_plans_that_cannot_be_kept_are_refused(members):
    study, task = study_of(members, "tree-columns", HIDDEN | {"class_site": "dora"})
    with pytest.raises(StudyError, match="class site"):
        task.plan(study)


@pytest.mark.parametrize("ids", [False, True])
def test_new_records_on_the_command_line(folder, capsys, ids):
    if ids:
        pytest.importorskip("rbcl")
    random = np.random.default_rng(3)
    for name, columns in files_of(ids=ids).items():
        order = random.permutation(14) if ids else np.arange(14)
        write(folder / f"{name}.csv", {n: c[order] for n, c in columns.items()})
    settings = [f"{name}={json.dumps(value)}" for name, value in HIDDEN.items()]
    results = tried(folder, "tree-columns", settings + (["ids=id", "least=5"] if ids else []),
                    capsys)
    wanted = dict(zip((IDS[FRESH] if ids else FRESH).tolist(), expected_classes(), strict=True))
    for name in OWNERS:
        found = results[name]
        assert dict(zip(found["rows"], found[PREDICTED], strict=True)) == wanted


# What it costs.


@pytest.mark.parametrize(("depth", "branches", "least", "rows"), [
    (0, 2, 1, 400), (1, 2, 1, 2000), (2, 2, 3, 2000), (3, 2, 1, 400), (2, 3, 3, 400)])
def test_plans_forecast_rounds_and_bytes(depth, branches, least, rows):
    shape, rules = TreeShape(("n", "p"), "a", 3, branches), TreeParams(depth, least)
    sites, columns = three_sites(rows, branches)
    real = forecast_holds(HiddenTree(shape, rules), sites)
    forecast_holds(ClassifyHidden(["b"]), {n: (real.outputs[n], columns) for n in "abc"})


def test_plans_forecast_what_goes_by_tournament(monkeypatch):
    from unspoken.joint.tasks.tree import first_greatest as choosing

    monkeypatch.setattr(choosing, "MOST_PAIRS", 0)
    shape, rules = TreeShape(("n", "p"), "a", 3, 2), TreeParams(3, 2)
    forecast_holds(HiddenTree(shape, rules), three_sites(100)[0])
