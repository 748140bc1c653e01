"""Cutting and joining runs of rows never loses, repeats or reorders a row."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspoken.table.engines.runs import blocks, numbered, picked


def runs_of(sizes):
    rows = np.arange(sum(sizes))
    ends = np.cumsum(sizes)
    return [pa.record_batch({"n": rows[end - size:end]})
            for end, size in zip(ends, sizes, strict=True)]


@pytest.mark.slow
@given(st.lists(st.integers(0, 40), min_size=1, max_size=12), st.integers(1, 50))
def test_blocks_begin_at_multiples_and_are_whole(sizes, size):
    cut = list(blocks(numbered(runs_of(sizes)), size))
    assert [start for start, _ in cut] == list(range(0, sum(sizes), size))
    assert [n for _, batch in cut for n in batch.column("n").to_pylist()] == list(range(sum(sizes)))
    assert all(batch.num_rows == size for _, batch in cut[:-1])


@pytest.mark.slow
@given(st.lists(st.integers(1, 30), min_size=2, max_size=8), st.integers(1, 20), st.randoms())
def test_runs_with_gaps_between_them_are_not_joined(sizes, size, random):
    runs = [run for run in numbered(runs_of(sizes)) if random.random() < 0.6]
    cut = list(blocks(runs, size))
    numbers = [n for _, batch in cut for n in batch.column("n").to_pylist()]
    assert numbers == [n for _, batch in runs for n in batch.column("n").to_pylist()]
    assert all(batch.column("n").to_pylist() == list(range(start, start + batch.num_rows))
               for start, batch in cut)
    assert all(start // size == (start + batch.num_rows - 1) // size for start, batch in cut)


@pytest.mark.slow
@given(st.lists(st.integers(0, 40), min_size=1, max_size=8), st.data())
def test_picked_rows_are_those_asked_for(sizes, data):
    total = sum(sizes)
    rows = np.array(sorted(data.draw(st.lists(st.integers(0, max(total - 1, 0)), max_size=9)))
                    if total else [], np.int64)
    chosen = [n for _, batch in picked(numbered(runs_of(sizes)), rows)
              for n in batch.column("n").to_pylist()]
    assert chosen == rows.tolist()
