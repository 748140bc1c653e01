"""Baskets as commands: status, output, and nothing half written."""

from __future__ import annotations

import json

import numpy as np
import pytest

import unspoken
from unspoken.cli.main import main
from unspoken.risk import Budget


@pytest.fixture
def file(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "shop.dat"
    unspoken.Baskets.of([rng.choice(12, rng.integers(1, 5), replace=False) for _ in range(400)]
                     + [[0, 1]] * 100).save(path)
    return path


def run(capsys, *words):
    status = main([str(word) for word in words])
    seen = capsys.readouterr()
    return status, seen.out, seen.err


@pytest.mark.slow
def test_protect_mine_and_audit(capsys, tmp_path, file):
    status, out, _ = run(capsys, "protect", file, "--method", "baskets", "--operator",
                         "select-a-size", "--rho1", 0.05, "--rho2", 0.5, "--option",
                         f"items={json.dumps([str(i) for i in range(12)])}",
                         "--option", "largest=4",
                         "--out", tmp_path / "r", "--json")
    told = json.loads(out)
    assert status == 0
    assert told["guarantee"]["facts"]["gamma"] < 19
    assert set(told["deviations"]) == {"1", "2", "3"}
    status, out, _ = run(capsys, "mine", tmp_path / "r", "--learner", "itemsets", "--param",
                         "min_support=0.3", "--param", "longest=1", "--out", tmp_path / "i.json")
    assert status == 0
    assert unspoken.Itemsets.load(tmp_path / "i.json").estimated
    status, out, _ = run(capsys, "audit", tmp_path / "r", "--against", file, "--key",
                         tmp_path / "r.key", "--out", tmp_path / "a.html", "--json")
    # Naming is not measured for baskets, and what was not measured is no leave to release.
    assert status == 1
    assert json.loads(out)["verdict"]["level"] in ("unknown", "high")
    assert (tmp_path / "r.key").stat().st_mode & 0o777 == 0o600
    assert {row["measure"] for row in json.loads(out)["audit"]["rows"]} == {
        "records", "domain", "breach"}
    assert (tmp_path / "a.html").read_text().startswith("<!DOCTYPE html>")


def test_rules_of_a_plain_file(capsys, tmp_path, file):
    status, out, _ = run(capsys, "mine", file, "--learner", "rules", "--param", "min_support=0.1",
                         "--param", "min_confidence=0.3", "--out", tmp_path / "r.json")
    assert status == 0
    assert "->" in out
    found = unspoken.Rules.load(tmp_path / "r.json")
    assert found.same_as(unspoken.mine.rules(unspoken.mine.itemsets(unspoken.read_baskets(file),
                                                                    0.1), 0.3))


@pytest.mark.slow
@pytest.mark.parametrize(("words", "says"), [
    (["--operator", "mask", "--rho1", "0.1"], "rho1"),
    (["--rho", "1.5", "--option", "keep=0.5"], "rho"),
    (["--key", "r/k.key", "--rho1", "0.05", "--rho2", "0.5"], "must lie in an existing folder"),
    (["--operator", "cut-and-paste", "--option", "colour=1"], "colour")])
def test_what_cannot_be_done_is_said_and_nothing_is_written(capsys, tmp_path, file, words, says):
    words = [tmp_path / word if word == "r/k.key" else word for word in words]
    status, out, err = run(capsys, "protect", file, "--method", "baskets", *words, "--out",
                           tmp_path / "r")
    assert status == 2
    assert out == ""
    assert says in err
    assert err.count("\n") == 1
    assert not (tmp_path / "r").exists()


def test_options_of_baskets_belong_to_baskets(capsys, tmp_path, file):
    status, _, err = run(capsys, "protect", file, "--method", "noise", "--rho1", "0.1", "--out",
                         tmp_path / "r")
    assert status == 2
    assert "--method baskets" in err
    status, _, err = run(capsys, "mine", file, "--learner", "itemsets", "--param", "depth=3",
                         "--out", tmp_path / "i.json")
    assert status == 2
    assert "depth" in err
    assert not (tmp_path / "i.json").exists()


def test_exact_counts_are_listed_in_the_budget_beside_the_baskets(capsys, tmp_path, file):
    budget = f"{file}.budget"
    assert run(capsys, "budget", budget, "--start", file, "--epsilon", 1)[0] == 0
    assert run(capsys, "mine", file, "--learner", "itemsets", "--out",
               tmp_path / "sets.json")[0] == 0
    assert [one["what"] for one in Budget(budget).to_json()["without_epsilon"]] == [
        "exact itemsets"]


def test_a_repeated_item_is_refused_by_the_number_of_its_basket_and_a_flag(capsys, tmp_path):
    (tmp_path / "twice.dat").write_text("1 2\n1 2 2\n" + "1 2\n" * 20)
    words = ("mine", tmp_path / "twice.dat", "--learner", "itemsets", "--param", "min_support=0.5",
             "--out", tmp_path / "i.json")
    status, _, error = run(capsys, *words)
    assert status == 2
    assert "Basket 2 holds '2' twice. Use --repeats drop to keep each item once." in error
    assert run(capsys, *words, "--repeats", "drop")[0] == 0
    assert unspoken.Itemsets.load(tmp_path / "i.json").supports.tolist() == [1.0, 1.0, 1.0]
