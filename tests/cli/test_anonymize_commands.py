"""Anonymising, growing the published tree and verifying, as commands."""

import contextlib
import json
import shutil

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

from unspoken.cli.main import main

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory, command_in):
    path = tmp_path_factory.mktemp("anonymize")
    rng = np.random.default_rng(0)
    age, town = rng.integers(20, 60, 300), rng.choice(list("abcd"), 300)
    income = np.where((age > 40) & (town < "c"), "high", "low")
    pa.csv.write_csv(pa.table({"age": age, "town": town, "work": rng.choice(list("xyz"), 300),
                               "income": income}), path / "t.csv")
    done = command_in("protect", "t.csv", "--method", "tree-preserving", "--k", "8", "--l", "2",
                    "--rule", "min-block", "--target", "income", "--sensitive", "work",
                    "--out", "r", "--json", cwd=path)
    assert done.status == 0, done.err
    said = json.loads(done.out)
    assert said["key"] == "r.key"
    assert said["mechanism"]["k"] == 8
    assert said["mechanism"]["l"] == {"work": 2.0}
    return path


def test_verify_against_the_original(command_in, folder):
    done = command_in("verify", "r", "--against", "t.csv", "--json", cwd=folder)
    assert done.status == 0, done.err
    assert json.loads(done.out) == {"identical": True, "difference": None}


def test_verify_finds_another_original(command_in, folder):
    text = (folder / "t.csv").read_text().replace('"high"', '"tmp"').replace('"low"', '"high"')
    (folder / "other.csv").write_text(text.replace('"tmp"', '"low"'))
    done = command_in("verify", "r", "--against", "other.csv", cwd=folder)
    assert done.status == 1
    assert "not as promised: tree 0" in done.out


def test_the_published_tree_is_grown_from_the_release_alone(command_in, folder):
    shutil.copytree(folder / "r", folder / "elsewhere" / "r")
    done = command_in("mine", "r", "--learner", "published", "--out", "tree.json", "--json",
                    cwd=folder / "elsewhere")
    assert done.status == 0, done.err
    assert json.loads(done.out)["identical"] is True
    published = json.loads((folder / "r" / "manifest.json").read_text())["trees"][0]
    assert json.loads((folder / "elsewhere" / "tree.json").read_text()) == published
    (folder / "published.json").write_text(json.dumps(published))
    same = command_in("verify", "elsewhere/tree.json", "published.json", cwd=folder)
    assert same.status == 0, same.err


@pytest.mark.parametrize(("words", "complaint"), [
    (["--method", "tree-preserving", "--k", "301", "--target", "income"], "Ask for less"),
    (["--method", "tree-preserving", "--l", "2", "--target", "income"], "sensitive"),
    (["--method", "tree-preserving", "--sensitive", "income"], "target"),
    (["--method", "tree-preserving", "--target", "income", "--key", "never/k"],
     "must lie in an existing folder"),
    (["--method", "noise", "--k", "3", "--target", "income"], "has no option '--k'"),
])
def test_what_is_refused_leaves_nothing(command_here, folder, listed, words, complaint):
    before = listed(folder)
    done = command_here("protect", "t.csv", "--out", "never", *words, cwd=folder)
    assert done.status == 2
    assert complaint in done.err
    assert listed(folder) == before


def test_a_release_without_anything_to_verify(command_here, folder):
    done = command_here("protect", "t.csv", "--method", "noise", "--target", "income", "--out", "n",
                      "--option", 'columns=["age"]', "--option", "others=drop", cwd=folder)
    assert done.status == 0, done.err
    done = command_here("verify", "n", "--against", "t.csv", cwd=folder)
    assert done.status == 2
    assert "nothing that can be verified" in done.err
    done = command_here("mine", "n", "--learner", "published", "--out", "m.json", cwd=folder)
    assert done.status == 2
    assert "without a tree" in done.err
    assert not (folder / "m.json").exists()


def test_audit_of_an_anonymised_release_and_of_a_second_one_of_the_same_people(folder, capsys):
    make = ("protect", "t.csv", "--method", "tree-preserving", "--target", "income", "--sensitive",
            "work", "--register", "register", "--rule", "min-block")
    with contextlib.chdir(folder):
        assert main([*make, "--k", "8", "--out", "first", "--to", "first"]) == 0
        assert main([*make, "--k", "20", "--out", "second", "--to", "second"]) == 0
        capsys.readouterr()
        assert main(["audit", "second", "--against", "t.csv", "--trials", "2", "--seed", "1",
                     "--register", "register", "--out", "second.html", "--json"]) == 1
    said = json.loads(capsys.readouterr().out)
    # No key: which record is whose is not assessed.
    assert said["verdict"]["level"] in ("unknown", "high")
    rows = said["audit"]["rows"]
    (k,) = [row["value"] for row in rows if row["measure"] == "k"]
    (named,) = [row["value"] for row in rows if row["measure"] == "identified"
                and row["adversary"] == "record-linking"]
    assert k >= 20
    assert named <= 1 / 20
    assert {row["column"] for row in rows} >= {"work"}
    assert len(said["added"]) == 1
    assert "'work': together with release" in said["added"][0]
    assert "to first the value of" in said["added"][0]
    assert "Together with earlier releases" in (folder / "second.html").read_text()
