"""What has arrived from one peer and was not asked for yet, and whether more may come."""

from __future__ import annotations

import asyncio
from collections import deque

from unspoken.joint.wire.frames import Message


class Mailbox:
    """One peer's messages; `room` is set while more of them may come."""

    def __init__(self, ahead: int) -> None:
        self.messages: deque[Message] = deque()
        self.news = asyncio.Event()
        self.room = asyncio.Event()
        self.room.set()
        self.finished = False
        """Whether the peer's program has ended."""
        self.gone = False
        """Whether the peer has also seen that all others ended well."""
        self._bytes = 0
        self._ahead = ahead
        self._held = False
        self._open = True

    def put(self, message: Message) -> None:
        """Keep a message; `room` is taken away when too much lies here."""
        if self._open:
            self.messages.append(message)
            self._count(message.array.nbytes)
            self.news.set()

    def take(self) -> Message:
        """Return the oldest message."""
        message = self.messages.popleft()
        self._count(-message.array.nbytes)
        return message

    def hold(self, *, full: bool) -> None:
        """Take `room` away, or give it back, because of what is kept elsewhere."""
        self._held = full
        self._count(0)

    def shut(self) -> None:
        """Drop what is here and what still comes: a full box must not stop a peer that is done."""
        self._open = False
        self.messages.clear()
        self.news.set()
        self.room.set()

    def _count(self, change: int) -> None:
        self._bytes += change
        if self._open and (self._held or self._bytes > self._ahead):
            self.room.clear()
        else:
            self.room.set()
