"""An index that a program wrote beside a table: read under a name, and never released."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import unspoken
from unspoken.errors import DataError, SchemaError
from unspoken.release.method import method_of
from unspoken.table.identify.named_roles import names_people

FRAME = pd.DataFrame({"age": [30, 41, 52, 30, 41], "city": ["Ulm", "Bonn", "Ulm", "Ulm", "Bonn"]})
INDEXES = {"from 0": None, "from 1": range(1, 6), "shuffled": [3, 1, 4, 0, 2],
           "joined": [0, 1, 2, 0, 1], "labels": list("abcde"), "gaps": [10, 20, 35, 36, 90]}


def frame(index):
    return FRAME if index is None else FRAME.set_index(pd.Index(index))


def text(folder, content, name="t.csv"):
    (folder / name).write_text(content)
    return folder / name


@pytest.mark.parametrize("index", INDEXES.values(), ids=INDEXES)
def test_a_first_column_without_a_name_is_read_and_never_released(index, tmp_path):
    frame(index).to_csv(tmp_path / "t.csv")
    table = unspoken.read(tmp_path / "t.csv", show=False)
    assert table.schema.names == ("row", "age", "city")
    assert table.schema["row"].role == "identifier"
    assert table.arrow()["row"].to_pylist() == list(frame(index).index)
    assert table.arrow()["age"].to_pylist() == list(FRAME.age)
    assert "has no name: it is called 'row'" in table.notes[0]
    assert unspoken.read(table, show=False).schema["row"].role == "identifier"
    assert unspoken.read(tmp_path / "t.csv", keep="row", show=False).schema["row"].role == "plain"


@pytest.mark.parametrize("index", [index for index in INDEXES.values() if index is not None])
@pytest.mark.parametrize("suffix", ["parquet", "frame"])
def test_an_index_that_pandas_wrote_is_treated_alike(index, suffix, tmp_path):
    name, source = "__index_level_0__", tmp_path / "t.parquet"
    frame(index).to_parquet(source, index=True)
    if suffix == "frame":
        frame(index).to_csv(tmp_path / "t.csv")
        name, source = "Unnamed: 0", pd.read_csv(tmp_path / "t.csv")
    table = unspoken.read(source, show=False)
    assert table.schema[name].role == "identifier"
    assert f"keep='{name}'" in table.notes[0]
    assert names_people(name)


@pytest.mark.parametrize(("header", "name"), [
    (",Row,city", "row_1"), ('"",row,row_1', "row_2"), (" ,a,b", "row"), ("\u200b,a,b", "row"),
    (",0,1", "row"), (",1,2", "row")])
def test_the_name_is_one_that_no_column_has(header, name, tmp_path):
    table = unspoken.read(text(tmp_path, f"{header}\n7,x,y\n8,z,y\n"), show=False)
    assert table.schema.names[0] == name
    assert table.schema[name].role == "identifier"


def test_files_of_one_folder_number_their_rows_each(tmp_path):
    (tmp_path / "months").mkdir()
    for month in ("1", "2"):
        FRAME.to_csv(tmp_path / "months" / f"{month}.csv")
    table = unspoken.read(tmp_path / "months", show=False)
    assert table.rows == 10
    assert table.schema["row"].role == "identifier"


@pytest.mark.parametrize(("content", "error"), [
    ("a,,b\n1,2,3\n", SchemaError), (",,a\n0,1,2\n", SchemaError), ('""\n1\n2\n', SchemaError),
    (",3.5,7\n1,2,3\n", DataError)])
def test_any_other_header_that_lacks_a_name_stays_refused(content, error, tmp_path):
    with pytest.raises(error, match="must have a"):
        unspoken.read(text(tmp_path, content), show=False)


def test_a_column_that_is_called_row_is_a_column(tmp_path):
    seats = text(tmp_path, "row,seat\n1,a\n1,b\n2,a\n")
    assert unspoken.read(seats, show=False).schema["row"].role == "plain"


def test_numbers_that_nobody_named_are_not_in_a_release(tmp_path):
    rng = np.random.default_rng(1)
    people = pd.DataFrame({"age": rng.integers(18, 90, 60), "ill": rng.choice(["no", "yes"], 60)})
    people.to_csv(tmp_path / "t.csv")
    table = unspoken.read(tmp_path / "t.csv", target="ill", show=False)
    release, _ = method_of("piecewise").build({}).protect(table)
    assert release.schema.names == ("age", "ill")
