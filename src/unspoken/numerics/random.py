"""Randomness that protects somebody.

numpy's own generators can be predicted from their output. Everything that protects a person is
drawn from ChaCha with 20 rounds (randomgen), keyed directly with 256 bits: from the operating
system, or from `random_state` in tests and experiments. One seed serves many purposes: each
named purpose gets a key of its own through keyed BLAKE2b, so streams never overlap and the order
in which they are used does not matter.
"""

from __future__ import annotations

import hashlib
import numbers
import secrets
from typing import Any

import numpy as np
import numpy.typing as npt
from randomgen import ChaCha

from unspoken.errors import InputError, explain

SEED_BYTES = 32
ROUNDS = 20


def fresh_seed() -> bytes:
    """Return 256 bits from the operating system."""
    return secrets.token_bytes(SEED_BYTES)


def seed_from(random_state: Any) -> bytes:
    """Turn a `random_state` into a seed; None asks the operating system."""
    if random_state is None:
        return fresh_seed()
    if isinstance(random_state, bytes) and len(random_state) == SEED_BYTES:
        return random_state
    if isinstance(random_state, numbers.Integral) and not isinstance(random_state, bool):
        text = f"unspoken random_state {int(random_state)}".encode()
        return hashlib.blake2b(text, digest_size=SEED_BYTES).digest()
    if isinstance(random_state, np.random.Generator | np.random.RandomState):
        return random_state.bytes(SEED_BYTES)
    raise InputError(
        explain("'random_state'", "None, an int or a numpy generator", random_state,
                "Leave it out to draw from the operating system.")
    )


def derive(seed: bytes, *purpose: str | int) -> bytes:
    """Derive the seed of one named purpose from a seed."""
    label = "\x1f".join(str(part) for part in purpose).encode()
    return hashlib.blake2b(label, key=seed, digest_size=SEED_BYTES).digest()


def generator(seed: bytes, *purpose: str | int) -> np.random.Generator:
    """Return the ChaCha20 generator of one named purpose."""
    return np.random.Generator(_chacha(derive(seed, *purpose) if purpose else seed))


def words(seed: bytes, start: int, count: int) -> npt.NDArray[np.uint64]:
    """Return `count` 64-bit words of a seed's stream from word `start` on."""
    return np.asarray(_chacha(seed, start).random_raw(count), np.uint64)


def shares(words: npt.NDArray[np.uint64]) -> npt.NDArray[np.float64]:
    """Turn 64-bit words into uniform numbers between 0 and 1, one each; neither end can be hit."""
    return np.asarray((words >> np.uint64(12)) * 2.0**-52 + 2.0**-53)


def replayed(seed: bytes, *purpose: str | int) -> np.random.Generator:
    """Return numpy's own generator of one named purpose, for experiments: it protects nobody."""
    return np.random.default_rng(int.from_bytes(derive(seed, *purpose), "little"))


def _chacha(key: bytes, start: int = 0) -> ChaCha:
    # randomgen counts its ChaCha counter in 32-bit words.
    return ChaCha(key=int.from_bytes(key, "little"), counter=2 * start, rounds=ROUNDS)
