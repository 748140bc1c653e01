"""Signing a file with Ed25519, so that whoever keeps it can show that nobody changed it.

The signature lies beside the file as FILE.sig, a small JSON document with the public key. It shows
that the file is what the holder of the private key signed, not who that is: compare the
fingerprint, or pass the public key that you already have.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import (
    Ed25519PrivateKey,
    Ed25519PublicKey,
)

from unspoken.errors import InputError, KeyFileError, PassphraseError
from unspoken.table.atomic_files import named_path, write_file

FORMAT, VERSION, ALGORITHM = "unspoken-signature", 1, "Ed25519"
SUFFIX = ".sig"
_LARGEST = 1 << 16
_RAW = (serialization.Encoding.Raw, serialization.PublicFormat.Raw)


@dataclass(frozen=True)
class Signature:
    """Whether a file is as it was signed, by which key and when; true if it is.

    Attributes
    ----------
    valid : bool
        True if the file was not changed.
    fingerprint : str
        SHA-256 of the public key.
    signed_at : str
        When it was signed, by the clock of the signer.
    reason : str
        Why it is not valid.
    """

    valid: bool
    fingerprint: str
    signed_at: str
    reason: str = ""

    def __bool__(self) -> bool:
        return self.valid


def new_signing_key(path: Path | str, passphrase: str | None = None) -> str:
    """Write a new private key (mode 0600) and return its fingerprint; nothing is replaced."""
    key = Ed25519PrivateKey.generate()
    sealed = serialization.NoEncryption() if passphrase is None else \
        serialization.BestAvailableEncryption(passphrase.encode())
    data = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, sealed)
    try:
        write_file(named_path(path), data, 0o600, overwrite=False)
    except FileExistsError:
        raise KeyFileError(f"'{path}' must not exist yet. A signing key is never replaced: leave "
                           "--new-key out to sign with it.") from None
    return fingerprint_of(key.public_key())


def sign_file(path: Path | str, key: Path | str, passphrase: str | None = None) -> Signature:
    """Sign a file; the signature is written beside it as FILE.sig.

    A signature of the same key is renewed; that of another key is never replaced.
    """
    private = _private(Path(key), passphrase)
    _refuse_other_signer(signature_path(path), fingerprint_of(private.public_key()))
    at = datetime.now(UTC).isoformat(timespec="seconds")
    digest = _digest(named_path(path))
    message = _message(digest, at)
    document = {"format": FORMAT, "version": VERSION, "algorithm": ALGORITHM, "sha256": digest,
                "signed_at": at, "public_key": private.public_key().public_bytes(*_RAW).hex(),
                "signature": private.sign(message).hex()}
    write_file(signature_path(path), json.dumps(document, indent=2).encode(), 0o600)
    return Signature(True, fingerprint_of(private.public_key()), at)


def verify_file(path: Path | str, fingerprint: str | None = None) -> Signature:
    """Return whether a file is as it was signed, by the key of a fingerprint if one is given."""
    document = _document(signature_path(path))
    try:
        public = Ed25519PublicKey.from_public_bytes(bytes.fromhex(document["public_key"]))
        sign, at = bytes.fromhex(document["signature"]), str(document["signed_at"])
    except (KeyError, TypeError, ValueError):
        raise InputError(f"'{signature_path(path)}' must be a signature of unspoken. A field of it "
                         "cannot be read.") from None
    mine = fingerprint_of(public)
    digest = _digest(named_path(path))
    stated = (document.get("algorithm"), document.get("version"), document.get("sha256"))
    try:
        public.verify(sign, _message(digest, at))
    except InvalidSignature:
        stated = (None, None, None)
    if stated != (ALGORITHM, VERSION, digest):
        return Signature(False, mine, at, "the file or its signature was changed after signing")
    if fingerprint is not None and not mine.startswith(_plain(fingerprint)):
        return Signature(False, mine, at, "it was signed with another key than the one you named")
    return Signature(True, mine, at)


def _refuse_other_signer(place: Path, mine: str) -> None:
    """Refuse to replace what somebody else signed."""
    if not place.exists():
        return
    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(_document(place)["public_key"]))
    except (KeyError, TypeError, ValueError, InputError):
        raise InputError(f"'{place}' must not exist yet, or be a signature of the same key. It "
                         "cannot be read; remove it first.") from None
    if fingerprint_of(key) != mine:
        raise InputError(f"'{place}' holds the signature of another key ({fingerprint_of(key)}), "
                         "which is never replaced. Sign a copy of the file, or move it away.")


def signature_path(path: Path | str) -> Path:
    """Return where the signature of a file lies."""
    return Path(f"{os.fspath(path)}{SUFFIX}")


def fingerprint_of(key: Ed25519PublicKey) -> str:
    """Return the SHA-256 of a public key in hexadecimal."""
    return hashlib.sha256(key.public_bytes(*_RAW)).hexdigest()


def _plain(fingerprint: str) -> str:
    plain = fingerprint.replace(":", "").replace(" ", "").lower()
    if len(plain) < 16:
        raise InputError("A fingerprint must have at least 16 hexadecimal digits. Got "
                         f"{len(plain)}. 'unspoken sign' prints it.")
    return plain


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"'{path}' must be a readable file. {error.strerror}.") from None


def _message(digest: str, at: str) -> bytes:
    return f"{FORMAT} 1\n{digest}\n{at}\n".encode()


def _private(path: Path, passphrase: str | None) -> Ed25519PrivateKey:
    try:
        data, mode = path.read_bytes(), path.stat().st_mode
    except OSError:
        raise KeyFileError(f"There is no readable key '{path}'. Say --new-key to make one."
                           ) from None
    if mode & 0o077:
        raise KeyFileError(f"The signing key '{path}' must be readable by its owner only. Type: "
                           f"chmod 600 {path}")
    try:
        key = serialization.load_pem_private_key(
            data, None if passphrase is None else passphrase.encode())
    except TypeError:
        raise PassphraseError(f"'{path}' and the passphrase do not fit: it is sealed and none was "
                              "given, or it is not sealed and one was.") from None
    except ValueError:
        raise KeyFileError(f"'{path}' must be an Ed25519 key in PEM, and the passphrase the right "
                           "one. It could not be read.") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise KeyFileError(f"'{path}' must be an Ed25519 key. It is of another kind.")
    return key


def _document(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > _LARGEST:
            raise InputError(f"'{path}' must be below {_LARGEST} bytes.")
        document = json.loads(path.read_bytes())
    except OSError:
        raise InputError(f"There is no signature '{path}'. Sign the record first: unspoken sign "
                         "RECORD --key KEY.") from None
    except (ValueError, RecursionError):
        raise InputError(f"'{path}' must be JSON. It cannot be read.") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise InputError(f"'{path}' must be a signature of unspoken. It is not.")
    return document
