"""The seam between parties: send a message to a peer, receive the next one from a peer.

Everything that all transports share lives here: sequence numbers, the ledger, back-pressure,
and the fault rule. The first failure ends the run for this party: it is kept, every waiting
call raises it, one abort frame informs the peers which party failed at which step, and nothing is
sent after it. Peers that only hear of it tell the others once more, so that a bystander learns
the name even if its link to the first witness is gone.

A transport moves frames. It protects their content no further than its links do: the memory
transport not at all (one process), the TLS transport against everybody outside the study.
"""

from __future__ import annotations

import asyncio
import contextlib
from abc import abstractmethod
from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import Any, TypeVar

import numpy as np

from unspoken.errors import InputError, explain
from unspoken.joint.joint_errors import (
    PartyError,
    PeerFinishedError,
    PeerGarbageError,
    PeerLostError,
)
from unspoken.joint.wire.frames import (
    HEADER_BYTES,
    NO_SESSION,
    Assembler,
    Kind,
    Message,
    Purpose,
    framed,
)
from unspoken.joint.wire.ledger import SENT, Ledger
from unspoken.joint.wire.ledger_chain import SignedHead
from unspoken.joint.wire.transports.incoming import Incoming, control, plain_text
from unspoken.joint.wire.transports.last_words import LinkEnds
from unspoken.joint.wire.transports.limits import Limits
from unspoken.joint.wire.transports.mailbox import Mailbox

T = TypeVar("T")
# Bytes of a message that is written at once, without tasks or clocks.
SHORT = 1 << 18


class Transport(Incoming):
    """One party's end of the links to all others."""

    def __init__(self, name: str, peers: Iterable[str], limits: Limits | None = None,
                 ledger: Ledger | None = None) -> None:
        self.name = name
        self.peers = tuple(peers)
        self.limits = limits or Limits()
        self.ledger = ledger or Ledger(name)
        self.ledger.announce = self._announce
        self.session = NO_SESSION
        self.step = "start"
        self.error: PartyError | None = None
        self.on_stream: Callable[[str, Message], None] | None = None
        self._broken = asyncio.Event()
        self._done = False
        self._boxes = {peer: Mailbox(self.limits.ahead) for peer in self.peers}
        self._incoming = {peer: Assembler(limit=self.limits.message) for peer in self.peers}
        self._sequence = dict.fromkeys(self.peers, 0)
        self._ends = LinkEnds(self.name, self.ledger)

    async def send(self, peer: str, message: Message) -> None:
        """Send a message; returns when it is on its way."""
        self._check()
        self._known(peer)
        if self._done:
            raise InputError(f"'{self.name}' has finished and can send nothing more.")
        try:
            if self._write_now(peer, message):
                return
            async with asyncio.timeout(self.limits.patience):
                await self._write(peer, message)
        except TimeoutError:
            self.fail(self._lost(peer, f"took nothing for {self.limits.patience:g} s"))
        except (OSError, EOFError):
            await self._ended(peer)
        self._check()

    async def receive(self, peer: str, within: float | None = None) -> Message:
        """Return the next message of a peer; it may take as long as our patience, or `within`."""
        message = await self.receive_or_end(peer, within)
        if message is None:
            error = PeerFinishedError(peer, self.step, "ended its program too early")
            self.fail(error)
            raise error
        return message

    async def swap(self, peers: tuple[str, ...], message: Message) -> list[Message]:
        """Send one message to some peers, and return the next of each; all at the same time."""
        if len(peers) == 1 and message.array.nbytes <= SHORT:
            # What one peer sends meanwhile is read anyway; no tasks are needed for that.
            written = False
            with contextlib.suppress(OSError):
                # A link that is gone is named by `send`.
                written = self._ready(peers[0]) and self._write_now(peers[0], message)
            if not written:
                await self.send(peers[0], message)
            return [await self.receive(peers[0])]
        takes = [self.receive(peer) for peer in peers]
        done = await asyncio.gather(*takes, *(self.send(peer, message) for peer in peers))
        return [received for received in done if received is not None]

    def _ready(self, peer: str) -> bool:
        """Return True if nothing stands against sending; `send` says what does."""
        return self.error is None and not self._done and peer in self._boxes

    async def receive_or_end(self, peer: str, within: float | None = None) -> Message | None:
        """Return the next message of a peer, or None when it has finished."""
        self._known(peer)
        box, patience = self._boxes[peer], within or self.limits.patience
        try:
            if not box.messages:
                async with asyncio.timeout(patience):
                    while self.error is None and not box.messages and not box.finished:
                        box.news.clear()
                        await box.news.wait()
        except TimeoutError:
            self.fail(self._lost(peer, f"sent nothing for {patience:g} s"))
        self._check()
        return box.take() if box.messages else None

    async def visit(self, job: Callable[[Transport], Coroutine[Any, Any, T]]) -> T:
        """Run a job where the links live."""
        return await job(self)

    async def broken(self) -> PartyError | None:
        """Wait until the run has failed; return why."""
        await self._broken.wait()
        return self.error

    def hold(self, peer: str, *, full: bool) -> None:
        """Stop reading a peer while the reader of its stream has no room, and go on later."""
        self._boxes[peer].hold(full=full)

    async def finish(self, results: Mapping[str, bytes] | None = None) -> PartyError | None:
        """End together with every other party; return why the run failed after all, if it did.

        Each party sends its last word: what it sent over the link, what it learned together with
        the peer (`results`, keyed digests), and how far its ledger goes. Only when all of these
        agree does it report that it is done, and only when all have done so has the run ended well.

        There is no limit to the waiting but the others' own: each of them gives signs of life, or
        is lost, and waits for no peer longer than its patience.
        """
        for box in self._boxes.values():
            box.shut()
        self._ends.expect(results or {})
        if self.error is None:
            words = self._ends.last_words(self.session, self.peers)
            await asyncio.gather(*(self._quietly(peer, control(Kind.LAST, "last", words[peer]))
                                   for peer in self.peers))
        await self._all_boxes(lambda box: box.finished)
        self._judge()
        if self.error is None:
            await asyncio.gather(*(self._quietly(peer, control(Kind.DONE, "done"))
                                   for peer in self.peers))
        self._done = True
        await self._all_boxes(lambda box: box.gone)
        await self.close()
        return self.error

    async def _all_boxes(self, ready: Callable[[Mailbox], bool]) -> None:
        """Wait until every peer has come so far, or the run has failed."""
        for box in self._boxes.values():
            while self.error is None and not ready(box):
                box.news.clear()
                await box.news.wait()

    def _judge(self) -> None:
        """Fail if a peer's last word is not what this party has seen."""
        for peer in self.peers:
            if self.error is None:
                wrong = self._ends.difference(peer)
                if wrong:
                    self.fail(PeerGarbageError(peer, self.step, wrong))

    def fail(self, error: PartyError) -> None:
        """End the run: keep the first error, inform every peer, send nothing more."""
        if self.error is not None:
            return
        self.error = error
        self._broken.set()
        frame = control(Kind.ABORT, "abort", {"party": error.party, "step": plain_text(error.step),
                                               "what": plain_text(error.what)})
        # The culprit hears of it last, so that it is not the one from whom the others hear.
        for peer in sorted(self.peers, key=lambda peer: peer == error.party):
            if not self._done:
                self._tell(peer, frame)
        for box in self._boxes.values():
            box.shut()
        self._cut()

    def _write_now(self, peer: str, message: Message) -> bool:
        """Send a short message if the link takes it at once; return True if it did."""
        return False

    @abstractmethod
    async def _write(self, peer: str, message: Message) -> None:
        """Put a message on the link, waiting for room."""

    @abstractmethod
    def _tell(self, peer: str, message: Message) -> None:
        """Put a short message on the link if that is possible at once."""

    @abstractmethod
    def _cut(self) -> None:
        """Drop every link soon, after what was sent; wake every sender that waits for room."""

    @abstractmethod
    async def close(self) -> None:
        """Give everything back."""

    async def _quietly(self, peer: str, message: Message) -> None:
        try:
            async with asyncio.timeout(self.limits.patience):
                await self._write(peer, message)
        except (OSError, EOFError):
            await self._ended(peer)

    async def _ended(self, peer: str) -> None:
        """Name a peer whose link ended, unless an abort says within a beat what really happened.

        A party that fails informs the others and closes its links. On a busy machine the end of a
        link can be noticed before its message, or before what others pass on: an abort wins.
        """
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.limits.beat):
                await self._broken.wait()
        self.fail(self._lost(peer, "closed the connection"))

    def _check(self) -> None:
        if self.error is not None:
            raise self.error

    def _known(self, peer: str) -> None:
        if peer not in self._boxes:
            raise InputError(explain("A peer", "one of " + ", ".join(self.peers), peer))

    def _lost(self, peer: str, what: str) -> PeerLostError:
        return PeerLostError(peer, self.step, what)

    def _frames(self, peer: str, message: Message) -> Iterable[bytes]:
        """Yield the frames of a message for a peer, counted and in the ledger."""
        for header, frame in framed(message, self.session, self._sequence[peer]):
            self._sequence[peer] += 1
            self.ledger.frame(SENT, peer, header, len(frame))
            if header.kind is Kind.DATA:
                self._ends.frame((self.session, self.name, peer), header,
                                 memoryview(frame)[HEADER_BYTES:] if self.tags_content else b"")
            yield frame

    def _announce(self, signed: SignedHead) -> None:
        """Let every peer know how far the own ledger goes."""
        message = Message("head", np.frombuffer(signed.to_bytes(), np.uint8), Purpose.CONTROL,
                          kind=Kind.HEAD)
        for peer in self.peers:
            if self.error is None and not self._done:
                self._tell_soon(peer, message)

    def _tell_soon(self, peer: str, message: Message) -> None:
        """Put a short message on the link, after what is on its way; from any thread."""
        self._tell(peer, message)
