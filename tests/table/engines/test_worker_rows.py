"""What runs on Spark's workers, run here: any parting of the rows ends in the same order."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.engine_maps import NUMBERS, SUMS, add_up, number
from unspoken.errors import UnspokenError
from unspoken.numerics import shuffle
from unspoken.table.engines.spark.spark_engine import _complete, _refuse_gaps
from unspoken.table.engines.spark.worker_rows import (
    ROW,
    BucketRows,
    Dealing,
    InOrder,
    MappedRows,
    Packing,
    Shuffled,
    SourceRows,
    Summing,
    unpack,
)

SEED = bytes(range(32))
SOURCE = SourceRows(("x",))


def parted(rows, cuts, order):
    """Return the tasks of a job: batches of numbered rows, cut anywhere and in any order."""
    whole = pa.record_batch({"x": np.arange(rows) * 0.5, ROW: np.arange(rows)})
    ends = [0, *sorted(cuts), rows]
    parts = [whole.slice(low, high - low) for low, high in pairwise(ends)]
    return [[parts[index]] for index in np.random.default_rng(order).permutation(len(parts))]


def exchanged(tasks, dealing):
    """Do what Spark does between two stages: move packed runs to their bucket, and sort them."""
    packed = pa.Table.from_batches([batch for task in tasks for batch in dealing(task)])
    packed = packed.sort_by([("bucket", "ascending"), ("start", "ascending")])
    return packed.to_batches(max_chunksize=2)


def shuffled(rows, buckets):
    dealt = shuffle.BucketStream(SEED, rows, 0, buckets).deal(rows)
    return Shuffled(SEED, tuple(np.bincount(dealt, minlength=buckets).tolist()))


@pytest.mark.slow
@given(st.integers(1, 300), st.lists(st.integers(0, 300), max_size=6), st.integers(0, 9),
       st.integers(1, 5), st.booleans())
def test_any_parting_of_the_rows_gives_one_order(rows, cuts, order, buckets, in_order):
    chosen = InOrder(-(-rows // 70), 70) if in_order else shuffled(rows, buckets)
    tasks = parted(rows, [min(cut, rows) for cut in cuts], order)
    moved = exchanged(tasks, Dealing(MappedRows(SOURCE, number), chosen))
    runs = list(BucketRows(chosen, NUMBERS)(moved))
    numbers = [n for batch in _complete(iter(runs), rows) for n in batch.column(0).to_pylist()]
    if in_order:
        assert numbers == list(range(rows))
    else:
        dealt = shuffle.BucketStream(SEED, rows, 0, buckets).deal(rows)
        assert numbers == [n for bucket in range(buckets) for n in np.flatnonzero(dealt == bucket)[
            shuffle.inside(SEED, bucket, int((dealt == bucket).sum()))].tolist()]


@pytest.mark.slow
@given(st.integers(1, 300), st.lists(st.integers(0, 300), max_size=6), st.integers(0, 9),
       st.integers(1, 90))
def test_summaries_of_whole_blocks_and_the_rest_as_rows(rows, cuts, order, block):
    tasks = parted(rows, [min(cut, rows) for cut in cuts], order)
    packed = [row for task in tasks for batch in Summing(SOURCE, add_up, block, rows)(task)
              for row in batch.to_pylist()]
    packed.sort(key=lambda row: row["start"])
    _refuse_gaps([(row["start"], row["rows"]) for row in packed], rows)
    for row in packed:
        if row["bucket"] == 0:
            made = unpack(row["payload"], SUMS).to_pylist()[0]
            assert made["start"] % block == 0
            assert made["rows"] == min(block, rows - made["start"])


def test_a_bucket_with_other_rows_than_were_drawn_is_refused():
    chosen = shuffled(100, 3)
    tasks = parted(100, [40], 0)
    missing = exchanged(tasks[:1], Dealing(SOURCE, chosen))
    with pytest.raises(UnspokenError, match="The source changed meanwhile"):
        list(BucketRows(chosen, pa.schema([("x", pa.float64())]))(missing))


@pytest.mark.parametrize("runs", [
    [], [(0, 5)], [(0, 5), (6, 4)], [(0, 5), (5, 6)], [(5, 5), (0, 5)], [(0, 5), (0, 5)]])
def test_rows_that_do_not_follow_each_other_are_refused(runs):
    batches = ((start, pa.record_batch({"n": range(size)})) for start, size in runs)
    with pytest.raises(UnspokenError, match="must deliver all 10 rows"):
        list(_complete(batches, 10))
    with pytest.raises(UnspokenError, match="must deliver all 10 rows"):
        _refuse_gaps(runs, 10)


def test_large_runs_are_packed_in_pieces(monkeypatch):
    monkeypatch.setattr("unspoken.table.engines.spark.worker_rows.MOST_BYTES", 200)
    batches = list(Packing(SOURCE)(parted(100, [], 0)[0]))
    rows = [row for batch in batches for row in batch.to_pylist()]
    assert len(rows) > 3
    _refuse_gaps([(row["start"], row["rows"]) for row in rows], 100)
