"""Methods that hide people among each other, and K, L and t, on the command line."""

import contextlib
import json

import pyarrow as pa
import pyarrow.csv
import pytest

from unspoken.cli.main import main

pytestmark = pytest.mark.slow

CASES = {
    "mondrian": ["--k", "5", "--l", "2", "--option", "mode=relaxed"],
    "generalize": ["--option", 'widths={"age": 20, "visits": 4}', "--k", "3", "--option",
                   "suppression=0.3"],
    "top-bottom": ["--option", "share=0.1"],
    "suppress-cells": ["--k", "5", "--option", "suppression=0.2"],
    "swap": ["--option", "share=0.3"],
    "sample": ["--option", "share=0.5"],
}


@pytest.fixture
def folder(tmp_path):
    rows = {"age": [20 + i % 40 for i in range(160)], "visits": [i % 4 for i in range(160)],
            "ill": ["flu", "cold", "none", "flu"] * 40, "outcome": ["a", "b"] * 80}
    pa.csv.write_csv(pa.table(rows), tmp_path / "t.csv")
    with contextlib.chdir(tmp_path):
        yield tmp_path


READ = ["t.csv", "--target", "outcome", "--quasi", "age,visits", "--sensitive", "ill"]


@pytest.mark.parametrize("method", CASES)
def test_protect_and_audit(folder, capsys, method):
    assert main(["protect", *READ, "--method", method, *CASES[method], "--out", "r",
                 "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["mechanism"]["name"] == method
    assert said["key"] == "r.key"
    assert (folder / "r.key").stat().st_mode & 0o777 == 0o600
    status = main(["audit", "r", "--against", "t.csv", "--key", "r.key", "--trials", "1", "--seed",
                   "1", "--out", "r.html", "--json"])
    answer = json.loads(capsys.readouterr().out)
    assert status == (0 if answer["verdict"]["level"] in ("low", "raised") else 1)
    rows = answer["audit"]["rows"]
    (k,) = [row["value"] for row in rows if row["measure"] == "k"]
    if method in ("mondrian", "generalize", "suppress-cells"):
        assert k >= said["guarantee"]["facts"]["k"] >= 3
    assert {row["column"] for row in rows} >= {"ill"}
    assert (folder / "r.html").stat().st_size > 1000


def test_inspect_measures_when_quasi_identifiers_are_named(folder, capsys):
    assert main(["inspect", *READ, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["anonymity"]
    # Ages and visits repeat together every 40 records: 40 classes of four.
    assert (found["k"], found["classes"], found["l"]) == (4, 40, 1)
    assert main(["inspect", *READ]) == 0
    assert "K = 4: 160 records in 40 classes" in capsys.readouterr().out
    assert main(["inspect", "t.csv", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["anonymity"] is None


@pytest.mark.parametrize(("words", "complaint"), [
    (["--method", "mondrian", "--k", "0"], "'--k' of 'mondrian' must be"),
    (["--method", "mondrian", "--k", "1000"], "all records together do not reach k = 1000"),
    (["--method", "mondrian", "--key", "never/k.key"], "must lie in an existing folder"),
    (["--method", "generalize", "--option", 'hierarchies={"age": "no.csv"}'], "existing file"),
])
def test_what_is_refused_leaves_nothing(folder, capsys, words, complaint):
    assert main(["protect", *READ, "--out", "never", *words]) == 2
    assert complaint in capsys.readouterr().err
    assert sorted(path.name for path in folder.iterdir()) == ["t.csv"]
