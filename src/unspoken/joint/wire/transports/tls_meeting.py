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
from collections.abc import Mapping
from typing import Any

from unspoken.joint.joint_errors import (
    FrameError,
    IdentityError,
    JointError,
    PeerGarbageError,
    PeerLostError,
)
from unspoken.joint.wire.credentials import (
    Identity,
    Roster,
    public_key,
    refuse_out_of_date,
    signing_key,
)
from unspoken.joint.wire.frames import HEADER_BYTES, SESSION_BYTES
from unspoken.joint.wire.ledger import RECEIVED, Ledger
from unspoken.joint.wire.relay.relay_words import NODES, Meeting, RelayAddress
from unspoken.joint.wire.transports.base import Transport
from unspoken.joint.wire.transports.handed_connections import RUN, HandedConnections, opening
from unspoken.joint.wire.transports.limits import Limits
from unspoken.joint.wire.transports.links import (
    NONCE_BYTES,
    Greeting,
    Link,
    greeting,
    serve,
    tls_context,
    unreachable,
)
from unspoken.joint.wire.transports.reach_peer import reach_peer
from unspoken.joint.wire.transports.relayed import InnerTls, through_relay

BUFFER = 1 << 22
RELAY_PAUSE = 0.2
"""Seconds before a party asks its relay again."""


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
        self._relayed: list[asyncio.Task[None]] = []
        self._first = b""
        self._moved: Mapping[str, str] = {}
        self._unreached: dict[str, str] = {}
        self._closed = False
        if study.member(self.name).fingerprint != identity.fingerprint:
            raise IdentityError(f"The certificate of '{self.name}' is not the one in the study. "
                                "Use the identity that the study was made with.")
        self.ledger.chain.sign_with(signing_key(identity))
        self.ledger.keys = {m.name: public_key(m) for m in study.members}
        refuse_out_of_date(study.members)

    async def open(self, listening: socket.socket | HandedConnections | None = None) -> None:
        """Meet every other party; the later ones dial the earlier."""
        try:
            async with asyncio.timeout(self.limits.start):
                await self._listen(listening)
                await self._until_all_came()
        except TimeoutError:
            error = self._nobody_came()
            # Those who came hear who is missing, and not only that this link has ended.
            self.fail(error)
            await self.close()
            raise error from None
        except BaseException:
            await self.close()
            raise
        finally:
            if self._server is not None:
                self._server.close()
            for task in self._relayed:
                task.cancel()
        self._begin()

    def _nobody_came(self) -> PeerLostError:
        """Return who is missing, and what is known of why."""
        missing = [peer for peer in self.peers if peer not in self._links] or [self.name]
        why = self._unreached.get(missing[0], "its connections must reach this machine")
        others = f", nor did {', '.join(missing[1:])}" if missing[1:] else ""
        return PeerLostError(missing[0], "start", f"did not connect within {self.limits.start:g} s"
                             f"{others} ({why})")

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

    async def _listen(self, listening: socket.socket | HandedConnections | None) -> None:
        if isinstance(listening, HandedConnections):
            self._first, self._moved = opening(RUN, listening.run), listening.addresses
            listening.listen(self._accept, BUFFER, tls_context(
                ssl.PROTOCOL_TLS_SERVER, self.study, self.identity), self.limits.silence)
            return
        if listening is None and RelayAddress.of(self.study.member(self.name).address):
            self._relayed = [asyncio.create_task(self._wait_at_relay(p)) for p in self._later]
            return
        host, _, port = self.study.member(self.name).address.rpartition(":")
        where: dict[str, Any] = {"sock": listening} if listening is not None else {
            "host": host.strip("[]"), "port": int(port)}
        context = tls_context(ssl.PROTOCOL_TLS_SERVER, self.study, self.identity)
        self._server = await serve(self._accept, BUFFER, ssl=context, **where,
                                   ssl_handshake_timeout=self.limits.silence)

    async def _dial(self, peer: str) -> None:
        """Connect to an earlier party, again and again until it listens."""
        address = self._moved.get(peer, self.study.member(peer).address)
        context = tls_context(ssl.PROTOCOL_TLS_CLIENT, self.study, self.identity)
        tls = InnerTls(context, False, self.limits.silence, BUFFER)
        pause = 0.02
        self._unreached[peer] = f"{address} does not answer: a firewall may drop what comes"
        while True:
            try:
                streams = await reach_peer(address, self.identity, self._meeting(peer), tls,
                                           self._first)
                break
            except ssl.SSLError as error:
                why = getattr(error, "verify_message", "") or error.reason
                raise IdentityError(f"'{peer}' did not show its certificate of the study over TLS "
                                    f"1.3 ({why}).") from None
            except OSError as error:
                self._unreached[peer] = f"{address} {unreachable(error)}"
                await asyncio.sleep(pause)
                pause = min(2 * pause, 0.5)
        link = Link(*streams)
        try:
            await self._greet(peer, link)
        except BaseException:
            # Not kept yet, so nobody else would close it.
            link.writer.transport.abort()
            raise

    def _meeting(self, peer: str) -> Meeting:
        """Return whom this party asks a relay for."""
        # A node waits for calls of all its studies; `_first` says which this one is for.
        study = NODES if self._first else (
            self.ledger.study or hashlib.sha256(self.study.name.encode()).hexdigest())
        return Meeting(study, self.identity.fingerprint, self.study.member(peer).fingerprint)

    async def _wait_at_relay(self, peer: str) -> None:
        """Wait for a later party at the own relay, again and again until it came."""
        relay = RelayAddress.of(self.study.member(self.name).address)
        context = tls_context(ssl.PROTOCOL_TLS_SERVER, self.study, self.identity)
        tls = InnerTls(context, True, self.limits.silence, BUFFER)
        while relay is not None and peer not in self._links and self.error is None:
            try:
                streams = await through_relay(relay, self.identity, self._meeting(peer), tls)
            except IdentityError as error:
                if not self._all.done():
                    self._all.set_exception(error)
                return
            except OSError:
                # Nobody came yet, or somebody without a certificate of the study did.
                await asyncio.sleep(RELAY_PAUSE)
            else:
                await self._accept(*streams)

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
