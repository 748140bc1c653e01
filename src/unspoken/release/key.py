"""Key: what only the custodian holds.

A key file is `UNSPOKEN`, a version, two lengths, a JSON header, a body and the SHA-256 of all
that. The body is a JSON description followed by raw arrays. With a passphrase the body is sealed
with AES-256-GCM under a key from Argon2id (both from `cryptography`), and the header is
authenticated with it. The checksum distinguishes accidental damage from a wrong passphrase; it
does not protect against a person who can write the file.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.errors import (
    DamagedKeyError,
    ForeignKeyError,
    InputError,
    KeyFileError,
    KeyVersionError,
    NotAKeyError,
    PassphraseError,
    TruncatedKeyError,
)
from unspoken.release.release_seal import SECRET, check_release
from unspoken.release.sealing import open_sealed, seal
from unspoken.table.atomic_files import named_path, write_file

MAGIC = b"UNSPOKEN"
VERSION = 1
_FRONT = struct.Struct("<8sIIQ")
_DIGEST = 32
_MAX_HEAD = 1 << 16
_DTYPES = ("<f8", "<i8", "<i4", "|u1")


@dataclass(frozen=True, repr=False)
class Key:
    """The secret side of a release. Keep it where the original is kept; never send it.

    Attributes
    ----------
    mechanism : str
        The name of the method.
    fingerprint : str
        The release that it belongs to.
    secrets : mapping
        Seeds and other small secrets; never shown by `repr`.
    arrays : mapping of str to array
        Secret arrays, such as the values behind codes.

    Examples
    --------
    >>> key.save("records.key", passphrase="...")  # doctest: +SKIP
    >>> Key.load("records.key", passphrase="...")  # doctest: +SKIP
    """

    mechanism: str
    fingerprint: str
    secrets: Mapping[str, Any] = field(repr=False)
    arrays: Mapping[str, npt.NDArray[Any]] = field(repr=False)

    def __repr__(self) -> str:
        return f"Key({self.mechanism!r}, release {self.fingerprint[:12] or 'none'}, secrets hidden)"

    def fits(self, release: Any) -> None:
        """Raise ForeignKeyError unless this is the key of that release.

        ReleaseError says which part of it was changed after it was made: labels, values or its
        description.
        """
        if release.fingerprint != self.fingerprint:
            raise ForeignKeyError(
                f"The key must belong to this release ({release.fingerprint[:12]}). "
                f"Got the key of release {self.fingerprint[:12] or 'none'}. Use the key that was "
                "written when this release was made."
            )
        secret = self.secrets.get(SECRET)
        if secret is not None:
            check_release(_seal_secret(secret), release)

    def with_seal(self, secret: bytes) -> Key:
        """Return the key of a release that is sealed with a secret."""
        return replace(self, secrets={**self.secrets, SECRET: secret.hex()})

    def save(self, path: str | os.PathLike[str], passphrase: str | None = None,
             overwrite: bool = False) -> None:
        """Write the key file, readable by its owner only, sealed if a passphrase is given."""
        if passphrase is not None and not passphrase:
            raise InputError("A passphrase must not be empty. Leave it out for an unsealed key.")
        try:
            write_file(named_path(path), self._parts(passphrase), 0o600, overwrite)
        except FileExistsError:
            raise KeyFileError(
                f"'{path}' must not exist yet. A key that is overwritten is lost, and with it "
                "the only way to decode. Choose another name, or use overwrite=True."
            ) from None

    def _parts(self, passphrase: str | None) -> list[Any]:
        """Return the file in parts: the arrays of a large table are never put together."""
        header: dict[str, Any] = {"mechanism": self.mechanism, "fingerprint": self.fingerprint}
        body = _pack(self.secrets, self.arrays)
        if passphrase is not None:
            header["sealed"], sealed = seal(b"".join(body), passphrase, _aad(header))
            body = [sealed]
        head = json.dumps(header, sort_keys=True).encode()
        front = _FRONT.pack(MAGIC, VERSION, len(head), sum(memoryview(b).nbytes for b in body))
        checksum = hashlib.sha256()
        for part in (front, head, *body):
            checksum.update(part)
        return [front, head, *body, checksum.digest()]

    @classmethod
    def load(cls, path: str | os.PathLike[str], passphrase: str | None = None) -> Key:
        """Read a key file; every way in which it can be wrong is an error of its own."""
        try:
            data = _read(named_path(path))
        except OSError as error:
            raise KeyFileError(f"'{path}' must be a readable key file. {error.strerror}.") from None
        header, body = _open(data)
        if header.get("sealed") is None and passphrase is not None:
            raise PassphraseError(f"'{path}' is not sealed: anyone who reads it has its secrets. "
                                  "Leave the passphrase out, or save the key again with one.")
        if header.get("sealed") is not None:
            if passphrase is None:
                raise PassphraseError(f"'{path}' is sealed. Give the passphrase it was saved with.")
            body = open_sealed(body, passphrase, header.pop("sealed"), _aad(header))
        secrets, arrays = _unpack(body)
        return cls(str(header["mechanism"]), str(header["fingerprint"]), secrets, arrays)


def _seal_secret(text: Any) -> bytes:
    try:
        secret = bytes.fromhex(text)
    except (TypeError, ValueError):
        secret = b""
    if len(secret) != 32:
        raise DamagedKeyError("The key's secret for sealing releases cannot be read.")
    return secret


def _aad(header: Mapping[str, Any]) -> bytes:
    return json.dumps([header["mechanism"], header["fingerprint"]]).encode()


def _read(path: Path) -> bytes:
    """Return the file; what is no key, or longer than it says, is never read whole."""
    with path.open("rb") as file:
        front = file.read(_FRONT.size)
        if len(front) < _FRONT.size or front[:8] != MAGIC:
            return front
        _, _, head_size, body_size = _FRONT.unpack(front)
        if head_size > _MAX_HEAD:
            raise DamagedKeyError(f"The key file's header must be at most {_MAX_HEAD} bytes long. "
                                  f"Got {head_size}. Restore an intact copy.")
        if path.stat().st_size > _FRONT.size + head_size + body_size + _DIGEST:
            raise DamagedKeyError("The key file is longer than it says. Restore an intact copy.")
        return front + file.read()


def _open(data: bytes) -> tuple[dict[str, Any], bytes]:
    if data[:8] != MAGIC[: len(data)] or not data:
        raise NotAKeyError("The file must be a key file of unspoken. It does not start like one.")
    if len(data) < _FRONT.size:
        raise TruncatedKeyError("The key file ends inside its first bytes. Restore a full copy.")
    _, version, head_size, body_size = _FRONT.unpack_from(data)
    end = _FRONT.size + head_size + body_size
    if len(data) < end + _DIGEST:
        raise TruncatedKeyError(
            f"The key file must be {end + _DIGEST} bytes long. Got {len(data)}. "
            "Restore a full copy."
        )
    if hashlib.sha256(data[:end]).digest() != data[end:]:
        raise DamagedKeyError("The key file's checksum does not match. Restore an intact copy.")
    if version > VERSION:
        raise KeyVersionError(
            f"The key file must be of version {VERSION} or older. Got version {version}. "
            "Install a newer unspoken."
        )
    return _header(data[_FRONT.size : _FRONT.size + head_size]), data[end - body_size : end]


def _header(raw: bytes) -> dict[str, Any]:
    try:
        header = json.loads(raw)
        header["mechanism"], header["fingerprint"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise DamagedKeyError("The key file's header cannot be read.") from None
    return dict(header)


def _pack(secrets: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> list[Any]:
    index, parts = [], []
    for name, array in arrays.items():
        flat = np.ascontiguousarray(array)
        little = flat.astype(flat.dtype.newbyteorder("<"), copy=False)
        index.append([name, little.dtype.str, list(little.shape)])
        # Memory views cannot look at arrays without elements.
        parts.append(little.reshape(-1).data.cast("B") if little.size else b"")
    head = json.dumps({"secrets": dict(secrets), "arrays": index}, allow_nan=False).encode()
    return [struct.pack("<Q", len(head)), head, *parts]


def _unpack(body: bytes) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    try:
        (size,) = struct.unpack_from("<Q", body)
        head = json.loads(body[8 : 8 + size])
        arrays, start = {}, 8 + size
        for name, dtype, shape in head["arrays"]:
            if dtype not in _DTYPES or any(int(n) < 0 for n in shape):
                raise ValueError(dtype)
            count = int(np.prod(shape, dtype=object))
            arrays[str(name)] = np.frombuffer(body, dtype, count, start).reshape(shape)
            start += count * np.dtype(dtype).itemsize
        return dict(head["secrets"]), arrays
    except (ValueError, KeyError, TypeError, struct.error, RecursionError, OverflowError):
        raise DamagedKeyError("The key file's contents cannot be read.") from None
