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

from unspoken.joint.joint_errors import (
    FrameError,
)
from unspoken.joint.wire.credentials import Identity, Roster
from unspoken.joint.wire.frames import (
    HEADER_BYTES,
    NO_SESSION,
    Kind,
    Message,
    Purpose,
    parse,
    text_array,
)
from unspoken.joint.wire.ledger import Ledger
from unspoken.joint.wire.transports.base import SHORT
from unspoken.joint.wire.transports.limits import Limits
from unspoken.joint.wire.transports.tls_meeting import TlsMeeting

BUFFER = 1 << 22


class TlsTransport(TlsMeeting):
    """One end of the links to all others; `meet` opens it."""

    # TLS authenticates every byte already: a changed one breaks the link, and with it the run.
    tags_content = False

    def __init__(self, study: Roster, identity: Identity, limits: Limits | None = None,
                 ledger: Ledger | None = None) -> None:
        super().__init__(study, identity, limits, ledger)
        self._loop = asyncio.get_running_loop()
        self._pending: set[asyncio.Task[None]] = set()

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

