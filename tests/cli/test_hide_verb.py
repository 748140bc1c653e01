"""`unspoken hide` and the risk of rules, as commands."""

from __future__ import annotations

import json
import stat

import pytest

import unspoken
from unspoken.cli.main import main

LISTS = [["a", "b"], ["a", "b"], ["a", "b", "c", "d"], ["a", "b", "x"], ["a"], ["c", "d"],
         ["c", "d", "x"], ["x"], ["x"], ["y"]]
LIMITS = ("--min-support", "0.3", "--min-confidence", "0.6")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "shop.csv"
    unspoken.Baskets.of(LISTS).save(path)
    return path


def run(capsys, *words):
    status = main([str(word) for word in words])
    seen = capsys.readouterr()
    return status, seen.out, seen.err


@pytest.mark.parametrize(("by", "cells"), [("removal", 2), ("insertion", 2)])
def test_hidden_rules_are_gone(capsys, tmp_path, file, by, cells):
    out = tmp_path / "out.csv"
    status, text, err = run(capsys, "hide", file, "--rule", "a -> b", "--by", by, *LIMITS,
                            "--out", out, "--json", "--report", tmp_path / "report.json")
    assert (status, err) == (0, "")
    told = json.loads(text)["effects"]
    assert told["changed"] == cells
    assert told == json.loads((tmp_path / "report.json").read_text())
    assert stat.S_IMODE((tmp_path / "report.json").stat().st_mode) == 0o600
    baskets = unspoken.read_baskets(out)
    rules = unspoken.mine.rules(unspoken.mine.itemsets(baskets, 0.3), 0.6)
    names = [(rules.names(a), rules.names(b)) for a, b in zip(rules.left, rules.right,
                                                             strict=True)]
    assert (("a",), ("b",)) not in names
    assert (("c",), ("d",)) in names


@pytest.mark.slow
def test_unknown_needs_a_file_that_can_say_so(capsys, tmp_path, file):
    status, _, err = run(capsys, "hide", file, "--rule", "a -> b", "--by", "unknown", *LIMITS,
                         "--out", tmp_path / "out.csv")
    assert status == 2
    assert ".parquet" in err
    status, text, _ = run(capsys, "hide", file, "--rule", "a -> b", "--by", "unknown", *LIMITS,
                          "--out", tmp_path / "out.parquet")
    assert status == 0
    assert "4 made unknown" in text
    assert "Nothing was unknown before" in text
    status, text, _ = run(capsys, "hide", tmp_path / "out.parquet", "--rule", "c -> d", "--by",
                          "unknown", *LIMITS, "--out", tmp_path / "more.parquet", "--json")
    assert status == 0
    assert json.loads(text)["effects"]["unknown_before"] == 4
    status, _, err = run(capsys, "hide", tmp_path / "out.parquet", "--rule", "c -> d", *LIMITS,
                         "--out", tmp_path / "no.parquet")
    assert status == 2
    assert "--by unknown" in err
    assert not (tmp_path / "no.parquet").exists()


@pytest.mark.parametrize(("words", "says"), [
    (["--rule", "a b"], "->"), (["--rule", "a -> z"], "'z'"),
    (["--rule", "a -> b", "--min-support", "0"], "min_support"),
    (["--rule", "a -> b", "--margin", "1"], "margin")])
def test_what_cannot_be_done_is_said_and_nothing_is_written(capsys, tmp_path, file, words, says):
    status, out, err = run(capsys, "hide", file, *words, "--out", tmp_path / "out.csv")
    assert (status, out) == (2, "")
    assert says in err
    assert err.count("\n") == 1
    assert not (tmp_path / "out.csv").exists()


def test_a_rule_that_insertion_cannot_hide(capsys, tmp_path):
    unspoken.Baskets.of([["a", "b"]] * 9 + [["a"]]).save(tmp_path / "all.csv")
    status, _, err = run(capsys, "hide", tmp_path / "all.csv", "--rule", "a -> b", "--by",
                         "insertion", *LIMITS, "--out", tmp_path / "out.csv")
    assert status == 2
    assert "cannot be hidden by insertion" in err
    assert not (tmp_path / "out.csv").exists()


def test_existing_files_stay(capsys, tmp_path, file):
    status, _, err = run(capsys, "hide", file, "--rule", "a -> b", *LIMITS, "--out", file)
    assert status == 2
    assert "must not exist" in err
    assert unspoken.read_baskets(file).lists() == LISTS


@pytest.mark.slow
def test_mined_rules_and_their_risk(capsys, tmp_path, file):
    status, text, _ = run(capsys, "mine", file, "--learner", "rules", "--param", "min_support=0.3",
                          "--param", "min_confidence=0.6", "--known", "a", "--out",
                          tmp_path / "r.json")
    assert status == 0
    # Five of ten have a, four of them b; five people times 80% are rightly told.
    assert "a -> b: 80.0% sure (anybody: 40.0%) of about 5 people" in text
    status, text, _ = run(capsys, "mine", file, "--learner", "rules", "--param", "min_support=0.3",
                          "--known", "a=0.5,c", "--private", "d", "--out", tmp_path / "s.json",
                          "--json")
    assert status == 0
    risks = json.loads(text)["risks"]
    assert [one["rule"] for one in risks] == ["c -> d"]
    assert risks[0]["exposure"] == pytest.approx(3.0)


def test_known_belongs_to_rules(capsys, tmp_path, file):
    status, _, err = run(capsys, "mine", file, "--learner", "itemsets", "--known", "a", "--out",
                         tmp_path / "i.json")
    assert status == 2
    assert "--known" in err
    status, _, err = run(capsys, "mine", file, "--learner", "rules", "--param", "min_support=0.3",
                         "--known", "q", "--out", tmp_path / "i.json")
    assert status == 2
    assert "Item 'q'" in err
    assert not (tmp_path / "i.json").exists()
