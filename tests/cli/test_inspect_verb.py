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
