"""Columns of any type as codes."""

from __future__ import annotations

import datetime

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspoken.table.category_codes import coded, coded_array


@pytest.mark.slow
@given(st.lists(st.one_of(st.none(), st.integers(-5, 5)), max_size=30))
def test_codes_are_ranks_and_missing_comes_last(values):
    found = coded(pa.array(values, pa.int32()))
    known = sorted({value for value in values if value is not None})
    assert found.values() == known
    assert found.codes.tolist() == [len(known) if v is None else known.index(v) for v in values]


@pytest.mark.parametrize("column", [
    pa.chunked_array([["b", None], ["a", "b"]]),
    pa.array(["b", None, "a", "b"]).dictionary_encode(),
    pa.array([2.5, float("nan"), 0.5, 2.5]), pa.array([True, None, False, True]),
    pa.array([datetime.date(2002, 1, 1), None, datetime.date(2001, 1, 1),
              datetime.date(2002, 1, 1)]),
    pa.chunked_array([pa.array(["b", None, "a", "b"]).dictionary_encode()]),
], ids=str)
def test_every_type_is_coded_alike(column):
    found = coded(column)
    assert found.codes.tolist() == [1, 2, 0, 1]
    assert found.missing == 2


def test_nothing_and_only_missing():
    assert coded(pa.chunked_array([], pa.string())).codes.tolist() == []
    assert coded(pa.nulls(2)).codes.tolist() == [0, 0]
    assert coded_array(np.array(["x", "w", "x"], dtype=object)).codes.tolist() == [1, 0, 1]
