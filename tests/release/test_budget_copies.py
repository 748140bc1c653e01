"""A budget follows its people: copies are known again, and what is not known is said."""

import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import unspoken
from unspoken.cli.book_release import place_of
from unspoken.cli.main import main
from unspoken.errors import BudgetError, DataError
from unspoken.release.register import digest
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


@pytest.mark.slow
def test_other_people_are_nobody_s_copy(house):
    assert start() == 0
    pa.csv.write_csv(people(300, 9), "other.csv")
    assert start("other.csv") == 0
    assert Budget("t.csv.budget").knows(unspoken.read("other.csv", show=False)) < 0.1


@pytest.mark.slow
def test_the_digests_are_keyed_and_not_shown(house, capsys):
    assert start() == 0
    capsys.readouterr()
    assert main(["budget", "t.csv.budget", "--json"]) == 0
    assert not {"table", "people"} & set(json.loads(capsys.readouterr().out))
    assert main(["budget", "t.csv.budget"]) == 0
    assert "Copies elsewhere" in capsys.readouterr().out
    shutil.copy("t.csv", "again.csv")
    assert start("again.csv", "--anew") == 0
    first, second = (Budget(one).terms for one in ("t.csv.budget", "again.csv.budget"))
    assert first.people
    assert first.people != second.people
    assert first.table != second.table
    assert digest(unspoken.read("t.csv", show=False)).table not in (
        house / "t.csv.budget").read_text()


def test_a_table_with_the_same_columns_and_other_records_is_another_one(tmp_path):
    one, other = (unspoken.read(pa.table({"a": ["x", "y"] * 3, "b": b}), show=False)
                  for b in (["p", "q"] * 3, ["p", "p", "q", "q", "p", "q"]))
    budget = Budget.start(tmp_path / "b", one, epsilon=1.0)
    budget.check_table(one)
    with pytest.raises(BudgetError, match="another table"):
        budget.check_table(other)


def categories(rows=300, seed=1):
    """Nobody is alone with what stands here."""
    rng = np.random.default_rng(seed)
    return pa.table({name: rng.choice(values, rows) for name, values in (
        ("sex", ["F", "M"]), ("work", ["state", "self", "none"]), ("ill", ["no", "yes"]))})


@pytest.mark.slow
@pytest.mark.parametrize(("table", "copy"), [
    (people().append_column("sex", categories()["sex"]), lambda t: t.select(["ill", "sex"])),
    (people(), lambda t: pa.concat_tables([t, t])),
    (categories(), lambda t: pa.concat_tables([t.slice(1), categories(1, 9)])),
    (categories(), lambda t: t.rename_columns(["a", "b", "c"]))])
def test_who_cannot_be_told_from_the_people_of_a_budget_is_refused(house, table, copy):
    pa.csv.write_csv(table, "t.csv")
    Budget.start("ledger.bud", unspoken.read("t.csv", show=False), epsilon=1.0)
    pa.csv.write_csv(copy(table), "copy.csv")
    refusal = r"(others than those|people are those) of '.*ledger\.bud"
    with pytest.raises(BudgetError, match=refusal):
        place_of(None, Path("copy.csv"), unspoken.read("copy.csv", show=False))
    other = pa.table({"height": np.random.default_rng(4).normal(170, 9, 300)})
    pa.csv.write_csv(other, "other.csv")
    assert place_of(None, Path("other.csv"), unspoken.read("other.csv", show=False)) is None


def damaged(path):
    path.write_bytes(path.read_bytes()[:-40] + b"\n")


def linked(path):
    (path.parent / "away").mkdir()
    path.symlink_to(path.rename(path.parent / "away" / path.name))


@pytest.mark.slow
@pytest.mark.parametrize("harm", [
    damaged, lambda path: path.unlink(), lambda path: path.chmod(0o644),
    lambda path: Path(f"{path}.key").unlink(), lambda path: Path(f"{path}.head").unlink(),
    linked])
@pytest.mark.parametrize("name", ["people.budget", "ledger.bud"])
def test_beside_a_budget_that_cannot_be_read_nothing_is_disclosed(house, harm, name):
    table = unspoken.read("t.csv", show=False)
    Budget.start(name, table, epsilon=1.0)
    harm(house / name)
    with pytest.raises(BudgetError, match=f"Whether '.*{name}' counts .* cannot be told"):
        place_of(None, Path("t.csv"), table)


@pytest.mark.slow
def test_a_folder_of_budgets_that_is_gone_discloses_nothing(house, monkeypatch):
    monkeypatch.setenv("UNSPOKEN_BUDGETS", str(house / "gone"))
    with pytest.raises(BudgetError, match="UNSPOKEN_BUDGETS"):
        place_of(None, Path("t.csv"), unspoken.read("t.csv", show=False))


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.binary(2)])
def test_a_column_of_bytes_is_refused_by_name(tmp_path, kind):
    table = unspoken.read(pa.table({"age": [1, 2], "photo": pa.array([b"\xff\x00"] * 2, kind)}),
                          keep=["age"], show=False)
    with pytest.raises(DataError, match=r"Column 'photo' .* It holds bytes"):
        Budget.start(tmp_path / "b", table, epsilon=1.0)
    assert list(tmp_path.iterdir()) == []
