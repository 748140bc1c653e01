"""Masks and seeds: the only source of randomness in the joint room.

Fresh secrets come from the operating system (`fresh_seed`, watched by a test). Everything else is
expanded from them: HKDF-SHA256 makes one key per session, operation and direction, and AES-256 in
counter mode (both from `cryptography`) turns a key into words. A key is used for one stream,
from its beginning. numpy's generators are never used here: masks from them are uniform, pass
every statistic, and can be predicted.
"""

from __future__ import annotations

import secrets

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CTR
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from unspoken.arrays import Words
from unspoken.joint.wire.hollow_arrays import blank_words, is_dry

SEED_BYTES = 32
_ZEROS = memoryview(bytes(1 << 16))


def fresh_seed() -> bytes:
    """Return 256 bits from the operating system."""
    return secrets.token_bytes(SEED_BYTES)


def derive(secret: bytes, *purpose: str | int, salt: bytes = b"") -> bytes:
    """Return the key of one purpose; in a dry run, where nothing is drawn, an empty one."""
    if is_dry():
        return bytes(SEED_BYTES)
    info = "\x1f".join(("unspoken joint", *map(str, purpose))).encode()
    return HKDF(SHA256(), SEED_BYTES, salt or None, info).derive(secret)


class Stream:
    """The words of one key, from the first on; every word is handed out once."""

    def __init__(self, key: bytes) -> None:
        if is_dry():
            return
        self._cipher = Cipher(AES(key), CTR(bytes(16))).encryptor()

    def words(self, count: int) -> Words:
        """Return the next words; none are drawn in a dry run."""
        if is_dry():
            blank: Words = blank_words(count)
            return blank
        out = np.empty(count, np.uint64)
        self.fill(out)
        return out

    def fill(self, out: Words) -> None:
        """Put the next words into a contiguous array; much faster into one that is used again."""
        view = memoryview(out.view(np.uint8).data)
        if len(view) <= len(_ZEROS):
            self._cipher.update_into(_ZEROS[:len(view)], view)
            return
        for start in range(0, len(view), len(_ZEROS)):
            size = min(len(_ZEROS), len(view) - start)
            self._cipher.update_into(_ZEROS[:size], view[start:start + size])


def fresh_words(count: int) -> Words:
    """Return words that nobody else can know."""
    return Stream(fresh_seed()).words(count)
