"""The whole walk on files: protect, mine, decode, verify, summary."""

import json
import re
import shutil
from datetime import date, timedelta

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.datasets import load_diabetes

import unspoken

pytestmark = pytest.mark.slow


def test_what_the_walk_leaves(walk, listed):
    assert {name for name in listed(walk) if not name.startswith("second")} == {
        "table.csv", "table.key", "release/data.parquet", "release/manifest.json", "tree.json",
        "tree.json.recipe", "decoded.json", "register", "register.key", "register.lock",
        "other.csv",
        "lenient.toml", "harsh.toml", "strange.toml", "broken.toml"}
    for name in ("table.key", "register", "register.key"):
        assert (walk / name).stat().st_mode & 0o777 == 0o600


def test_the_release_shows_no_original_value(walk):
    release = unspoken.Release.load(walk / "release")
    original = unspoken.read(walk / "table.csv")
    for name in ("m0", "m3"):
        values = set(original.numbers([name])[:, 0])
        assert not values & set(release.table.numbers([name])[:, 0])


@pytest.mark.parametrize(("learner", "params"), [
    pytest.param("tree", ["max_depth=3", "criterion=entropy"], marks=pytest.mark.slow),
    pytest.param("forest", ["n_estimators=5"], marks=pytest.mark.slow),
    pytest.param("xgboost", ["n_estimators=4"], marks=pytest.mark.slow),
    pytest.param("lightgbm", ["n_estimators=4"], marks=pytest.mark.slow),
])
def test_every_learner_comes_back_identical(copied, command_in, tmp_path, learner, params):
    miner = tmp_path / "miner"
    shutil.copytree(copied / "release", miner / "release")
    told = [word for each in params for word in ("--param", each)]
    mined = command_in("mine", "release", "--learner", learner, *told, "--out", "model", "--json",
                     cwd=miner)
    assert mined.status == 0, mined.err
    result = json.loads(mined.out)
    assert result["covered"] is True
    assert result["recipe"]["mined"] == learner
    for name in ("model", "model.recipe"):
        shutil.copy(miner / name, copied / name)
    decoded = command_in("decode", "model", "--key", "table.key", "--data", "table.csv",
                       "--out", "back", "--json", cwd=copied)
    assert decoded.status == 0, decoded.err
    assert json.loads(decoded.out)["decoded"] == "back"
    verified = command_in("verify", "model", "--release", "release", "--key", "table.key",
                        "--data", "table.csv", "--json", cwd=copied)
    assert verified.status == 0, verified.out + verified.err
    assert json.loads(verified.out) == {"identical": True, "difference": None}


def test_decoded_model_predicts_on_original_records(walk):
    table = unspoken.read(walk / "table.csv", target="outcome")
    tree = unspoken.Tree.load(walk / "decoded.json")
    assert tree.features == table.schema.features
    assert (tree.predict(table.numbers()) == table.labels()).all()


def test_verify_two_files(copied, command_in):
    same = command_in("verify", "decoded.json", "decoded.json", cwd=copied)
    assert (same.status, same.out, same.err) == (0, "identical, bit for bit\n", "")
    other = command_in("verify", "tree.json", "decoded.json", "--json", cwd=copied)
    assert other.status == 1
    answer = json.loads(other.out)
    assert answer["identical"] is False
    assert "threshold" in answer["difference"]


@pytest.mark.slow
def test_verify_finds_a_model_mined_otherwise(copied, command_here):
    told = ("verify", "tree.json", "--release", "release", "--key", "table.key", "--data",
            "table.csv")
    assert command_here(*told, "--learner", "tree", cwd=copied).status == 0
    other = command_here(*told, "--learner", "tree", "--param", "max_depth=2", cwd=copied)
    assert other.status == 1
    assert "different" in other.out


@pytest.mark.slow
def test_neutral_names_come_back(copied, command_here):
    key = ("--key", "second.key", "--data", "table.csv")
    for args in (("mine", "second", "--out", "t2"), ("decode", "t2", *key, "--out", "d2"),
                 ("verify", "t2", "--release", "second", *key)):
        done = command_here(*args, cwd=copied)
        assert done.status == 0, done.err
    assert unspoken.Release.load(copied / "second").schema.target == "target"
    assert unspoken.Tree.load(copied / "d2").classes == ("benign", "malignant")


@pytest.mark.slow
def test_a_learner_that_is_not_covered(copied, command_here):
    told = ("mine", "release", "--param", "splitter=random", "--out", "other.json")
    refused = command_here(*told, cwd=copied)
    assert refused.status == 2
    assert "--anyway" in refused.err
    assert not (copied / "other.json").exists()
    mined = command_here(*told, "--anyway", "--json", cwd=copied)
    assert mined.status == 0
    assert json.loads(mined.out)["covered"] is False
    assert mined.err.startswith("unspoken: warning: ")


def test_protect_says_what_it_did(copied, command_in):
    done = command_in("protect", "table.csv", "--target", "outcome", "--out", "r2", "--key", "k2",
                    "--identifiers", "m4", "--breakpoints", "5", "--json", cwd=copied)
    answer = json.loads(done.out)
    assert answer["not_released"] == ["m4"]
    assert answer["sealed"] is False
    assert answer["rows"] == 200
    assert answer["fingerprint"] == unspoken.Release.load(copied / "r2").fingerprint


@pytest.mark.slow
def test_overwrite_replaces_the_release_and_never_a_key(copied, command_here):
    told = ("protect", "table.csv", "--target", "outcome", "--out", "release", "--overwrite")
    before = unspoken.Release.load(copied / "release").fingerprint
    assert command_here(*told, "--key", "table.key", cwd=copied).status == 2
    assert unspoken.Release.load(copied / "release").fingerprint == before
    assert command_here(*told, "--key", "third.key", cwd=copied).status == 0
    assert unspoken.Release.load(copied / "release").fingerprint != before


@pytest.mark.slow
def test_no_shuffle_keeps_the_rows(copied, command_here):
    done = command_here("protect", "table.csv", "--target", "outcome", "--out", "r2", "--key", "k2",
                      "--no-shuffle", cwd=copied)
    assert done.status == 0
    original = unspoken.read(copied / "table.csv", target="outcome")
    assert (unspoken.Release.load(copied / "r2").table.labels() == original.labels()).all()


@pytest.mark.slow
@pytest.mark.parametrize(("path", "kind", "words"), [
    ("release", "release", "piecewise"), ("table.key", "key", "piecewise"),
    ("tree.json", "Tree", "classification tree"), ("tree.json.recipe", "recipe", "random_state"),
])
def test_summary_of_everything(walk, command_here, path, kind, words):
    text = command_here("summary", path, cwd=walk)
    assert text.status == 0
    assert words in text.out
    assert json.loads(command_here("summary", path, "--json", cwd=walk).out)["kind"] == kind


def test_summary_of_a_key_shows_no_secret(walk, command_in):
    key = unspoken.Key.load(walk / "table.key")
    seeds = re.findall(r"[0-9a-f]{32,}", json.dumps(dict(key.secrets)))
    shown = command_in("summary", "table.key", "--json", cwd=walk).out
    assert key.fingerprint in shown
    assert len(seeds) > 5
    assert not [seed for seed in seeds if seed in shown]


@pytest.mark.slow
@pytest.mark.parametrize("learner", ["tree", "lightgbm"])
def test_regression_with_holes_text_and_dates(tmp_path, command_in, command_here, learner):
    data, response = load_diabetes(return_X_y=True)
    hole = [None if i % 9 == 0 else v for i, v in enumerate(data[:, 2].tolist())]
    days = [date(2020, 1, 1) + timedelta(days=i % 300) for i in range(len(response))]
    table = pa.table({"a": data[:, 0], "b": hole, "day": days, "y": response + 0.25,
                      "town": ["x", "y", "z"] * 147 + ["x"], "name": [f"p{i}" for i in range(442)]})
    pq.write_table(table, tmp_path / "t.parquet")
    key = ("--key", "k", "--data", "t.parquet")
    for args in (
        ("protect", "t.parquet", "--target", "y", "--categorical", "relabel", "--keep-zero",
         "--out", "r", "--key", "k"),
        ("mine", "r", "--learner", learner, "--out", "m"),
        ("decode", "m", *key, "--out", "d"),
        ("verify", "m", "--release", "r", *key),
    ):
        done = (command_in if learner == "lightgbm" else command_here)(*args, cwd=tmp_path)
        assert done.status == 0, done.err + done.out
    release = unspoken.Release.load(tmp_path / "r")
    assert release.schema.names == ("a", "b", "day", "y", "town")
    recipe = json.loads((tmp_path / "m.recipe").read_text())
    assert recipe["left_out"] == []
    assert "town" in recipe["columns"]


def test_a_model_above_the_size_limit_is_refused_until_the_limit_is_raised(command_here, copied):
    text = (copied / "tree.json").read_text()
    # Blanks are harmless JSON: the file is only large.
    (copied / "large.json").write_text(text + " " * (2 << 20))
    words = ("decode", "large.json", "--key", "table.key", "--data", "table.csv", "--out", "d.json")
    refused = command_here(*words, "--max-mib", "1", cwd=copied)
    assert refused.status == 2
    assert "at most 1048576 long" in refused.err
    assert not (copied / "d.json").exists()
    assert command_here(*words, "--max-mib", "0", cwd=copied).status == 2
    assert command_here(*words, "--max-mib", "3", cwd=copied).status == 0
    assert (copied / "d.json").read_bytes() == (copied / "decoded.json").read_bytes()
