"""`unspoken reconstruct`: distributions behind distorted values, printed, written and drawn."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import unspoken
from unspoken.cli.main import main
from unspoken.models.load_model import load_model
from unspoken.protect import NoiseAdder, RandomizedResponse

JOBS = {"nurse": 0.6, "clerk": 0.3, "baker": 0.1}


@pytest.fixture(scope="module")
def releases(tmp_path_factory):
    """Releases of 3,000 people: ages with noise, and jobs answered at random."""
    folder = tmp_path_factory.mktemp("releases")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.normal(50, 8, 3000), "height": rng.normal(170, 9, 3000),
                          "job": rng.choice(list(JOBS), 3000, p=list(JOBS.values()))})
    table = unspoken.read(frame, show=False)
    NoiseAdder(others="drop", random_state=1).protect(table)[0].save(folder / "noise")
    RandomizedResponse(truth=0.8, others="drop", random_state=1).protect(table)[0].save(
        folder / "answers")
    return folder


def reconstructed(capsys, *words):
    status = main(["reconstruct", *map(str, words), "--json"])
    return status, json.loads(capsys.readouterr().out)


@pytest.mark.slow
def test_the_mean_of_a_noisy_column_comes_back_and_the_file_holds_it(releases, tmp_path, capsys):
    out = tmp_path / "age.json"
    status, result = reconstructed(capsys, releases / "noise", "--column", "age", "--bins", 20,
                                   "--out", out, "--plot", tmp_path / "age.png")
    assert status == 0
    estimate = load_model(out)
    assert estimate.to_json() == result["distribution"]
    assert abs(estimate.mean - 50) < 3
    assert (tmp_path / "age.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_shares_of_answers_are_near_the_true_ones(releases, tmp_path, capsys):
    _, result = reconstructed(capsys, releases / "answers", "--column", "job", "--plot",
                              tmp_path / "job.svg")
    shares = result["distribution"]
    for name, unbiased, deviation in zip(shares["values"], shares["unbiased"],
                                         shares["deviations"], strict=True):
        assert abs(unbiased - JOBS[name]) < 4 * deviation
    assert b"<svg" in (tmp_path / "job.svg").read_bytes()


@pytest.mark.slow
def test_two_columns_are_drawn_together(releases, tmp_path, capsys):
    status, result = reconstructed(capsys, releases / "noise", "--column", "age,height",
                                   "--plot", tmp_path / "both.pdf")
    assert status == 0
    assert result["distribution"]["format"] == "unspoken-joint-distribution"
    assert (tmp_path / "both.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.slow
@pytest.mark.parametrize(("words", "says"), [
    (["--column", "agee"], "'agee' is not a distorted column"),
    (["--column", "age", "--plot", "age.gif"], "ends in .png, .svg, .pdf"),
    (["--column", "age,height,job"], "one column, or two"),
    (["--column", "age,age"], "different ones"),
    (["--column", "age", "--plot", "d.json"], "another file"),
    (["--column", "age", "--confidence", "2"], "onfidence"),
    (["--column", "age", "--bins", "0"], "bins"),
])
def test_what_cannot_be_done_is_refused_and_writes_nothing(releases, tmp_path, capsys, monkeypatch,
                                                           words, says):
    monkeypatch.chdir(tmp_path)
    assert main(["reconstruct", str(releases / "noise"), *words, "--out", "d.json"]) == 2
    assert says in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_picture_that_exists_is_not_replaced(releases, tmp_path, capsys):
    (tmp_path / "age.png").write_text("mine")
    assert main(["reconstruct", str(releases / "noise"), "--column", "age", "--plot",
                 str(tmp_path / "age.png")]) == 2
    assert "must not exist yet" in capsys.readouterr().err
    assert (tmp_path / "age.png").read_text() == "mine"
