"""Links of a dry run: messages are counted and handed over in memory, and nothing is sent.

The ledger is written as on a real link, frame by frame, with the bytes that the frames would have.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from unspoken.joint.wire.frames import (
    CHUNK,
    HEADER_BYTES,
    SESSION_BYTES,
    Header,
    Kind,
    Message,
    sendable,
)
from unspoken.joint.wire.ledger import RECEIVED, SENT
from unspoken.joint.wire.ledger_chain import public_hex
from unspoken.joint.wire.transports.base import Transport
from unspoken.joint.wire.transports.limits import Limits
from unspoken.joint.wire.transports.round_meter import End, RoundMeter

PATIENCE = 600.0


class CountingTransport(Transport):
    """One party's end; `others` is filled by `counting_transports`."""

    def __init__(self, name: str, peers: Sequence[str], end: End) -> None:
        self._end = end
        super().__init__(name, peers, Limits(patience=PATIENCE))
        self.others: dict[str, CountingTransport] = {}

    @property
    def step(self) -> str:
        """Return the step that errors name."""
        return self._step

    @step.setter
    def step(self, value: str) -> None:
        self._step = value
        if value != "start":
            self._end.begin()

    async def send(self, peer: str, message: Message) -> None:
        """Count a message and hand it over."""
        self._check()
        self._known(peer)
        self._end.sent(peer)
        self._tell(peer, message)

    async def receive_or_end(self, peer: str, within: float | None = None) -> Message | None:
        """Return the next message of a peer, or None when it has finished."""
        message = await super().receive_or_end(peer, within)
        if message is not None:
            self._end.received(peer)
        return message

    async def swap(self, peers: tuple[str, ...], message: Message) -> list[Message]:
        """Hand one message to some peers, and return the next of each."""
        for peer in peers:
            await self.send(peer, message)
        return [await self.receive(peer) for peer in peers]

    async def _write(self, peer: str, message: Message) -> None:
        self._tell(peer, message)

    def _tell(self, peer: str, message: Message) -> None:
        other, dtype = self.others[peer], sendable(message.array)
        total = message.array.nbytes
        for chunk in range(max(1, -(-total // CHUNK))):
            length = min(CHUNK, total - chunk * CHUNK)
            header = Header(message.kind, message.purpose, dtype, message.array.shape,
                            self.session, 0, message.step, chunk, length, message.label)
            self.ledger.frame(SENT, peer, header, HEADER_BYTES + length)
            other.ledger.frame(RECEIVED, self.name, header, HEADER_BYTES + length)
        if message.kind is not Kind.DATA or not other._boxes[self.name].finished:
            other._arrived(self.name, message)

    def _cut(self) -> None:
        """There is no link to drop."""

    async def close(self) -> None:
        """There is nothing to give back."""


def counting_transports(names: Sequence[str], meter: RoundMeter) -> dict[str, CountingTransport]:
    """Return connected ends, one for each name."""
    ends = {name: CountingTransport(name, [p for p in names if p != name], meter.end(name))
            for name in names}
    keys = {name: public_hex(end.ledger.chain.key) for name, end in ends.items()}
    session = secrets.token_bytes(SESSION_BYTES)
    for end in ends.values():
        end.others = {peer: ends[peer] for peer in end.peers}
        end.session = session
        end.ledger.session = session.hex()
        end.ledger.keys = keys
    return ends
