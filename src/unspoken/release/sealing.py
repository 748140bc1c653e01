"""Sealing bytes with a passphrase: Argon2id and AES-256-GCM from `cryptography`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from unspoken.errors import DamagedKeyError, InputError, PassphraseError

_MEMORY_KIB = 64 * 1024
_ITERATIONS = 3
_LANES = 4
_LIMITS = {"memory_kib": 256 * 1024, "iterations": 8, "lanes": 8}
"""What a file may ask for: four times the memory that is asked for here, and no gibibyte."""

_MAX_BYTES = 2**31 - 64


def _derive(passphrase: str, salt: bytes, cost: Mapping[str, Any]) -> bytes:
    from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

    kdf = Argon2id(salt=salt, length=32, iterations=cost["iterations"], lanes=cost["lanes"],
                   memory_cost=cost["memory_kib"])
    return kdf.derive(passphrase.encode())


def seal(body: bytes, passphrase: str, aad: bytes) -> tuple[dict[str, Any], bytes]:
    """Return how the body was sealed, and the sealed body."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    if len(body) > _MAX_BYTES:
        raise InputError(
            f"A sealed key must be below 2 GiB. Got {len(body)} bytes. "
            "Save it without a passphrase on an encrypted disk."
        )
    salt, nonce = os.urandom(16), os.urandom(12)
    how = {"kdf": "argon2id", "memory_kib": _MEMORY_KIB, "iterations": _ITERATIONS,
           "lanes": _LANES, "salt": salt.hex(), "cipher": "aes-256-gcm", "nonce": nonce.hex()}
    return how, AESGCM(_derive(passphrase, salt, how)).encrypt(nonce, body, aad)


def open_sealed(body: bytes, passphrase: str, how: Any, aad: bytes) -> bytes:
    """Open a sealed body, or say that the passphrase is wrong."""
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    salt, nonce = _checked(how)
    try:
        return AESGCM(_derive(passphrase, salt, how)).decrypt(nonce, body, aad)
    except InvalidTag:
        raise PassphraseError(
            "The passphrase does not open this key. Check it, or whether this is the right file."
        ) from None


def _checked(how: Any) -> tuple[bytes, bytes]:
    """Bound what a file may ask of the machine before doing it."""
    try:
        known = how["kdf"] == "argon2id" and how["cipher"] == "aes-256-gcm"
        sane = all(type(how[k]) is int and 0 < how[k] <= top for k, top in _LIMITS.items())
        sane = sane and how["memory_kib"] >= 8 * how["lanes"]
        salt, nonce = bytes.fromhex(how["salt"]), bytes.fromhex(how["nonce"])
    except (KeyError, TypeError, ValueError):
        known = sane = False
    if not (known and sane and len(salt) == 16 and len(nonce) == 12):
        raise DamagedKeyError("The sealing parameters of the key file are not valid.")
    return salt, nonce
