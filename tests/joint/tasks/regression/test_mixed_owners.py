"""Regression where some owners have columns and others rows: right, refused by name, announced."""

from __future__ import annotations

import json

import numpy as np
import pytest

from support.distinguisher import SUSPICIOUS
from support.joint_commands import joint_command
from support.masks import against_uniform, break_masks
from support.regression_data import made, picked
from support.regression_runs import lengths_of, opened_for
from support.watching import frames_to
from unspoken.errors import DataError, InputError
from unspoken.joint.joint_errors import RefusedError, StudyError
from unspoken.joint.result_control.verdict import Certainty
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.common.controlled_results import verdicts_of
from unspoken.joint.tasks.regression.column_blocks import Given, OwnedColumns
from unspoken.joint.tasks.regression.fitting import COUNT
from unspoken.joint.tasks.regression.mixed_rows import GROUP
from unspoken.joint.tasks.regression.params import RegressionParams, Selection
from unspoken.joint.tasks.regression.program_columns import (
    RegressionOverColumns,
    mine_regression_columns,
)
from unspoken.joint.tasks.regression.second_moments import SIZES
from unspoken.joint.tasks.task_list import task_of
from unspoken.joint.wire.credentials import Member
from unspoken.models.linear_model import LinearModel

TWO = {"a": ("x0",), "b": ("x1", "x2")}


def parted(columns, data, cuts, seed=1):
    """Return the columns of the first records by owner, and the rows of owners c, d, ..."""
    first = {name: values[:cuts[0]] for name, values in data.items()}
    parts = {owner: picked(first, columns.needed(owner)) for owner in columns.owners}
    if columns.held == "split":
        parts["b"]["y"] = np.random.default_rng(seed).normal(size=cuts[0])
        parts["a"]["y"] = first["y"] - parts["b"]["y"]
    edges = [*cuts, len(data["y"])]
    rows = {name: {n: v[low:high] for n, v in data.items()}
            for name, low, high in zip("cde", edges, edges[1:], strict=False)}
    return parts, rows


def exact(data, names, products=()):
    api = pytest.importorskip("statsmodels.api")
    x = np.column_stack([*(data[n] for n in names), *(data[a] * data[b] for a, b in products)])
    return api.OLS(data["y"], api.add_constant(x)).fit()


@pytest.mark.slow
@pytest.mark.parametrize("held", ["a", "b", "all", "split"])
@pytest.mark.parametrize("cuts", [(70,), (60, 90)])
def test_the_model_is_that_of_all_records(held, cuts):
    products = (("x0", "x1"), ("x2", "x2"))
    columns, data = OwnedColumns(TWO, "y", held, products), made(130, 3, 4, offset=2.0)
    parts, rows = parted(columns, data, cuts)
    wanted = exact(data, ("x0", "x1", "x2"), products)
    models, ledgers = mine_regression_columns(parts, columns, rows=rows)
    assert len(models) == 2 + len(cuts)
    for model in models:
        assert model.records == 130
        far = np.abs(model.parameters - wanted.params) / (np.abs(wanted.params) + wanted.bse)
        assert far.max() <= 1e-9
        assert np.allclose(model.errors, wanted.bse, rtol=1e-8)
        assert model.rss == pytest.approx(wanted.ssr, rel=1e-8)
    opened = [o.because for o in ledgers[0].openings]
    assert opened.count(GROUP) == opened.count(COUNT) == opened.count(SIZES) == 1


@pytest.mark.slow
def test_ridge_and_selections_go_with_rows_too():
    linear = pytest.importorskip("sklearn.linear_model")
    columns, data = OwnedColumns(TWO, "y", "a"), made(130, 3, 5)
    parts, rows = parted(columns, data, (80,))
    ridge, _ = mine_regression_columns(parts, columns, RegressionParams(ridge=2.0), rows=rows)
    x = np.column_stack([data[n] for n in ("x0", "x1", "x2")])
    assert np.allclose(ridge[0].coefficients, linear.Ridge(2.0).fit(x, data["y"]).coef_, rtol=1e-7)
    chosen, _ = mine_regression_columns(parts, columns, rows=rows,
                                        selection=Selection("best", "bic"))
    wanted = exact(data, chosen[0].features)
    assert np.allclose(chosen[0].parameters, wanted.params, rtol=1e-7)


@pytest.mark.slow
def test_a_magnitude_of_an_owner_of_rows_counts_and_is_not_opened_apart():
    columns, data = OwnedColumns(TWO, "y", "a"), made(120, 3, 6)
    data["x0"][100] = 40 * np.abs(data["x0"]).max()
    parts, rows = parted(columns, data, (70,))
    models, ledgers = mine_regression_columns(parts, columns, rows=rows)
    wanted = exact(data, ("x0", "x1", "x2"))
    assert np.allclose(models[0].parameters, wanted.params, rtol=1e-8)
    assert all(o.shape == (4,) for o in ledgers[0].openings if o.because == SIZES)


def test_what_does_not_fit_is_refused_by_name():
    columns, data = OwnedColumns(TWO, "y", "a"), made(120, 3, 7)
    parts, rows = parted(columns, data, (110,))
    with pytest.raises(RefusedError, match="'c' must have at least 16 records"):
        mine_regression_columns(parts, columns, rows=rows)
    with pytest.raises(InputError, match="'a' has both"):
        RegressionOverColumns(columns, rows=("a",))
    with pytest.raises(DataError, match="leave the ids out"):
        mine_regression_columns(parts, columns, rows=rows, ids={"a": [], "b": []})
    parts, rows = parted(columns, data, (70,))
    del rows["c"]["x2"]
    with pytest.raises(DataError, match="a column 'x2'"):
        mine_regression_columns(parts, columns, rows=rows)


# What is seen -----------------------------------------------------------------------------------

SMALL = OwnedColumns({"p0": ("x0",), "p1": ("x1",)}, "y", "p0")


def mixed_run(data=None):
    data = made(100, 2, 1) if data is None else data
    first, rest = ({n: v[part] for n, v in data.items()} for part in (slice(60), slice(60, None)))
    program = RegressionOverColumns(SMALL, RegressionParams(condition=16.0), rows=("p2",))
    return program, [Given(picked(first, SMALL.needed("p0"))), Given(picked(first, ["x1"])),
                     Given(rest)]


def views(run):
    got, _ = frames_to(*run(), {"p0", "p1"}, "dealer")
    found = {key: np.concatenate(frames) for key, frames in got.items()
             if frames[0].dtype == np.uint64 and key[2] != "reveal"}
    return {key: words[None, None] for key, words in found.items() if words.size >= 20}


@pytest.mark.slow
def test_holders_see_uniform_words():
    seen = views(mixed_run)
    assert {key[1] for key in seen} == {"p0", "p1"}
    assert {key[0] for key in seen} >= {"p0", "p1", "p2"}
    assert all(against_uniform(view) > SUSPICIOUS for view in seen.values())


@pytest.mark.slow
def test_broken_masks_are_caught(monkeypatch):
    break_masks(monkeypatch, "32 bits")
    assert min(map(against_uniform, views(mixed_run).values())) < SUSPICIOUS


@pytest.mark.slow
def test_what_is_opened_and_sent_does_not_depend_on_records():
    data = made(100, 2, 1)
    turned = {name: np.concatenate([v[:60][::-1], v[60:][::-1]]) for name, v in data.items()}
    assert lengths_of(mixed_run, data) == lengths_of(mixed_run, turned)
    assert [int(np.ravel(n)[0]) for n in opened_for(mixed_run, GROUP)] == [60]
    assert [int(np.ravel(n)[0]) for n in opened_for(mixed_run, COUNT)] == [100]


# Studies ----------------------------------------------------------------------------------------

AGREED = {"response": "y", "held": "north", "columns": ["north:x0", "south:x1"], "same_order": True,
          "condition": 256.0}


def study_of(whole, **more):
    names = ("north", "south", *whole)
    members = [Member(name, f"{name}.example:7700", ("owner", *(["holder"] if place < 2 else ()),
                                                     "receiver"), "", b"")
               for place, name in enumerate(names)]
    members.append(Member("dora", "dora.example:7700", ("dealer",), "", b""))
    return Study("mixed", "regression-columns", "dealer", tuple(members),
                 {**AGREED, "having_rows": list(whole), **more})


def test_a_plan_says_who_learns_what_of_whom():
    study = study_of(("west",))
    plan = task_of(study).plan(study, 60)
    assert all(GROUP in what for name, what in plan.learns.items() if name != "dora")
    assert {GROUP, COUNT, SIZES} <= set(plan.opened["west"])
    one = {(v.quantity, v.about): v.certainty for v in verdicts_of(task_of(study), study, "west")}
    alone = {about for _, about in one}
    assert alone == {("north", "south")}
    two = study_of(("west", "east"))
    among = verdicts_of(task_of(two), two, "west")
    assert {v.about for v in among} == {("north", "south"), ("east",)}
    assert all(v.certainty is not Certainty.ALWAYS for v in among)


def test_studies_that_cannot_be_are_refused():
    with pytest.raises(StudyError, match="'north' has both"):
        task_of(study_of(("west",), having_rows=["north"]))
    study = study_of(("west",), having_rows=[])
    with pytest.raises(StudyError, match="owners"):
        task_of(study).outlook(study)
    named = study_of(("west",), ids="patient")
    with pytest.raises(StudyError, match="'west' has none"):
        task_of(named).outlook(named)


@pytest.mark.slow
def test_files_of_columns_and_of_rows_to_a_model(tmp_path, capsys):
    data = made(110, 2, 8)
    for name in ("north", "south", "west", "dora"):
        assert joint_command("identity", name, "--folder", tmp_path) == 0
    files = {"north": picked(data, ["x0", "y"]), "south": picked(data, ["x1"]), "west": data}
    for name, columns in files.items():
        part = slice(70, None) if name == "west" else slice(70)
        lines = zip(*([repr(float(v)) for v in c[part]] for c in columns.values()), strict=True)
        (tmp_path / f"{name}.csv").write_text("\n".join([",".join(columns), *map(",".join, lines)]))
    owners = [w for place, name in enumerate(("north", "south", "west")) for w in (
        "--party", f"{tmp_path / name}.crt=host{place}.example:7700")]
    settings = ["response=y", "held=north", 'columns=["north:x0", "south:x1"]', "same_order=true",
                "condition=256", 'having_rows=["west"]']
    assert joint_command("new", tmp_path / "study.toml", "--name", "m", "--task",
                         "regression-columns", *owners, "--dealer",
                         f"{tmp_path / 'dora'}.crt=host9.example:7700",
                         *(w for s in settings for w in ("--set", s))) == 0
    capsys.readouterr()
    given = [w for name in files for w in ("--data", f"{name}={tmp_path / name}.csv")]
    assert joint_command("--json", "local", tmp_path / "study.toml", *given) == 0
    results = json.loads(capsys.readouterr().out)["results"]
    wanted = exact(data, ("x0", "x1"))
    for name in files:
        model = LinearModel.from_json(results[name])
        assert model.records == 110
        assert np.allclose(model.parameters, wanted.params, rtol=1e-8)
