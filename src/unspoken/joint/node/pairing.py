"""Two organisations exchange identities once, and a person at each end hears the other's code.

One side makes an invitation: an address and a token that opens the door for pairing once, for a
day. It may travel by mail; whoever intercepts it can try to pair, and is found out by the code.
Where the address is a relay's, the invitation names the certificate of the node that waits there.

    dialling side A                                   inviting side B
    token, SHA-256(nonce A, identity A)  ------>      is the token open? it is used up
                                         <------      identity B, nonce B
    identity A, nonce A                  ------>      does it open the commitment?

Both take 80 bits of SHA-256 over both identities (name, address, certificate) and both nonces. A
shows the first 40 bits and B the last 40, eight signs each: each person reads theirs aloud over the
telephone, and the other types what they heard. What a person types was never on their own screen,
so that it cannot be confirmed without a call. Whoever sits in between has two different hashes at
the two ends. A is bound to its nonce before it sees that of B, and B sends its own before it sees
that of A; so the one in the middle has one guess of 1 in 2^40 per invitation and direction, and
cannot search. Each side proves that it has its key: B in TLS, A by a signature over both nonces.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import re
import secrets
import ssl
from dataclasses import dataclass
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from unspoken.errors import InputError
from unspoken.joint.joint_errors import IdentityError, StudyError
from unspoken.joint.node.node_link import NodeLostError, RefusedByNodeError, receive, send
from unspoken.joint.node.peer_state import Peer
from unspoken.joint.node.spoken_codes import equal_texts, spoken, text_bytes
from unspoken.joint.session.identity import name_in
from unspoken.joint.session.study import is_address
from unspoken.joint.session.study_fields import for_screen, only_keys
from unspoken.joint.wire.credentials import (
    Identity,
    check_name,
    fingerprint,
    public_key,
    refuse_out_of_date,
    signing_key,
)
from unspoken.joint.wire.relay.relay_words import ANYBODY, Meeting, RelayAddress
from unspoken.joint.wire.transports.handed_connections import PAIR, opening
from unspoken.joint.wire.transports.links import Link, unreachable
from unspoken.joint.wire.transports.reach_peer import reach_peer
from unspoken.joint.wire.transports.relayed import InnerTls

HALF_BITS = 40
DAY = 86400.0
SMALL = 1 << 14
SECONDS = 20.0
_SIGNED = b"unspoken pairing 1\0"
_INVITATION = re.compile(r"unspoken:(?P<address>[^#\s]{3,300})#(?P<token>[A-Za-z0-9_-]{22})"
                         r"(\.(?P<node>[0-9a-f]{64}))?", re.ASCII)


@dataclass(frozen=True)
class Introduction:
    """A name, an address and a certificate, as a node introduces itself."""

    name: str
    address: str
    certificate: bytes

    def to_json(self) -> dict[str, str]:
        """Return it as plain data."""
        return {"name": self.name, "address": self.address,
                "certificate": base64.b64encode(self.certificate).decode()}

    @classmethod
    def from_json(cls, data: Any) -> Introduction:
        """Check an introduction from outside: the certificate must carry the name."""
        only_keys("introduction", data, ("name", "address", "certificate"))
        name, address = check_name(data.get("name", "")), data.get("address")
        if not isinstance(address, str) or not is_address(address):
            raise StudyError(f"The address of '{name}' must be HOST:PORT.")
        try:
            certificate = base64.b64decode(str(data.get("certificate")), validate=True)
        except ValueError:
            raise StudyError(f"The certificate of '{name}' is not DER in base64.") from None
        if name_in(certificate) != name:
            raise IdentityError(f"The certificate of '{name}' carries another name.")
        introduction = cls(name, address, certificate)
        member = Peer(name, address, certificate, False).member
        public_key(member)
        refuse_out_of_date([member])
        return introduction

    def digest(self, *more: bytes) -> bytes:
        """Return a hash over it and more; parts cannot run into each other."""
        parts = (self.name.encode(), self.address.encode(), self.certificate, *more)
        return _hash(*parts)


def _hash(*parts: bytes) -> bytes:
    state = hashlib.sha256(b"unspoken pairing 1\0")
    for part in parts:
        state.update(len(part).to_bytes(8, "big") + part)
    return state.digest()


def codes(dialling: Introduction, inviting: Introduction, nonces: tuple[bytes, bytes]
          ) -> tuple[str, str]:
    """Return what the dialling side reads aloud, and what the inviting side does."""
    number = int.from_bytes(_hash(dialling.digest(), inviting.digest(), *nonces)[:10], "big")
    return (spoken(number >> HALF_BITS, HALF_BITS),
            spoken(number & ((1 << HALF_BITS) - 1), HALF_BITS))


def new_invitation(address: str, own: str = "") -> tuple[str, str]:
    """Return an invitation and the hash of its token, which is all that is kept.

    At a relay several nodes wait: there, the fingerprint of one's `own` certificate is in it, too.
    """
    token = secrets.token_urlsafe(16)
    node = "" if RelayAddress.of(address) is None else f".{own}"
    return f"unspoken:{address}#{token}{node}", token_hash(token)


def token_hash(token: str) -> str:
    """Return the hash of a token."""
    return hashlib.sha256(b"unspoken invitation\0" + text_bytes(token)).hexdigest()


def _context(side: int, identity: Identity) -> ssl.SSLContext:
    """Return TLS for two who do not know each other yet; what they are is checked by people."""
    context = ssl.SSLContext(side)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.load_cert_chain(identity.certificate_path, identity.key_path)
    if side == ssl.PROTOCOL_TLS_SERVER:
        context.num_tickets = 0
    return context


def pairing_context(identity: Identity) -> ssl.SSLContext:
    """Return the TLS of the door for pairing."""
    return _context(ssl.PROTOCOL_TLS_SERVER, identity)


async def accept_invitation(invitation: str, identity: Identity, address: str) -> Peer:
    """Dial whoever made an invitation; return it as a peer that is not trusted yet."""
    parts = _parts(invitation)
    tls = InnerTls(_context(ssl.PROTOCOL_TLS_CLIENT, identity), False, SECONDS, SMALL)
    meeting = Meeting.at_node(identity.fingerprint, parts["node"] or ANYBODY)
    try:
        async with asyncio.timeout(SECONDS):
            link = Link(*await reach_peer(parts["address"], identity, meeting, tls, opening(PAIR)))
            try:
                if parts["node"] not in (None, link.certificate):
                    raise IdentityError("Who answered is not the node that made the invitation: it "
                                        "showed another certificate.")
                own = Introduction(identity.name, address, identity.certificate)
                return await _introduce(link, identity, own, parts["token"])
            finally:
                link.writer.transport.abort()
    except OSError as error:
        raise NodeLostError(f"The inviting node: {parts['address']} {unreachable(error)}.") \
            from None
    except EOFError:
        raise RefusedByNodeError("The inviting node ended the connection: the invitation was used "
                                 "before or is too old. Ask for a new one.") from None


def _parts(invitation: str) -> re.Match[str]:
    parts = _INVITATION.fullmatch(invitation.strip())
    if parts is None or not is_address(parts["address"]) or (
            RelayAddress.of(parts["address"]) is not None and parts["node"] is None):
        raise InputError("This is not an invitation. One looks like unspoken:HOST:PORT#TOKEN; "
                         "'unspoken node invite' at the other organisation prints it.")
    return parts


async def _introduce(link: Link, identity: Identity, own: Introduction, token: str) -> Peer:
    nonce = secrets.token_bytes(32)
    await send(link, {"token": token, "commitment": own.digest(nonce).hex()})
    answer = await receive(link, SMALL)
    if "refused" in answer:
        raise RefusedByNodeError(f"The inviting node refused: "
                                 f"{for_screen(answer['refused'], 200)}")
    other = Introduction.from_json(answer.get("identity"))
    theirs = _nonce(answer)
    if fingerprint(other.certificate) != link.certificate:
        raise IdentityError(f"'{other.name}' introduced itself with a certificate whose key it did "
                            "not show in TLS.")
    signature = signing_key(identity).sign(_SIGNED + nonce + theirs)
    await send(link, {"identity": own.to_json(), "nonce": nonce.hex(),
                      "signature": signature.hex()})
    if (await receive(link, SMALL)).get("kept") is not True:
        raise RefusedByNodeError(f"'{other.name}' did not keep this node's identity.")
    shown, expected = codes(own, other, (nonce, theirs))
    return Peer(other.name, other.address, other.certificate, False, shown, expected)


def _nonce(message: dict[str, Any]) -> bytes:
    try:
        nonce = bytes.fromhex(str(message.get("nonce")))
    except ValueError:
        nonce = b""
    if len(nonce) != 32:
        raise StudyError("A nonce of the pairing must be 64 hexadecimal digits.")
    return nonce


async def answer_pairing(link: Link, message: dict[str, Any], identity: Identity,
                         address: str) -> Peer:
    """Be the inviting side, after the token was used up; return the other, not trusted yet."""
    own, nonce = Introduction(identity.name, address, identity.certificate), secrets.token_bytes(32)
    await send(link, {"identity": own.to_json(), "nonce": nonce.hex()})
    opened = await receive(link, SMALL)
    other, theirs = Introduction.from_json(opened.get("identity")), _nonce(opened)
    if not equal_texts(other.digest(theirs).hex(), str(message.get("commitment"))):
        raise IdentityError(f"'{other.name}' did not open the commitment that it had sent.")
    member = Peer(other.name, other.address, other.certificate, False).member
    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public_key(member)))
        key.verify(bytes.fromhex(str(opened.get("signature"))), _SIGNED + theirs + nonce)
    except (InvalidSignature, ValueError):
        raise IdentityError(f"'{other.name}' did not show that it has the key of its "
                            "certificate.") from None
    expected, shown = codes(other, own, (theirs, nonce))
    return Peer(other.name, other.address, other.certificate, False, shown, expected)
