"""demo: the models are the same, the attacks get what they should, and a failure is seen."""

import json

import pytest

import unspoken
from unspoken.cli import demo_walk
from unspoken.cli.main import main

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def shown(command_in, tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    done = command_in("demo", "--out", "out", "--json", cwd=folder)
    assert done.status == 0, done.out + done.err
    return json.loads(done.out), folder / "out"


@pytest.mark.slow
def test_every_model_is_identical(shown):
    answer, out = shown
    assert answer["identical"] is True
    assert [(m["mode"], m["learner"]) for m in answer["models"]] == [
        ("strict", "tree"), ("strict", "forest"), ("max-mono", "tree"), ("max-mono", "forest")]
    for name in ("strict-tree", "max-mono-forest"):
        files = [out / "custodian" / f"{name}-{kind}.json" for kind in
                 ("decoded", "of-the-original")]
        assert files[0].read_bytes() == files[1].read_bytes()


@pytest.mark.slow
def test_the_attacks_get_what_they_should(shown):
    found = {(a["attack"].split(",")[0], a["mode"]): a for a in shown[0]["attacks"]}
    assert found["counting", "strict"]["low"] == pytest.approx(1.0)
    assert found["quantile matching", "strict"]["mean"] > 2 * found[
        "quantile matching", "strict"]["baseline"]
    assert found["sorting", "strict"]["mean"] < found["quantile matching", "strict"]["mean"]
    assert all(0 <= a["low"] <= a["high"] <= 1 + 1e-9 for a in shown[0]["attacks"])


@pytest.mark.slow
def test_the_miner_has_the_release_and_its_models_only(shown, listed):
    out = shown[1]
    assert {name.split("/")[0] for name in listed(out / "miner")} == {
        f"{mode}-{what}" for mode in ("strict", "max-mono")
        for what in ("release", "tree.json", "tree.json.recipe", "forest.json",
                     "forest.json.recipe")}
    for mode in ("strict", "max-mono"):
        text = (out / "miner" / f"{mode}-tree.json").read_text()
        assert "radius" not in text
        assert "malignant" not in text
    assert (out / "report.html").read_text().startswith("<!DOCTYPE html>")


@pytest.fixture
def small(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(demo_walk, "MODES", ("strict",))
    monkeypatch.setattr(demo_walk, "LEARNERS", {"tree": ("max_depth=3",)})
    monkeypatch.setattr(demo_walk, "SAMPLES", 1)
    monkeypatch.setattr(demo_walk, "TRIALS", 2)
    return tmp_path


@pytest.mark.slow
def test_it_tells_what_happened(small, capsys):
    assert main(["demo"]) == 0
    told = capsys.readouterr().out
    assert "1 of 1 decoded models are identical" in told
    assert "quantile matching" in told
    assert main(["demo"]) == 2
    assert "--overwrite" in capsys.readouterr().err


@pytest.mark.slow
def test_a_model_that_is_not_the_same_is_seen(small, capsys, monkeypatch):
    decode = unspoken.protect.decode

    def careless(model, key, table):
        from dataclasses import replace

        tree = decode(model, key, table)
        return replace(tree, threshold=tree.threshold.round(1))

    monkeypatch.setattr(unspoken.protect, "decode", careless)
    assert main(["demo"]) == 1
    assert "DIFFERENT: node 0: threshold" in capsys.readouterr().out


def test_a_miner_that_fails_leaves_nothing(small, capsys, monkeypatch):
    monkeypatch.setattr(demo_walk, "LEARNERS", {"tree": ("depth=3",)})
    assert main(["demo"]) == 2
    assert "The miner failed" in capsys.readouterr().err
    assert list(small.iterdir()) == []


def test_a_miner_that_stands_still_is_ended(small, capsys, monkeypatch):
    monkeypatch.setattr(demo_walk, "LIMIT", 0.05)
    assert main(["demo"]) == 2
    assert "The miner must be done within 0.05 s" in capsys.readouterr().err
    assert list(small.iterdir()) == []
