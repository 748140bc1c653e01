"""The local engine gives the same answers in memory and over files, in any batch size."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import unspoken
from unspoken.numerics import shuffle
from unspoken.protect import PiecewiseEncoder
from unspoken.table.engines import prefetch as ahead_module
from unspoken.table.engines.local import LocalEngine
from unspoken.table.engines.prefetch import ahead
from unspoken.table.table import Table


def write(path, rows=5000, seed=3):
    rng = np.random.default_rng(seed)
    table = pa.table({
        "x": rng.integers(-50, 50, rows),
        "z": np.where(rng.random(rows) < 0.05, np.nan, rng.normal(size=rows).round(2)),
        "c": rng.choice(["u", "v", None], rows),
        "y": rng.integers(0, 3, rows),
    })
    pq.write_table(table, path)
    return table


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["strict", "max-mono", "anti"])
@pytest.mark.parametrize("monochromatic", ["permutation", "record"])
@pytest.mark.parametrize("batch_rows", [64, 777, 1 << 19])
def test_a_file_gives_the_same_release_as_memory(
    tmp_path, monkeypatch, mode, monochromatic, batch_rows
):
    monkeypatch.setattr(shuffle, "BUCKET_ROWS", 1000)
    arrow = write(tmp_path / "t.parquet")
    encoder = PiecewiseEncoder(mode, monochromatic=monochromatic, random_state=5,
                               categorical="relabel", neutral_names=True)
    memory, key = encoder.protect(unspoken.read(arrow, target="y"))
    lazy = unspoken.read(tmp_path / "t.parquet", target="y", lazy=True)
    lazy = Table(lazy.schema, lazy.frame, LocalEngine(batch_rows=batch_rows))
    over_file, file_key = encoder.protect(lazy)
    saved = over_file.save(tmp_path / "r")
    assert saved.table.arrow().equals(memory.table.arrow())
    assert saved.fingerprint == memory.fingerprint
    assert file_key.secrets == key.secrets


@pytest.mark.slow
def test_collecting_described_work(tmp_path):
    arrow = write(tmp_path / "t.parquet")
    engine = LocalEngine(batch_rows=100)
    frame = engine.scan(f"read_parquet('{tmp_path / 't.parquet'}')")
    schema = pa.schema([("n", pa.int64())])
    starts = []

    def number(batch, start):
        starts.append(start)
        return pa.record_batch([pa.array(range(start, start + batch.num_rows))], schema=schema)

    numbered = engine.map(frame, number, schema)
    assert engine.rows(numbered) == arrow.num_rows
    assert engine.collect(numbered)["n"].to_pylist() == list(range(arrow.num_rows))
    assert len(starts) > 10
    seed = bytes(32)
    mixed = engine.shuffle(numbered, seed)
    assert engine.collect(mixed)["n"].to_pylist() == shuffle.permutation(seed, 5000).tolist()
    again = engine.shuffle(mixed, seed)
    assert sorted(engine.collect(again)["n"].to_pylist()) == list(range(5000))
    counted = engine.counts(mixed, ["n"], None)["n"]
    assert counted.by_value.sum() == 5000


def test_spilled_rows_leave_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    import tempfile

    monkeypatch.setattr(tempfile, "tempdir", None)
    write(tmp_path / "t.parquet")
    engine = LocalEngine(batch_rows=100)
    frame = engine.scan(f"read_parquet('{tmp_path / 't.parquet'}')")

    def fail(batch, start):
        if start > 2000:
            raise ValueError("in the middle")
        return batch

    broken = engine.shuffle(engine.map(frame, fail, frame.schema), bytes(32))
    with pytest.raises(ValueError, match="in the middle"):
        engine.write(broken, str(tmp_path / "out.parquet"))
    assert list((tmp_path / "tmp").iterdir()) == []


def test_ahead_keeps_order_and_hands_on_errors():
    assert list(ahead(iter(range(100)))) == list(range(100))

    def broken():
        yield 1
        raise KeyError("later")

    items = ahead(broken())
    assert next(items) == 1
    with pytest.raises(KeyError, match="later"):
        next(items)


def test_ahead_stops_when_its_reader_stops():
    made = []

    def many():
        for item in range(10**6):
            made.append(item)
            yield item

    items = ahead(many())
    assert next(items) == 0
    items.close()
    assert len(made) <= ahead_module._DEPTH + 3


def test_progress_counts_every_row(tmp_path):
    write(tmp_path / "t.parquet")
    engine = LocalEngine(batch_rows=100)
    seen = []
    engine.write(engine.scan(f"read_parquet('{tmp_path / 't.parquet'}')"),
                 str(tmp_path / "out.parquet"), seen.append)
    assert sum(seen) == 5000
