"""The relay: joins two parties that both dialled it, and passes on bytes that it cannot read.

Threat model: a relay, or whoever took it over, sees who meets whom, in a study of which hash, when
and how much, and can cut the line. Between the parties runs the TLS of the study, with certificates
that are pinned to names: a byte that the relay changes, drops, repeats or reorders ends the run,
and it can read none. A party whose certificate the operator did not allow is refused before it
learns who else is there. Of nodes (`relay_words.NODES`) it sees the opening, too: which door of the
node a call is for, and the hash that is the number of a run.

Bounds: connections in all and per party, how long anybody may take to say who it is or wait for its
peer, and what is kept of one party while the other does not read.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections import Counter
from dataclasses import dataclass, field

from cryptography.exceptions import UnsupportedAlgorithm

from unspoken.errors import InputError, explain
from unspoken.joint.wire.credentials import Identity, signing_key
from unspoken.joint.wire.relay.relay_words import (
    MOST_LINE,
    NODES,
    NONCE_BYTES,
    PARTY,
    RELAY,
    Meeting,
    encoded_certificate,
    line,
    read_line,
    signature,
    signed_by,
)


@dataclass(frozen=True)
class RelayLimits:
    """How many may come, how long they may take, and how much is kept for one that does not read.

    `connections` in all, `each` per party, `strangers` that have not said who they are;
    `greeting` and `waiting` in seconds, `buffer` in bytes.
    """

    connections: int = 256
    each: int = 32
    strangers: int = 32
    greeting: float = 10.0
    waiting: float = 600.0
    silence: float = 300.0
    buffer: int = 1 << 20

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not value > 0:
                raise InputError(explain(f"'{name}' of a relay", "above 0", value))


@dataclass
class Relay:
    """One relay: whom it allows, who waits, and how many are there."""

    identity: Identity
    allowed: frozenset[str]
    limits: RelayLimits = field(default_factory=RelayLimits)
    waiting: dict[tuple[str, frozenset[str]], Visitor] = field(default_factory=dict)
    nodes: dict[Visitor, Meeting] = field(default_factory=dict)
    visitors: set[Visitor] = field(default_factory=set)
    joined: int = 0
    refused: int = 0

    def __post_init__(self) -> None:
        self.key = signing_key(self.identity)

    async def listen(self, host: str, port: int) -> asyncio.Server:
        """Listen for parties."""
        loop = asyncio.get_running_loop()
        return await loop.create_server(lambda: Visitor(self), host, port)

    def room_for(self, visitor: Visitor) -> bool:
        """Return whether another connection, of which nothing is known yet, may stay."""
        strangers = sum(not each.name for each in self.visitors)
        return (len(self.visitors) < self.limits.connections
                and strangers < self.limits.strangers)

    def room_for_party(self, name: str) -> bool:
        """Return whether a party may have another connection."""
        return Counter(each.name for each in self.visitors)[name] < self.limits.each

    def meet(self, visitor: Visitor, meeting: Meeting) -> None:
        """Join a party with its peer, or let it wait; its own earlier wait ends."""
        if meeting.study == NODES:
            self._meet_node(visitor, meeting)
            return
        other = self.waiting.pop(meeting.pair, None)
        if other is not None and other.name == visitor.name:
            other.refuse("the same party came again")
            other = None
        if other is None:
            self.waiting[meeting.pair] = visitor
            return
        self.joined += 1
        visitor.join(other)

    def _meet_node(self, visitor: Visitor, meeting: Meeting) -> None:
        """Join a caller with a node, by its latest wait: the line of an earlier one may be dead."""
        other = next((each for each, theirs in reversed(self.nodes.items())
                      if theirs.fits(meeting)), None)
        if other is None:
            self.nodes[visitor] = meeting
            return
        del self.nodes[other]
        self.joined += 1
        visitor.join(other)

    def left(self, visitor: Visitor) -> None:
        """Forget a connection."""
        self.visitors.discard(visitor)
        self.nodes.pop(visitor, None)
        for pair in [pair for pair, each in self.waiting.items() if each is visitor]:
            del self.waiting[pair]


class Visitor(asyncio.Protocol):
    """One connection: says who it is, waits for its peer, and is joined with it."""

    transport: asyncio.Transport

    def __init__(self, relay: Relay) -> None:
        self.relay = relay
        self.name = ""
        self.partner: Visitor | None = None
        self._nonce = secrets.token_hex(NONCE_BYTES)
        self._came = b""
        self._timer: asyncio.TimerHandle | None = None
        self._moved = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Greet, if there is room."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        transport.set_write_buffer_limits(high=self.relay.limits.buffer)
        if not self.relay.room_for(self):
            self.refuse("too many connections")
            return
        self.relay.visitors.add(self)
        self._within(self.relay.limits.greeting, "did not say who it is in time")
        own = self.relay.identity
        transport.write(line(certificate=encoded_certificate(own.certificate), nonce=self._nonce))

    def _within(self, seconds: float, otherwise: str) -> None:
        if self._timer is not None:
            self._timer.cancel()
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(seconds, self.refuse, otherwise)

    def data_received(self, data: bytes) -> None:
        """Pass bytes on, or read who this is."""
        if self.partner is not None:
            self._moved = True
            self.partner.transport.write(data)
            return
        self._came += data
        if self.name or len(self._came) > MOST_LINE:
            self.refuse("spoke before it was joined with its peer, or too much")
        elif self._came.endswith(b"\n"):
            self._greeted()

    def _greeted(self) -> None:
        """Check who came; a greeting that cannot be is refused without saying what was wrong."""
        relay = self.relay
        try:
            words = read_line(self._came)
            meeting = Meeting(words["study"], words["party"], words["peer"]).checked()
            nonces = self._nonce, words["nonce"]
            digest = meeting.digest(relay.identity.fingerprint, nonces)
            name = signed_by(words, PARTY + digest)
        except (ValueError, TypeError, KeyError, UnsupportedAlgorithm):
            self.refuse("sent no greeting")
            return
        if name != meeting.party or name not in relay.allowed:
            self.refuse("not allowed at this relay")
            return
        if not relay.room_for_party(name):
            self.refuse("too many connections of one party")
            return
        self.name = name
        self._within(relay.limits.waiting, "its peer did not come in time")
        self.transport.write(line(certificate=encoded_certificate(relay.identity.certificate),
                                  signature=signature(relay.key, RELAY + digest)))
        relay.meet(self, meeting)

    def join(self, other: Visitor) -> None:
        """Join two connections: from now on bytes of one go to the other."""
        self.partner, other.partner = other, self
        for each in (other, self):
            each._watch()
            each.transport.write(line(joined="yes"))

    def _watch(self) -> None:
        """End a connection over which nothing comes for a long time."""
        if self._timer is not None:
            self._timer.cancel()
        self._moved = False
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self.relay.limits.silence, self._look)

    def _look(self) -> None:
        if self._moved:
            self._watch()
        else:
            self.transport.close()

    def refuse(self, why: str) -> None:
        """End a connection, and say why in one line."""
        self.relay.refused += 1
        with contextlib.suppress(OSError, RuntimeError):
            self.transport.write(line(refused=why))
        self.transport.close()

    def pause_writing(self) -> None:
        """This party does not read: take nothing more of the other."""
        if self.partner is not None:
            self.partner.transport.pause_reading()

    def resume_writing(self) -> None:
        """This party reads again."""
        if self.partner is not None and not self.partner.transport.is_closing():
            self.partner.transport.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        """End the other connection, too, after what was already sent."""
        if self._timer is not None:
            self._timer.cancel()
        self.relay.left(self)
        if self.partner is not None:
            self.partner.transport.close()
