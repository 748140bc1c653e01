"""The chain under a ledger: lines that follow each other, written as things happen, and signed.

Every line is one entry, a JSON object with its number and the SHA-256 of the line before it. A line
is handed to the operating system before the party goes on, so that a party that is killed leaves
what it had written; at every signature it is on the disk too. A signature is an entry itself: the
party's Ed25519 key over the number and the hash of the line before it (its head). Who has a signed
head has the whole chain before it: no entry can be changed, dropped or added unnoticed.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from unspoken.joint.joint_errors import LedgerError

HEAD_BYTES, SIGNATURE_BYTES, COUNT_BYTES = 32, 64, 8
SIGNED_BYTES = COUNT_BYTES + HEAD_BYTES + SIGNATURE_BYTES
FIRST = bytes(HEAD_BYTES).hex()
_DOMAIN = b"unspoken ledger head\0"


@dataclass(frozen=True)
class SignedHead:
    """How far a chain went, as its party signed it: `count` entries, the last with this hash."""

    count: int
    head: str
    signature: str

    def to_bytes(self) -> bytes:
        """Return what travels."""
        return (self.count.to_bytes(COUNT_BYTES, "little") + bytes.fromhex(self.head)
                + bytes.fromhex(self.signature))

    @classmethod
    def from_bytes(cls, raw: bytes) -> SignedHead:
        """Read what came; ValueError if it cannot be one."""
        if len(raw) != SIGNED_BYTES:
            raise ValueError("a signed head has another length")
        end = COUNT_BYTES + HEAD_BYTES
        return cls(int.from_bytes(raw[:COUNT_BYTES], "little"), raw[COUNT_BYTES:end].hex(),
                   raw[end:].hex())

    def is_of(self, party: str, key: str) -> bool:
        """Return True if the holder of a key signed it as this party."""
        try:
            Ed25519PublicKey.from_public_bytes(bytes.fromhex(key)).verify(
                bytes.fromhex(self.signature), signed_text(party, self.count, self.head))
        except (InvalidSignature, ValueError):
            return False
        return True


def signed_text(party: str, count: int, head: str) -> bytes:
    """Return the bytes that a signature covers."""
    return _DOMAIN + party.encode() + b"\0" + count.to_bytes(COUNT_BYTES, "little") + bytes.fromhex(
        head)


def line_hash(line: bytes) -> str:
    """Return the hash by which the next entry names a line."""
    return hashlib.sha256(line).hexdigest()


class Chain:
    """One party's entries; in memory, and in a file once it is opened."""

    def __init__(self, party: str) -> None:
        self.party = party
        self.count = 0
        self.head = FIRST
        self._key: Ed25519PrivateKey | None = None
        self._lines: list[bytes] = []
        self._file: int | None = None
        self._ended = False
        self.lock = threading.RLock()

    def __getstate__(self) -> dict[str, Any]:
        """Leave the key, the file and the lock where they are: a copy is there to be read."""
        return self.__dict__ | {"_key": None, "_file": None, "lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, lock=threading.RLock())

    @property
    def key(self) -> Ed25519PrivateKey:
        """Return the key that signs; a party without an identity has one for this run only."""
        self._key = self._key or Ed25519PrivateKey.generate()
        return self._key

    def sign_with(self, key: Ed25519PrivateKey) -> None:
        """Sign with a party's identity from now on."""
        self._key = key

    def open(self, path: Path) -> None:
        """Write to a new file from now on; one that exists, or cannot be written, is refused."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
        with self.lock:
            try:
                self._file = os.open(path, flags, 0o600)
                _write(self._file, b"".join(self._lines))
            except FileExistsError:
                raise LedgerError(f"The ledger '{path}' exists already, and a ledger is never "
                                  "overwritten. Name another file with --ledger.") from None
            except OSError as error:
                raise LedgerError(f"The ledger '{path}' cannot be written: {error.strerror}. Name "
                                  "another file with --ledger. Nothing was sent.") from None
            self._to_disk()

    def add(self, body: str) -> None:
        """Append one entry, unless the chain is closed; `body` is the inside of a JSON object."""
        with self.lock:
            if self._ended:
                return
            line = f'{{"n":{self.count},"prev":"{self.head}",{body}}}\n'.encode()
            self.head = line_hash(line)
            self.count += 1
            self._lines.append(line)
            if self._file is not None:
                _write(self._file, line)

    def note(self, kind: str, **fields: Any) -> None:
        """Append one entry by its fields."""
        inside = json.dumps({"kind": kind, **fields}, separators=(",", ":"), allow_nan=False)
        self.add(inside[1:-1])

    def sign(self) -> SignedHead:
        """Sign all entries so far, append the signature, and see to it that it is on the disk."""
        with self.lock:
            text = signed_text(self.party, self.count, self.head)
            signed = SignedHead(self.count, self.head, self.key.sign(text).hex())
            self.note("signed", sign=signed.signature)
            self._to_disk()
            return signed

    def text(self) -> bytes:
        """Return every line."""
        return b"".join(self._lines)

    def close(self) -> None:
        """Close the file; nothing more comes after the signature that stands last."""
        with self.lock:
            self._ended = True
            if self._file is not None:
                self._to_disk()
                os.close(self._file)
                self._file = None

    def _to_disk(self) -> None:
        if self._file is not None:
            os.fsync(self._file)


def _write(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data):]


def public_hex(key: Ed25519PrivateKey) -> str:
    """Return the public half of a key, as ledgers name it."""
    return key.public_key().public_bytes_raw().hex()
