"""DuckDB and SQLite files: read by address or by name, and releases written into them."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

import duckdb
import pyarrow as pa
import pytest

from unspoken import read
from unspoken.errors import DataError, InputError, ReleaseError, SchemaError
from unspoken.protect import PiecewiseEncoder
from unspoken.table.engines import held_rows, silent_queries
from unspoken.table.formats import compressed_files

NASTY = """t"; DROP TABLE x; --'"""


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


@pytest.fixture
def lite(tmp_path):
    path = tmp_path / "people.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute(f"CREATE TABLE {quoted(NASTY)} (id, age, {quoted(NASTY)}, pay, none, "
                           "class)")
        connection.executemany(
            f"INSERT INTO {quoted(NASTY)} VALUES (?, ?, ?, ?, NULL, ?)",
            [(99 - i, i % 30, f"0{i % 7}", i / 2 if i % 2 else i, "ab"[i % 2]) for i in range(100)])
    return path


@pytest.fixture
def duck(tmp_path):
    path = tmp_path / "people.db"
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"CREATE TABLE {quoted(NASTY)} AS SELECT 99 - i AS id, i % 30 AS age, "
                           "i / 2 AS pay, CASE WHEN i % 2 = 0 THEN 'a' ELSE 'b' END AS class "
                           "FROM range(100) AS r(i)")
    return path


def address(scheme, path, table, more=""):
    from urllib.parse import quote

    return f"{scheme}:///{path}?table={quote(table)}{more}"


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["sqlite", "duckdb"])
def test_tables_are_read_by_address_and_by_file(scheme, lite, duck):
    path = lite if scheme == "sqlite" else duck
    table = read(address(scheme, path, NASTY, "&order=id"), show=False)
    assert table.arrow()["id"].to_pylist() == list(range(100))
    assert read(path, table=NASTY, show=False).arrow()["id"].to_pylist()[0] == 99
    assert table.arrow(["age"]).num_rows == 100


def test_sqlite_columns_have_the_type_that_all_their_values_have(lite):
    rows = read(lite, table=NASTY, show=False).arrow()
    assert rows.schema.types == [pa.int64(), pa.int64(), pa.string(), pa.float64(), pa.float64(),
                                 pa.string()]
    assert rows[NASTY].to_pylist()[:2] == ["00", "01"]


def test_sqlite_columns_of_mixed_types_are_refused(lite):
    with sqlite3.connect(lite) as connection:
        connection.execute(f"UPDATE {quoted(NASTY)} SET age = 'old' WHERE id = 5")
    with pytest.raises(DataError, match=r"'age'.*integer and text"):
        read(lite, table=NASTY, show=False)


@pytest.mark.parametrize("whole", [2**62 + 1, -2**63, 2**53 + 1])
def test_large_whole_numbers_among_fractions_are_rounded(lite, whole):
    with sqlite3.connect(lite) as connection:
        connection.execute(f"UPDATE {quoted(NASTY)} SET pay = ? WHERE id = 5", (whole,))
        connection.execute(f"UPDATE {quoted(NASTY)} SET pay = NULL WHERE id = 6")
    pay = read(address("sqlite", lite, NASTY, "&order=id"), show=False).arrow()["pay"]
    assert pay.type == pa.float64()
    assert pay.to_pylist()[5:8] == [float(whole), None, 92.0]


def test_text_that_cannot_be_read_is_not_shown(lite):
    with sqlite3.connect(lite) as connection:
        connection.execute(f"UPDATE {quoted(NASTY)} SET class = CAST(x'534543524554FF' AS TEXT) "
                           "WHERE id = 5")
    with pytest.raises(DataError, match="UTF-8 column 'class'") as refused:
        read(lite, table=NASTY, show=False)
    assert "SECRET" not in str(refused.value)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["sqlite", "duckdb"])
def test_orders_and_names_that_cannot_be_used_are_refused(scheme, lite, duck):
    path = lite if scheme == "sqlite" else duck
    with pytest.raises(DataError, match="differ in every row"):
        read(address(scheme, path, NASTY, "&order=age"), show=False)
    with pytest.raises((DataError, SchemaError)):
        read(address(scheme, path, NASTY, "&order=nobody"), show=False)
    with pytest.raises(DataError, match="nobody"):
        read(address(scheme, path, "nobody"), show=False)
    with pytest.raises(InputError, match="names none"):
        read(f"{scheme}:///{path}", show=False)
    with pytest.raises(InputError, match="once"):
        read(address(scheme, path, NASTY), table="other", show=False)
    with pytest.raises(DataError, match="four"):
        read(f"{scheme}:///nowhere.db?table=t", show=False)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["sqlite", "duckdb"])
def test_many_rows_go_into_a_copy_without_a_name(scheme, lite, duck, monkeypatch):
    path = lite if scheme == "sqlite" else duck
    few = read(path, table=NASTY, show=False).arrow()
    monkeypatch.setattr(held_rows, "MEMORY_BYTES", 0)
    many = read(path, table=NASTY, show=False, lazy=True)
    path.unlink()
    assert many.arrow()["pay"].to_pylist() == few["pay"].to_pylist()
    assert "/proc/self/fd" in many.frame.sql


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["sqlite", "duckdb"])
def test_a_release_is_written_whole_or_not_at_all(scheme, duck, tmp_path):
    table = read(duck, table=NASTY, target="class", show=False)
    release, _ = PiecewiseEncoder().protect(table)
    out = tmp_path / "out.db"

    def fails():
        raise OSError("full")

    with pytest.raises(OSError, match="full"):
        release.save(address(scheme, out, NASTY), enter=fails)
    assert not list(tmp_path.glob("out.db*"))
    release.save(address(scheme, out, NASTY))
    back = read(address(scheme, out, NASTY), show=False, keep=list(release.schema.names))
    assert back.schema.names == release.schema.names
    assert "id" not in back.schema.names
    told = read(address(scheme, out, NASTY + "_manifest"), show=False).arrow()
    assert json.loads(told["manifest"][0].as_py())["fingerprint"] == release.fingerprint
    with pytest.raises(ReleaseError, match="must not exist"):
        release.save(address(scheme, out, NASTY))
    with pytest.raises(OSError, match="full"):
        release.save(address(scheme, out, NASTY), overwrite=True, enter=fails)
    again = read(address(scheme, out, NASTY), show=False, keep=list(release.schema.names))
    assert again.arrow().equals(back.arrow())


def test_a_file_that_is_no_database_is_refused(tmp_path):
    (tmp_path / "x.db").write_bytes(b"nothing of that kind" * 500)
    with pytest.raises(DataError):
        read(tmp_path / "x.db", table="t", show=False)
    (tmp_path / "y.db").write_bytes(b"SQLite format 3\0" + b"\xff" * 5000)
    with pytest.raises(DataError, match="SQLite says"):
        read(tmp_path / "y.db", table="t", show=False)


@pytest.mark.slow
def test_a_view_inside_a_database_file_reads_no_other_file(tmp_path):
    (tmp_path / "outside").mkdir()
    secret = tmp_path / "outside" / "secret.csv"
    secret.write_text("name,pay\nAnn,1\nBob,2\n")
    path = tmp_path / "evil.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"CREATE VIEW patients AS SELECT * FROM read_csv('{secret}')")
        connection.execute("CREATE TABLE own AS SELECT range AS age FROM range(5)")
        connection.execute("CREATE VIEW half AS SELECT age FROM own WHERE age < 3")
    with pytest.raises(DataError, match="must lie in that file"):
        read(path, table="patients", show=False)
    assert read(path, table="own", show=False).rows == 5
    assert read(path, table="half", show=False).rows == 3
    assert read(secret, show=False).rows == 2


ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n"
SILENT = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT max(x) AS x FROM n"


def test_a_view_of_endless_rows_is_ended_by_the_bytes_of_its_file(tmp_path, monkeypatch):
    monkeypatch.setattr(compressed_files, "FREE_BYTES", 1 << 20)
    monkeypatch.setattr(compressed_files, "FACTOR", 1)
    path = tmp_path / "wide.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE VIEW all_people AS SELECT range AS age FROM range(10000000000)")
        connection.execute("CREATE VIEW few AS SELECT range AS age FROM range(1000)")
    with pytest.raises(DataError, match="'all_people' must yield at most"):
        read(path, table="all_people", show=False)
    assert read(path, table="few", show=False).rows == 1000


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
@pytest.mark.parametrize("query", [ENDLESS, SILENT])
def test_a_view_that_never_yields_its_rows_is_given_up(tmp_path, monkeypatch, kind, query):
    monkeypatch.setattr(silent_queries, "PATIENCE", 0.2)
    monkeypatch.setattr(compressed_files, "FREE_BYTES", 1 << 20)
    path = tmp_path / f"view.{kind}"
    connection = (sqlite3 if kind == "sqlite" else duckdb).connect(str(path))
    with closing(connection):
        connection.execute(f"CREATE VIEW people AS {query}")
        connection.commit()
    with pytest.raises(DataError, match="'people' must yield"):
        read(path, table="people", show=False)
