"""`unspoken measure`: the book's measures by command, with answers worked out by hand."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import unspoken
from unspoken.cli.main import main


def measured(capsys, *words):
    assert main(["measure", *map(str, words), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def written(folder, **columns):
    pd.DataFrame(columns).to_csv(folder / "t.csv", index=False)
    return folder / "t.csv"


@pytest.mark.slow
def test_a_lonely_record_is_isolated_by_a_rough_guess(tmp_path, capsys):
    rng = np.random.default_rng(0)
    crowd = rng.normal(0, 1, 60)
    data = written(tmp_path, x=[*crowd, 1e6], y=[*rng.normal(0, 1, 60), 1e6])
    result = measured(capsys, "isolation", data, "--t", 5)
    assert result["records"] == 61
    assert result["isolated"]["near"] >= 1 / 61
    assert set(result["isolated"]) == {"centre", "other", "near"}


@pytest.mark.slow
def test_people_who_share_everything_are_not_told_apart(tmp_path, capsys):
    data = written(tmp_path, a=["x"] * 40, b=["y"] * 40, ill=["flu", "cold"] * 20)
    gaps = measured(capsys, "indistinguishability", data, "--column", "ill")["gaps"]
    assert all(gap["largest"] == 0 for gap in gaps if gap["function"] == "class share")
    data = written(tmp_path, a=["x", "z"] * 20, b=["y"] * 40, ill=["flu", "cold"] * 20)
    gaps = measured(capsys, "indistinguishability", data, "--column", "ill")["gaps"]
    assert any(gap["largest"] == 1 for gap in gaps if gap["function"] == "class share")


@pytest.mark.slow
def test_a_small_cell_that_is_a_total_follows_from_the_totals(tmp_path, capsys):
    """Everybody lives in one country, so that the totals by job are the cells."""
    data = written(tmp_path, country=["AT"] * 41, job=["a", "b"] * 20 + ["c"])
    result = measured(capsys, "contingency", data, "--cells", "country,job")
    assert result["from_totals"] == [["AT", "c"]]
    assert (result["small"], result["left_out"]) == (1, None)


@pytest.mark.slow
def test_small_cells_that_can_be_hidden_are(tmp_path, capsys):
    counts = {("x", "a"): 2, ("x", "b"): 9, ("y", "a"): 8, ("y", "b"): 7}
    rows = [pair for pair, many in counts.items() for _ in range(many)]
    data = written(tmp_path, one=[r[0] for r in rows], other=[r[1] for r in rows])
    result = measured(capsys, "contingency", data, "--cells", "one,other")
    assert (result["cells"], result["small"], result["from_totals"]) == (4, 1, [])
    # In a table of two by two all others must go with it.
    assert result["left_out"] == 4


def test_bounds_of_unpublished_sets_are_those_of_bonferroni(tmp_path, capsys):
    lists = [["a", "b"]] * 6 + [["a"]] * 2 + [["b"]] * 2
    shown = unspoken.mine.itemsets(unspoken.Baskets.of(lists), 0.7, longest=1)
    shown.save(tmp_path / "sets.json")
    result = measured(capsys, "itemsets", tmp_path / "sets.json", "--set", "a,b")
    assert result["sets"] == [{"items": ["a", "b"], "low": 6, "high": 8}]


def published(tmp_path, lists, least, **more):
    shown = unspoken.mine.itemsets(unspoken.Baskets.of(lists), least, **more)
    shown.save(tmp_path / "sets.json")
    return tmp_path / "sets.json"


def tried_out(people, fits, has):
    """Return in which share of all data sets of so many baskets of a and b the first one has b."""
    from itertools import product

    fitting = [data for data in product(["", "a", "b", "ab"], repeat=people) if fits(data)]
    return sum(has in data[0] for data in fitting) / len(fitting)


@pytest.mark.parametrize("known", [True, False])
def test_what_published_sets_say_of_a_person_is_what_all_data_sets_say(tmp_path, capsys, known):
    """Four baskets, of which three hold a, two b, one both: all 256 data sets are tried."""
    sets = published(tmp_path, [["a", "b"], ["a"], ["a"], ["b"]], 0.25, longest=2)

    def fits(data):
        counts = [sum(item in one for one in data) for item in "ab"]
        both = sum(one == "ab" for one in data)
        return (*counts, both) == (3, 2, 1) and (not known or "a" in data[0])

    given = ["--has", "a"] if known else []
    result = measured(capsys, "inverse", sets, "--item", "b", *given)
    assert result["share"] == pytest.approx(tried_out(4, fits, "b"))
    assert result["baseline"] == pytest.approx(0.5)
    assert result["people"] == 4


def test_a_person_of_whom_all_data_sets_say_the_same_is_disclosed(tmp_path, capsys):
    sets = published(tmp_path, [["a", "b"], ["a", "b"], ["b"], []], 0.25, longest=2)
    result = measured(capsys, "inverse", sets, "--item", "b", "--has", "a")
    assert (result["share"], result["disclosed"]) == (1.0, True)


@pytest.mark.slow
def test_walks_come_near_the_exact_share(tmp_path, capsys):
    sets = published(tmp_path, [["a", "b"], ["a"], ["a"], ["b"]], 0.25, longest=2)
    exact = measured(capsys, "inverse", sets, "--item", "b", "--has", "a")["share"]
    result = measured(capsys, "inverse", sets, "--item", "b", "--has", "a", "--sample",
                      "--steps", "2000")
    assert result["low"] - 0.05 <= exact <= result["high"] + 0.05
    assert "mixed" in result


@pytest.mark.slow
def test_a_classifier_that_gives_the_column_away_is_told_from_one_that_does_not(tmp_path, capsys):
    rng = np.random.default_rng(0)
    age = rng.integers(18, 90, 400)
    data = written(tmp_path, age=age, height=rng.normal(170, 9, 400).round(),
                   ill=np.where(age > 55, "yes", "no"))
    table = unspoken.read(data, target="ill", show=False)
    unspoken.mine.tree(table, max_depth=2).save(tmp_path / "tree.json")
    result = measured(capsys, "indirect", data, "--model", tmp_path / "tree.json", "--column",
                      "ill", "--quasi", "height")
    error = {(one["training"], one["access"]): one["error"] for one in result["levels"]}
    assert error["known", "answer"] < 0.01 < 0.25 < error["known", "nothing"]


@pytest.mark.slow
@pytest.mark.parametrize(("words", "says"), [
    ([], "isolation, indistinguishability"),
    (["contingency", "t.csv", "--cells", "a"], "two or three"),
    (["contingency", "t.csv", "--cells", "a,n"], "cells together"),
    (["isolation", "t.csv", "--t", "0"], "'--t' from 1 to the 3,000"),
    (["contingency", "t.csv", "--cells", "a,a"], "different columns"),
    (["contingency", "t.csv", "--cells", "a,nope"], "nope"),
    (["contingency", "t.csv", "--cells", "a,n", "--smallest", "0"], "from 2 on"),
    (["indistinguishability", "t.csv", "--column", "n"], "2 to 50 values"),
    (["indistinguishability", "t.csv", "--column", "nope"], "nope"),
    (["indirect", "t.csv", "--model", "m.json"], "--column"),
])
def test_what_cannot_be_measured_is_refused(tmp_path, capsys, monkeypatch, words, says):
    monkeypatch.chdir(tmp_path)
    written(tmp_path, a=["x", "y"] * 1500, n=range(3000), x=[0.5, 1.5, 2.5] * 1000)
    assert main(["measure", *words]) == 2
    assert says in capsys.readouterr().err
