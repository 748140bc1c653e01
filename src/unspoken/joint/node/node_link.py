"""One question and one answer between two nodes, over mutual TLS 1.3 with pinned certificates.

A question is one JSON object in one message of the same frames that parties use, at most 1 MiB;
so is its answer. Everything about it is checked before it is acted on. Each side says which
unspoken it runs, down to a digest of the protocols' code: nodes that differ refuse each other by
name.
"""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from unspoken._version import __version__
from unspoken.joint.joint_errors import FrameError, IdentityError, JointError
from unspoken.joint.node.peer_state import Peer
from unspoken.joint.session.protocol_code import code_digest
from unspoken.joint.session.study_fields import for_screen
from unspoken.joint.wire.credentials import Identity, Member
from unspoken.joint.wire.frames import (
    HEADER_BYTES,
    NO_SESSION,
    Assembler,
    Message,
    Purpose,
    framed,
    text_array,
)
from unspoken.joint.wire.relay.relay_words import Meeting, RelayAddress
from unspoken.joint.wire.transports.handed_connections import NODE, opening
from unspoken.joint.wire.transports.links import Link, tls_context, unreachable
from unspoken.joint.wire.transports.reach_peer import reach_peer
from unspoken.joint.wire.transports.relayed import InnerTls

MOST_BYTES = 1 << 20
SECONDS = 20.0
LABEL = "node"


class NodeLostError(JointError):
    """Another node could not be reached, or ended the connection."""


class RefusedByNodeError(JointError):
    """Another node answered that it refuses, and why."""


@dataclass(frozen=True)
class Circle:
    """The parties that a connection may be with."""

    members: tuple[Member, ...]
    name: str = "nodes"

    @property
    def names(self) -> tuple[str, ...]:
        """Return their names."""
        return tuple(member.name for member in self.members)

    def member(self, name: str) -> Member:
        """Return one of them."""
        return next(member for member in self.members if member.name == name)


def server_context(identity: Identity, peers: Sequence[Peer]) -> ssl.SSLContext:
    """Return the TLS of the door for nodes; it trusts the certificates of trusted peers alone."""
    if not peers:
        raise JointError("No node is trusted here yet, and one asked for the door for nodes.")
    return tls_context(ssl.PROTOCOL_TLS_SERVER, Circle(tuple(p.member for p in peers)), identity)


async def ask(identity: Identity, peer: Peer, question: dict[str, Any]) -> dict[str, Any]:
    """Ask a node and return its answer; its refusal and its absence are errors that name it."""
    context = tls_context(ssl.PROTOCOL_TLS_CLIENT, Circle((peer.member,)), identity)
    meeting = Meeting.at_node(identity.fingerprint, peer.member.fingerprint)
    try:
        async with asyncio.timeout(SECONDS):
            streams = await reach_peer(peer.address, identity, meeting,
                                       InnerTls(context, False, SECONDS, MOST_BYTES),
                                       opening(NODE))
            link = Link(*streams)
            try:
                return await _asked(link, peer, question)
            finally:
                link.writer.transport.abort()
    except ssl.SSLError as error:
        why = getattr(error, "verify_message", "") or error.reason
        raise IdentityError(f"'{peer.name}' did not show the certificate that it was paired with "
                            f"({why}).") from None
    except TimeoutError:
        raise NodeLostError(f"'{peer.name}' at {peer.address} did not answer within {SECONDS:g} s. "
                            f"{_silence(peer)}") from None
    except OSError as error:
        raise NodeLostError(f"'{peer.name}': {peer.address} {unreachable(error)}.") from None
    except EOFError:
        raise NodeLostError(f"'{peer.name}' ended the connection: it does not trust this node's "
                            "certificate, or it was stopped.") from None


def _silence(peer: Peer) -> str:
    if RelayAddress.of(peer.address) is None:
        return "A firewall on the way may drop what is sent."
    return ("It does not wait at its relay now: it does not run, cannot reach the relay, or is not "
            "allowed there.")


async def _asked(link: Link, peer: Peer, question: dict[str, Any]) -> dict[str, Any]:
    if link.certificate != peer.member.fingerprint:
        raise IdentityError(f"'{peer.name}' did not show the certificate that it was paired with.")
    await send(link, {**code_words(), **question})
    answer = await receive(link)
    if "refused" in answer:
        raise RefusedByNodeError(f"'{peer.name}' refused: {for_screen(answer['refused'])}")
    return answer


def code_words() -> dict[str, str]:
    """Return which code this node runs."""
    return {"unspoken": __version__, "code": code_digest()}


def other_code(message: dict[str, Any]) -> str:
    """Return how the other side's code differs from ours, in words, or nothing."""
    here = code_words()
    if message.get("unspoken") != here["unspoken"]:
        return (f"it runs unspoken {for_screen(message.get('unspoken'), 40)}, and this node "
                f"{here['unspoken']}; both must run the same")
    if message.get("code") != here["code"]:
        return ("its protocol code differs, although both call themselves unspoken "
                f"{here['unspoken']}; install the same everywhere")
    return ""


async def send(link: Link, data: dict[str, Any]) -> None:
    """Send one JSON object."""
    message = Message(LABEL, text_array(json.dumps(data, allow_nan=False)), Purpose.CONTROL)
    for _, frame in framed(message, NO_SESSION, 0):
        link.writer.write(frame)
    await link.writer.drain()


async def receive(link: Link, most: int = MOST_BYTES) -> dict[str, Any]:
    """Return one JSON object; FrameError if what comes is none, before it is kept."""
    assembler, message = Assembler(limit=most), None
    while message is None:
        header = assembler.header(await link.exactly(HEADER_BYTES, SECONDS))
        message = assembler.add(header, await link.exactly(header.length, SECONDS))
    try:
        data = json.loads(bytes(message.array))
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        raise FrameError("content", "A message between nodes must be one JSON object.")
    return data
