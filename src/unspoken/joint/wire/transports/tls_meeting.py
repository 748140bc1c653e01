"""Meeting over TLS: every party dials the earlier ones, greets, and is who it says it is.

A certificate that is not in the study fails the handshake. A valid certificate of another party
passes it and is then refused by name, because the greeting claims a name and the study says which
SHA-256 belongs to it. Of each pair the later one in the study dials the earlier.

Each greeting carries 32 fresh bytes; the hash of all of them is the session, which is in
every frame, so that nothing of another run can be played back (Python's ssl has no exporter).
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import secrets
import socket
import ssl
from abc import abstractmethod
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
    SESSION_BYTES,
)
from unspoken.joint.wire.ledger import RECEIVED, Ledger
from unspoken.joint.wire.transports.base import Transport
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


class TlsMeeting(Transport):
    """The links to all others, from dialling to the session."""

    def __init__(self, study: Roster, identity: Identity, limits: Limits | None = None,
                 ledger: Ledger | None = None) -> None:
        names = study.names
        super().__init__(identity.name, [n for n in names if n != identity.name], limits, ledger)
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

    @abstractmethod
    async def _read(self, peer: str) -> None:
        """Read one link until its peer has finished or failed."""

    @abstractmethod
    async def _beat(self) -> None:
        """Give signs of life."""
