"""`unspoken predict` and clusters on the command line, as miner and custodian would type them."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import unspoken
from unspoken.cli.main import main
from unspoken.models.load_model import load_model


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    age = rng.integers(18, 90, 200)
    frame = pd.DataFrame({"age": age, "job": rng.choice(["a", "b"], 200),
                          "height": rng.normal(170, 9, 200).round(1),
                          "ill": np.where(age > 60, "yes", "no")})
    frame.to_csv(tmp_path / "people.csv", index=False)
    return frame


def typed(folder, *words):
    return main([str(folder / word) if "." in str(word) or word in ("release", "rotated")
                 else str(word) for word in words])


@pytest.mark.slow
def test_a_decoded_tree_predicts_new_records_by_name(tmp_path, table, capsys):
    assert typed(tmp_path, "protect", "people.csv", "--target", "ill", "--out", "release",
                 "--key", "r.key") == 0
    assert typed(tmp_path, "mine", "release", "--out", "m.json") == 0
    assert typed(tmp_path, "decode", "m.json", "--key", "r.key", "--data", "people.csv",
                 "--out", "d.json") == 0
    assert (tmp_path / "d.json").stat().st_mode & 0o777 == 0o600
    table[["height", "job", "age"]].to_csv(tmp_path / "new.csv", index=False)
    capsys.readouterr()
    assert typed(tmp_path, "predict", "d.json", "new.csv", "--probabilities", "--json",
                 "--out", "p.parquet") == 0
    printed = json.loads(capsys.readouterr().out)
    rows = pq.read_table(tmp_path / "p.parquet").to_pydict()
    assert rows["prediction"] == table["ill"].tolist()
    assert [share > 0.5 for share in rows["probability of yes"]] == (table["ill"] == "yes").tolist()
    assert printed["counts"] == table["ill"].value_counts().to_dict()
    assert (tmp_path / "p.parquet").stat().st_mode & 0o777 == 0o600


@pytest.mark.slow
def test_a_column_that_is_empty_throughout_is_missing(tmp_path, table):
    numbers = table.drop(columns="job")
    unspoken.mine.tree(unspoken.read(numbers, target="ill", show=False)).save(tmp_path / "t.json")
    table.assign(height=None).to_csv(tmp_path / "empty.csv", index=False)
    assert typed(tmp_path, "predict", "t.json", "empty.csv", "--out", "p.csv") == 0
    assert pd.read_csv(tmp_path / "p.csv")["prediction"].tolist() == table["ill"].tolist()


@pytest.mark.slow
def test_clusters_go_to_the_miner_and_back(tmp_path, table, capsys):
    assert typed(tmp_path, "protect", "people.csv", "--method", "rotation", "--option",
                 "categorical=drop", "--out", "rotated", "--key", "r.key") == 0
    assert typed(tmp_path, "mine", "rotated", "--learner", "kmeans", "--param", "n_clusters=2",
                 "--out", "c.json") == 0
    assert typed(tmp_path, "decode", "c.json", "--key", "r.key", "--out", "d.json") == 0
    assert typed(tmp_path, "predict", "d.json", "people.csv", "--out", "p.csv") == 0
    decoded = load_model(tmp_path / "d.json")
    assert decoded.features == ("age", "height")
    predicted = pd.read_csv(tmp_path / "p.csv")["prediction"].to_numpy()
    np.testing.assert_array_equal(predicted, decoded.assigned)


@pytest.mark.slow
@pytest.mark.parametrize(("model", "data", "out", "says"), [
    ("t.json", "less.csv", "p.csv", "age"),
    ("t.json", "people.csv", "p.txt", ".csv or .parquet"),
    ("d.json", "people.csv", "p.csv", "does not predict"),
])
def test_what_cannot_be_predicted_is_refused(tmp_path, table, capsys, model, data, out, says):
    read = unspoken.read(tmp_path / "people.csv", target="ill", show=False)
    unspoken.mine.tree(read, max_depth=2).save(tmp_path / "t.json")
    unspoken.mine.reconstruct(table["height"].to_numpy(), unspoken.mine.Noise("gaussian", 3.0),
                              bins=5).save(tmp_path / "d.json")
    table[["job"]].to_csv(tmp_path / "less.csv", index=False)
    capsys.readouterr()
    assert typed(tmp_path, "predict", model, data, "--out", out) == 2
    assert says in capsys.readouterr().err
    assert not (tmp_path / out).exists()


@pytest.mark.slow
def test_a_model_that_is_not_decoded_does_not_pass_for_one_of_the_original(tmp_path, table, capsys):
    assert typed(tmp_path, "protect", "people.csv", "--target", "ill", "--out", "release",
                 "--key", "r.key") == 0
    assert typed(tmp_path, "mine", "release", "--out", "m.json") == 0
    capsys.readouterr()
    assert typed(tmp_path, "predict", "m.json", "people.csv", "--out", "p.csv") == 2
    assert "'unspoken decode'" in capsys.readouterr().err
    assert not (tmp_path / "p.csv").exists()
    table.drop(columns="job").to_csv(tmp_path / "numbers.csv", index=False)
    assert typed(tmp_path, "protect", "numbers.csv", "--target", "ill", "--out", "rotated",
                 "--key", "n.key") == 0
    assert typed(tmp_path, "mine", "rotated", "--out", "n.json") == 0
    capsys.readouterr()
    assert typed(tmp_path, "predict", "n.json", "numbers.csv", "--out", "p.csv") == 0
    assert "'n.json' was mined, and is not decoded" in capsys.readouterr().err
    records = str(tmp_path / "rotated" / "data.parquet")
    assert main(["predict", str(tmp_path / "n.json"), records,
                 "--out", str(tmp_path / "q.csv")]) == 0
    assert capsys.readouterr().err == ""


def test_a_column_that_is_missing_is_named_beside_all_that_are_there(tmp_path, table, capsys):
    model = unspoken.mine.tree(unspoken.read(table[["height", "ill"]], target="ill", show=False))
    model.save(tmp_path / "t.json")
    table.drop(columns="height").to_csv(tmp_path / "other.csv", index=False)
    assert typed(tmp_path, "predict", "t.json", "other.csv", "--out", "p.csv") == 2
    assert "What is there: age, job, ill." in capsys.readouterr().err
