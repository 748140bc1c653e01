"""The tasks `regression`, `regression-columns` and `logistic`, from files to results."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support.joint_commands import in_order, joint_command
from support.regression_data import by_rows, far, made, picked
from support.study_people import stated
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.ops.matrix_inverse import ILL
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.logistic.pooled import pooled_logistic
from unspoken.joint.tasks.regression import fitting
from unspoken.joint.tasks.regression.column_blocks import SAME_ROWS
from unspoken.joint.tasks.regression.params import RegressionParams, RegressionTerms
from unspoken.joint.tasks.regression.pooled import pooled
from unspoken.joint.tasks.regression.second_moments import SIZES
from unspoken.joint.tasks.task_list import task_of
from unspoken.joint.wire.credentials import Member
from unspoken.models.linear_model import LinearModel
from unspoken.models.logistic_model import LogisticModel
from unspoken.models.residuals import Residuals

pytestmark = pytest.mark.slow

ROWS = {"response": "y", "columns": ["x0", "x1"]}
COLUMNS = {"response": "y", "columns": ["a:x0", "b:x1"], "held": "b"}
THREE = {"response": "y", "columns": ["a:x0", "b:x1", "c:x2"], "held": "b"}


def study(task, mode="dealer", **parameters):
    both = ("owner", "holder")
    members = [Member("a", "a.example:7700", (*both, "receiver"), "a" * 8, b"a"),
               Member("b", "b.example:7700", both, "b" * 8, b"b")]
    if mode == "dealer":
        members.append(Member("d", "d.example:7700", ("dealer",), "d" * 8, b"d"))
    return Study("care", task, mode, tuple(members), stated(task, parameters))


@pytest.mark.parametrize(("task", "parameters", "why"), [
    ("regression", {"response": "y"}, "needs parameter 'columns'"),
    ("regression", {**ROWS, "columns": ["x0", "x0"]}, "'columns'.*different columns"),
    ("regression", {**ROWS, "columns": "x0"}, "'columns' of task 'regression' must be a list"),
    ("regression", {**ROWS, "rigde": 1.0}, "has no parameter 'rigde'"),
    ("regression", {**ROWS, "ridge": "much"}, "'ridge'"),
    ("regression", {**ROWS, "criterion": "aic"}, "needs 'select'"),
    ("regression", {**ROWS, "select": "all"}, "'select'"),
    ("regression", {**ROWS, "smaller": ["x0+x9"]}, "A term"),
    ("regression", {**ROWS, "products": ["x0"]}, "A product"),
    ("regression-columns", {**COLUMNS, "columns": ["x0"]}, "north:age"),
    ("regression-columns", {**COLUMNS, "columns": ["a:x0", "b:x0"]}, "'x0' stands twice"),
    ("regression-columns", {**COLUMNS, "least": 3, "ids": ""}, "'ids'"),
    ("regression-columns", {**COLUMNS, "expected": 0}, "'expected'"),
    ("regression-columns", {**THREE, "method": "powell"}, "has no parameter 'method'"),
    ("regression-columns", {**THREE, "accept": "all"}, "has no parameter 'accept'"),
    ("residuals", {**ROWS, "group": 2}, "'group' of task 'residuals'"),
    ("residuals", {**ROWS, "synthetic": 2000}, "'synthetic'.*to 1000"),
    ("residuals-columns", {**COLUMNS, "show": "all"}, "'show'"),
    ("residuals-columns", {**COLUMNS, "group": 4}, "'group'"),
    ("residuals-columns", {**COLUMNS, "show": "each"}, "two owners must not be opened"),
    ("residuals-columns", {**THREE, "show": "each"}, "others could solve"),
    ("logistic-columns", {**COLUMNS, "products": ["x0*x1"], "ridge": 1.0}, "different owners"),
    ("logistic", {**ROWS, "select": "best"}, "has no parameter 'select'")])
def test_wrong_parameters_are_named(task, parameters, why):
    with pytest.raises(StudyError, match=why):
        task_of(study(task, **parameters))


def test_plans_say_who_learns_what():
    rows = study("regression", **ROWS)
    plan = task_of(rows).plan(rows)
    assert plan.learns["b"] == [SIZES, fitting.COUNT, fitting.SPREADS, ILL]
    assert {fitting.COEFFICIENTS, fitting.ERRORS, fitting.SUMS} <= set(plan.learns["a"])
    assert plan.learns["d"] == ["kinds and sizes of what is computed"]
    columns = study("regression-columns", **COLUMNS)
    assert SAME_ROWS in task_of(columns).plan(columns).learns["b"]
    with pytest.raises(StudyError, match="mode with shares"):
        task_of(study("regression", "sums", **ROWS)).plan(study("regression", "sums", **ROWS))
    other = study("regression-columns", **{**COLUMNS, "columns": ["a:x0", "c:x1"], "held": "a"})
    with pytest.raises(StudyError, match="owners of the study"):
        task_of(other).plan(other)


def write(folder, name, columns):
    pq.write_table(pa.table({k: list(v) for k, v in columns.items()}), folder / f"{name}.parquet")


def new(folder, task, *settings, owners=("north", "south")):
    for name in (*owners, "dora"):
        joint_command("identity", name, "--folder", folder)
    parties = [w for i, name in enumerate(owners)
               for w in ("--party", f"{folder / name}.crt=host{i}.example:7700")]
    assert joint_command("new", folder / "study.toml", "--name", "care", "--task", task, *parties,
                       "--dealer", f"{folder / 'dora'}.crt=host9.example:7700",
                       *(w for s in in_order(task, settings) for w in ("--set", s))) == 0


def results(folder, capsys, owners=("north", "south")):
    files = [w for name in owners
             for w in ("--data", f"{name}={folder / name}.parquet")]
    capsys.readouterr()
    assert joint_command("--json", "local", folder / "study.toml", *files) == 0
    return json.loads(capsys.readouterr().out)["results"]


def test_rows_from_files_to_a_model(tmp_path, capsys):
    data = made(90, 2, 3)
    for name, part in zip(("north", "south"), by_rows(data, np.arange(90) % 2), strict=True):
        write(tmp_path, name, part)
    new(tmp_path, "regression", "response=y", 'columns=["x0", "x1"]', "condition=256",
        'smaller=["x0"]')
    found = LinearModel.from_json(results(tmp_path, capsys)["south"])
    exact = pooled(RegressionTerms("y", ("x0", "x1")), data, RegressionParams(smaller=(("x0",),)))
    assert far(found, exact) <= 1e-9
    assert found.mallows_cp(["x0"]) == pytest.approx(exact.mallows_cp(["x0"]), rel=1e-9)


def test_columns_from_files_to_a_model(tmp_path, capsys):
    pytest.importorskip("rbcl")
    data = made(60, 2, 4)
    ids = [f"p{i}" for i in range(60)]
    write(tmp_path, "north", {"id": ids[:50], "x0": data["x0"][:50]})
    write(tmp_path, "south", {"id": ids[:4:-1], **{k: v[:4:-1] for k, v in picked(
        data, ["x1", "y"]).items()}})
    new(tmp_path, "regression-columns", "response=y", 'columns=["north:x0", "south:x1"]',
        "held=south", "ids=id", "condition=256")
    found = LinearModel.from_json(results(tmp_path, capsys)["north"])
    exact = pooled(RegressionTerms("y", ("x0", "x1")), {k: v[5:50] for k, v in data.items()})
    assert found.records == 45
    assert far(found, exact) <= 1e-9


ALL = ("north", "south", "west")


def test_logistic_columns_from_files_to_a_model(tmp_path, capsys):
    data = made(320, 2, 4)
    data["y"] = (data["y"] > np.median(data["y"])).astype(float)
    flip = np.random.default_rng(1).uniform(size=320) < 0.3
    data["y"] = np.where(flip, 1 - data["y"], data["y"])
    write(tmp_path, "north", picked(data, ["x0"]))
    write(tmp_path, "south", picked(data, ["x1", "y"]))
    new(tmp_path, "logistic-columns", "response=y", 'columns=["north:x0", "south:x1"]',
        "held=south", "condition=1024")
    found = LogisticModel.from_json(results(tmp_path, capsys)["north"])
    exact = pooled_logistic(RegressionTerms("y", ("x0", "x1")), data)
    assert (np.abs(found.parameters - exact.parameters) / exact.errors).max() <= 1e-4
    assert found.likelihood == pytest.approx(exact.likelihood, abs=1e-3)


def test_residual_plots_from_files(tmp_path, capsys):
    data = made(300, 2, 3)
    (tmp_path / "rows").mkdir()
    (tmp_path / "columns").mkdir()
    for name, part in zip(("north", "south"), by_rows(data, np.arange(300) % 2), strict=True):
        write(tmp_path / "rows", name, part)
    new(tmp_path / "rows", "residuals", "response=y", 'columns=["x0", "x1"]', "condition=256",
        "synthetic=30")
    found = Residuals.from_json(results(tmp_path / "rows", capsys)["south"])
    assert [points.shape for points in found.points] == [(60, 3)] * 2
    write(tmp_path / "columns", "north", picked(data, ["x0"]))
    write(tmp_path / "columns", "south", picked(data, ["x1", "y"]))
    new(tmp_path / "columns", "residuals-columns", "response=y", "condition=256", "groups=5",
        'columns=["north:x0", "south:x1"]', "held=south")
    found = Residuals.from_json(results(tmp_path / "columns", capsys)["north"])
    rest = data["y"] - pooled(RegressionTerms("y", ("x0", "x1")), data).predict(data)
    means = [rest[part].mean() for part in np.array_split(np.argsort(data["x1"]), 5)]
    assert np.allclose(found.of("x1")[:, 1], means, atol=1e-4)


def test_residuals_of_every_record_go_to_receivers(tmp_path, capsys):
    data = made(200, 6, 3)
    for i, name in enumerate(ALL):
        write(tmp_path, name, picked(data, [f"x{2 * i}", f"x{2 * i + 1}", *["y"] * (i == 0)]))
    columns = [f'"{ALL[i // 2]}:x{i}"' for i in range(6)]
    new(tmp_path, "residuals-columns", "response=y", "condition=1024", "held=north", "show=each",
        f"columns=[{', '.join(columns)}]", owners=ALL)
    found = results(tmp_path, capsys, ALL)["south"]
    exact = pooled(RegressionTerms("y", tuple(f"x{i}" for i in range(6))), data)
    assert np.abs(found - (data["y"] - exact.predict(data))).max() <= 1e-5


def test_files_that_do_not_fit_are_refused(tmp_path):
    write(tmp_path, "a", {"x0": [1.0], "x1": [2.0], "y": [3.0]})
    columns = study("regression-columns", **COLUMNS)
    with pytest.raises(StudyError, match="An attribute has one owner"):
        task_of(columns).load(tmp_path / "a.parquet", columns)
    rows = study("regression", **{**ROWS, "columns": ["x0", "x7"]})
    with pytest.raises(StudyError, match="'x7' is there"):
        task_of(rows).load(tmp_path / "a.parquet", rows)
    logistic = study("logistic", **ROWS)
    assert task_of(logistic).load(tmp_path / "a.parquet", logistic).tolist() == [[1.0, 2.0, 3.0]]
    assert task_of(logistic).plan(logistic).rounds > 0
    write(tmp_path, "b", {"x1": [2.0], "y": [3.0]})
    columns = study("logistic-columns", **COLUMNS)
    given = task_of(columns).load(tmp_path / "b.parquet", columns)
    assert set(given.data.columns) == {"x1", "y"}
    assert given.ids is None
    assert SAME_ROWS in task_of(columns).plan(columns).learns["b"]
    assert fitting.ERRORS not in task_of(columns).plan(columns).learns["b"]
