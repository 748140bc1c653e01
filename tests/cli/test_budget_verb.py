"""unspoken budget, and releases that are booked before they are written."""

import json

import pyarrow as pa
import pyarrow.csv
import pytest

from unspoken.cli.main import main


@pytest.fixture
def house(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pa.csv.write_csv(pa.table({"age": [20 + i % 50 for i in range(60)],
                               "ill": ["yes" if i % 3 else "no" for i in range(60)]}), "t.csv")
    assert main(["budget", "b", "--start", "t.csv", "--epsilon", "1", "--recipient",
                 "press=0.2"]) == 0
    return tmp_path


def noisy(scale, out):
    return ["protect", "t.csv", "--target", "ill", "--method", "noise", "--option",
            "family=laplace", "--option", f"scale={scale}", "--option",
            'ranges={"age": [0, 100]}', "--out", out, "--budget", "b", "--to", "institute"]


@pytest.mark.slow
def test_a_release_is_booked_or_not_written(house, capsys):
    assert main(noisy(200, "one")) == 0
    capsys.readouterr()
    assert main(["budget", "b", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["spent"] == pytest.approx(0.5, abs=0.01)
    listed = [one["what"].partition(": ")[2] for one in told["without_epsilon"]]
    assert listed == ["ill as they are"]
    assert main(noisy(50, "two")) == 2
    assert "Nothing was written" in capsys.readouterr().err
    assert not (house / "two").exists()
    assert main(["budget", "b", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["disclosures"] == 2


@pytest.mark.slow
def test_show_draw_and_picture(house, capsys):
    draw = ["budget", "b", "--draw", "a study", "--as", "study", "--to", "press", "--epsilon"]
    assert main([*draw, "0.2"]) == 0
    assert main([*draw, "0.1"]) == 1
    assert "does not fit" in capsys.readouterr().err
    assert main(["budget", "b", "--picture", "b.png"]) == 0
    out = capsys.readouterr().out
    assert "Spent: 0.2. Left: 0.8." in out
    assert (house / "b.png").stat().st_size > 1000


@pytest.mark.slow
def test_another_table_is_refused(house, capsys):
    (house / "t.csv").write_text("age,ill\n1,yes\n2,no\n3,yes\n")
    assert main(noisy(200, "one")) == 2
    assert "another table" in capsys.readouterr().err


@pytest.mark.slow
def test_baskets_draw_too(house, capsys):
    (house / "b.dat").write_text("1 2 3\n1 2\n2 3\n3\n" * 10)
    assert main(["budget", "bb", "--start", "b.dat", "--epsilon", "20"]) == 0
    words = ["protect", "b.dat", "--method", "baskets", "--option", "rho=0.1", "--option",
             "keep=0.7", "--out", "o", "--budget", "bb", "--to", "shop"]
    assert main(words) == 0
    capsys.readouterr()
    assert main(["budget", "bb", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["disclosures"] == 1


@pytest.mark.slow
def test_start_needs_an_epsilon_and_no_second_thing(house, capsys):
    assert main(["budget", "c", "--start", "t.csv"]) == 2
    assert "--epsilon 1" in capsys.readouterr().err
    assert main(["budget", "c", "--start", "t.csv", "--draw", "x"]) == 2
    assert main(["budget", "b", "--draw", "x", "--recipient", "a"]) == 0


@pytest.fixture
def beside(house):
    assert main(["budget", "t.csv.budget", "--start", "t.csv", "--epsilon", "1", "--anew"]) == 0
    return house


def plain(data, out):
    return ["protect", data, "--target", "ill", "--method", "noise", "--option", "family=laplace",
            "--option", "scale=200", "--option", 'ranges={"age": [0, 100]}', "--out", out]


@pytest.mark.slow
def test_a_link_to_the_data_draws_from_the_same_budget(beside, capsys):
    (beside / "elsewhere").mkdir()
    (beside / "elsewhere" / "link.csv").symlink_to(beside / "t.csv")
    assert main(plain("elsewhere/link.csv", "one")) == 0
    capsys.readouterr()
    assert main(["budget", "t.csv.budget", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["disclosures"] == 2


@pytest.mark.slow
@pytest.mark.parametrize("gone", [[""], ["", ".key"], ["", ".head"]])
def test_a_budget_that_was_moved_away_discloses_nothing(beside, capsys, gone):
    for end in gone:
        (beside / f"t.csv.budget{end}").rename(beside / f"away{end}")
    assert main(plain("t.csv", "one")) == 2
    assert "was lost or moved" in capsys.readouterr().err
    assert not (beside / "one").exists()


@pytest.mark.slow
def test_a_release_without_a_budget_says_that_nothing_was_booked(house, capsys):
    (house / "alone").mkdir()
    (house / "t.csv").rename(house / "alone" / "t.csv")
    assert main(plain("alone/t.csv", "one")) == 0
    assert "Nothing was booked" in capsys.readouterr().out
    assert main([*plain("alone/t.csv", "two"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["booked"] is False
