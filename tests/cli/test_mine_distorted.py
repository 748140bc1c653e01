"""`unspoken mine` on distorted releases: the model file, its recipe, and what is refused."""

import contextlib
import io
import json

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

from support.audit_gate import gate_status
from unspoken.cli.main import main
from unspoken.models.naive_bayes import NaiveBayes
from unspoken.models.recipe import Recipe
from unspoken.models.tree import Tree

pytestmark = pytest.mark.slow


def here(folder, *args):
    """Run a command in this process, which is faster, and return what it printed."""
    said = io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(said):
        status = main([str(arg) for arg in args])
    # An audit of a hundred people may well end with "do not release", status 1.
    assert status == (gate_status(json.loads(said.getvalue())) if args[0] == "audit" else 0)
    return said.getvalue()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """3,000 people in groups by age; noisy ages, ages with choices, and randomised answers."""
    path = tmp_path_factory.mktemp("distorted")
    rng = np.random.default_rng(0)
    age = rng.uniform(20, 80, 3000)
    group = np.where(age < 45, "young", "old")
    likes = np.where((group == "young") ^ (rng.random(3000) < 0.1), "tea", "rum")
    how = rng.choice(["truth", "distort", "withhold"], 3000, p=[0.3, 0.6, 0.1])
    pa.csv.write_csv(pa.table({"age": age, "group": group}), path / "age.csv")
    pa.csv.write_csv(pa.table({"age": age, "how": how, "group": group}), path / "mixed.csv")
    pa.csv.write_csv(pa.table({"likes": likes, "group": group}), path / "likes.csv")
    for name, method, more in (
        ("age", "noise", ["--option", "privacy=0.5"]),
        ("mixed", "noise", ["--option", 'choices={"age": "how"}', "--option", "others=drop"]),
        ("likes", "randomized-response", ["--option", "truth=0.7"]),
    ):
        here(path, "protect", f"{name}.csv", "--target", "group", "--method", method, *more,
             "--out", name)
    return path


@pytest.mark.parametrize("words", [
    ["age", "--model", "tree", "--strategy", "refined"], ["age", "--learner", "tree"],
    ["age", "--strategy", "local", "--param", "criterion=entropy"],
    ["mixed", "--model", "tree"], ["age", "--model", "naive-bayes"],
    ["mixed", "--model", "naive-bayes", "--param", "smoothing=2"],
])
def test_ages_are_learned_from_noise(folder, tmp_path, words):
    out = tmp_path / "model.json"
    said = here(folder, "mine", *words, "--out", out, "--json")
    bayes = "naive-bayes" in words
    model = (NaiveBayes if bayes else Tree).load(out)
    ages = np.arange(20.5, 80)
    truth = np.where(ages < 45, "young", "old")
    assert (model.predict(ages[:, None]) == truth).mean() > 0.9
    recipe = Recipe.load(str(out) + ".recipe")
    assert recipe.learner == ("naive-bayes" if bayes else "tree")
    assert recipe.columns == ("age",)
    if not bayes:
        assert recipe.params["strategy"] == ("local" if "local" in words else "refined")
    assert json.loads(said)["recipe"]["release"] == json.loads(
        (folder / words[0] / "manifest.json").read_text())["fingerprint"]


def test_answers_are_learned_and_audited(command_in, folder, tmp_path):
    done = command_in("mine", "likes", "--model", "naive-bayes", "--out", tmp_path / "m",
                      cwd=folder)
    assert done.status == 0, done.err
    model = NaiveBayes.load(tmp_path / "m")
    assert model.columns[0].values == ("rum", "tea")
    assert model.predict([[0.0], [1.0]]).tolist() == ["old", "young"]
    said = here(folder, "audit", "likes", "--against", "likes.csv", "--key", "likes.key",
                "--trials", "3", "--seed", "1", "--out", tmp_path / "a.html", "--json")
    rows = json.loads(said)["audit"]["rows"]
    people = {"distance", "nearest record", "two halves of a record", "learner", "predicates"}
    assert {row["adversary"] for row in rows} == {"literal", "answer", "answer-class", *people}


@pytest.mark.parametrize(("words", "complaint"), [
    (["age", "--learner", "forest", "--strategy", "local"],
     "'--strategy' is for trees, not for 'forest'"),
    (["age", "--learner", "naive-bayes", "--strategy", "local"], "'--strategy'"),
    (["age", "--strategy", "best"], "invalid choice"),
    (["age", "--strategy", "local", "--task", "regression"], "'--task classification'"),
    (["age", "--strategy", "local", "--param", "noise=none"], "'--param noise'"),
    (["age", "--strategy", "local", "--param", "bins=1"], "'bins'"),
    (["age", "--learner", "forest"], "Values are distorted"),
    (["age", "--learner", "naive-bayes", "--param", "max_depth=3"], "'--param max_depth'"),
])
def test_what_is_refused_leaves_nothing(folder, listed, capsys, words, complaint):
    before = listed(folder)
    with contextlib.chdir(folder), contextlib.suppress(SystemExit):
        assert main(["mine", *words, "--out", "never"]) == 2
    said = capsys.readouterr()
    assert complaint in said.err
    assert said.out == ""
    assert listed(folder) == before
