"""Parties in one process: frames go straight into the other's mailbox.

Almost every test runs on this. The frames are the same bytes as on a real link, so that the
ledger, the limits and the refusals are the same code. Parties are not protected from each
other here.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Sequence

from unspoken.joint.joint_errors import FrameError
from unspoken.joint.wire.frames import HEADER_BYTES, SESSION_BYTES, Message
from unspoken.joint.wire.ledger_chain import public_hex
from unspoken.joint.wire.transports.base import Transport
from unspoken.joint.wire.transports.limits import Limits

Tap = Callable[[str, str, bytes], bytes | None]
"""What may watch or change a frame on its way: (from, to, frame) -> frame, or None to drop it."""


class MemoryTransport(Transport):
    """One end in memory; `others` is filled by `memory_transports`."""

    def __init__(self, name: str, peers: Sequence[str], limits: Limits | None = None) -> None:
        super().__init__(name, peers, limits)
        self.others: dict[str, MemoryTransport] = {}
        self.tap: Tap | None = None

    async def _write(self, peer: str, message: Message) -> None:
        other = self.others[peer]
        await other._boxes[self.name].room.wait()
        for frame in self._frames(peer, message):
            self._pass(other, frame)

    def _tell(self, peer: str, message: Message) -> None:
        for frame in self._frames(peer, message):
            self._pass(self.others[peer], frame)

    def _pass(self, other: MemoryTransport, frame: bytes) -> None:
        changed = frame if self.tap is None else self.tap(self.name, other.name, frame)
        if changed is not None:
            other.take_frame(self.name, changed)

    def take_frame(self, peer: str, frame: bytes) -> None:
        """Take one frame from a peer, whatever it is."""
        if self.error is not None or self._boxes[peer].gone:
            return
        try:
            header = self._incoming[peer].header(frame[:HEADER_BYTES])
            self._received(peer, header, frame[HEADER_BYTES:])
        except FrameError as error:
            self._refuse(peer, error)

    def _cut(self) -> None:
        """There is no link to drop."""

    async def close(self) -> None:
        """There is nothing to give back."""

    def vanish(self) -> None:
        """Be lost, as a killed process is: every other party notices."""
        self.error = self._lost(self.name, "was lost")
        for box in self._boxes.values():
            box.news.set()
        for other in self.others.values():
            other.fail(other._lost(self.name, "closed the connection"))


def memory_transports(names: Sequence[str], limits: Limits | None = None,
                      tap: Tap | None = None) -> dict[str, MemoryTransport]:
    """Return connected transports, one a name."""
    limits = limits or Limits(patience=60.0)
    ends = {name: MemoryTransport(name, [p for p in names if p != name], limits)
            for name in names}
    keys = {name: public_hex(end.ledger.chain.key) for name, end in ends.items()}
    session = hashlib.sha256(secrets.token_bytes(32)).digest()[:SESSION_BYTES]
    for end in ends.values():
        end.others = {peer: ends[peer] for peer in end.peers}
        end.tap = tap
        end.session = session
        end.ledger.session = session.hex()
        end.ledger.keys = keys
        for assembler in end._incoming.values():
            assembler.session = session
    return ends
