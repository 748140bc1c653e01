"""Tables that hold values without showing their keys, and the code whose words they become."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.distinguisher import SUSPICIOUS, tell_apart, uniform_like
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.randomness import fresh_words
from unspoken.joint.mpc.sets import linear_code
from unspoken.joint.mpc.sets.key_value_table import cells_for, decode, encode_table
from unspoken.joint.wire.hollow_arrays import dry_running


def some(keys, width=2):
    return fresh_words(4 * keys).reshape(keys, 4), fresh_words(width * keys).reshape(keys, width)


@settings(max_examples=60, deadline=None)
@given(keys=st.integers(1, 3000), width=st.sampled_from([1, 2, 10]))
def test_every_key_decodes_to_its_value(keys, width):
    hashed, values = some(keys, width)
    table = encode_table(hashed, values)
    assert table.shape == (cells_for(keys), width)
    assert np.array_equal(decode(table, hashed, keys), values)


def test_keys_that_cannot_be_peeled_are_solved():
    hashed, values = some(500)
    hashed[:24, :3] = hashed[0, :3]
    assert np.array_equal(decode(encode_table(hashed, values), hashed, 500), values)


def test_too_many_that_cannot_be_peeled_are_refused():
    hashed, values = some(500)
    hashed[:80, :3] = hashed[0, :3]
    with pytest.raises(RefusedError, match="Start the study again"):
        encode_table(hashed, values)


def test_decoding_is_linear_in_the_code():
    hashed, values = some(700)
    table = encode_table(hashed, values)
    assert np.array_equal(decode(linear_code.encode(table), hashed, 700),
                          linear_code.encode(values))


def test_a_table_looks_the_same_whatever_its_keys_are():
    tables = np.array([encode_table(*some(300)).reshape(1, -1) for _ in range(6)])
    assert tell_apart(tables, uniform_like(tables)) > SUSPICIOUS
    # And not if cells that no key needs are left empty.
    blank = tables.copy()
    blank[:, :, ::4] = 0
    assert tell_apart(blank, uniform_like(blank)) < SUSPICIOUS


def weight(words):
    return np.unpackbits(np.ascontiguousarray(words).view(np.uint8), axis=-1).sum(axis=-1)


def test_words_of_the_code_differ_in_128_places():
    """All sums of up to three rows, and many random ones; the proof is in the module."""
    rows = linear_code.generator()
    assert weight(rows).min() >= 128
    pairs = np.array([a ^ b for a, b in combinations(rows, 2)])
    assert weight(pairs).min() >= 128
    assert min(weight(pairs ^ row)[(pairs != row).any(axis=1)].min() for row in rows[::8]) >= 128
    messages = fresh_words(20_000).reshape(-1, 2)
    assert weight(linear_code.encode(messages)).min() >= 128


def test_code_words_are_sums_of_the_rows_that_a_message_selects():
    messages = fresh_words(40).reshape(-1, 2)
    for message, word in zip(messages, linear_code.encode(messages), strict=True):
        bits = np.unpackbits(message.astype("<u8").view(np.uint8), bitorder="little")
        selected = linear_code.generator()[bits == 1]
        assert np.array_equal(word, np.bitwise_xor.reduce(selected, axis=0))


def test_a_dry_run_does_not_empty_the_code():
    linear_code.generator.cache_clear()
    linear_code.tables.cache_clear()
    with dry_running():
        linear_code.encode(np.ones((3, 2), np.uint64))
    assert linear_code.generator().any(axis=1).all()
