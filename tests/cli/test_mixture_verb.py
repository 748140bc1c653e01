"""`unspoken mixture`: sources send models, the server joins them and says if they are alike."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from unspoken.cli.main import main
from unspoken.models.load_model import load_model
from unspoken.models.tree import Tree
from unspoken.risk import Register


def source(path, seed, middles=((0.0, 0.0), (12.0, 5.0)), rows=160):
    rng = np.random.default_rng(seed)
    data = np.repeat(np.array(middles), rows // len(middles), axis=0) + rng.normal(0, 1, (rows, 2))
    pd.DataFrame(data, columns=["a", "b"]).to_csv(path, index=False)


def called(capsys, *words):
    status = main([*map(str, words), "--json"])
    return status, json.loads(capsys.readouterr().out)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("UNSPOKEN_REGISTER", raising=False)
    return tmp_path


@pytest.mark.slow
def test_alike_sources_are_joined_and_others_are_told_apart(folder, capsys):
    source("north.csv", 0)
    source("south.csv", 1)
    source("east.csv", 2, ((40.0, -9.0), (-20.0, 30.0)))
    for name in ("north", "south", "east"):
        status, sent = called(capsys, "mixture", "fit", f"{name}.csv", "--components", 2, "--out",
                              f"{name}.json")
        assert status == 0
        assert sent["components"] == 2
        assert sent["records"] == 160
    status, joined = called(capsys, "mixture", "join", "north.json", "south.json", "--components",
                            2, "--rounds", 19, "--seed", 1, "--out", "both.json")
    assert (status, joined["alike"]) == (0, True)
    means = load_model(folder / "both.json").means
    np.testing.assert_allclose(means[np.argsort(means[:, 0])], [[0, 0], [12, 5]], atol=0.6)
    status, joined = called(capsys, "mixture", "join", "north.json", "east.json", "--components",
                            4, "--rounds", 19, "--seed", 1, "--out", "all.json")
    assert (status, joined["alike"]) == (1, False)


@pytest.mark.slow
def test_what_is_sent_is_widened_to_the_cost_and_entered(folder, capsys):
    source("north.csv", 0)
    status, free = called(capsys, "mixture", "fit", "north.csv", "--components", 2, "--out", "a")
    status, sent = called(capsys, "mixture", "fit", "north.csv", "--components", 2, "--most-cost",
                          free["cost"] - 1, "--out", "b", "--register", "r", "--to", "server")
    assert status == 0
    assert sent["cost"] == pytest.approx(free["cost"] - 1, abs=1e-6)
    assert sent["widened"] > 1
    assert [(one.kind, one.to) for one in Register.load("r").entries] == [("model", "server")]
    status, few = called(capsys, "mixture", "fit", "north.csv", "--components", 9, "--least", 100,
                         "--out", "c")
    assert few["components"] == 1


@pytest.mark.slow
def test_what_cannot_be_joined_is_refused(folder, capsys):
    source("north.csv", 0)
    assert main(["mixture", "fit", "north.csv", "--out", "a"]) == 0
    capsys.readouterr()
    assert main(["mixture", "join", "a", "--out", "b"]) == 2
    assert "at least two" in capsys.readouterr().err
    assert main(["mixture"]) == 2
    assert "fit or join" in capsys.readouterr().err



@pytest.mark.slow
def test_only_mixtures_are_joined(folder, capsys):
    source("north.csv", 0)
    assert main(["mixture", "fit", "north.csv", "--components", "2", "--out", "north.json"]) == 0
    rng = np.random.default_rng(0)
    found = DecisionTreeClassifier(max_depth=2).fit(rng.normal(size=(60, 2)), np.arange(60) % 2)
    Tree.from_sklearn(found).save("tree.json")
    assert main(["mixture", "join", "north.json", "tree.json", "--out", "whole.json"]) == 2
    assert "tree.json must be a mixture" in capsys.readouterr().err
    assert not (folder / "whole.json").exists()
