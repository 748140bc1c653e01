"""`unspoken anonymize`: one command from a table to the best release and its record."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import unspoken
from unspoken import Key, Release
from unspoken.cli.main import main
from unspoken.errors import DataError, InputError
from unspoken.methods.anonymity.measures import measure
from unspoken.methods.anonymity.utility.risk_utility_frontier import frontier
from unspoken.risk import audit


def written(tmp_path, rows=240):
    rng = np.random.default_rng(0)
    age = rng.integers(18, 80, rows)
    pd.DataFrame({"age": age, "city": rng.choice(["A", "B", "C"], rows),
                  "ill": rng.choice(["flu", "cold", "none", "HIV"], rows),
                  "y": np.where(age > 50, "old", "young")}).to_csv(tmp_path / "t.csv", index=False)
    return [str(tmp_path / "t.csv"), "--target", "y", "--quasi", "age,city", "--sensitive", "ill"]


@pytest.mark.slow
def test_the_best_is_written_with_its_record(tmp_path, capsys):
    words = ["anonymize", *written(tmp_path), "--k", "8", "--l", "2", "--out",
             str(tmp_path / "r"), "--record", str(tmp_path / "d.json")]
    assert main(words) == 0
    out = capsys.readouterr().out
    assert "Recommended:" in out
    release = Release.load(tmp_path / "r")
    reached = measure(release)
    assert reached.k >= 8
    assert reached.strong_l > 2
    record = json.loads((tmp_path / "d.json").read_text())
    assert record["fingerprint"] == release.fingerprint
    assert record["recommended"]["method"] == release.mechanism["name"]
    assert main(words) == 2
    assert "must not exist yet" in capsys.readouterr().err
    key = Key.load(tmp_path / "r.key")
    table = unspoken.read(tmp_path / "t.csv", target="y", quasi=["age", "city"], sensitive="ill",
                          show=False)
    assert audit(table, release, key, trials=1, random_state=0).faults == ()


@pytest.mark.slow
def test_what_becomes_of_other_columns_is_asked_once(tmp_path, capsys):
    words = written(tmp_path, 60)
    words[words.index("age,city")] = "age"
    assert main(["anonymize", *words, "--k", "5"]) == 2
    assert "--others keep" in capsys.readouterr().err


@pytest.mark.slow
def test_hierarchies_are_shown_saved_and_used(tmp_path, capsys, monkeypatch):
    words = written(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert main(["hierarchy", "t.csv", "age", "--how", "steps", "--steps", "10,20,40", "--out",
                 "age.csv"]) == 0
    out = capsys.readouterr().out
    assert "level 1: [10, 20), [20, 30)" in out
    assert "--hierarchy age=age.csv" in out
    assert main(["hierarchy", "t.csv", "age", "--from", "age.csv", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["levels"] == 4
    assert main(["hierarchy", "t.csv", "city", "--from", "age.csv"]) == 2
    assert "not in its hierarchy" in capsys.readouterr().err
    assert main(["hierarchy", "t.csv", "age", "--steps", "ten"]) == 2
    assert "--steps" in capsys.readouterr().err
    assert main(["anonymize", *words, "--k", "6", "--hierarchy", "age=age.csv", "--picture",
                 "f.svg"]) == 0
    assert "optimal-recoding" in capsys.readouterr().out
    assert "recommended" in (tmp_path / "f.svg").read_text()
    assert main(["anonymize", *words, "--k", "6", "--picture", "f.doc"]) == 2
    assert main(["protect", *words, "--method", "optimal-recoding", "--k", "4", "--option",
                 'hierarchies={"age": "age.csv"}', "--out", "r"]) == 0
    assert set(Release.load(tmp_path / "r").mechanism["levels"]) == {"age", "city"}


@pytest.mark.slow
def test_a_demand_out_of_reach_is_a_plain_sentence(tmp_path, capsys):
    assert main(["anonymize", *written(tmp_path, 60), "--k", "8", "--l", "9"]) == 2
    said = capsys.readouterr().err
    assert "No method reaches" in said
    assert "k = 8, l = 9" in said
    for python in ("None", "Recoder", "Anonymizer"):
        assert python not in said


@pytest.mark.slow
@pytest.mark.parametrize(("asked", "words"), [
    ("age=nope.csv", "'nope.csv' must be an existing file"),
    ("agee=h.csv", "Did you mean 'age'?"), ("ill=short.csv", "is not in its hierarchy"),
    ("y=h.csv", "neither a quasi-identifier nor sensitive"), ("age=h.xlsx", "must be a"),
    ("age=", "must name")])
def test_a_wrong_hierarchy_ends_it_before_anything_is_tried(tmp_path, capsys, monkeypatch, asked,
                                                            words):
    table = written(tmp_path, 60)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "short.csv").write_text("flu;*\n")
    for name in ("h.csv", "h.xlsx"):
        (tmp_path / name).write_text("".join(f"{age};*\n" for age in range(18, 80)))
    assert main(["anonymize", *table, "--k", "5", "--hierarchy", asked]) == 2
    shown = capsys.readouterr()
    assert words in shown.err
    assert "Recommended" not in shown.out


@pytest.mark.slow
def test_a_demand_that_no_method_knows_is_refused(tmp_path):
    table = unspoken.read(written(tmp_path, 60)[0], quasi=["age", "city"], show=False)
    with pytest.raises(InputError, match="A demand must be one of"):
        frontier(table, {"kk": 5})
    with pytest.raises(DataError, match="must be an existing file"):
        frontier(table, {"k": 5, "hierarchies": {"age": "nope.csv"}})


@pytest.mark.slow
@pytest.mark.parametrize("bands", ["0", "-1"])
def test_bands_of_quantiles_are_counted_from_one(tmp_path, capsys, bands):
    words = ["hierarchy", written(tmp_path, 60)[0], "age", "--how", "quantiles", "--bands", bands]
    assert main(words) == 2
    assert "'bands' must be an int >= 1" in capsys.readouterr().err


@pytest.mark.parametrize(("words", "told"), [
    (["--k", "0"], "--k 0"), (["--k", "5", "--l", "0"], "--l 0.0"),
    (["--k", "5", "--l", "nan"], "--l nan"), (["--k", "5", "--t", "-1"], "--t -1.0")])
def test_a_demand_that_no_method_could_take_is_refused_at_once(tmp_path, capsys, words, told):
    assert main(["anonymize", *written(tmp_path, 60), *words]) == 2
    err = capsys.readouterr().err
    assert f"{told} cannot be asked for: it must be" in err
    assert "three quarters" not in err


def test_a_demand_on_sensitive_columns_needs_one(tmp_path, capsys):
    words = written(tmp_path, 60)[:-2]
    for asked in ("--l", "--t"):
        assert main(["anonymize", *words, "--others", "drop", "--k", "5", asked, "0.5"]) == 2
        err = capsys.readouterr().err
        assert "the table has none" in err
        assert "--sensitive illness." in err
