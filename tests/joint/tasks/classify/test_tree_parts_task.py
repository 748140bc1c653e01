"""New records meet a tree in parts, as a study and on the command line."""

from __future__ import annotations

import json

import numpy as np
import pytest

from support.joint_commands import OWNERS, tried, write
from support.ledger_totals import received
from support.study_people import members_in, saved, stated, study_of
from support.tree_data import LAYOUT, WEATHER
from unspoken.errors import DataError
from unspoken.joint import run_local
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.classify.program_columns import PATHS, PREDICTED
from unspoken.joint.tasks.task_list import task_of
from unspoken.joint.tasks.tree.params import TreeParams
from unspoken.joint.tasks.tree.program_columns import mine_tree_columns
from unspoken.joint.tasks.tree.tree_sites import TreeShape, TreeSite

pytestmark = pytest.mark.slow

OWN = {"north": ["outlook"], "south": ["temperature", "humidity"], "east": ["windy"]}
ROLES = {"north": ("owner", "holder", "receiver"), "south": ("owner", "holder"),
         "east": ("owner",), "dora": ("dealer",)}


@pytest.fixture(scope="module")
def members(tmp_path_factory):
    return members_in(tmp_path_factory.mktemp("people"), ROLES)


@pytest.fixture(scope="module")
def parts():
    named = {a.name: a for a in LAYOUT.attributes}
    sites = {name: TreeSite(tuple(named[n] for n in own), WEATHER,
                        WEATHER["play"] if name == "south" else None)
             for name, own in OWN.items()}
    return mine_tree_columns(
        sites, TreeShape(("no", "yes"), "south", 2, 3), TreeParams(max_depth=2)
    )[0]


def files(tmp_path, parts, order=None):
    """Write tables with ids, each in its own order, and the parts beside them."""
    ids = np.array([f"r{i}" for i in range(14)], object)
    given = []
    for place, (name, own) in enumerate(OWN.items()):
        rows = np.arange(14) if order is None else order[place]
        given.append({"id": ids[rows]} | {n: WEATHER[n][rows] for n in own})
        parts[name].save(tmp_path / f"{place}.part.json")
    return saved(tmp_path, given)


def run(members, parameters, paths, mode="dealer"):
    study, task = study_of(members, "classify-columns", parameters, mode)
    given = [task.load(path, study) for path in paths]
    return run_local(task.program(study), given, mode, names=list(OWN)), task.plan(study)


@pytest.mark.parametrize("aligned", [False, True])
def test_receivers_learn_the_classes(members, parts, tmp_path, aligned):
    order, more = None, {"expected": 14, "depth": 2}
    if aligned:
        pytest.importorskip("rbcl")
        order = [np.arange(14)[::-1], np.arange(14), np.arange(1, 14)]
        more |= {"ids": "id", "least": 5}
    outputs, plan = run(members, {"class_site": "south", **more}, files(tmp_path, parts, order))
    found = outputs[0][0]
    wanted = dict(zip([f"r{i}" for i in range(14)] if aligned else range(14), WEATHER["play"],
                      strict=True))
    if aligned:
        del wanted["r0"]
    assert dict(zip(found["rows"], found[PREDICTED], strict=True)) == wanted
    assert outputs[1][0] is None
    assert PREDICTED in plan.learns["north"]
    assert PREDICTED not in plan.learns["south"]
    sent = received([ledger for _, ledger in outputs])
    assert sent / 2 < plan.bytes < sent * 2


def test_records_that_walk_show_their_paths_and_the_class_site_learns_classes(members, parts,
                                                                              tmp_path):
    alone = tuple(type(m)(m.name, m.address, tuple(r for r in m.roles if r != "holder"),
                          m.fingerprint, m.certificate) for m in members[:3])
    parameters = {"class_site": "south", "way": "walking", "expected": 14, "depth": 2}
    outputs, plan = run(alone, parameters, files(tmp_path, parts), "sums")
    assert outputs[0][0] is None
    assert outputs[1][0][PREDICTED] == WEATHER["play"].tolist()
    assert all(PATHS in learned for learned in plan.learns.values())
    assert "nobody" in plan.safe
    sent = received([ledger for _, ledger in outputs])
    assert sent / 2 < plan.bytes < sent * 2


@pytest.mark.parametrize(("change", "words"), [
    ({"class_site": 3}, "class_site"), ({"way": "running"}, "together, walking"),
    ({"depth": 40}, "depth"), ({"expected": 0}, "expected"), ({"colour": 1}, "no parameter")])
def test_bad_parameters_are_refused(members, change, words):
    with pytest.raises(StudyError, match=words):
        study_of(members, "classify-columns", {"class_site": "south", **change})


def test_plans_that_cannot_be_kept_are_refused(members):
    out = members_in_with_receiver(members)
    for who, mode, parameters, words in (
            (members[:3], "sums", {"class_site": "south"}, "shares"),
            (members, "dealer", {"class_site": "south", "way": "walking"}, "shares"),
            (members, "dealer", {"class_site": "dora"}, "'dora' is none"),
            (out, "dealer", {"class_site": "south"}, "'east' is none")):
        study = Study("trial", "classify-columns", mode, who,
                      stated("classify-columns", parameters))
        with pytest.raises(StudyError, match=words):
            task_of(study).plan(study)


def members_in_with_receiver(members):
    last = members[2]
    return (*members[:2], type(last)(last.name, last.address, ("receiver",), last.fingerprint,
                                     last.certificate), members[3])


def test_a_table_without_its_part_or_columns_is_refused(members, parts, tmp_path):
    paths = files(tmp_path, parts)
    study, task = study_of(members, "classify-columns", {"class_site": "south", "ids": "name"})
    with pytest.raises(StudyError, match="'name' is there"):
        task.load(paths[0], study)
    (tmp_path / "1.part.json").unlink()
    with pytest.raises(StudyError, match=r"beside the table: '1.part.json'"):
        task.load(paths[1], study)
    paths = files(tmp_path, parts)
    with pytest.raises(DataError, match="its own part"):
        run(members, {"class_site": "south"}, [paths[0], paths[2], paths[1]])


def test_the_command_line_grows_a_tree_and_classifies_with_it(folder, capsys):
    own = {name: [*columns, *(["play"] if name == "south" else [])]
           for name, columns in OWN.items()}
    for name, columns in own.items():
        write(folder / f"{name}.csv", {n: WEATHER[n] for n in columns})
    grown = tried(folder, "tree-columns", ["target=play", 'classes=["no", "yes"]',
                                           "class_site=south", "slots=2", "branches=3"], capsys)
    for name in OWNERS:
        (folder / f"{name}.part.json").write_text(json.dumps(grown[name]))
        write(folder / f"{name}.csv", {n: WEATHER[n][::2] for n in OWN[name]})
    (folder / "study.toml").unlink()
    (folder / "out.json").unlink()
    found = tried(folder, "classify-columns", ["class_site=south"], capsys)
    for name in OWNERS:
        assert found[name][PREDICTED] == WEATHER["play"][::2].tolist()
