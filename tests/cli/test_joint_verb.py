"""`unspoken joint`, from identities to ledgers, with every party a command of its own."""

from __future__ import annotations

import argparse
import json

import pytest

import unspoken
from support.joint_commands import ended, free_ports, joint_command, spawn
from unspoken.cli.joint_steps import _book
from unspoken.errors import InputError
from unspoken.joint.mpc.engines.spu.spu_handle import spu_python
from unspoken.joint.session.study import Study
from unspoken.joint.wire.ledger import Ledger
from unspoken.risk import Budget

pytestmark = pytest.mark.slow


@pytest.fixture
def owners(tmp_path):
    """Return three owners with identities and tables, and a dealer."""
    for name in ("north", "south", "east", "dora"):
        assert joint_command("identity", name, "--folder", tmp_path) == 0
    for i, name in enumerate(("north", "south", "east")):
        rows = "".join(f"{i + 1},{j}.5,x\n" for j in range(3 + i))
        (tmp_path / f"{name}.csv").write_text("a,b,c\n" + rows)
    return tmp_path


def new(folder, *extra):
    ports = free_ports(4)
    words = [w for name, port in zip(("north", "south", "east"), ports, strict=False)
             for w in ("--party", f"{folder / name}.crt=127.0.0.1:{port}")]
    assert joint_command("new", folder / "study.toml", "--name", "try", "--columns", "a,b",
                       "--scale", "8", *words,
                       *(e.replace("PORT", str(ports[3])) for e in extra)) == 0
    return folder / "study.toml"


SUMS = {"a": 3 + 8 + 15, "b": 0.5 * 3 + 3 + 0.5 * 4 + 6 + 0.5 * 5 + 10}


needs_spu = pytest.mark.skipif(spu_python() is None, reason="SPU is not installed")


@pytest.mark.parametrize("mode", ["sums", "dealer", "three-party", "three-party-verified",
                                  pytest.param("spu", marks=needs_spu)])
def test_three_owners_join_and_learn_the_sums(owners, mode, capsys):
    dealt = mode == "dealer"
    extra = {"sums": [], "three-party": ["--three-party"], "spu": ["--mode", "spu"],
             "three-party-verified": ["--mode", "three-party-verified"],
             "dealer": ["--dealer", f"{owners / 'dora'}.crt=127.0.0.1:PORT"]}[mode]
    study = new(owners, *extra, "--receivers", "north,east")
    capsys.readouterr()
    assert joint_command("plan", study, "--json") == 0
    plan = json.loads(capsys.readouterr().out)
    assert plan["learns"]["south"] == []
    assert plan["learns"]["north"] == ["sum of each column"]
    assert ("SPU" if mode == "spu" else "not vetted") in plan["notes"][0]
    names = ["north", "south", "east", *(["dora"] if dealt else [])]
    runs = {name: spawn(*(["dealer", study] if name == "dora" else ["join", study, "--as", name,
                          "--data", f"{name}.csv"]), "--yes", "--json", cwd=owners)
            for name in names}
    results = {}
    for run, (out, err) in zip(runs.values(), ended(runs.values()), strict=True):
        assert run.returncode == 0, err
        results |= json.loads(out)["results"]
    assert results["north"] == results["east"] == SUMS
    assert results["south"] is None
    for name in names:
        path = owners / f"{name}.ledger"
        assert path.stat().st_mode & 0o777 == 0o600
        ledger = Ledger.load(path)
        assert ledger.status == "complete"
        assert ledger.study == Study.load(study).hash()
        assert len(ledger.learned()) == (name in ("north", "east"))
    assert joint_command("ledger", owners / "north.ledger") == 0
    assert "sum of each column, 2 values, to north, east" in capsys.readouterr().out


def test_different_studies_are_refused_and_named(owners):
    study = new(owners)
    other = owners / "other.toml"
    other.write_text(study.read_text().replace("scale = 8", "scale = 9"))
    runs = [spawn("join", other if name == "east" else study, "--as", name, "--yes", "--data",
                  f"{name}.csv", "--limit", "4", cwd=owners) for name in ("north", "south", "east")]
    errors = [err for _, err in ended(runs)]
    assert all(run.returncode != 0 for run in runs)
    assert all("parameters.scale" in error for error in errors)


def test_a_study_is_tried_out_locally(owners, capsys):
    study = new(owners, "--dealer", f"{owners / 'dora'}.crt=127.0.0.1:PORT")
    capsys.readouterr()
    words = [w for name in ("north", "south", "east")
             for w in ("--data", f"{name}={owners / name}.csv")]
    assert joint_command("local", study, "--json", "--ledgers", owners, *words) == 0
    results = json.loads(capsys.readouterr().out)["results"]
    assert results == {"north": SUMS, "south": SUMS, "east": SUMS, "dora": None}


def test_somebody_without_data_can_be_the_only_one_to_learn(owners, capsys):
    study = new(owners, "--receiver", f"{owners / 'dora'}.crt=127.0.0.1:PORT")
    words = [w for name in ("north", "south", "east")
             for w in ("--data", f"{name}={owners / name}.csv")]
    capsys.readouterr()
    assert joint_command("local", study, "--json", "--out", owners / "sum.json", *words) == 0
    results = json.loads(capsys.readouterr().out)["results"]
    assert results == {"north": None, "south": None, "east": None, "dora": SUMS}
    assert json.loads((owners / "sum.json").read_text()) == SUMS


def test_only_a_study_with_a_dealer_has_one(owners):
    with pytest.raises(InputError, match="has no dealer"):
        joint_command("dealer", new(owners), "--yes")


@pytest.mark.parametrize(("words", "match"), [
    (["--mode", "dealer"], "Mode 'dealer' needs a dealer"),
    (["--mode", "fast"], "'--mode' must be one of"),
    (["--task", "guess"], "The task of a study must be one of"),
    (["--set", "deep=true"], "has no parameter 'deep'")])
def test_a_study_that_cannot_be_is_not_written(owners, words, match):
    with pytest.raises(InputError, match=match):
        new(owners, *words)
    assert not (owners / "study.toml").exists()


def test_json_counts_before_the_verb_and_after_it(owners, capsys):
    study = new(owners)
    for words in (["--json", "plan", study], ["plan", "--json", study]):
        capsys.readouterr()
        assert joint_command(*words) == 0
        assert json.loads(capsys.readouterr().out)["study"] == "try"
    joint_command("plan", study)
    assert capsys.readouterr().out.startswith("Study 'try', task sum, mode sums")


def test_a_sum_of_two_is_refused_before_it_is_written(owners):
    with pytest.raises(InputError, match="would subtract its own values"):
        joint_command("new", owners / "two.toml", "--name", "two", "--columns", "a",
                    "--party", f"{owners / 'north'}.crt=h:1",
                    "--party", f"{owners / 'south'}.crt=h:2")
    assert not (owners / "two.toml").exists()


def test_the_plan_must_be_agreed_to(owners):
    study = new(owners)
    run = spawn("join", study, "--as", "north", "--data", "north.csv", cwd=owners)
    [(_, err)] = ended([run])
    assert run.returncode != 0
    assert "north learns: sum of each column" in err
    assert "--yes" in err


def test_what_is_missing_is_said(owners, monkeypatch):
    monkeypatch.chdir(owners)
    study = new(owners)
    with pytest.raises(InputError, match="Use --data FILE"):
        joint_command("join", study, "--as", "north", "--yes")
    with pytest.raises(InputError, match="Did you mean 'north'"):
        joint_command("join", study, "--as", "nort", "--yes")
    with pytest.raises(InputError, match="Missing --data south=FILE"):
        joint_command("local", study, "--data", "north=north.csv")
    with pytest.raises(InputError, match="must not exist yet"):
        joint_command("new", study, "--name", "x", "--columns", "a")
    with pytest.raises(InputError, match="There is no study"):
        joint_command("plan", owners / "none.toml")


def test_every_task_is_listed_and_explained(capsys):
    from unspoken.joint.tasks.task_list import all_tasks

    assert joint_command("tasks", "--json") == 0
    found = json.loads(capsys.readouterr().out)["tasks"]
    assert set(found) == set(all_tasks())
    assert all(text.strip() for text in found.values())
    assert joint_command("tasks", "tree") == 0
    assert "unspoken joint new" in capsys.readouterr().out
    with pytest.raises(InputError, match="A task must be one of"):
        joint_command("tasks", "magic")


def test_a_misspelt_task_is_refused_with_the_near_name():
    with pytest.raises(InputError, match="Did you mean 'intersection'"):
        joint_command("tasks", "intersecton")


def test_a_study_without_an_epsilon_is_listed_whatever_the_budget_is_called(owners, capsys):
    north = owners / "north.csv"
    table = unspoken.read(north, show=False)
    Budget.start(owners / "people.budget", table, epsilon=1.0)
    study = new(owners, "--dealer", f"{owners / 'dora'}.crt=127.0.0.1:PORT")
    args = argparse.Namespace(unbooked=None)
    _book(args, Study.load(study), north, None)
    assert args.unbooked is None
    listed = Budget(owners / "people.budget").to_json()["without_epsilon"]
    assert [one["kind"] for one in listed] == ["study"]


def test_a_folder_of_tables_is_booked_whatever_its_name_ends_with(owners):
    folder = owners / "rows.json"
    folder.mkdir()
    (owners / "north.csv").rename(folder / "north.csv")
    Budget.start(owners / "rows.json.budget", unspoken.read(folder, show=False), epsilon=1.0)
    study = new(owners, "--dealer", f"{owners / 'dora'}.crt=127.0.0.1:PORT")
    _book(argparse.Namespace(unbooked=None), Study.load(study), folder, None)
    listed = Budget(owners / "rows.json.budget").to_json()["without_epsilon"]
    assert [one["kind"] for one in listed] == ["study"]
