"""The tasks `kmeans`, `kmeans-columns`, `outliers` and `outliers-columns`, files to results."""

from __future__ import annotations

import json

import numpy as np
import pytest

from support.joint_commands import free_ports, joint_command
from support.replayed import forecast_holds
from support.study_people import members_in, saved, study_of
from unspoken.errors import DataError
from unspoken.joint import run_outcomes
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.tasks.kmeans.params import KMeansParams
from unspoken.joint.tasks.kmeans.pooled import pooled
from unspoken.joint.tasks.kmeans.program_columns import KMeansOverColumns, KMeansSite
from unspoken.joint.tasks.outliers.params import OutlierParams as OutlierRules
from unspoken.joint.tasks.outliers.pooled import pooled as pooled_outliers
from unspoken.joint.tasks.outliers.program_columns import OutliersOverColumns
from unspoken.models.clusters import Clusters

pytestmark = pytest.mark.slow

OWNERS = ["north", "south", "east"]
SPREAD = {"columns": ["north:a", "south:b", "east:c", "east:d"]}
ROWS = {"columns": ["a", "b", "c", "d"]}


@pytest.fixture(scope="module")
def members(tmp_path_factory):
    return members_in(tmp_path_factory.mktemp("people"))


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(6)
    middle = rng.uniform(-5, 5, (3, 4))
    return middle[np.arange(90) % 3] + rng.normal(0, 0.4, (90, 4))


def by_columns(data):
    return [{"a": data[:, 0], "x": data[:, 0]}, {"b": data[:, 1]},
            {"d": data[:, 3], "c": data[:, 2]}]


def by_rows(data):
    return [{n: part[:, i] for i, n in enumerate("abcd")} for part in np.split(data, [20, 50])]


def results(study, task, paths):
    inputs = [task.load(path, study) for path in paths]
    outcomes = run_outcomes(task.program(study), inputs, study.mode, names=OWNERS)
    assert [outcome.error for outcome in outcomes] == [None] * len(outcomes)
    return [outcome.output for outcome in outcomes[:3]]


@pytest.mark.parametrize("way", ["hidden", "assignments"])
def test_clusters_over_columns(members, data, tmp_path, way):
    study, task = study_of(members, "kmeans-columns", {**SPREAD, "k": 3, "iterations": 4,
                                                       "way": way, "seed": 3})
    found = results(study, task, saved(tmp_path, by_columns(data)))
    _, assigned = pooled([data[:, :1], data[:, 1:2], data[:, 2:]], KMeansParams(3, 4, seed=3))
    assert np.array_equal(found[0].assigned, assigned)
    # Known to all in every round by the book's way; to the receiver alone otherwise.
    assert (found[1].assigned is None) is (way == "hidden")
    assert [part.features for part in found] == [("a",), ("b",), ("c", "d")]


def test_clusters_over_rows(members, data, tmp_path):
    study, task = study_of(members, "kmeans", {**ROWS, "k": 3, "iterations": 4})
    found = results(study, task, saved(tmp_path, by_rows(data)))
    centres, assigned = pooled([data], KMeansParams(3, 4))
    assert np.abs(found[0].centres - centres).max() < 2.0**-12
    assert np.array_equal(found[0].assigned, assigned[:20])
    assert found[1:] == [None, None]


def test_outliers_over_columns_and_rows(members, data, tmp_path):
    data = data.copy()
    data[[4, 30, 71]] = [[7, -7, 7, 0], [-7, 7, -7, 0], [7.5, 7.5, -7.5, 7.5]]
    rules = OutlierRules(0.7, 6.0)
    expected = pooled_outliers(data, rules)
    assert 0 < expected.places.size < 90
    for task_name, columns, parts in (("outliers-columns", SPREAD, by_columns(data)),
                                      ("outliers", ROWS, by_rows(data))):
        study, task = study_of(members, task_name, {**columns, "p": 0.7, "distance": 6.0})
        found = results(study, task, saved(tmp_path, parts))
        assert found[0].same_as(expected).identical
        assert found[1:] == [None, None]


@pytest.mark.parametrize(("task", "parameters", "why"), [
    ("kmeans", ROWS, "'k'"), ("kmeans", {**ROWS, "k": 0}, "'k'"),
    ("kmeans", {**ROWS, "k": 2, "closest": "permuted"}, "no parameter 'closest'"),
    ("kmeans", {**ROWS, "k": 2, "way": "assignments"}, "'way'"),
    ("kmeans", {**ROWS, "k": 2, "way": "revealed", "start": "spread"}, "are records"),
    ("kmeans", {"columns": ["a", "a"], "k": 2}, "different columns"),
    ("kmeans", {"columns": [], "k": 2}, "different columns"),
    ("kmeans-columns", {**ROWS, "k": 2}, "north:age"),
    ("kmeans-columns", {**SPREAD, "k": 2, "most": 1e9, "scale": 20}, "2\\^62"),
    ("outliers", {**ROWS, "distance": 1.0}, "'p'"),
    ("outliers", {**ROWS, "p": 1.0, "distance": 1.0}, "'p'"),
    ("outliers", {**ROWS, "p": 0.5, "distance": 1.0, "order": 3}, "even"),
    ("outliers", {**ROWS, "p": 0.5, "distance": 1.0, "third": "east"}, "'third'"),
    ("outliers-columns", {**SPREAD, "p": 0.5, "distance": 1.0, "third": "x"}, "'third'")])
def test_wrong_parameters_are_named(members, task, parameters, why):
    with pytest.raises(StudyError, match=why):
        study_of(members, task, parameters)


def test_plans_say_who_learns_what(members):
    study, task = study_of(members, "kmeans-columns", {**SPREAD, "k": 3, "tolerance": 0.1})
    learns = task.plan(study).learns
    assert "the cluster of every record" in learns["north"]
    assert "the cluster of every record" not in learns["east"]
    assert "the centres in the columns of east" in learns["east"]
    assert "the centres in the columns of east" not in learns["north"]
    assert any("still move" in text for text in learns["south"])
    study, task = study_of(members, "outliers", {**ROWS, "p": 0.5, "distance": 1.0})
    assert "which objects are outliers" not in task.plan(study).learns["south"]


def test_revealed_sums_need_three_owners_and_no_dealer(members):
    study, task = study_of(members, "kmeans", {**ROWS, "k": 2, "way": "revealed"})
    with pytest.raises(StudyError, match="mode 'sums'"):
        task.plan(study)


def test_files_that_do_not_fit_are_refused(members, data, tmp_path):
    study, task = study_of(members, "kmeans-columns", {**SPREAD, "k": 2})
    [path] = saved(tmp_path, [{"z": data[:, 0]}])
    with pytest.raises(StudyError, match="those of one owner"):
        task.load(path, study)
    study, task = study_of(members, "outliers", {**ROWS, "p": 0.5, "distance": 1.0})
    with pytest.raises(StudyError, match="'a' is there"):
        task.load(path, study)
    strange = by_rows(data)
    strange[1]["b"] = strange[1]["b"] * np.nan
    paths = saved(tmp_path, strange)
    inputs = [task.load(path, study) for path in paths]
    outcomes = run_outcomes(task.program(study), inputs, names=OWNERS)
    assert isinstance(outcomes[1].error, DataError)


def sent(ledgers):
    """Return the bytes that all parties sent, keys and the dealer's seeds apart."""
    rows = [row for ledger in ledgers for row in ledger.rows if row.label != "agree"]
    return (sum(row.bytes for row in rows if row.direction == "sent")
            + sum(row.bytes for row in rows if row.direction == "received"
                  and row.label.startswith("deal.") and row.label != "deal.seed"))


@pytest.mark.parametrize("way", ["hidden", "assignments"])
def test_the_plan_counts_the_bytes(data, way):
    # Without clusters nothing stands still before all rounds are run.
    data = np.random.default_rng(1).uniform(-8, 8, (2000, 4))
    parts = [data[:, :1], data[:, 1:2], data[:, 2:]]
    program = KMeansOverColumns(KMeansParams(5, 2), {"a": 1, "b": 1, "c": 2}, ("a", "b"), way)
    forecast_holds(program, {n: KMeansSite(p) for n, p in zip("abc", parts, strict=True)})


def test_the_plan_counts_the_bytes_of_outliers(data):
    parts = dict(zip("abc", (data[:, :1], data[:, 1:2], data[:, 2:]), strict=True))
    program = OutliersOverColumns(OutlierRules(0.7, 6.0), {"a": 1, "b": 1, "c": 2})
    forecast_holds(program, parts)


def test_on_the_command_line(tmp_path, data, capsys):
    for name in ("north", "south", "dora"):
        assert joint_command("identity", name, "--folder", tmp_path) == 0
    paths = saved(tmp_path, [{"a": data[:, 0]}, {"b": data[:, 1]}])
    ports, study = free_ports(3), tmp_path / "study.toml"
    assert joint_command(
        "new", study, "--name", "try", "--task", "kmeans-columns", "--set", "k=3", "--set",
        'columns=["north:a", "south:b"]', "--set", "iterations=3", "--set", "same_order=true",
        "--party", f"{tmp_path / 'north'}.crt=127.0.0.1:{ports[0]}",
        "--party", f"{tmp_path / 'south'}.crt=127.0.0.1:{ports[1]}",
        "--dealer", f"{tmp_path / 'dora'}.crt=127.0.0.1:{ports[2]}", "--receivers", "south") == 0
    capsys.readouterr()
    assert joint_command("local", study, "--json", "--data", f"north={paths[0]}", "--data",
                       f"south={paths[1]}") == 0
    found = json.loads(capsys.readouterr().out)["results"]
    south = Clusters.from_json(found["south"])
    _, assigned = pooled([data[:, :1], data[:, 1:2]], KMeansParams(3, 3))
    assert np.array_equal(south.assigned, assigned)
    assert "assigned" not in found["north"]
