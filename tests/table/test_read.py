"""Reading: every source gives the same table, and what cannot be used is said by name."""

from __future__ import annotations

import datetime

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import unspoken
from unspoken.errors import DataError, SchemaError

AGES = [23.0, 47.5, None, 31.0]
JOBS = ["nurse", "clerk", "clerk", None]
INCOME = [1, 2, 2, 1]
COLUMNS = {"age": AGES, "job": JOBS, "income": INCOME}


def sources(folder):
    arrow = pa.table(COLUMNS)
    pq.write_table(arrow, folder / "t.parquet")
    (folder / "t.csv").write_text("age,job,income\n23.0,nurse,1\n47.5,clerk,2\n,clerk,2\n31.0,,1\n")
    con = duckdb.connect(str(folder / "t.duckdb"))
    con.execute("CREATE TABLE people AS SELECT * FROM arrow")
    con.close()
    return {
        "arrow": (arrow, {}),
        "batch": (arrow.to_batches()[0], {}),
        "parquet": (folder / "t.parquet", {}),
        "parquet lazily": (str(folder / "t.parquet"), {"lazy": True}),
        "csv": (folder / "t.csv", {}),
        "csv lazily": (folder / "t.csv", {"lazy": True}),
        "duckdb file": (folder / "t.duckdb", {"table": "people"}),
        "duckdb relation": (duckdb.sql("SELECT * FROM arrow"), {}),
        "pandas": (arrow.to_pandas(), {}),
        "pandas with an index": (arrow.to_pandas().set_index(pd.Index([9, 8, 7, 6])), {}),
        "polars": (pl.DataFrame(COLUMNS), {}),
        "polars lazily": (pl.LazyFrame(COLUMNS), {}),
        "mapping": (COLUMNS, {}),
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", ["arrow", "batch", "parquet", "parquet lazily", "csv",
                                  "csv lazily", "duckdb file", "duckdb relation", "pandas",
                                  "pandas with an index", "polars", "polars lazily", "mapping"])
def test_every_source_gives_the_same_table(tmp_path, name):
    source, options = sources(tmp_path)[name]
    table = unspoken.read(source, target="income", sensitive="job", **options)
    assert table.rows == len(table) == 4
    assert table.schema.names == ("age", "job", "income")
    assert [c.kind for c in table.schema.columns] == ["numeric", "categorical", "numeric"]
    assert [c.role for c in table.schema.columns] == ["plain", "sensitive", "target"]
    expected = np.array([[23.0], [47.5], [np.nan], [31.0]])
    assert np.array_equal(table.numbers(["age"]), expected, equal_nan=True)
    assert table.arrow(["job"])["job"].to_pylist() == JOBS
    assert table.labels().tolist() == INCOME
    counts = table.counts(["age"], "income")["age"]
    assert counts.values.tolist() == [23.0, 31.0, 47.5]
    assert counts.table.tolist() == [[1, 0], [1, 0], [0, 1]]
    assert (counts.classes, counts.missing) == ((1, 2), 1)
    assert table.engine.distinct(table.frame, "job") == ("clerk", "nurse")
    assert table.engine.count_missing(table.frame, "job") == 1
    assert table.engine.count_missing(table.frame, "age") == 1


def test_numpy_arrays():
    table = unspoken.read(np.array([[1.0, 2], [3, 4]]), columns=["a", "b"])
    assert table.schema.names == ("a", "b")
    assert unspoken.read(np.array([[1.0, 2], [3, 4]])).schema.names == ("x0", "x1")
    structured = np.array([(1, 2.5)], dtype=[("n", int), ("x", float)])
    assert unspoken.read(structured).schema.names == ("n", "x")


def test_categories_of_pandas_are_text():
    frame = pd.DataFrame({"c": pd.Categorical(["b", "a", "b"]), "x": [1, 2, 3]})
    assert unspoken.read(frame).schema["c"].kind == "categorical"


@pytest.mark.slow
def test_words_of_a_csv_file_stay_words(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,c\nyes,true,1\nno,false,2.5\n")
    table = unspoken.read(tmp_path / "t.csv", show=False).arrow()
    assert table["a"].to_pylist() == ["yes", "no"]
    # Booleans are booleans from every source.
    assert table["b"].to_pylist() == [True, False]
    assert table["c"].to_pylist() == [1.0, 2.5]


def test_dates_count_as_days_and_booleans_as_numbers():
    day = datetime.date(1970, 1, 11)
    table = unspoken.read(pa.table({"d": [day, None], "b": [True, False]}))
    assert np.array_equal(table.numbers(), [[10, 1], [np.nan, 0]], equal_nan=True)


def test_timestamps_count_as_seconds_in_memory_and_over_files(tmp_path):
    moment = datetime.datetime(1970, 1, 1, 0, 1, 0, 500_000)
    arrow = pa.table({"t": [moment], "d": [datetime.date(1970, 1, 3)]})
    pq.write_table(arrow, tmp_path / "t.parquet")
    for source, options in ((arrow, {}), (tmp_path / "t.parquet", {"lazy": True})):
        counts = unspoken.read(source, **options).counts(["t", "d"])
        assert counts["t"].values.tolist() == [60.5]
        assert counts["d"].values.tolist() == [2.0]


def test_nan_and_null_are_both_missing():
    table = unspoken.read(pa.table({"x": pa.array([1.0, float("nan"), None])}))
    assert table.counts(["x"])["x"].missing == 2
    assert table.engine.count_missing(table.frame, "x") == 2


def test_identifiers_are_guessed_and_can_be_overruled():
    rows = 30
    columns = {"patient_id": list(range(rows)), "mail": [f"m{i}" for i in range(rows)],
               "measured": list(range(rows)), "sex": ["m", "f"] * (rows // 2)}
    schema = unspoken.read(columns).schema
    assert schema.with_role("identifier") == ("patient_id", "mail")
    assert "guessed" in schema["mail"].note
    overruled = unspoken.read(columns, quasi=["mail"], identifiers=[])
    assert overruled.schema["mail"].role == "quasi"


def test_the_guess_is_printed_when_asked(capsys):
    unspoken.read({"x": [1.0]}, show=True)
    assert "x       numeric  plain" in capsys.readouterr().err
    unspoken.read({"x": [1.0]}, show=False)
    assert capsys.readouterr().err == ""


def test_kinds_can_be_declared():
    table = unspoken.read({"grade": [1, 2, 3], "y": [0, 1, 0]}, kinds={"grade": "ordinal"})
    assert table.schema["grade"].kind == "ordinal"
    assert table.schema["grade"].note == "kind as declared"


def refused(words, error, *args, **kwargs):
    with pytest.raises(error, match=words):
        unspoken.read(*args, **kwargs)


def test_missing_target():
    refused("Column 'incom' must be in the table. Did you mean 'income'", SchemaError,
            COLUMNS, target="incom")


def test_a_table_without_a_target_says_so_when_one_is_needed():
    with pytest.raises(SchemaError, match="needs a table with a target"):
        _ = unspoken.read(COLUMNS).target


def test_two_roles():
    refused("Column 'age' must have one role. Got quasi and sensitive|sensitive and quasi",
            SchemaError, COLUMNS, sensitive=["age"], quasi=["age"])


def test_unknown_kind():
    refused("Kind of column 'age' must be one of numeric", SchemaError, COLUMNS,
            kinds={"age": "colour"})
    refused("Did you mean 'numeric'", SchemaError, COLUMNS, kinds={"age": "numbr"})


def test_duplicate_names(tmp_path):
    twice = pa.table([[1], [2]], names=["a", "a"])
    refused(r"distinct. Got \['a'\] more than once", SchemaError, twice)
    refused("more than once", SchemaError, pd.DataFrame([[1, 2]], columns=["a", "a"]))
    (tmp_path / "t.csv").write_text("a,a\n1,2\n")
    refused("more than once", SchemaError, tmp_path / "t.csv")
    refused("more than once", SchemaError, np.ones((1, 2)), columns=["a", "a"])


@pytest.mark.slow
def test_empty_tables(tmp_path):
    refused("at least one row", DataError, pa.table({"x": pa.array([], pa.float64())}))
    (tmp_path / "t.csv").write_text("")
    refused("empty", DataError, tmp_path / "t.csv")
    (tmp_path / "h.csv").write_text("a,b\n")
    refused("at least one row", DataError, tmp_path / "h.csv")


def test_mixed_types():
    refused("one type", DataError, pd.DataFrame({"x": [1, "two", 3.5]}))
    refused("one type", DataError, {"x": [1, "two"]})


@pytest.mark.slow
def test_numbers_among_text_are_text(tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n1,0\ntwo,1\n3,0\n")
    assert unspoken.read(tmp_path / "t.csv").schema["x"].kind == "categorical"


def test_nested_columns():
    refused("Column 'l' must hold one value per row", DataError, pa.table({"l": [[1, 2], [3]]}))


def test_other_sources(tmp_path):
    refused("must be an existing file", DataError, tmp_path / "none.parquet")
    (tmp_path / "t.xlsx").write_text("x")
    refused("must be a .parquet, .csv", DataError, tmp_path / "t.xlsx")
    refused("an object of type int", DataError, 3)
    refused("2-dimensional", DataError, np.ones(3))
    refused("needs table=", SchemaError, sources(tmp_path)["duckdb file"][0])
    refused("Options of read", SchemaError, COLUMNS, taget="x")


def test_names_with_quotes_survive_over_files(tmp_path):
    name = 'we"ird \' name; DROP TABLE x'
    path = tmp_path / "it's.parquet"
    pq.write_table(pa.table({name: [1.0, 2.0, 2.0], "y": ["a", "b", "a"]}), path)
    table = unspoken.read(path, target="y", lazy=True)
    assert table.counts([name], "y")[name].table.tolist() == [[1, 0], [1, 1]]


def test_numbers_of_a_column_that_is_not_there_name_the_near_one():
    table = unspoken.read({"height": [1.5, 2.5], "width": [3.5, 4.5]}, show=False)
    with pytest.raises(SchemaError, match=r"'heigth'.*Did you mean 'height'"):
        table.numbers(["heigth"])


@pytest.mark.slow
@pytest.mark.parametrize("lazy", [False, True])
def test_columns_as_they_are_written(tmp_path, lazy):
    path = tmp_path / "t.csv"
    path.write_text("day,code,n\n31.12.2020,?,1\n01.01.2021,5,2\n,7,3\n")
    table = unspoken.read(path, keep=["day", "code", "n"], lazy=lazy, show=False)
    again = unspoken.read(table, keep=["day", "code", "n"], show=False)
    for one in (table, again):
        written = one.as_written()
        assert written["day"].to_pylist() == ["31.12.2020", "01.01.2021", None]
        assert written["code"].to_pylist() == ["?", "5", "7"]
        assert written["n"].to_pylist() == [1, 2, 3]
        assert one.arrow()["code"].to_pylist() == [None, 5, 7]
