"""The random stream is ChaCha20, keyed as it should be, and purposes do not overlap."""

from __future__ import annotations

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms

from unspoken.errors import InputError
from unspoken.numerics import random as source


def keystream(key: bytes, words: int) -> np.ndarray:
    cipher = Cipher(algorithms.ChaCha20(key, bytes(16)), None).encryptor()
    return np.frombuffer(cipher.update(bytes(8 * words)), "<u8")


def test_words_are_the_chacha20_keystream_of_another_library():
    key = bytes(range(32))
    assert np.array_equal(source.words(key, 0, 1000), keystream(key, 1000))


@pytest.mark.parametrize("start", [0, 1, 7, 8, 9, 500, 4097])
def test_words_can_start_anywhere(start):
    key = bytes(range(1, 33))
    assert np.array_equal(source.words(key, start, 50), keystream(key, start + 50)[start:])


def test_generators_of_two_purposes_share_nothing():
    seed = bytes(32)
    first = source.generator(seed, "codes").integers(2**63, size=1000)
    second = source.generator(seed, "order").integers(2**63, size=1000)
    assert not set(first.tolist()) & set(second.tolist())


def test_purposes_are_separated():
    assert source.derive(bytes(32), "a", "bc") != source.derive(bytes(32), "ab", "c")


def test_without_a_random_state_the_operating_system_is_asked(monkeypatch):
    asked = []
    monkeypatch.setattr(source.secrets, "token_bytes", lambda n: asked.append(n) or bytes(n))
    source.seed_from(None)
    assert asked == [32]


def test_fresh_seeds_differ():
    assert source.seed_from(None) != source.seed_from(None)


def test_random_state_is_repeatable():
    assert source.seed_from(3) == source.seed_from(np.int64(3)) != source.seed_from(4)
    one, two = np.random.default_rng(1), np.random.default_rng(1)
    assert source.seed_from(one) == source.seed_from(two)


@pytest.mark.parametrize("wrong", ["x", 1.5, True, b"short"])
def test_other_random_states_are_refused(wrong):
    with pytest.raises(InputError, match="'random_state' must be None, an int or"):
        source.seed_from(wrong)
