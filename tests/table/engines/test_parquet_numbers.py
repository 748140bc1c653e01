"""Numbers that Arrow reads are those that DuckDB reads; what only DuckDB can read, it reads."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import unspoken
from unspoken.errors import DataError
from unspoken.table.engines.local import LocalEngine

ROWS = 3000
RNG = np.random.default_rng(8)
GONE = RNG.random(ROWS) < 0.1
NUMBERS = pa.table({
    "small": pa.array(RNG.integers(-100, 100, ROWS), pa.int8()),
    "byte": pa.array(RNG.integers(0, 256, ROWS), pa.uint8()),
    "gaps": pa.array(RNG.integers(-(2**60), 2**60, ROWS), mask=GONE),
    "nulls": pa.nulls(ROWS, pa.int16()),
    "share": pa.array(RNG.normal(size=ROWS), pa.float32(), mask=GONE),
    "nan": np.where(GONE, np.nan, RNG.integers(0, 9, ROWS)),
    "yes": pa.array(RNG.random(ROWS) < 0.5)})
MIXED = NUMBERS.append_column("text", pa.array(RNG.choice(["a", "ä"], ROWS))).append_column(
    "kind", pa.array(RNG.choice(["b", "c"], ROWS)).dictionary_encode()).append_column(
    "a.b", NUMBERS["small"])


@pytest.fixture
def frame(tmp_path):
    pq.write_table(MIXED, tmp_path / "t.parquet", row_group_size=700)
    return unspoken.read(tmp_path / "t.parquet", lazy=True, show=False).frame


@pytest.mark.slow
def test_only_plain_numbers_are_read_by_arrow(frame):
    assert frame.plain == set(NUMBERS.column_names)


@pytest.mark.slow
def test_both_readers_give_the_same_rows(frame):
    from dataclasses import replace

    names = NUMBERS.column_names
    ways = [pa.Table.from_batches(LocalEngine(batch_rows=450).batches(one, names))
            for one in (frame, replace(frame, plain=frozenset()))]
    # NaN is not equal to itself, its text is.
    assert [way.cast(pa.schema([(name, pa.string()) for name in names])).equals(
        NUMBERS.cast(pa.schema([(name, pa.string()) for name in names]))) for way in ways] \
        == [True, True]
    assert ways[0].schema == ways[1].schema


@pytest.mark.slow
@pytest.mark.parametrize("by", [None, "small", "text", "nulls"])
def test_both_ways_of_counting_agree(frame, by):
    from dataclasses import replace

    names = ["small", "byte", "gaps", "nulls", "nan"]
    first, second = (LocalEngine(batch_rows=450).counts(one, names, by)
                     for one in (frame, replace(frame, plain=frozenset())))
    for name in names:
        assert np.array_equal(first[name].values, second[name].values)
        assert np.array_equal(first[name].table, second[name].table)
        assert (first[name].classes, first[name].missing) == (
            second[name].classes, second[name].missing)


@pytest.mark.slow
def test_a_damaged_page_ends_in_a_sentence(tmp_path, frame):
    path = tmp_path / "t.parquet"
    held = bytearray(path.read_bytes())
    held[4:400] = b"\xff" * 396
    path.write_bytes(held)
    with pytest.raises(DataError, match="must be a table that can be read"):
        list(LocalEngine().batches(frame, ["small"]))


@pytest.mark.slow
def test_rows_that_went_away_meanwhile_are_noticed(tmp_path, frame):
    pq.write_table(MIXED.slice(5), tmp_path / "t.parquet")
    with pytest.raises(DataError, match=r"3,000 rows .* hold 2,995"):
        list(LocalEngine().batches(frame, ["small"]))
