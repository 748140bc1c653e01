"""Folders and patterns of files as one table, and what differs between files."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from unspoken import read
from unspoken.cli.main import main
from unspoken.errors import DataError, InputError
from unspoken.protect import PiecewiseEncoder


def parquet(path, **columns):
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path)


@pytest.fixture
def hive(tmp_path):
    folder = tmp_path / "set"
    for year in (2020, 2019):
        for part in range(2):
            parquet(folder / f"year={year}" / "site=a%2Fb" / f"part-{part}.parquet",
                    age=[year % 100 + part, 40], pay=[1.5, None], name=["x", "y"])
    (folder / "_SUCCESS").write_text("")
    (folder / ".part-0.parquet.crc").write_text("")
    return folder


def test_a_partitioned_set_is_one_table_in_the_order_of_its_paths(hive):
    rows = read(hive, show=False).arrow()
    assert rows.column_names == ["age", "pay", "name", "year", "site"]
    assert rows["year"].to_pylist() == [2019] * 4 + [2020] * 4
    assert rows["site"].to_pylist() == ["a/b"] * 8
    assert rows["age"].to_pylist() == [19, 40, 20, 40, 20, 40, 21, 40]


def test_a_pattern_takes_the_files_that_it_matches(hive):
    table = read(str(hive / "year=*" / "*" / "part-1.parquet"), show=False)
    assert table.arrow()["age"].to_pylist() == [20, 40, 21, 40]
    assert table.arrow()["year"].to_pylist() == [2019, 2019, 2020, 2020]
    with pytest.raises(DataError, match="at least one file"):
        read(hive / "*.csv", show=False)


def test_a_file_below_such_a_folder_has_its_own_columns_only(hive):
    file = hive / "year=2019" / "site=a%2Fb" / "part-0.parquet"
    assert read(file, show=False).schema.names == ("age", "pay", "name")


@pytest.mark.slow
def test_files_scanned_piece_by_piece_are_in_the_same_order(hive):
    whole = read(hive, show=False).arrow()
    lazy = read(hive, show=False, lazy=True)
    assert lazy.arrow().to_pydict() == whole.to_pydict()
    assert lazy.rows == 8


def test_a_column_missing_in_one_file_is_named(hive):
    parquet(hive / "year=2020" / "site=a%2Fb" / "part-2.parquet", age=[1], name=["x"])
    with pytest.raises(DataError, match=r"part-2.parquet' lacks the column 'pay'"):
        read(hive, show=False)


def test_a_column_of_one_file_alone_is_named(hive):
    parquet(hive / "year=2020" / "site=a%2Fb" / "part-2.parquet", age=[1], pay=[1.0], name=["x"],
            more=[1])
    with pytest.raises(DataError, match=r"part-0.parquet' lacks the column 'more'"):
        read(hive, show=False)


@pytest.mark.slow
def test_a_type_that_changes_between_files_is_named(hive):
    parquet(hive / "year=2020" / "site=a%2Fb" / "part-2.parquet", age=["old"], pay=[1.0],
            name=["x"])
    with pytest.raises(DataError, match=r"'age'.*int64 in .*part-0.*string in .*part-2"):
        read(hive, show=False)


@pytest.mark.slow
def test_empty_files_and_columns_of_nulls_take_the_type_of_the_others(hive):
    none = pa.nulls(3)
    parquet(hive / "year=2018" / "site=c" / "a.parquet", age=none, pay=none, name=none)
    parquet(hive / "year=2018" / "site=c" / "b.parquet", age=none[:0], pay=none[:0], name=none[:0])
    for lazy in (False, True):
        rows = read(hive, show=False, lazy=lazy).arrow()
        assert rows.schema.field("name").type == pa.string()
        assert rows["age"].to_pylist()[:5] == [None, None, None, 19, 40]


def test_an_unreadable_file_is_named_and_nothing_is_written(hive, tmp_path, capsys):
    (hive / "year=2020" / "site=a%2Fb" / "part-9.parquet").write_bytes(b"PAR1 but no more")
    assert main(["protect", str(hive), "--out", str(tmp_path / "out"), "--key",
                 str(tmp_path / "key")]) == 2
    assert "part-9.parquet" in capsys.readouterr().err
    assert sorted(one.name for one in tmp_path.iterdir()) == ["set"]


@pytest.mark.slow
def test_text_files_of_a_folder_agree_on_numbers(tmp_path):
    folder = tmp_path / "csv"
    folder.mkdir()
    (folder / "a.csv").write_text("age,day,note\n1,2020-01-01,\n2,2020-01-02,\n")
    (folder / "b.csv.gz").write_bytes(__import__("gzip").compress(
        b"age;day;note\n1.5;2021-01-01;x\n?;2021-01-02;NA\n"))
    for lazy in (False, True):
        table = read(folder, show=False, lazy=lazy)
        assert table.arrow()["age"].to_pylist() == [1.0, 2.0, 1.5, None]
        assert table.arrow()["note"].to_pylist() == [None, None, "x", None]
        assert table.as_written()["day"].to_pylist()[0] == "2020-01-01"
    (folder / "c.csv").write_text("age,day,note\nold,2020-01-01,x\n")
    with pytest.raises(DataError, match=r"'age' must have one type.*'c.csv'"):
        read(folder, show=False)


@pytest.mark.slow
def test_names_with_signs_of_patterns_are_names(tmp_path):
    for number, name in enumerate(["a*", "a1", "b[1]", "b1", "c?", "c1"]):
        parquet(tmp_path / "set" / f"{name}.parquet", x=[number])
        (tmp_path / f"{name}.csv").write_text(f"x,y\n{number},0\n")
    rows = read(tmp_path / "set", show=False).arrow()["x"].to_pylist()
    assert sorted(rows) == list(range(6))
    for number, name in enumerate(["a*", "a1", "b[1]", "b1", "c?", "c1"]):
        assert read(tmp_path / "set" / f"{name}.parquet").arrow()["x"].to_pylist() == [number]
        assert read(tmp_path / f"{name}.csv").arrow()["x"].to_pylist() == [number]


def test_files_of_several_formats_are_refused(hive):
    (hive / "readme.csv").write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match="one format"):
        read(hive, show=False)


def test_a_column_may_not_come_from_folders_and_files(tmp_path):
    parquet(tmp_path / "set" / "year=1" / "a.parquet", year=[1], x=[2])
    with pytest.raises(DataError, match="'year' must come from one place"):
        read(tmp_path / "set", show=False)


def test_folders_that_name_different_columns_are_refused(tmp_path):
    parquet(tmp_path / "set" / "year=1" / "a.parquet", x=[2])
    parquet(tmp_path / "set" / "b.parquet", x=[2])
    with pytest.raises(DataError, match="same columns"):
        read(tmp_path / "set", show=False)


@pytest.mark.slow
def test_a_declared_identifier_of_a_folder_is_not_released(tmp_path):
    for patient in range(30):
        parquet(tmp_path / "set" / f"patient=P{patient}" / "a.parquet", age=[20 + patient, 3],
                ward=["a", "b"], box=[patient, patient])
    table = read(tmp_path / "set", identifiers=["patient", "box"], target="ward", show=False)
    release, _ = PiecewiseEncoder().protect(table)
    assert release.schema.names == ("age", "ward")


def test_options_of_text_files_are_refused_for_others(hive):
    with pytest.raises(InputError, match="delimiter"):
        read(hive, delimiter=";", show=False)


@pytest.mark.slow
def test_hundreds_of_files_are_one_table(tmp_path):
    for part in range(300):
        parquet(tmp_path / "set" / f"p{part:05}.parquet", x=[part, part])
    assert read(tmp_path / "set", show=False).arrow()["x"].to_pylist()[-1] == 299
