"""The rows that LightGBM samples, against the library's own answer."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from lightgbm.basic import _LIB

from unspoken.methods.encoding.decode.lightgbm_sample import sample_rows


def asked(rows, count, seed):
    out = np.empty(count, np.int32)
    length = ctypes.c_int32(0)
    words = f"data_random_seed={seed} bin_construct_sample_cnt={count}".encode()
    code = _LIB.LGBM_SampleIndices(ctypes.c_int32(rows), ctypes.c_char_p(words),
                                   out.ctypes.data_as(ctypes.c_void_p), ctypes.byref(length))
    assert code == 0
    return out[: length.value]


@pytest.mark.parametrize(("rows", "count", "seed"), [
    (300, 100, 1), (250_000, 200_000, 1), (100_000, 50, 7), (5000, 4999, 3), (10, 1, 2),
    (200_000, 1000, 123), (400_000, 200_000, 2**31 - 1), (17, 16, 0), (100, 2, 99),
])
def test_the_same_rows(rows, count, seed):
    assert np.array_equal(sample_rows(rows, count, seed), asked(rows, count, seed))


def test_everything_and_nothing():
    assert sample_rows(5, 5, 1).tolist() == [0, 1, 2, 3, 4]
    assert sample_rows(5, 9, 1).tolist() == [0, 1, 2, 3, 4]
    assert sample_rows(5, 0, 1).tolist() == []
