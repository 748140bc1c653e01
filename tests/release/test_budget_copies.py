"""A budget follows its people: copies are known again, and what is not known is said."""

import json
import shutil

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import unspoken
from unspoken.cli.main import main
from unspoken.risk import Budget

DECLARED = '[values]\nill = ["no", "yes"]\n[edges]\nage = [0, 50, 100]\n'


def people(rows=300, seed=1):
    rng = np.random.default_rng(seed)
    return pa.table({"age": rng.integers(0, 100, rows), "wage": rng.integers(0, 90_000, rows),
                     "ill": rng.choice(["no", "yes"], rows)})


@pytest.fixture
def house(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("UNSPOKEN_BUDGETS", raising=False)
    monkeypatch.delenv("UNSPOKEN_REGISTER", raising=False)
    pa.csv.write_csv(people(), "t.csv")
    (tmp_path / "declared.toml").write_text(DECLARED)
    return tmp_path


def start(data="t.csv", *more):
    return main(["budget", f"{data}.budget", "--start", data, "--epsilon", "1", *more])


def bought(data, out):
    return main(["private", str(data), "--what", "marginals", "--columns", "age,ill", "--declare",
                 "declared.toml", "--epsilon", "0.6", "--out", out])


@pytest.mark.slow
def test_a_copy_under_another_name_draws_from_the_same_budget(house, capsys):
    assert start() == 0
    pa.csv.write_csv(people().take(np.random.default_rng(2).permutation(300)), "copy.csv")
    assert bought("copy.csv", "one.json") == 0
    assert "is a copy of the table of" in capsys.readouterr().err
    assert Budget("t.csv.budget").spent() == pytest.approx(0.6)
    assert bought("copy.csv", "two.json") == 1
    assert "does not fit" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("changed", [
    lambda t: t.slice(0, 200), lambda t: pa.concat_tables([t, people(20, 5)]),
    lambda t: t.append_column("note", pa.array(np.arange(300) % 7))])
def test_a_changed_copy_is_refused_and_a_second_budget_is_no_way_round(house, capsys, changed):
    assert start() == 0
    pa.csv.write_csv(changed(people()), "copy.csv")
    assert bought("copy.csv", "one.json") == 1
    assert "of its people are those of" in capsys.readouterr().err
    assert not (house / "one.json").exists()
    assert start("copy.csv") == 2
    assert "A second budget would undo the first" in capsys.readouterr().err
    assert start("copy.csv", "--anew") == 0
    assert bought("copy.csv", "one.json") == 0


@pytest.mark.slow
@pytest.mark.parametrize("known_by", ["UNSPOKEN_BUDGETS", "UNSPOKEN_REGISTER"])
def test_a_copy_in_another_folder_is_known_where_budgets_are_named(house, known_by, monkeypatch,
                                                                   capsys):
    value = house if known_by == "UNSPOKEN_BUDGETS" else house / "register.jsonl"
    monkeypatch.setenv(known_by, str(value))
    assert start() == 0
    (house / "other").mkdir()
    shutil.copy("t.csv", "other/copy.csv")
    assert bought("other/copy.csv", "one.json") == 0
    assert Budget("t.csv.budget").spent() == pytest.approx(0.6)
    monkeypatch.delenv(known_by)
    capsys.readouterr()
    assert bought("other/copy.csv", "two.json") == 0
    assert "Nothing was booked" in capsys.readouterr().out


def test_other_people_are_nobody_s_copy(house):
    assert start() == 0
    pa.csv.write_csv(people(300, 9), "other.csv")
    assert start("other.csv") == 0
    assert Budget("t.csv.budget").knows(unspoken.read("other.csv", show=False)) < 0.1


def test_the_digests_are_salted_and_not_shown(house, capsys):
    assert start() == 0
    capsys.readouterr()
    assert main(["budget", "t.csv.budget", "--json"]) == 0
    assert not {"salt", "people"} & set(json.loads(capsys.readouterr().out))
    assert main(["budget", "t.csv.budget"]) == 0
    assert "Copies elsewhere" in capsys.readouterr().out
    shutil.copy("t.csv", "again.csv")
    assert start("again.csv", "--anew") == 0
    first, second = (Budget(one).terms.people for one in ("t.csv.budget", "again.csv.budget"))
    assert first
    assert first != second
