"""What a party and a relay say to each other before two parties are joined.

Each proves its identity to the other by a signature over fresh bytes of both: the relay is the one
that the study names, the party one that the relay's operator allowed, and neither proof can be
used again. What follows through the relay is TLS between the two parties, of which the relay has no
key. Words are lines of JSON, of bounded length.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import dataclass
from typing import Any

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from unspoken.joint.wire.credentials import fingerprint

MOST_LINE = 1 << 13
NONCE_BYTES = 32
SCHEME = "relay://"
NODES = hashlib.sha256(b"unspoken relay: nodes").hexdigest()
"""In place of the hash of a study: a node waits for whoever calls it, or is called."""
ANYBODY = "0" * 64
"""In place of its peer: a node says that it waits."""
_ADDRESS = re.compile(r"relay://([0-9a-f]{64})@([A-Za-z0-9.\-\[\]:]{1,255}):(\d{1,5})", re.ASCII)
_HEX = re.compile(r"[0-9a-f]{64}", re.ASCII)
PARTY, RELAY = b"unspoken relay: party\0", b"unspoken relay: relay\0"


@dataclass(frozen=True)
class RelayAddress:
    """Where a relay listens, and the fingerprint of its certificate."""

    fingerprint: str
    host: str
    port: int

    @classmethod
    def of(cls, address: str) -> RelayAddress | None:
        """Return the relay that an address names; None for a party that listens itself."""
        named = _ADDRESS.fullmatch(address)
        return None if named is None else cls(named[1], named[2].strip("[]"), int(named[3]))


@dataclass(frozen=True)
class Meeting:
    """Who asks for whom, in which study."""

    study: str
    party: str
    peer: str

    def checked(self) -> Meeting:
        """Return the same, or refuse what are no digests."""
        if not all(_HEX.fullmatch(each) for each in (self.study, self.party, self.peer)) \
                or self.party == self.peer:
            raise ValueError("no meeting")
        return self

    @classmethod
    def at_node(cls, caller: str, node: str) -> Meeting:
        """Return what a caller says who wants to reach a node, whatever it is about."""
        return cls(NODES, caller, node)

    @classmethod
    def of_node(cls, node: str) -> Meeting:
        """Return what a node says that waits for calls."""
        return cls(NODES, node, ANYBODY)

    def fits(self, other: Meeting) -> bool:
        """Return True if one of two that came for nodes waits, and the other calls it."""
        return any(one.peer == ANYBODY != two.peer and two.peer == one.party
                   for one, two in ((self, other), (other, self)))

    @property
    def pair(self) -> tuple[str, frozenset[str]]:
        """Return what both parties of a meeting have in common."""
        return self.study, frozenset((self.party, self.peer))

    def digest(self, relay: str, nonces: tuple[str, str]) -> bytes:
        """Return what both sides sign: this meeting, at this relay, now."""
        text = json.dumps([self.study, self.party, self.peer, relay, *nonces])
        return hashlib.sha256(text.encode()).digest()


def line(**words: Any) -> bytes:
    """Return one line."""
    return json.dumps(words).encode() + b"\n"


def read_line(raw: bytes) -> dict[str, str]:
    """Return the words of a line, all of them texts; ValueError for anything else."""
    try:
        words = json.loads(raw)
    except RecursionError:
        raise ValueError("no line") from None
    if not isinstance(words, dict) or not all(isinstance(w, str) for w in words.values()):
        raise ValueError("no line")
    return words


def encoded_certificate(certificate: bytes) -> str:
    """Return a certificate (DER) as text."""
    return base64.b64encode(certificate).decode()


def shown_by(words: dict[str, str]) -> str:
    """Return the fingerprint of the certificate that a line shows, "" if it shows none."""
    try:
        return fingerprint(base64.b64decode(words["certificate"], validate=True))
    except (ValueError, KeyError):
        return ""


def signed_by(words: dict[str, str], text: bytes) -> str:
    """Return the fingerprint of the certificate whose key signed a text; ValueError if none did."""
    certificate = base64.b64decode(words["certificate"], validate=True)
    key = x509.load_der_x509_certificate(certificate).public_key()
    if not isinstance(key, Ed25519PublicKey):
        raise ValueError("no Ed25519 key")
    try:
        key.verify(bytes.fromhex(words["signature"]), text)
    except InvalidSignature:
        raise ValueError("not signed") from None
    return fingerprint(certificate)


def signature(key: Ed25519PrivateKey, text: bytes) -> str:
    """Return a signature as text."""
    return key.sign(text).hex()
