"""Every engine gives the same answers, however it holds and parts the rows."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import unspoken
from support.engine_maps import (
    NUMBERS,
    SUMS,
    Beside,
    add_up,
    in_files,
    mixed_table,
    number,
    unchanged,
)
from unspoken.numerics import shuffle
from unspoken.table.engines import local_counts
from unspoken.table.engines.local import LocalEngine, MemoryFrame

pytestmark = pytest.mark.xdist_group("several processes")
ROWS = 5000
SEED = bytes(32)


@pytest.fixture(scope="module")
def arrow():
    return mixed_table(ROWS)


@pytest.fixture(scope="module", params=[
    "memory", "scan", pytest.param("spark", marks=pytest.mark.slow)])
def held(request, arrow, tmp_path_factory):
    """Return an engine and a frame of the same rows in it."""
    folder = tmp_path_factory.mktemp("rows")
    if request.param == "memory":
        return LocalEngine(), MemoryFrame(arrow)
    if request.param == "scan":
        pq.write_table(arrow, folder / "t.parquet", row_group_size=999)
        engine = LocalEngine(batch_rows=100)
        return engine, engine.scan(f"read_parquet('{folder / 't.parquet'}')")
    request.getfixturevalue("spark")
    table = unspoken.read(in_files(arrow, folder / "a folder"), engine="spark")
    return table.engine, table.frame


def plain(arrow, names):
    return arrow.select(names).to_pylist()


def test_schema_and_rows(held, arrow):
    engine, frame = held
    assert engine.rows(frame) == ROWS
    for entry in arrow.schema:
        assert engine.schema(frame).field(entry.name).type == entry.type


@pytest.mark.parametrize("by", [None, "y"])
def test_counts(held, arrow, by):
    engine, frame = held
    names = ["x", "z", "w", "day", "at"]
    reference = LocalEngine().counts(MemoryFrame(arrow), names, by)
    counted = engine.counts(frame, names, by)
    for name in names:
        assert counted[name].values.tobytes() == reference[name].values.tobytes()
        assert np.array_equal(counted[name].table, reference[name].table)
        assert counted[name].classes == reference[name].classes
        assert counted[name].missing == reference[name].missing


@pytest.mark.slow
def test_what_is_there_and_what_is_not(held, arrow):
    engine, frame = held
    memory = LocalEngine(), MemoryFrame(arrow)
    for name in ("x", "c", "day", "y"):
        assert engine.distinct(frame, name) == memory[0].distinct(memory[1], name)
    for name in ("x", "c", "y", "at"):
        assert engine.count_distinct(frame, name) == memory[0].count_distinct(memory[1], name)
    for name in ("x", "z", "w", "c"):
        assert engine.count_missing(frame, name) == memory[0].count_missing(memory[1], name)


def test_rows_come_in_order(held, arrow):
    engine, frame = held
    rows = pa.Table.from_batches(engine.batches(frame, ["x", "c", "at"]))
    assert plain(rows, ["x", "c", "at"]) == plain(arrow, ["x", "c", "at"])
    assert engine.collect(frame, ["w"])["w"].to_pylist() == arrow["w"].to_pylist()


def test_some_rows(held, arrow):
    engine, frame = held
    rows = np.array([0, 7, 1299, 1300, 3799, 3800, ROWS - 1])
    picked = engine.take(frame, rows, ["c", "x"])
    assert plain(picked, ["c", "x"]) == plain(arrow.take(pa.array(rows)), ["c", "x"])
    mixed = engine.shuffle(engine.map(frame, number, NUMBERS), SEED)
    assert engine.take(mixed, rows, ["n"])["n"].to_pylist() == \
        shuffle.permutation(SEED, ROWS)[rows].tolist()


@pytest.mark.parametrize("block", [64, 999])
def test_sums_do_not_depend_on_the_engine(held, arrow, block):
    engine, frame = held
    parts = [row for batch in engine.gather(frame, ["x"], add_up, SUMS, block)
             for row in batch.to_pylist()]
    x = arrow["x"].to_numpy()
    assert parts == [{"start": start, "rows": min(block, ROWS - start),
                      "sum": float(np.sum(x[start:start + block]))}
                     for start in range(0, ROWS, block)]


def test_gathering_meets_every_row_once_and_in_order(held):
    engine, frame = held
    numbers = [value for batch in engine.gather(frame, ["c"], number, NUMBERS)
               for value in batch.column(0).to_pylist()]
    assert numbers == list(range(ROWS))


@pytest.mark.slow
@pytest.mark.parametrize("bucket_rows", [1 << 20, 1000])
def test_maps_and_shuffles(held, monkeypatch, bucket_rows):
    monkeypatch.setattr(shuffle, "BUCKET_ROWS", bucket_rows)
    engine, frame = held
    numbered = engine.map(frame, number, NUMBERS)
    assert engine.collect(numbered)["n"].to_pylist() == list(range(ROWS))
    mixed = engine.shuffle(numbered, SEED)
    order = shuffle.permutation(SEED, ROWS).tolist()
    assert engine.collect(mixed)["n"].to_pylist() == order
    assert engine.counts(mixed, ["n"], None)["n"].by_value.sum() == ROWS
    after = engine.collect(engine.map(mixed, Beside(), Beside.schema))
    assert after["n"].to_pylist() == order
    assert after["place"].to_pylist() == list(range(ROWS))


def test_a_shuffle_of_a_shuffle(held, monkeypatch):
    monkeypatch.setattr(shuffle, "BUCKET_ROWS", 1000)
    engine, frame = held
    other = bytes(31) + b"1"
    mixed = engine.shuffle(engine.shuffle(engine.map(frame, number, NUMBERS), SEED), other)
    first, second = (shuffle.permutation(seed, ROWS) for seed in (SEED, other))
    assert engine.collect(mixed)["n"].to_pylist() == first[second].tolist()


def test_writing_says_how_far_it_is(held, tmp_path):
    engine, frame = held
    done = []
    engine.write(engine.map(frame, number, NUMBERS), str(tmp_path / "out.parquet"), done.append)
    assert sum(done) == ROWS
    assert pq.read_table(tmp_path / "out.parquet")["n"].to_pylist() == list(range(ROWS))


def grouped(engine, frame, names):
    """Return how often every combination of values occurs, whatever the engine says it in."""
    groups, often = engine.groups(frame, names)
    rows = zip(*(groups[name].to_pylist() for name in names), strict=True)
    counter = Counter()
    for row, many in zip(rows, [1] * groups.num_rows if often is None else often.tolist(),
                         strict=True):
        counter[tuple(None if value != value else value for value in row)] += many
    return counter


@pytest.mark.parametrize("names", [["c"], ["y", "c"], ["x", "y", "w"], ["day", "at", "z"]])
def test_groups_are_counted_where_the_rows_are(held, arrow, names):
    engine, frame = held
    assert grouped(engine, frame, names) == grouped(LocalEngine(), MemoryFrame(arrow), names)


def test_groups_of_rows_that_are_still_to_be_made(held, arrow, monkeypatch):
    engine, frame = held
    monkeypatch.setattr(local_counts, "_MERGED", 10)
    same = engine.shuffle(engine.map(frame, unchanged, engine.schema(frame)), SEED)
    assert grouped(engine, same, ["y", "c"]) == grouped(LocalEngine(), MemoryFrame(arrow),
                                                        ["y", "c"])
