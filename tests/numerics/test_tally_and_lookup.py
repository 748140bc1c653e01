"""Counting and finding values, against plain dictionaries."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspoken.numerics.tally import tally
from unspoken.numerics.value_lookup import Lookup

anything = st.one_of(
    st.lists(st.integers(-300, 300), min_size=1, max_size=50).map(np.array),
    st.lists(st.integers(-2**40, 2**40), min_size=1, max_size=50).map(np.array),
    st.lists(st.integers(2**62, 2**62 + 40), min_size=1, max_size=50).map(np.array),
    st.lists(st.integers(0, 255), min_size=1, max_size=50).map(lambda v: np.array(v, np.uint8)),
    st.lists(st.integers(-99, 99), min_size=1, max_size=50).map(lambda v: np.array(v, float)),
    st.lists(st.floats(-2.0**99, 2.0**99, width=32), min_size=1, max_size=50).map(np.array),
)


@pytest.mark.slow
@given(anything, st.integers(0, 2**32))
def test_tally_counts_by_class(values, seed):
    labels = np.random.default_rng(seed).integers(3, size=values.size)
    distinct, counts = tally(values, labels, 3)
    expected = Counter(zip(values.astype(float).tolist(), labels.tolist(), strict=True))
    found = {(v, c): n for v, row in zip(distinct.tolist(), counts.tolist(), strict=True)
             for c, n in enumerate(row) if n}
    assert found == dict(expected)
    assert np.all(np.diff(distinct) > 0)


@pytest.mark.slow
@given(anything)
def test_tally_without_classes(values):
    distinct, counts = tally(values, None)
    expected, often = np.unique(values.astype(float), return_counts=True)
    assert np.array_equal(distinct, expected)
    assert np.array_equal(counts[:, 0], often)


@pytest.mark.slow
@given(anything)
def test_every_value_is_found(values):
    distinct = np.unique(values.astype(np.float32).astype(np.float64))
    payload = np.random.default_rng(0).integers(-99, 99, distinct.size).astype(np.int32)
    found, missing, strange = Lookup(distinct, payload).find(values)
    expected = dict(zip(distinct.tolist(), payload.tolist(), strict=True))
    assert missing is None
    assert strange is None
    assert found.tolist() == [expected[float(np.float32(v))] for v in values.tolist()]


@pytest.mark.parametrize("known", [[1.0, 2, 9], [1.5, 2.5, 9.25], [-3.0, 0, 9]])
@pytest.mark.parametrize("wrong", [0.5, 3.0, 100.0, -100.0, np.inf])
def test_a_value_that_is_not_there_is_named(known, wrong):
    lookup = Lookup(np.array(known), np.arange(3, dtype=np.int32))
    assert lookup.find(np.array([known[2], wrong]))[2] == wrong


def test_nearest():
    lookup = Lookup(np.array([1.0, 2, 10]), np.arange(3, dtype=np.int32))
    found, _, strange = lookup.find(np.array([-5, 1.4, 5.9, 6.1, 99, np.nan]), nearest=True)
    assert strange is None
    assert found[:5].tolist() == [0, 0, 1, 2, 2]


def test_missing_values_are_marked():
    lookup = Lookup(np.array([1.0, 2]), np.array([7, 8], np.int32))
    found, missing, strange = lookup.find(np.array([2, np.nan, 1]))
    assert missing.tolist() == [False, True, False]
    assert (found[0], found[2], strange) == (8, 7, None)
