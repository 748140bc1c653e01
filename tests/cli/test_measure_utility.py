"""`unspoken measure utility` says of any release what it kept, and scores the learner asked for."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.svm import LinearSVC

import unspoken
from unspoken.cli.main import main
from unspoken.errors import InputError
from unspoken.protect import MondrianAnonymizer
from unspoken.risk import utility


def people(rows, seed):
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, rows)
    return pa.table({"age": age, "city": pa.array([None, "A", "B", "C"]).take(
        pa.array(rng.integers(0, 4, rows))), "bill": age * 10.0 + rng.normal(0, 40, rows),
        "y": np.where(age + rng.normal(0, 6, rows) > 50, "old", "young")})


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, rows in (("people", 300), ("later", 120)):
        pq.write_table(people(rows, rows), f"{name}.parquet")
    table = unspoken.read("people.parquet", target="y", quasi=["age", "city"], sensitive="bill",
                          show=False)
    MondrianAnonymizer(10).protect(table)[0].save("release")
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("learner", ["boosted-trees", "forest", "tree", "linear"])
def test_the_command_scores_a_learner(folder, capsys, learner):
    command = ["measure", "utility", "release", "--against", "people.parquet", "--held-back",
               "later.parquet", "--learner", learner]
    assert main([*command, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["learner"] == learner
    assert 0.8 < found["score"] <= 1
    assert 0.8 < found["score_of_original"] <= 1
    assert found["k"] >= 10
    assert sum(size * many for size, many in found["class_sizes"]) == 300


def test_without_records_held_back_no_learner_is_tested(folder, capsys):
    assert main(["measure", "utility", "release", "--against", "people.parquet"]) == 0
    told = capsys.readouterr().out
    assert "Boosted trees were not tested" in told
    assert "Frequencies moved by at most" in told
    assert "K = 1" in told


def test_any_estimator_is_taken_that_fits_the_target(folder):
    whole, later = (unspoken.read(f"{name}.parquet", target="y", show=False)
                    for name in ("people", "later"))
    release = unspoken.Release.load("release")
    of = utility.release_utility(whole, release, later, LogisticRegression(max_iter=300))
    assert "The learner 'LogisticRegression' reaches" in of.summary()
    assert 0.8 < of.score <= 1
    for wrong in ("oracle", LinearSVC(), LinearRegression(), 3):
        with pytest.raises(InputError, match=r"learner"):
            utility.release_utility(whole, release, later, wrong)


@pytest.mark.slow
def test_numbers_are_predicted_by_every_learner(folder):
    first, later = (unspoken.read(f"{name}.parquet", target="bill", quasi=["age"], show=False)
                    for name in ("people", "later"))
    release = MondrianAnonymizer(10, others="drop").protect(first)[0]
    for learner in ("boosted-trees", "forest", "tree", "linear", LinearRegression()):
        assert utility.release_utility(first, release, later, learner).score > 0.8


@pytest.mark.slow
def test_the_frontier_is_drawn_by_the_learner_that_is_chosen(folder):
    table = unspoken.read("people.parquet", target="y", quasi=["age", "city"], sensitive="bill",
                          show=False)
    tried = utility.frontier(table, {"k": 10}, random_state=1, learner="linear")
    assert {one.utility.learner for one in tried.tried if one.utility} == {"linear"}
    with pytest.raises(InputError, match="A learner"):
        utility.frontier(table, {"k": 10}, learner="oracle")
