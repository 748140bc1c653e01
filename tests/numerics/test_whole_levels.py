"""Levels of whole numbers by address are those that a search finds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from unspoken.methods.encoding.code_book import ColumnCode
from unspoken.numerics.label_runs import Pieces
from unspoken.numerics.whole_levels import WholeLevels


def searched(floor, payload, data):
    narrow = data.astype(np.float32).astype(np.float64)
    place = np.searchsorted(floor.astype(np.float64), narrow, "right")
    return payload[np.maximum(place - 1, 0)]


@pytest.mark.slow
@given(arrays.arrays(np.int16, st.integers(1, 40)), arrays.arrays(np.int16, st.integers(1, 60)),
       st.sampled_from(["i2", "i4", "i8", "f4", "f8"]), st.booleans())
def test_addresses_give_what_a_search_gives(starts, data, kind, half):
    floor = np.unique(starts).astype(np.float32) + np.float32(0.5 * half)
    payload = np.arange(floor.size, dtype=np.int32)[::-1].copy()
    found = WholeLevels.over(floor, payload).find(data.astype(kind))
    assert np.array_equal(found, searched(floor, payload, data))
    unsigned = np.abs(data.astype(np.int64)).astype(np.uint16)
    assert np.array_equal(WholeLevels.over(floor, payload).find(unsigned),
                          searched(floor, payload, unsigned))


@pytest.mark.parametrize("data", [
    np.array([1.5]), np.array([np.nan, 1.0]), np.array([np.inf]), np.array([2**24]),
    np.array([-(2**40)]), np.zeros(0), np.array([1e300]), np.array(["1"])])
def test_other_numbers_are_left_to_the_search(data):
    levels = WholeLevels.over(np.array([0, 5], np.float32), np.array([7, 8], np.int32))
    assert levels.find(data) is None


@pytest.mark.parametrize("floor", [[], [0, 2**24], [-np.inf, 1], [0, 2**23 + 2**22]])
def test_levels_that_reach_too_far_have_no_table(floor):
    levels = WholeLevels.over(np.array(floor, np.float32), np.arange(len(floor), dtype=np.int32))
    assert levels is None or levels.table.size <= 2**24


def test_a_column_gives_the_same_codes_either_way():
    values = np.arange(0.0, 100.0, 10.0)
    pieces = Pieces(np.array([0]), np.zeros(1, bool), 10)
    column = ColumnCode("a", "a", values, np.arange(10) * 3 + 1, pieces, np.zeros(1, bool),
                        np.zeros(1, int), np.zeros(1, int), b"", False, values - 4)
    data = np.arange(-20, 130).astype(np.int16)
    quick, missing = column.encode(data)
    assert missing is None
    slow, _ = column.encode(data.astype(np.float64) + 0.001)
    assert np.array_equal(quick, slow)
    gaps, missing = column.encode(np.array([np.nan, 10.0]))
    assert missing.tolist() == [True, False]
    assert gaps[1] == quick[30]
