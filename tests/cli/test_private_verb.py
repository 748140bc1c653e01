"""unspoken private: what a result costs and how exact it is, before it is bought."""

import json
from argparse import Namespace

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import unspoken
from unspoken.cli.main import main
from unspoken.cli.range_flags import ranges
from unspoken.risk import Register

DECLARED = """
complete = ["age", "ill"]
[edges]
age = [18, 30, 45, 60, 90]
[values]
ill = ["no", "yes"]
"""


@pytest.fixture
def house(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    pa.csv.write_csv(pa.table({"age": rng.integers(18, 90, 500),
                               "ill": rng.choice(["no", "yes"], 500)}), "t.csv")
    (tmp_path / "declared.toml").write_text(DECLARED)
    (tmp_path / "shop.dat").write_text("1 2\n1 2 3\n1\n" * 200)
    return tmp_path


def asked(what, *more):
    return ["private", "t.csv", "--what", what, "--target", "ill", "--declare", "declared.toml",
            "--epsilon", "0.75", *more]


@pytest.mark.slow
def test_the_offer_is_printed_and_nothing_is_measured(house, capsys):
    assert main([*asked("naive-bayes"), "--json"]) == 0
    stated = json.loads(capsys.readouterr().out)
    assert stated["cost"]["epsilon"] == 0.75
    assert stated["expected"]["deviation of a count"] > 0
    assert main(asked("tree", "--param", "max_depth=2")) == 0
    assert "Nothing was measured" in capsys.readouterr().out
    assert sorted(one.name for one in house.iterdir()) == ["declared.toml", "shop.dat", "t.csv"]


@pytest.mark.slow
def test_declarations_as_flags_count_as_those_of_a_file_do(house, capsys):
    flags = ["private", "t.csv", "--what", "tree", "--target", "ill", "--values", "ill=no,yes"]
    assert main([*flags, "--edges", "age=18,30,45", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["cost"]["epsilon"] == 1
    assert main([*flags, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["cost"]["epsilon"] is None
    assert main([*flags, "--edges", "age=young..old"]) == 2
    assert "'--edges' of column 'age' must be a range" in capsys.readouterr().err
    assert main(asked("tree", "--edges", "age=0..120")) == 2
    assert "'age' must be declared once" in capsys.readouterr().err


@pytest.mark.parametrize(("text", "ends"), [
    ("0..32", list(range(0, 33, 2))), ("0..3", [0, 1, 2, 3]), ("-1,2.5", [-1, 2.5]),
    ("0.5..1.5", [0.5 + at / 16 for at in range(17)])])
def test_a_range_is_split_evenly(text, ends):
    args = Namespace(declare=None, edges=[f"x={text}"], values=[], items=())
    assert ranges(args) == {"edges": {"x": ends}}


@pytest.mark.slow
def test_a_budget_beside_the_data_is_drawn_from_without_being_named(house, capsys):
    assert main(["budget", "t.csv.budget", "--start", "t.csv", "--target", "ill",
                 "--epsilon", "1"]) == 0
    assert main(asked("marginals", "--marginal", "age,ill", "--out", "m.json", "--to", "x")) == 0
    cells = json.loads((house / "m.json").read_text())["marginals"][0]["cells"]
    assert cells[0]["cell"] == ["18 .. 30", "no"]
    assert main(asked("naive-bayes", "--out", "model.json")) == 1
    assert "does not fit" in capsys.readouterr().err
    assert not (house / "model.json").exists()
    assert main(["budget", "t.csv.budget", "--json"]) == 0
    state = json.loads(capsys.readouterr().out)
    assert state["spent"] == 0.75
    assert state["by_recipient"]["x"]["disclosures"] == 1


@pytest.mark.slow
def test_releases_draw_from_the_budget_beside_the_data(house, capsys):
    assert main(["budget", "t.csv.budget", "--start", "t.csv", "--target", "ill",
                 "--epsilon", "1"]) == 0
    assert main(["protect", "t.csv", "--target", "ill", "--out", "r", "--key", "k"]) == 0
    capsys.readouterr()
    assert main(["budget", "t.csv.budget", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["without_epsilon"]) == 1


@pytest.mark.slow
def test_what_bounds_nothing_is_listed_in_the_budget_beside_the_data(house, capsys):
    assert main(["budget", "shop.dat.budget", "--start", "shop.dat", "--epsilon", "1"]) == 0
    assert main(["hide", "shop.dat", "--rule", "1 -> 2", "--out", "hidden.dat"]) == 0
    assert main(["budget", "t.csv.budget", "--start", "t.csv", "--epsilon", "1"]) == 0
    assert main(["anonymize", "t.csv", "--out", "r"]) == 0
    for name in ("shop.dat.budget", "t.csv.budget"):
        capsys.readouterr()
        assert main(["budget", name, "--json"]) == 0
        assert len(json.loads(capsys.readouterr().out)["without_epsilon"]) == 1


@pytest.mark.slow
def test_every_result_is_entered_with_its_epsilon_before_it_is_written(house, monkeypatch):
    for what in ("marginals", "naive-bayes", "naive-bayes"):
        assert main(asked(what, "--out", "result.json", "--register", "r", "--to", "x")) == 0
        (house / "result.json").unlink()
    (house / "items.toml").write_text('items = ["1", "2", "3"]\n')
    monkeypatch.setenv("UNSPOKEN_REGISTER", "r")
    assert main(["private", "shop.dat", "--what", "itemsets", "--declare", "items.toml",
                 "--param", "chosen=2", "--epsilon", "0.5", "--out", "s.json"]) == 0
    entries = Register.load("r").entries
    assert [(one.kind, one.to, one.guarantee) for one in entries] == [
        ("query", "x", "epsilon 0.75"), ("model", "x", "epsilon 0.75"),
        ("model", "x", "epsilon 0.75"), ("model", "", "epsilon 0.5")]
    assert entries[0].what.startswith("private marginals ")
    assert Register.load("r").before(unspoken.read("t.csv", show=False)) == entries[:3]


@pytest.mark.slow
def test_a_result_without_an_epsilon_is_entered_without_one(house):
    assert main(["private", "t.csv", "--what", "marginals", "--out", "m.json", "--register",
                 "r"]) == 0
    assert [one.guarantee for one in Register.load("r").entries] == ["none"]


@pytest.mark.slow
def test_a_result_that_cannot_be_entered_is_neither_booked_nor_written(house, capsys, monkeypatch):
    assert main(["budget", "t.csv.budget", "--start", "t.csv", "--target", "ill",
                 "--epsilon", "1"]) == 0
    before = sorted(one.name for one in house.iterdir())
    assert main(asked("marginals", "--out", "m.json", "--register", "nowhere/r")) == 2
    assert "must lie in a folder that can be written to" in capsys.readouterr().err
    assert main(["budget", "t.csv.budget", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["spent"] == 0

    def full(*_):
        raise OSError(28, "No space left on device", "r")

    monkeypatch.setattr("unspoken.release.register.append_line", full)
    assert main(asked("marginals", "--out", "m.json", "--register", "r")) == 2
    assert sorted(one.name for one in house.iterdir()) == before


def test_itemsets_of_baskets(house):
    (house / "items.toml").write_text('items = ["1", "2", "3"]\n')
    assert main(["private", "shop.dat", "--what", "itemsets", "--declare", "items.toml",
                 "--param", "chosen=2", "--param", "min_support=0.1", "--out", "s.json"]) == 0
    assert json.loads((house / "s.json").read_text())["format"] == "unspoken-itemsets"


@pytest.mark.slow
@pytest.mark.parametrize("last", ["1 2", "zz zz", "1 1 2"])
def test_an_item_twice_in_a_basket_changes_nothing_that_is_seen(house, capsys, last):
    (house / "items.toml").write_text('items = ["1", "2", "3"]\n')
    (house / "shop.dat").write_text("1 2\n1 2 3\n1\n" * 200 + last + "\n")
    words = ["private", "shop.dat", "--what", "itemsets", "--declare", "items.toml",
             "--param", "chosen=2", "--json"]
    assert main(words) == 0
    printed = capsys.readouterr()
    (house / "shop.dat").write_text("1 2\n1 2 3\n1\n" * 200 + "\n")
    assert main(words) == 0
    assert capsys.readouterr() == printed
    assert main([*words, "--out", "s.json"]) == 0


@pytest.mark.slow
def test_wrong_declarations(house, capsys):
    (house / "declared.toml").write_text("edgez = 1")
    assert main(asked("marginals")) == 2
    assert "edgez" in capsys.readouterr().err
    (house / "declared.toml").write_text("= =")
    assert main(asked("marginals")) == 2
    assert "TOML" in capsys.readouterr().err
