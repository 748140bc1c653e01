"""inspect: the statistics of bu2007 Figure 8, and what they mean in words."""

import json

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

pytestmark = pytest.mark.slow

FIGURE_7 = [(1, "H"), (2, "H"), (15, "H"), (27, "L"), (28, "L"), (29, "H"), (29, "L"), (42, "H"),
            (43, "H"), (44, "H")]


@pytest.fixture
def figure_7(tmp_path):
    values, labels = zip(*FIGURE_7, strict=True)
    table = pa.table({"a": values, "same": [5] * len(values), "y": labels})
    pa.csv.write_csv(table, tmp_path / "seven.csv")
    return tmp_path


def _rows(done):
    assert done.status == 0, done.err
    return {row["column"]: row for row in json.loads(done.out)["attributes"]}


def test_figure_7(figure_7, command_in):
    found = _rows(command_in("inspect", "seven.csv", "--target", "y", "--json", cwd=figure_7))["a"]
    assert found["range_width"] == 44
    assert found["distinct"] == 9
    assert found["discontinuities"] == 35
    assert found["mono_pieces"] == 3
    assert found["mono_length"] == pytest.approx(8 / 3, abs=0.05)
    assert found["mono_share"] == pytest.approx(8 / 9, abs=1e-4)
    assert "89% of them" in found["words"]


def test_min_width(figure_7, command_in):
    told = ("inspect", "seven.csv", "--target", "y", "--min-width", "3", "--json")
    assert _rows(command_in(*told, cwd=figure_7))["a"]["mono_pieces"] == 2


def test_without_a_target_there_are_no_classes(figure_7, command_in):
    found = _rows(command_in("inspect", "seven.csv", "--json", cwd=figure_7))["a"]
    assert found["mono_pieces"] is None
    assert "max-mono" not in found["words"]


def test_sorting_and_constants_in_words(tmp_path, command_in):
    dense, sparse = list(range(100)), [i**4 for i in range(100)]
    table = pa.table({"dense": dense, "sparse": sparse, "same": [1] * 100,
                      "y": ["a", "b"] * 50})
    pq.write_table(table, tmp_path / "t.parquet")
    found = _rows(command_in("inspect", "t.parquet", "--target", "y", "--keep", "dense", "--json",
                             cwd=tmp_path))
    assert found["dense"]["sorting_share"] == 1.0
    assert found["dense"]["words"].startswith("weak against sorting (100%")
    assert found["sparse"]["words"].startswith("good against sorting")
    assert found["same"]["words"].startswith("constant")


def test_the_text_warns_of_a_sample(figure_7, command_in):
    done = command_in("inspect", "seven.csv", "--target", "y", cwd=figure_7)
    assert done.status == 0
    assert done.err == ""
    assert "numeric" in done.out
    assert "with 1% of it" in done.out


@pytest.mark.slow
def test_figure_8_of_covertype(shared, tmp_path, command_in):
    """Aspen against the rest; widths, values, pieces and lengths as published."""
    table = pq.read_table(shared("covtype.parquet"))
    aspen = pc.equal(table["Cover_Type"], 5)
    pq.write_table(table.select(range(10)).append_column("aspen", aspen), tmp_path / "t.parquet")
    found = _rows(command_in("inspect", "t.parquet", "--target", "aspen", "--json", cwd=tmp_path))
    rows = list(found.values())
    assert [row["range_width"] for row in rows] == [2000, 361, 67, 1398, 775, 7118, 255, 255, 255,
                                                    7174]
    assert [row["distinct"] for row in rows] == [1978, 361, 67, 551, 700, 5785, 207, 185, 255, 5827]
    assert [row["mono_pieces"] for row in rows] == [9, 0, 1, 22, 14, 202, 2, 8, 3, 229]
    lengths = [163, 0, 15, 10, 24, 18, 41, 6, 8, 17]
    assert [int(row["mono_length"] + 0.5) for row in rows] == lengths
    shares = [100, 100, 100, 12.9, 42.6, 22.0, 11.1, 8.1, 100, 22.9]
    assert [100 * row["sorting_share"] for row in rows] == pytest.approx(shares, abs=0.06)


def test_who_is_named_and_what_the_laws_call_it(tmp_path, command_in):
    people = [f"Anna Miller {chr(65 + i % 26)}." for i in range(60)]
    table = pa.table({"who": people, "mail": [f"u{i}@example.org" for i in range(60)],
                      "age": list(range(20, 50)) * 2, "religion": ["a", "b"] * 30})
    pa.csv.write_csv(table, tmp_path / "t.csv")
    done = command_in("inspect", "t.csv", cwd=tmp_path)
    assert done.status == 0, done.err
    assert "Will not be released:" in done.out
    assert "e-mail addresses" in done.out
    assert "Could single people out:" in done.out
    assert "Special categories:" in done.out
    assert "This is no legal advice." in done.out
    assert "u7@example.org" not in done.out
    kept = json.loads(command_in("inspect", "t.csv", "--keep", "mail", "--json",
                                 cwd=tmp_path).out)["identification"]
    assert [f["column"] for f in kept["will_not_be_released"]] == ["who"]
    assert [f["column"] for f in kept["kept"]] == ["mail"]
    assert [f["column"] for f in kept["could_single_people_out"]] == ["age"]
    assert [f["gdpr"] for f in kept["special_categories"]] == [
        "religious or philosophical beliefs"]


def test_protect_releases_a_flagged_column_only_by_name(tmp_path, command_in):
    numbers = [i % 50 for i in range(60)]
    pa.csv.write_csv(pa.table({"mail": [f"u{i}@example.org" for i in numbers], "x": numbers}),
                     tmp_path / "t.csv")
    told = ("protect", "t.csv", "--method", "sample", "--json", "--out")
    plain = json.loads(command_in(*told, "one", cwd=tmp_path).out)
    assert plain["not_released"] == ["mail"]
    named = json.loads(command_in(*told, "two", "--keep", "mail", cwd=tmp_path).out)
    assert named["not_released"] == []
