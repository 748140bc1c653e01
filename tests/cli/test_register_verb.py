"""The register on the command line."""

import contextlib
import json

import pyarrow as pa
import pyarrow.csv
import pytest

from unspoken.cli.main import main


@pytest.fixture
def folder(tmp_path):
    rows = {"age": [20 + i % 40 for i in range(160)], "pay": [1000 + 7 * i for i in range(160)],
            "outcome": ["a", "b"] * 80}
    pa.csv.write_csv(pa.table(rows), tmp_path / "t.csv")
    pa.csv.write_csv(pa.table(rows).slice(1), tmp_path / "less.csv")
    with contextlib.chdir(tmp_path):
        yield tmp_path


@pytest.mark.slow
def test_models_queries_and_studies_are_entered_and_people_known_again(folder, capsys):
    for kind in ("model", "query", "study"):
        assert main(["register", "r", "--enter", kind, "--of", "t.csv", "--what", f"a {kind}",
                     "--to", "clinic"]) == 0
        assert f"Entered {kind}" in capsys.readouterr().out
    assert main(["register", "r", "--of", "less.csv", "--json"]) == 0
    entries = json.loads(capsys.readouterr().out)["entries"]
    assert [one["kind"] for one in entries] == ["model", "query", "study"]
    assert main(["register", "r", "--of", "less.csv"]) == 0
    assert "100%" in capsys.readouterr().out
    assert main(["register", "r"]) == 0
    assert "clinic" in capsys.readouterr().out


@pytest.mark.slow
def test_a_release_is_entered_with_its_people_and_the_next_one_fails(folder, capsys):
    make = ("protect", "t.csv", "--target", "outcome", "--method", "noise", "--register", "r")
    assert main([*make, "--out", "one", "--to", "x"]) == 0
    assert main([*make, "--out", "two", "--to", "y"]) == 0
    capsys.readouterr()
    assert main(["audit", "two", "--against", "t.csv", "--key", "two.key", "--register", "r",
                 "--trials", "1", "--seed", "1", "--out", "a.html", "--json"]) == 1
    said = json.loads(capsys.readouterr().out)
    assert not said["passed"]
    assert any("averaged with release" in line for line in said["added"])


@pytest.mark.slow
def test_a_table_of_another_tool_is_entered_and_attacked_with_the_next(folder, capsys):
    """Only its file tells of the first; the second is searched together with it."""
    rows = pa.csv.read_csv("t.csv")
    order = [7 * i % 160 for i in range(160)]
    for name, columns in (("one.csv", ["age", "pay"]), ("two.csv", ["pay", "outcome"])):
        pa.csv.write_csv(rows.select(columns).take(order), name)
    assert main(["register", "r", "--enter", "table", "--of", "t.csv", "--what", "one.csv"]) == 0
    capsys.readouterr()
    words = ["audit", "two.csv", "--against", "t.csv", "--register", "r", "--people", "60",
             "--seed", "1", "--out", "a.html", "--json"]
    assert main(words) == 1
    answer = json.loads(capsys.readouterr().out)
    assert any("'outcome'" in line and "from each alone" in line for line in answer["added"])
    assert "(register)" not in answer["audit"]["unscored"]


@pytest.mark.slow
@pytest.mark.parametrize(("words", "complaint"), [
    (["none"], "must be there to be read"),
    (["r", "--enter", "model", "--what", "x"], "needs '--of'"),
    (["r", "--enter", "model", "--of", "t.csv"], "needs '--what'"),
    (["r", "--enter", "table", "--of", "t.csv", "--what", "gone.csv"], "which is not there"),
])
def test_what_is_refused(folder, capsys, words, complaint):
    assert main(["register", *words]) == 2
    assert complaint in capsys.readouterr().err
    assert not (folder / "r").exists()
