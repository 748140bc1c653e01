"""Some rows of a table, in any order, few or many, from memory and from a file."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import unspoken


@pytest.mark.slow
@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("rows", [[], [3], [7, 0, 7, 99], list(range(99, -1, -1))])
def test_rows_come_as_they_are_named(tmp_path, lazy, rows):
    arrow = pa.table({"n": np.arange(100.0), "c": [f"c{i % 7}" for i in range(100)]})
    pq.write_table(arrow, tmp_path / "t.parquet")
    table = unspoken.read(tmp_path / "t.parquet", lazy=lazy, keep=["n"])
    places = np.array(rows, np.int64)
    assert table.take(places).to_pylist() == arrow.take(pa.array(places)).to_pylist()
    assert table.take(places, ["c"])["c"].to_pylist() == [f"c{i % 7}" for i in rows]


@pytest.mark.parametrize("values", [["1", "2.5", "4"], ["1", None, "4"]])
def test_texts_that_spell_numbers_are_numbers_where_they_are_declared(values):
    table = unspoken.read({"x": values}, kinds={"x": "numeric"}, show=False)
    wanted = [np.nan if value is None else float(value) for value in values]
    assert np.array_equal(table.numbers(["x"])[:, 0], wanted, equal_nan=True)


@pytest.mark.parametrize("values", [["1", "2 zzz"], ["1", None, "2 zzz"], [b"\xff", b"1"]])
def test_what_is_no_number_is_refused_without_showing_it(values):
    table = unspoken.read({"x": values}, kinds={"x": "numeric"}, show=False)
    with pytest.raises(unspoken.errors.DataError, match="'x' must hold numbers") as error:
        table.numbers(["x"])
    assert "zzz" not in str(error.value)
