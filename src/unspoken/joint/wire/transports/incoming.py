"""What arrives from peers: each whole message is acted on, and what cannot be ends the run."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable

from unspoken.joint.joint_errors import (
    BystanderError,
    FrameError,
    PartyError,
    PeerAbortedError,
    PeerGarbageError,
)
from unspoken.joint.wire.frames import (
    HEADER_BYTES,
    Assembler,
    Header,
    Kind,
    Message,
    Purpose,
    text_array,
)
from unspoken.joint.wire.ledger import RECEIVED, Ledger
from unspoken.joint.wire.transports.last_words import LinkEnds
from unspoken.joint.wire.transports.mailbox import Mailbox

_PLAIN = re.compile(r"[\w .,:()'/\[\]-]{1,160}", re.ASCII)


class Incoming(ABC):
    """The receiving half of a transport."""

    tags_content = True
    """Whether both ends compare the bytes of messages; headers are compared in any case."""

    name: str
    peers: tuple[str, ...]
    ledger: Ledger
    session: bytes
    step: str
    on_stream: Callable[[str, Message], None] | None
    _boxes: dict[str, Mailbox]
    _incoming: dict[str, Assembler]
    _ends: LinkEnds

    @abstractmethod
    def fail(self, error: PartyError) -> None:
        """End the run: keep the first error, inform every peer, send nothing more."""

    def _received(self, peer: str, header: Header, piece: bytes) -> Message | None:
        """Take a frame whose header was checked; act on it when its message is whole."""
        self.ledger.frame(RECEIVED, peer, header, HEADER_BYTES + len(piece))
        if header.kind is Kind.DATA:
            if self._boxes[peer].finished:
                self._garbage(peer, "something after its last word")
                return None
            self._ends.frame((self.session, peer, self.name), header,
                             piece if self.tags_content else b"")
        message = self._incoming[peer].add(header, piece)
        if message is not None:
            self._arrived(peer, message)
        return message

    def _arrived(self, peer: str, message: Message) -> None:
        box = self._boxes[peer]
        if message.kind is Kind.DATA:
            box.put(message)
        elif message.kind is Kind.LAST and not box.finished:
            self._take_head(peer, self._ends.hear(self.session, peer, message))
            box.finished = True
            box.news.set()
        elif message.kind is Kind.HEAD:
            self._take_head(peer, self._ends.hear_head(peer, message))
        elif message.kind is Kind.DONE:
            box.finished = box.gone = True
            box.news.set()
        elif message.kind is Kind.ABORT:
            self.fail(self._told(peer, message))
        elif message.kind is Kind.STREAM and self.on_stream is not None:
            self.on_stream(peer, message)
        elif message.kind is Kind.STREAM:
            self._garbage(peer, "a stream that was not asked for")
        elif message.kind is Kind.HELLO:
            self._garbage(peer, "a second greeting")

    def _take_head(self, peer: str, wrong: str) -> None:
        """Fail if the head of a peer's ledger cannot be its own."""
        if wrong:
            self._garbage(peer, wrong)

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
        # Where only one of several can have deviated, all of them are named.
        known = set(party.split(" or ")) <= {self.name, *self.peers}
        if not (known and _PLAIN.fullmatch(step) and _PLAIN.fullmatch(what)):
            return PeerGarbageError(peer, self.step, "sent an abort that cannot be read")
        if party == peer:
            return PeerAbortedError(peer, step, what)
        reported = what if "(says '" in what else f"{what} (says '{peer}' in step {step})"
        return BystanderError(party, self.step, reported[:160])


def plain_text(text: str) -> str:
    """Return text as the others will accept it."""
    return re.sub(r"[^\w .,:()'/\[\]-]", "_", text, flags=re.ASCII)[:160] or "_"


def control(kind: Kind, label: str, data: dict[str, str] | None = None) -> Message:
    """Return a short message about the run itself."""
    return Message(label, text_array(json.dumps(data or {})), Purpose.CONTROL, kind=kind)
