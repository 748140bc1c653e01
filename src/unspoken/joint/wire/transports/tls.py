"""Parties in different places: mutual TLS 1.3, each certificate pinned to a party's name.

Threat model: an attacker on the network sees who talks to whom, when and how much, and can
cut the line; nothing else. A certificate that is not in the study fails the handshake. A valid
certificate of another party passes it and is then refused by name, because the greeting claims a
name and the study says which SHA-256 belongs to it. There is no resumption and no reconnecting:
a link that breaks ends the run. Of each pair the later one in the study dials the earlier.

Each greeting carries 32 fresh bytes; the hash of all of them is the session, which is in
every frame, so that nothing of another run can be played back (Python's ssl has no exporter).

Liveness: from the greeting on every party sends a beat each tenth of `limit`; a peer from which
no byte comes for three quarters is lost. Time in which this party does not read (its mailbox is
full) does not count.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import secrets
import socket
import ssl
from typing import Any

from unspoken.joint.joint_errors import (
    FrameError,
    IdentityError,
    JointError,
    PeerGarbageError,
    PeerLostError,
)
from unspoken.joint.wire.credentials import Identity, Roster, public_key, signing_key
from unspoken.joint.wire.frames import (
    HEADER_BYTES,
    NO_SESSION,
    SESSION_BYTES,
    Kind,
    Message,
    Purpose,
    parse,
    text_array,
)
from unspoken.joint.wire.ledger import RECEIVED, Ledger
from unspoken.joint.wire.transports.base import SHORT, Transport
from unspoken.joint.wire.transports.limits import Limits
from unspoken.joint.wire.transports.links import (
    NONCE_BYTES,
    Greeting,
    Link,
    dial,
    greeting,
    serve,
    tls_context,
)

BUFFER = 1 << 22


class TlsTransport(Transport):
    """One end of the links to all others; `await open_tls(...)` makes it."""

    # TLS authenticates every byte already: a changed one breaks the link, and with it the run.
    tags_content = False

    def __init__(self, study: Roster, identity: Identity, limits: Limits | None = None,
                 ledger: Ledger | None = None) -> None:
        names = study.names
        super().__init__(identity.name, [n for n in names if n != identity.name], limits, ledger)
        self._loop = asyncio.get_running_loop()
        self._pending: set[asyncio.Task[None]] = set()
        self.study = study
        self.identity = identity
        self._earlier = names[:names.index(identity.name)]
        self._later = names[names.index(identity.name) + 1:]
        self._links: dict[str, Link] = {}
        self._nonce = secrets.token_hex(NONCE_BYTES)
        self._tasks: list[asyncio.Task[None]] = []
        self._beating: asyncio.Task[None] | None = None
        self._all = asyncio.get_running_loop().create_future()
        self._begun = asyncio.Event()
        self._server: asyncio.Server | None = None
        self._closed = False
        if study.member(self.name).fingerprint != identity.fingerprint:
            raise IdentityError(f"The certificate of '{self.name}' is not the one in the study. "
                                "Use the identity that the study was made with.")
        self.ledger.chain.sign_with(signing_key(identity))
        self.ledger.keys = {m.name: public_key(m) for m in study.members}

    async def open(self, listening: socket.socket | None = None) -> None:
        """Meet every other party; the later ones dial the earlier."""
        try:
            async with asyncio.timeout(self.limits.start):
                await self._listen(listening)
                await self._until_all_came()
        except TimeoutError:
            missing = next((peer for peer in self.peers if peer not in self._links), self.name)
            await self.close()
            raise PeerLostError(missing, "start",
                                f"did not connect within {self.limits.start:g} s") from None
        except BaseException:
            await self.close()
            raise
        finally:
            if self._server is not None:
                self._server.close()
        self._begin()

    async def _until_all_came(self) -> None:
        """Dial and wait; a peer that connected and failed ends the wait."""
        if not self.peers:
            return
        coming = asyncio.gather(*map(self._dial, self._earlier), self._all)
        try:
            while not coming.done():
                await asyncio.wait([coming], timeout=self.limits.beat)
                if not coming.done():
                    self._check()
            await coming
        finally:
            coming.cancel()
            await asyncio.gather(coming, return_exceptions=True)

    async def _listen(self, listening: socket.socket | None) -> None:
        host, _, port = self.study.member(self.name).address.rpartition(":")
        where: dict[str, Any] = {"sock": listening} if listening is not None else {
            "host": host.strip("[]"), "port": int(port)}
        context = tls_context(ssl.PROTOCOL_TLS_SERVER, self.study, self.identity)
        self._server = await serve(self._accept, BUFFER, ssl=context, **where,
                                   ssl_handshake_timeout=self.limits.silence)

    async def _dial(self, peer: str) -> None:
        """Connect to an earlier party, again and again until it listens."""
        host, _, port = self.study.member(peer).address.rpartition(":")
        context = tls_context(ssl.PROTOCOL_TLS_CLIENT, self.study, self.identity)
        pause = 0.02
        while True:
            try:
                streams = await dial(host.strip("[]"), int(port), BUFFER, ssl=context,
                                     ssl_handshake_timeout=self.limits.silence)
                break
            except ssl.SSLError as error:
                raise IdentityError(f"'{peer}' did not show its certificate of the study over TLS "
                                    f"1.3 ({error.reason}).") from None
            except OSError:
                await asyncio.sleep(pause)
                pause = min(2 * pause, 0.5)
        link = Link(*streams)
        try:
            await self._greet(peer, link)
        except BaseException:
            # Not kept yet, so nobody else would close it.
            link.writer.transport.abort()
            raise

    async def _greet(self, peer: str, link: Link) -> None:
        """On the dialling side: check who answered, then greet first."""
        self._must_be(peer, link)
        try:
            await self._say_hello(peer, link)
            heard = await self._hear_hello(link, peer)
        except (OSError, EOFError):
            raise IdentityError(f"'{peer}' refused the certificate of '{self.name}'. Check that "
                                "both use the same study.toml.") from None
        if heard.name != peer:
            raise PeerGarbageError(peer, "start", "gave a name other than that in its certificate")
        self._keep(link, heard)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """On the dialled side: read a greeting, check it, and greet back."""
        link = Link(reader, writer)
        owner = self._owner(link.certificate)
        try:
            heard = await self._hear_hello(link, owner)
            self._must_be(heard.name, link)
            if heard.name not in self._later or heard.name in self._links:
                raise PeerGarbageError(heard.name, "start", "connected twice")
            await self._say_hello(heard.name, link)
            self._keep(link, heard)
        except JointError as error:
            self._turn_away(link, error)
        except BaseException as error:
            writer.transport.abort()
            if not isinstance(error, OSError | EOFError):
                raise

    def _turn_away(self, link: Link, error: JointError) -> None:
        """A party of the study that does not keep to it ends the run before it began."""
        if not self._all.done():
            self._all.set_exception(error)
        link.writer.close()

    async def _say_hello(self, peer: str, link: Link) -> None:
        for frame in self._frames(peer, greeting(self.name, peer, self._nonce)):
            link.writer.write(frame)
        await link.writer.drain()

    async def _hear_hello(self, link: Link, owner: str) -> Greeting:
        try:
            return await link.hear_greeting(self.name, self.limits.silence)
        except (FrameError, ValueError, TypeError, KeyError, RecursionError):
            raise PeerGarbageError(owner, "start", "sent no greeting") from None
        except TimeoutError:
            raise PeerLostError(owner, "start", "did not greet in time") from None

    def _must_be(self, name: str, link: Link) -> None:
        """Refuse a certificate that is not the named party's, and say whose it is."""
        member = self.study.member(name)
        if link.certificate != member.fingerprint:
            link.writer.close()
            raise IdentityError(f"'{name}' did not show the certificate that the study has for it. "
                                f"It showed that of '{self._owner(link.certificate)}'.")

    def _owner(self, print_: str) -> str:
        # The handshake let only certificates of the study pass.
        return next(m.name for m in self.study.members if m.fingerprint == print_)

    def _keep(self, link: Link, heard: Greeting) -> None:
        link.writer.transport.set_write_buffer_limits(high=BUFFER)
        link.at_once()
        link.nonce = heard.nonce
        self._links[heard.name] = link
        self._incoming[heard.name].sequence = 1
        self.ledger.frame(RECEIVED, heard.name, heard.header, HEADER_BYTES + heard.header.length)
        self._tasks.append(asyncio.create_task(self._read(heard.name)))
        self._beating = self._beating or asyncio.create_task(self._beat())
        if len(self._links) == len(self.peers) and not self._all.done():
            self._all.set_result(None)

    def _begin(self) -> None:
        """All are there: fix the session."""
        nonces = {self.name: self._nonce, **{p: link.nonce for p, link in self._links.items()}}
        text = json.dumps([self.study.name, sorted(nonces.items())])
        self.session = hashlib.sha256(text.encode()).digest()[:SESSION_BYTES]
        self.ledger.session = self.session.hex()
        for assembler in self._incoming.values():
            assembler.session = self.session
        self._begun.set()

    async def _read(self, peer: str) -> None:
        """Read one link until its peer has finished or failed."""
        link, box = self._links[peer], self._boxes[peer]
        try:
            while not box.gone and self.error is None:
                raw = await link.exactly(HEADER_BYTES, self.limits.silence)
                early = not self._begun.is_set()
                if early and parse(raw, self.limits.message).session != NO_SESSION:
                    # The peer has met everybody; this party may still be waiting for somebody.
                    await self._begun.wait()
                header = self._incoming[peer].header(raw)
                piece = await link.exactly(header.length, self.limits.silence)
                self._received(peer, header, piece)
                await box.room.wait()
        except FrameError as error:
            self._refuse(peer, error)
        except TimeoutError:
            self.fail(self._lost(peer, f"was silent for {self.limits.silence:g} s"))
        except (OSError, EOFError):
            await self._ended(peer)

    async def _beat(self) -> None:
        beat = Message("beat", text_array(""), Purpose.CONTROL, kind=Kind.BEAT)
        while self.error is None and not self._done:
            for peer, link in list(self._links.items()):
                # A locked link is carrying a message, which is as good a sign of life.
                if not link.lock.locked() and not self._boxes[peer].gone:
                    self._tell(peer, beat)
            await asyncio.sleep(self.limits.beat)

    def _write_now(self, peer: str, message: Message) -> bool:
        link = self._links[peer]
        if (message.array.nbytes > SHORT or link.lock.locked() or link.writer.is_closing()
                or link.writer.transport.get_write_buffer_size()):
            return False
        for frame in self._frames(peer, message):
            link.writer.write(frame)
        return True

    async def _write(self, peer: str, message: Message) -> None:
        link = self._links[peer]
        async with link.lock:
            for frame in self._frames(peer, message):
                if self.error is not None:
                    return
                if link.writer.is_closing():
                    raise ConnectionResetError
                link.writer.write(frame)
                await link.writer.drain()

    def _tell(self, peer: str, message: Message) -> None:
        link = self._links.get(peer)
        if link is not None and not link.writer.is_closing():
            for frame in self._frames(peer, message):
                with contextlib.suppress(OSError, RuntimeError):
                    link.writer.write(frame)

    def _tell_soon(self, peer: str, message: Message) -> None:
        with contextlib.suppress(RuntimeError):
            # The loop has ended, and the run with it.
            self._loop.call_soon_threadsafe(self._queue, peer, message)

    def _queue(self, peer: str, message: Message) -> None:
        """Send behind a longer message that is on its way; a lost link is noticed elsewhere."""
        if self.error is not None or self._done or self._write_now(peer, message):
            return
        task = asyncio.create_task(self._unless_lost(peer, message))
        self._pending.add(task)
        task.add_done_callback(self._pending.discard)

    async def _unless_lost(self, peer: str, message: Message) -> None:
        with contextlib.suppress(OSError, EOFError):
            await self._write(peer, message)

    def _cut(self) -> None:
        self._begun.set()
        for link in self._links.values():
            link.writer.close()
            # A peer that does not read would hold the goodbye back for ever.
            asyncio.get_running_loop().call_later(self.limits.beat, link.writer.transport.abort)

    async def close(self) -> None:
        """Close every link, in time even if a peer does not read."""
        if self._closed:
            return
        self._closed = True
        if self.error is None:
            self._cut()
        with contextlib.suppress(Exception):
            async with asyncio.timeout(2 * self.limits.beat):
                for link in self._links.values():
                    with contextlib.suppress(OSError):
                        await link.writer.wait_closed()
        tasks = [*self._tasks, *self._pending, *([self._beating] if self._beating else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

