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
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, TypeVar

from unspoken.errors import InputError, explain
from unspoken.joint.joint_errors import (
    BystanderError,
    FrameError,
    PartyError,
    PeerAbortedError,
    PeerFinishedError,
    PeerGarbageError,
    PeerLostError,
)
from unspoken.joint.wire.frames import (
    HEADER_BYTES,
    NO_SESSION,
    Assembler,
    Header,
    Kind,
    Message,
    Purpose,
    framed,
    text_array,
)
from unspoken.joint.wire.ledger import RECEIVED, SENT, Ledger
from unspoken.joint.wire.transports.limits import Limits
from unspoken.joint.wire.transports.mailbox import Mailbox

T = TypeVar("T")
# Bytes of a message that is written at once, without tasks or clocks.
SHORT = 1 << 18
_PLAIN = re.compile(r"[\w .,:()'/\[\]-]{1,160}", re.ASCII)


class Transport(ABC):
    """One party's end of the links to all others."""

    def __init__(self, name: str, peers: Iterable[str], limits: Limits | None = None) -> None:
        self.name = name
        self.peers = tuple(peers)
        self.limits = limits or Limits()
        self.ledger = Ledger(name)
        self.session = NO_SESSION
        self.step = "start"
        self.error: PartyError | None = None
        self.on_stream: Callable[[str, Message], None] | None = None
        self._broken = asyncio.Event()
        self._done = False
        self._boxes = {peer: Mailbox(self.limits.ahead) for peer in self.peers}
        self._incoming = {peer: Assembler(limit=self.limits.message) for peer in self.peers}
        self._sequence = dict.fromkeys(self.peers, 0)

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
            await self.send(peers[0], message)
            return [await self.receive(peers[0])]
        takes = [self.receive(peer) for peer in peers]
        done = await asyncio.gather(*takes, *(self.send(peer, message) for peer in peers))
        return [received for received in done if received is not None]

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

    async def finish(self) -> None:
        """Announce that this party has sent everything, and wait until every other one has.

        There is no limit to the waiting but the others' own: each of them gives signs of life, or
        is lost, and waits for no peer longer than its patience.
        """
        for box in self._boxes.values():
            box.shut()
        if self.error is None:
            await asyncio.gather(*(self._quietly(peer, _control(Kind.DONE, "done"))
                                   for peer in self.peers))
        self._done = True
        for box in self._boxes.values():
            while self.error is None and not box.finished:
                box.news.clear()
                await box.news.wait()
        await self.close()

    def fail(self, error: PartyError) -> None:
        """End the run: keep the first error, inform every peer, send nothing more."""
        if self.error is not None:
            return
        self.error = error
        self._broken.set()
        frame = _control(Kind.ABORT, "abort", {"party": error.party, "step": _plain(error.step),
                                               "what": _plain(error.what)})
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
            self._boxes[peer].finished = True

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
            yield frame

    def _received(self, peer: str, header: Header, piece: bytes) -> Message | None:
        """Take a frame whose header was checked; act on it when its message is whole."""
        self.ledger.frame(RECEIVED, peer, header, HEADER_BYTES + len(piece))
        message = self._incoming[peer].add(header, piece)
        if message is not None:
            self._arrived(peer, message)
        return message

    def _arrived(self, peer: str, message: Message) -> None:
        box = self._boxes[peer]
        if message.kind is Kind.DATA:
            box.put(message)
        elif message.kind is Kind.DONE:
            box.finished = True
            box.news.set()
        elif message.kind is Kind.ABORT:
            self.fail(self._told(peer, message))
        elif message.kind is Kind.STREAM and self.on_stream is not None:
            self.on_stream(peer, message)
        elif message.kind is Kind.STREAM:
            self._garbage(peer, "a stream that was not asked for")
        elif message.kind is Kind.HELLO:
            self._garbage(peer, "a second greeting")

    def _garbage(self, peer: str, what: str) -> None:
        self.fail(PeerGarbageError(peer, self.step, f"sent {what}"))

    def _refuse(self, peer: str, error: FrameError) -> None:
        self._garbage(peer, f"a frame whose '{error.field}' cannot be")

    def _told(self, peer: str, message: Message) -> PartyError:
        """Read an abort message; it comes from outside, so only plain words are repeated."""
        try:
            data = json.loads(bytes(message.array))
            party, step, what = (str(data[name]) for name in ("party", "step", "what"))
        except (ValueError, TypeError, KeyError, RecursionError):
            return PeerGarbageError(peer, self.step, "sent an abort that cannot be read")
        if party not in (self.name, *self.peers) or not (
                _PLAIN.fullmatch(step) and _PLAIN.fullmatch(what)):
            return PeerGarbageError(peer, self.step, "sent an abort that cannot be read")
        if party == peer:
            return PeerAbortedError(peer, step, what)
        reported = what if "(says '" in what else f"{what} (says '{peer}' in step {step})"
        return BystanderError(party, self.step, reported[:160])


def _plain(text: str) -> str:
    """Return text as the others will accept it."""
    return re.sub(r"[^\w .,:()'/\[\]-]", "_", text, flags=re.ASCII)[:160] or "_"


def _control(kind: Kind, label: str, data: dict[str, str] | None = None) -> Message:
    return Message(label, text_array(json.dumps(data or {})), Purpose.CONTROL, kind=kind)
