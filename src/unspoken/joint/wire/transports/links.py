"""One TLS connection, what it trusts, and the greeting that opens it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from unspoken.joint.wire.credentials import Identity, Roster, check_name, fingerprint
from unspoken.joint.wire.frames import (
    HEADER_BYTES,
    Assembler,
    Header,
    Kind,
    Message,
    Purpose,
    text_array,
)

NONCE_BYTES = 32
# A header and a short message are read together.
AT_ONCE = 1 << 16


class LastWords(asyncio.StreamReader):
    """What came before a connection broke can still be read; asyncio's own reader drops it."""

    def set_exception(self, exc: Exception) -> None:
        """End, however the connection did: a peer's last frame says why, not its socket."""
        self.feed_eof()


Accept = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


EYEBALLS = 0.25
"""After how long a host's next address is tried, where it has several (IPv6 and IPv4)."""


async def dial(host: str, port: int, limit: int, first: bytes = b"",
               **how: Any) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Open a connection, as asyncio.open_connection does; `first` is sent before TLS begins."""
    loop = asyncio.get_running_loop()
    reader = LastWords(limit=limit, loop=loop)
    protocol = asyncio.StreamReaderProtocol(reader, loop=loop)
    later = {} if not first else {name: how.pop(name) for name in tuple(how)}
    transport, _ = await loop.create_connection(lambda: protocol, host, port,
                                                happy_eyeballs_delay=EYEBALLS, **how)
    writer = asyncio.StreamWriter(transport, protocol, reader, loop)
    if first:
        writer.write(first)
        try:
            await writer.start_tls(later.pop("ssl"), **later)
        except BaseException:
            transport.abort()
            raise
    return reader, writer


async def serve(accept: Accept, limit: int, **where: Any) -> asyncio.Server:
    """Accept connections, as asyncio.start_server does."""
    loop = asyncio.get_running_loop()
    return await loop.create_server(lambda: asyncio.StreamReaderProtocol(
        LastWords(limit=limit, loop=loop), accept, loop=loop), **where)


class NoRoomError(ConnectionRefusedError):
    """A relay that has no room for another connection."""


def unreachable(error: OSError) -> str:
    """Return why an address cannot be reached, in words, and whose fault that usually is."""
    if isinstance(error, socket.gaierror):
        return "has no address: its name is not known here"
    if isinstance(error, NoRoomError):
        return ("has no room for another connection now: its operator can allow more (unspoken "
                "relay serve --each, --connections)")
    if isinstance(error, ConnectionRefusedError):
        return "refuses connections: nothing listens there, or its firewall rejects them"
    if isinstance(error, ConnectionError):
        return "ends connections at once: it does not run this now, or was stopped"
    return "does not answer: a firewall on the way drops connections, or the address is wrong"


@dataclass(frozen=True)
class Greeting:
    """The name that a peer claims, its fresh bytes, and the frame they came in."""

    name: str
    nonce: str
    header: Header


@dataclass
class Link:
    """One connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    nonce: str = ""
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    _rest: bytes = b""

    @property
    def certificate(self) -> str:
        """Return the fingerprint of the peer's certificate."""
        tls: ssl.SSLObject = self.writer.get_extra_info("ssl_object")
        return fingerprint(tls.getpeercert(binary_form=True) or b"")

    def at_once(self) -> None:
        """Send short messages without waiting for the peer's acknowledgement (40 ms of it).

        asyncio does this itself, but not for connections accepted by a socket of another's making.
        """
        self.writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    async def exactly(self, size: int, seconds: float) -> bytes:
        """Read this many bytes; any byte that comes in time is a sign of life."""
        pieces, self._rest, missing = [self._rest], b"", size - len(self._rest)
        while missing > 0:
            piece = await self._some(max(missing, AT_ONCE), seconds)
            if not piece:
                raise EOFError
            pieces.append(piece)
            missing -= len(piece)
        if missing < 0:
            pieces[-1], self._rest = pieces[-1][:missing], pieces[-1][missing:]
        return b"".join(pieces)

    async def _some(self, size: int, seconds: float) -> bytes:
        """Read what there is; this process may itself have been held up, so it looks twice."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0.75 * seconds):
                return await self.reader.read(size)
        async with asyncio.timeout(0.25 * seconds):
            return await self.reader.read(size)

    async def hear_greeting(self, to: str, seconds: float) -> Greeting:
        """Read one greeting; ValueError, KeyError or TypeError if it is none."""
        assembler = Assembler()
        header = assembler.header(await self.exactly(HEADER_BYTES, seconds))
        message = assembler.add(header, await self.exactly(header.length, seconds))
        if message is None or message.kind is not Kind.HELLO:
            raise ValueError("no greeting")
        data = json.loads(bytes(message.array))
        name, nonce = data["name"], data["nonce"]
        if data["to"] != to or len(bytes.fromhex(nonce)) != NONCE_BYTES:
            raise ValueError("no greeting")
        return Greeting(check_name(name), nonce, header)


def greeting(name: str, to: str, nonce: str) -> Message:
    """Return the message that opens a link."""
    data = {"name": name, "to": to, "nonce": nonce}
    return Message("hello", text_array(json.dumps(data)), Purpose.CONTROL, kind=Kind.HELLO)


def tls_context(side: int, study: Roster, identity: Identity) -> ssl.SSLContext:
    """Return a context that speaks TLS 1.3 only and knows only the study's certificates."""
    context = ssl.SSLContext(side)
    context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_3
    context.check_hostname = False
    context.verify_mode = ssl.CERT_REQUIRED
    context.verify_flags |= ssl.VerifyFlags.VERIFY_X509_PARTIAL_CHAIN
    context.load_cert_chain(identity.certificate_path, identity.key_path)
    context.load_verify_locations(cadata=b"".join(m.certificate for m in study.members))
    if side == ssl.PROTOCOL_TLS_SERVER:
        context.num_tickets = 0
    return context
