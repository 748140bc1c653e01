"""How a link authenticates its other end: names, certificates, and where a key lies."""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from unspoken.errors import InputError, explain
from unspoken.joint.joint_errors import IdentityError

NAME = re.compile(r"[a-z][a-z0-9-]{0,31}", re.ASCII)


@dataclass(frozen=True)
class Identity:
    """A party's identity: where its key lies, and its certificate, which is public.

    Attributes
    ----------
    name : str
        The party's name in studies.
    key_path : Path
        The private key (mode 0600). It never leaves the machine.
    certificate_path : Path
        The certificate in PEM.
    certificate : bytes
        The certificate in DER, as it is compared.
    """

    name: str
    key_path: Path
    certificate_path: Path
    certificate: bytes
    """DER, as it is compared."""

    @property
    def fingerprint(self) -> str:
        """Return the SHA-256 of the certificate."""
        return fingerprint(self.certificate)


@dataclass(frozen=True)
class Member:
    """One party of a study.

    Attributes
    ----------
    name : str
        Its name: a letter, then up to 31 of a-z, 0-9 and -.
    address : str
        HOST:PORT, where it listens.
    roles : tuple of str
        Any of 'owner', 'holder', 'dealer' and 'receiver'.
    fingerprint : str
        The SHA-256 of the certificate, which people compare by telephone.
    certificate : bytes
        The certificate in DER.
    """

    name: str
    address: str
    roles: tuple[str, ...]
    fingerprint: str
    certificate: bytes = field(repr=False)


class Roster(Protocol):
    """What links need of a study: its name and its parties."""

    @property
    def name(self) -> str:
        """Return the name of the study."""

    @property
    def members(self) -> tuple[Member, ...]:
        """Return every party."""

    @property
    def names(self) -> tuple[str, ...]:
        """Return every party's name, in the order of the study."""

    def member(self, name: str) -> Member:
        """Return a party by its name."""


def fingerprint(certificate: bytes) -> str:
    """Return the SHA-256 of a certificate in DER."""
    return hashlib.sha256(certificate).hexdigest()


def check_name(name: str, what: str = "A party's name") -> str:
    """Return a name that is valid in studies, certificates and file names."""
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise InputError(explain(what, "a letter, then up to 31 of a-z, 0-9 and -", name))
    return name


def signing_key(identity: Identity) -> Ed25519PrivateKey:
    """Return the private key of an identity, which signs its ledgers."""
    try:
        key = load_pem_private_key(identity.key_path.read_bytes(), None)
    except (OSError, ValueError, TypeError):
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        raise IdentityError(f"'{identity.key_path}' is not an Ed25519 key. Make one with: "
                            f"unspoken joint identity {identity.name}")
    return key


def public_key(member: Member) -> str:
    """Return the public key in a member's certificate, as ledgers name it."""
    key: object = None
    with contextlib.suppress(ValueError, UnsupportedAlgorithm):
        key = x509.load_der_x509_certificate(member.certificate).public_key()
    if not isinstance(key, Ed25519PublicKey):
        raise IdentityError(f"The certificate of '{member.name}' has no Ed25519 key, so its ledger "
                            "could not be checked. Make one with: unspoken joint identity "
                            f"{member.name}")
    return key.public_bytes_raw().hex()


def refuse_out_of_date(members: Iterable[Member], now: datetime | None = None) -> None:
    """Refuse a party whose certificate has expired or is not valid yet, by name."""
    now = now or datetime.now(UTC)
    for member in members:
        with contextlib.suppress(ValueError):
            loaded = x509.load_der_x509_certificate(member.certificate)
            _must_be_valid(member.name, now, loaded.not_valid_before_utc,
                           loaded.not_valid_after_utc)


def valid_until(certificate: bytes) -> datetime:
    """Return when a certificate expires."""
    return x509.load_der_x509_certificate(certificate).not_valid_after_utc


def _must_be_valid(name: str, now: datetime, first: datetime, last: datetime) -> None:
    if now > last:
        raise IdentityError(f"The certificate of '{name}' expired on {last:%Y-%m-%d}. That party "
                            "must make a new identity, and the study a new certificate for it.")
    if now < first:
        raise IdentityError(f"The certificate of '{name}' is not valid before "
                            f"{first:%Y-%m-%d %H:%M} UTC. Here it is {now:%Y-%m-%d %H:%M} UTC. "
                            "Check the clocks of both machines.")
