"""`unspoken reproduce` runs papers into one page, and fetches data sets."""

from __future__ import annotations

import json

import pytest

from unspoken_experiments import data_sets
from unspoken_experiments.findings import Setting
from unspoken_experiments.papers import parts


@pytest.fixture
def no_data(tmp_path, monkeypatch):
    monkeypatch.setenv("UNSPOKEN_DATA", str(tmp_path / "cache"))
    monkeypatch.setattr(data_sets, "CHECKOUT", tmp_path / "nowhere" / "checkout")


@pytest.mark.slow
def test_a_paper_without_its_data_is_run_as_far_as_it_goes(no_data, command_here, tmp_path,
                                                          monkeypatch):
    from unspoken_experiments.liu2006 import sections

    for slow in ("run_times", "remedy"):
        monkeypatch.setattr(sections, slow, lambda _: iter(()))
    done = command_here("reproduce", "liu2006", "--quick", "--json", "--out", "page.html",
                        cwd=tmp_path)
    assert done.status == 0, done.err
    data = json.loads(done.out)
    assert [(one["paper"], one["what"]) for one in data["missing"]] == [
        ("liu2006", "Figures 3 and 4")]
    assert "unspoken reproduce --fetch" in data["missing"][0]["why"]
    exact = {one["what"]: one["verdict"] for one in data["findings"]
             if one["place"] == "Section 3.1"}
    assert {what for what, verdict in exact.items() if verdict == "agrees"} == {
        "n - k = 2, s = 0.5", "n - k = 2, s = 0.45"}
    errors = {one["what"]: one["ours"] for one in data["findings"] if one["place"] == "Figure 2"}
    assert errors["20% sample, the paper's attack"] < errors["2% sample, the sample's mean"]
    page = (tmp_path / "page.html").read_text()
    assert "What could not be run" in page
    assert page.count("<svg") == 2


@pytest.mark.slow
def test_fetch_fills_the_folder_that_is_named(no_data, command_here, tmp_path, monkeypatch):
    monkeypatch.setattr(data_sets, "_from_package", lambda inside: b"x")
    done = command_here("reproduce", "--fetch", "--data", "mine", cwd=tmp_path)
    assert done.status == 0
    assert "covtype.parquet: fetched out of scikit-multiflow==0.4.1" in done.out
    assert "get it from the R package arules" in done.out
    assert (tmp_path / "mine" / "retail.dat.gz").read_bytes() == b"x"


def test_another_paper_is_refused_by_name(command_here, tmp_path):
    done = command_here("reproduce", "smith1999", cwd=tmp_path)
    assert done.status == 2
    assert "bu2007" in done.err


def test_every_paper_has_parts_and_nothing_is_read_to_list_them(no_data):
    for paper in ("bu2007", "as2000", "fu2010", "liu2006", "vcz2006"):
        assert len(parts(paper, Setting(quick=True))) >= 4


@pytest.mark.slow
def test_small_parts_of_every_paper_agree(shared):
    """What is quick: the numbers that hold no chance, and the claims on the small table."""
    setting = Setting(quick=True)
    chosen = {"bu2007": {"Figure 7", "Figure 8", "Figure 11"}, "as2000": {"section 2"},
              "fu2010": {"Table I"}, "vcz2006": {"Figure 4.1", "Figure 7.6"}}
    shared("covtype.parquet")
    shared("adult_data.parquet")
    tally = {}
    for paper, names in chosen.items():
        for name, make in parts(paper, setting):
            if name in names:
                for section in make():
                    verdicts = section.verdicts()
                    tally[section.paper, section.place] = (
                        verdicts.count("agrees"), verdicts.count("close"),
                        verdicts.count("differs"))
    assert tally == {
        ("bu2007", "Figure 7"): (7, 0, 0), ("bu2007", "Figure 8"): (49, 1, 0),
        ("bu2007", "Figure 11"): (20, 0, 0), ("as2000", "Section 2"): (4, 0, 0),
        ("fu2010", "Table I"): (3, 0, 3), ("vcz2006", "Figure 4.1"): (2, 0, 0),
        ("vcz2006", "Figure 7.6"): (2, 0, 0)}
