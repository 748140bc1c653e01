"""Counting rounds: the longest chain of messages of which each waits for the one before.

Every message has a depth, one more than that of what its sender had received when it was sent. A
round is one step of the deepest chain: with a latency of L a run waits rounds x L for the network.
What is received in one branch of a gather does not delay what another branch sends.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from typing import Any
from weakref import WeakKeyDictionary


class RoundMeter:
    """The depths of messages on all links of one process; one `End` for each party."""

    def __init__(self) -> None:
        self.links: dict[tuple[str, str], deque[int]] = defaultdict(deque)
        self.rounds = 0

    def end(self, name: str) -> End:
        """Return a party's end of the links."""
        return End(self, name)


class End:
    """What one party knows about depths."""

    def __init__(self, meter: RoundMeter, name: str) -> None:
        self._meter, self._name = meter, name
        self._depth = self._step_depth = 0
        self._main: asyncio.Task[Any] | None = None
        self._branches: WeakKeyDictionary[asyncio.Task[Any], int] = WeakKeyDictionary()

    def begin(self) -> None:
        """Begin a step: what is done from here on waits for all that was received."""
        self._main, self._step_depth = asyncio.current_task(), self._depth

    def sent(self, peer: str) -> None:
        """Note that a message goes to a peer now."""
        self._meter.links[self._name, peer].append(self._now() + 1)

    def received(self, peer: str) -> None:
        """Note that the oldest message of a peer is taken now."""
        depth = max(self._now(), self._meter.links[peer, self._name].popleft())
        self._depth = max(self._depth, depth)
        self._meter.rounds = max(self._meter.rounds, depth)
        task = asyncio.current_task()
        if task is self._main:
            self._step_depth = self._depth
        elif task is not None:
            self._branches[task] = depth

    def _now(self) -> int:
        task = asyncio.current_task()
        if task is None or task is self._main:
            return self._depth
        return max(self._branches.get(task, 0), self._step_depth)
