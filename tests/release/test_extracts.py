"""A few rows of a table do not escape its budget, and other people are not refused."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import unspoken
from unspoken.cli.book_release import place_of
from unspoken.cli.main import main
from unspoken.errors import BudgetError
from unspoken.release.people_file import Known, from_bytes, to_bytes
from unspoken.risk import Budget

ROWS = 6000
CHOSEN = np.random.default_rng(7).permutation(ROWS)


def people(rows=ROWS, seed=1):
    rng = np.random.default_rng(seed)
    return pa.table({"age": rng.integers(0, 100, rows), "wage": rng.integers(0, 900_000, rows),
                     "code": rng.choice(["7", "12", "none"], rows),
                     "ill": rng.choice(["no", "yes"], rows)})


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    """The same table under several keys: chance decides no digest."""
    folder = tmp_path_factory.mktemp("house")
    pa.csv.write_csv(people(), folder / "t.csv")
    table = unspoken.read(folder / "t.csv", show=False)
    return [Budget.start(folder / f"{key}.budget", table, epsilon=1.0) for key in range(3)]


def read(tmp_path, rows):
    pa.csv.write_csv(rows, tmp_path / "x.csv")
    return unspoken.read(tmp_path / "x.csv", show=False)


CHANGED = {
    "as it is": lambda t: t,
    "twice": lambda t: pa.concat_tables([t, t]),
    "without a column": lambda t: t.drop_columns(["ill"]),
    "with another column": lambda t: t.append_column("note", pa.array(np.arange(t.num_rows) % 7)),
    "among as many others": lambda t: pa.concat_tables([t, people(t.num_rows, 9)]),
    "one in ten": lambda t: pa.concat_tables([t, people(9 * t.num_rows, 9)]),
}


@pytest.mark.slow
@pytest.mark.parametrize("rows", [1, 2, 20, 50])
@pytest.mark.parametrize("change", CHANGED)
def test_an_extract_is_known_whatever_the_key(keys, tmp_path, rows, change):
    extract = read(tmp_path, CHANGED[change](people().take(CHOSEN[:rows])))
    assert all(budget.knows(extract) for budget in keys)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [1, 2, 20, 50, ROWS])
def test_other_people_are_not_refused(keys, tmp_path, rows):
    others = read(tmp_path, people(rows, 11))
    assert not any(budget.knows(others) or budget.may_count(others) for budget in keys)


@pytest.mark.slow
def test_rows_of_a_column_of_words_that_all_say_numbers_are_known(keys, tmp_path):
    whole = people()
    numbered = whole.filter(pa.compute.equal(whole["code"], "7")).slice(0, 20)
    extract = read(tmp_path, numbered)
    assert pa.types.is_integer(extract.arrow(["code"])["code"].type)
    assert all(budget.knows(extract) == 0.999 for budget in keys)


@pytest.mark.slow
def test_an_extract_without_a_budget_of_its_own_is_answered_nothing(tmp_path, capsys):
    pa.csv.write_csv(people(300), tmp_path / "t.csv")
    pa.csv.write_csv(people(300).slice(0, 5), tmp_path / "five.csv")
    Budget.start(tmp_path / "t.csv.budget", unspoken.read(tmp_path / "t.csv", show=False),
                 epsilon=1.0)
    asked = ["query", str(tmp_path / "five.csv"), "--log", str(tmp_path / "q.log"), "--count",
             "--where", "ill = 'yes'", "--epsilon", "50", "--each", "50", "--json"]
    assert main(asked) == 1
    assert "of its people are those of" in json.loads(capsys.readouterr().out)["reason"]


@pytest.mark.slow
@pytest.mark.parametrize("harm", [Path.unlink, lambda path: path.write_bytes(b"{}\n")])
def test_a_budget_whose_people_are_lost_says_of_nobody_that_it_does_not_count_them(tmp_path, harm):
    pa.csv.write_csv(people(300), tmp_path / "t.csv")
    table = unspoken.read(tmp_path / "t.csv", show=False)
    Budget.start(tmp_path / "t.budget", table, epsilon=1.0)
    listed = tmp_path / "t.budget.people"
    assert listed.stat().st_mode & 0o777 == 0o600
    harm(listed)
    assert Budget(tmp_path / "t.budget").knows(table) == 1.0
    with pytest.raises(BudgetError, match=r"t\.budget\.people"):
        place_of(None, tmp_path / "x.csv", read(tmp_path, people(20)))


def test_digests_are_written_in_six_bytes_each():
    words = np.sort(np.random.default_rng(1).integers(0, 1 << 48, 100).astype(np.uint64))
    data = to_bytes({"cells all": Known(120, 110, words), "id 1": Known(120, 120, words[:7])})
    again = from_bytes(data)
    assert np.array_equal(again["cells all"].words, words)
    assert np.array_equal(again["id 1"].words, words[:7])
    assert again["cells all"].least == pytest.approx(0.05 + 2 * 10 / 120)
    assert len(data.partition(b"\n")[2]) == 6 * 107


def test_of_two_large_groups_a_part_is_compared():
    rng = np.random.default_rng(3)
    words = np.unique(rng.integers(0, 1 << 48, 80_000).astype(np.uint64))
    known = Known(words.size, words.size, words)
    others = np.unique(rng.integers(0, 1 << 48, 60_000).astype(np.uint64))
    mixed = np.union1d(others, words[::10])
    assert known.share(words) == 1.0
    assert known.share(others) == 0.0
    assert known.share(mixed) == pytest.approx(8000 / mixed.size, abs=0.01)
