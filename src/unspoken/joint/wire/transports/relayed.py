"""A party's side of a relay: prove who it is, wait for the peer, and speak TLS through it.

The party that is dialled in the study serves the inner TLS, the later one is its client. The server
says "ready" when it listens, so that no byte of the handshake is read as a word of the relay.

A node does not know who will call it. It takes a seat at its relay and waits for anybody whom the
relay's operator allowed; who that is, TLS shows behind the door that the caller asks for.
"""

from __future__ import annotations

import asyncio
import secrets
import socket
import ssl
from dataclasses import dataclass

from unspoken.joint.joint_errors import IdentityError
from unspoken.joint.wire.credentials import Identity, signing_key
from unspoken.joint.wire.relay.relay_words import (
    MOST_LINE,
    NONCE_BYTES,
    PARTY,
    RELAY,
    Meeting,
    RelayAddress,
    encoded_certificate,
    line,
    read_line,
    shown_by,
    signature,
    signed_by,
)
from unspoken.joint.wire.transports.links import LastWords, NoRoomError
from unspoken.joint.wire.transports.proxied import connected

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@dataclass(frozen=True)
class InnerTls:
    """The TLS that two parties speak through a relay."""

    context: ssl.SSLContext
    is_server: bool
    handshake: float
    limit: int


class _Lines(asyncio.Protocol):
    """The lines that come before TLS begins."""

    def __init__(self) -> None:
        self._came = bytearray()
        self._news = asyncio.Event()
        self._ended = False

    def data_received(self, data: bytes) -> None:
        self._came += data
        self._news.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self._ended = True
        self._news.set()

    @property
    def rest(self) -> bytes:
        """Return what came behind the last line."""
        return bytes(self._came)

    async def next(self) -> dict[str, str]:
        """Return the next line; OSError if the connection ended or a line has no end."""
        while b"\n" not in self._came:
            if self._ended or len(self._came) > MOST_LINE:
                raise ConnectionResetError
            self._news.clear()
            await self._news.wait()
        raw, _, rest = bytes(self._came).partition(b"\n")
        self._came = bytearray(rest)
        try:
            return read_line(raw)
        except ValueError:
            raise ConnectionResetError from None


@dataclass(frozen=True)
class Seat:
    """The place at a relay where a node waits for one call."""

    transport: asyncio.Transport
    lines: _Lines

    async def caller(self, seconds: float) -> socket.socket | None:
        """Return the connection with whoever calls, before any TLS; None if nobody does in time."""
        try:
            async with asyncio.timeout(seconds):
                await _joined(self.lines)
        except TimeoutError:
            return None
        # From here on the bytes are the caller's: they stay in the socket for whom it is given to.
        self.transport.pause_reading()
        if self.lines.rest:
            raise ConnectionResetError
        taken: socket.socket = self.transport.get_extra_info("socket").dup()
        try:
            taken.setblocking(False)
            await asyncio.get_running_loop().sock_sendall(taken, line(ready="yes"))
        except BaseException:
            taken.close()
            raise
        return taken

    def leave(self) -> None:
        """Leave the seat; a connection that was taken goes on."""
        self.transport.abort()


async def seat_at(relay: RelayAddress, identity: Identity) -> Seat:
    """Take a seat at a relay, at which this node can be called."""
    lines = _Lines()
    transport = await connected(lines, relay.host, relay.port)
    try:
        await _introduced(transport, lines, relay, identity,
                          Meeting.of_node(identity.fingerprint))
    except BaseException:
        transport.abort()
        raise
    return Seat(transport, lines)


async def through_relay(relay: RelayAddress, identity: Identity, meeting: Meeting,
                        tls: InnerTls, first: bytes = b"") -> Streams:
    """Return a TLS link with a peer, through a relay; OSError where it has to be tried again.

    `first` is sent to a node before TLS begins, as without a relay.
    """
    lines = _Lines()
    transport = await connected(lines, relay.host, relay.port)
    try:
        await _introduced(transport, lines, relay, identity, meeting)
        await _joined(lines)
        if tls.is_server:
            transport.write(line(ready="yes"))
        else:
            await _ready(lines, tls.handshake)
            transport.write(first)
        return await _secured(transport, tls)
    except BaseException:
        transport.abort()
        raise


async def through_proxy(host: str, port: int, tls: InnerTls, first: bytes = b"") -> Streams:
    """Return a TLS link with a peer that listens, dialled through the proxy.

    `first` is sent before TLS begins, so that a node knows which run it is for.
    """
    transport = await connected(asyncio.Protocol(), host, port)
    try:
        transport.write(first)
        return await _secured(transport, tls)
    except BaseException:
        transport.abort()
        raise


async def _introduced(transport: asyncio.Transport, lines: _Lines, relay: RelayAddress,
                      identity: Identity, meeting: Meeting) -> None:
    """Prove who this is, and check that the relay is the one that the study names."""
    greeting, nonce = await lines.next(), secrets.token_hex(NONCE_BYTES)
    _not_refused(greeting)
    shown = shown_by(greeting)
    if shown != relay.fingerprint:
        raise IdentityError("The relay did not show the certificate that its address names. "
                            f"It showed one with the fingerprint {shown}.")
    digest = meeting.digest(relay.fingerprint, (greeting.get("nonce", ""), nonce))
    transport.write(line(
        certificate=encoded_certificate(identity.certificate), study=meeting.study,
        party=meeting.party, peer=meeting.peer, nonce=nonce,
        signature=signature(signing_key(identity), PARTY + digest)))
    answer = await lines.next()
    _not_refused(answer)
    try:
        if signed_by(answer, RELAY + digest) != relay.fingerprint:
            raise ValueError
    except (ValueError, TypeError, KeyError):
        raise IdentityError("The relay did not prove that it is the one that its address names."
                            ) from None


async def _joined(lines: _Lines) -> None:
    # Refused here, its peer did not come in time: the next try may be luckier.
    if "joined" not in await lines.next():
        raise ConnectionResetError


async def _ready(lines: _Lines, seconds: float) -> None:
    # Its line to the relay may be dead without the relay knowing.
    async with asyncio.timeout(seconds):
        if "ready" not in await lines.next():
            raise ConnectionResetError


def _not_refused(words: dict[str, str]) -> None:
    """Raise where a relay does not let this party in."""
    if "not allowed" in words.get("refused", ""):
        raise IdentityError("The relay refused the certificate of this party: it is not allowed "
                            "there. Ask its operator to add it: unspoken relay serve --allow "
                            "NAME.crt.")
    if "too many" in words.get("refused", ""):
        raise NoRoomError
    if "refused" in words:
        raise ConnectionRefusedError


async def _secured(transport: asyncio.Transport, tls: InnerTls) -> Streams:
    """Begin TLS with the peer."""
    loop = asyncio.get_running_loop()
    reader = LastWords(limit=tls.limit, loop=loop)
    protocol = asyncio.StreamReaderProtocol(reader, loop=loop)
    inner = await loop.start_tls(transport, protocol, tls.context, server_side=tls.is_server,
                                 ssl_handshake_timeout=tls.handshake)
    if inner is None:
        raise ConnectionResetError
    protocol.connection_made(inner)
    return reader, asyncio.StreamWriter(inner, protocol, reader, loop)
