"""Row orders are permutations, uniform, and the same however the rows are batched."""

from __future__ import annotations

import numpy as np
import pytest

from unspoken.numerics import shuffle


@pytest.mark.parametrize("rows", [0, 1, 2, 1000])
def test_small_tables_are_one_bucket(rows):
    order = shuffle.permutation(bytes(32), rows)
    assert np.array_equal(np.sort(order), np.arange(rows))


def test_many_buckets_still_give_a_permutation(monkeypatch):
    monkeypatch.setattr(shuffle, "BUCKET_ROWS", 100)
    order = shuffle.permutation(bytes(32), 12345)
    assert np.array_equal(np.sort(order), np.arange(12345))


def test_buckets_do_not_depend_on_batches():
    whole = shuffle.BucketStream(bytes(32), 10**7).deal(1000)
    stream = shuffle.BucketStream(bytes(32), 10**7)
    parts = np.concatenate([stream.deal(n) for n in (1, 7, 300, 692)])
    assert np.array_equal(whole, parts)
    assert whole.max() < shuffle.buckets_for(10**7) == 10


@pytest.mark.slow
@pytest.mark.parametrize("bucket_rows", [1, 2, 100])
def test_all_orders_of_four_rows_are_equally_likely(monkeypatch, bucket_rows):
    monkeypatch.setattr(shuffle, "BUCKET_ROWS", bucket_rows)
    trials = 4800
    seen: dict[tuple[int, ...], int] = {}
    for trial in range(trials):
        order = tuple(shuffle.permutation(trial.to_bytes(32, "big"), 4).tolist())
        seen[order] = seen.get(order, 0) + 1
    counts = np.array(list(seen.values()))
    chi_square = ((counts - 200) ** 2 / 200).sum()
    # 23 degrees of freedom: 53.2 is exceeded once in 3,000.
    assert len(seen) == 24
    assert chi_square < 53.2
