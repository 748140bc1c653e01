"""A node calls its peers: one task for each, at once when something is new, and now and then.

What came of it is kept for people who ask for the status: when a peer was last heard, or why it
cannot be reached, and whose side that is. Each side says what time it is. A difference of more than
a minute is told to the people of both, because studies begin and end by the clock.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable
from typing import Any

from unspoken.joint.joint_errors import StateError
from unspoken.joint.node.exchange import Exchange
from unspoken.joint.node.node_log import words_of
from unspoken.joint.node.peer_state import Peer
from unspoken.joint.node.rotation import ask_either
from unspoken.joint.tasks.param_rules import is_number

LOOK = 0.2
"""How often the state is looked at for what people did on the command line, in seconds."""
IDLE = 12
"""A peer with which no study is in common is asked this many times less often."""
CLOCKS = 60.0
"""Clocks may differ by so many seconds before people are told."""


class PeerCalls:
    """Calls to all trusted peers, and who was heard of."""

    def __init__(self, exchange: Exchange, changed: Callable[[], None],
                 came: Callable[[], None]) -> None:
        self._exchange = exchange
        self._config, self._identity = exchange.config, exchange.identity
        self._state, self._log = exchange.state, exchange.log
        self._changed, self._came = changed, came
        self._calls: dict[str, asyncio.Event] = {}
        self._heard: dict[str, float] = {}
        self._said: dict[str, str] = {}

    def online(self, peer: str) -> bool:
        """Return True if a peer was heard of a moment ago."""
        since = time.monotonic() - self._heard.get(peer, -1e9)
        return since < max(3 * self._config.sync_seconds, 3.0)

    def count_online(self) -> int:
        """Return how many peers were heard of a moment ago."""
        return sum(map(self.online, self._calls))

    def hear(self, peer: str, clock: Any = None) -> None:
        """Note that a peer lives, and what time it says; a study may have waited for it."""
        if not self.online(peer):
            self._came()
        self._heard[peer] = time.monotonic()
        words = clock_words(clock, time.time())
        if words and self._said.get(peer) != words:
            self._log.event("clocks differ", peer=peer, why=words)
        self._said[peer] = words
        self._state.note_contact(peer, words, heard=True)

    def tell(self) -> None:
        """Call everybody who may lack something that this node knows."""
        for name, call in self._calls.items():
            if self._exchange.concerns(name):
                call.set()

    async def keep(self) -> None:
        """Keep one task per trusted peer."""
        tasks: dict[str, asyncio.Task[None]] = {}
        try:
            while True:
                for peer in self._state.peers():
                    if peer.name not in tasks:
                        self._calls[peer.name] = asyncio.Event()
                        tasks[peer.name] = asyncio.create_task(self._call(peer.name))
                for task in tasks.values():
                    if task.done():
                        task.result()
                await asyncio.sleep(LOOK)
        finally:
            for task in tasks.values():
                task.cancel()
            await asyncio.gather(*tasks.values(), return_exceptions=True)

    async def _call(self, name: str) -> None:
        """Sync with one peer, at once when something is new, and now and then otherwise."""
        call = self._calls[name]
        while True:
            call.clear()
            peer = next((one for one in self._state.peers() if one.name == name), None)
            if peer is not None:
                await self._sync(peer)
            pause = self._config.sync_seconds * (1 if self._exchange.shares(name) else IDLE)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(call.wait(), pause)

    async def _sync(self, peer: Peer) -> None:
        question = {"ask": "sync", "address": self._config.address, "time": time.time(),
                    "view": self._exchange.view_for(peer.name)}
        try:
            answer = await ask_either(self._identity, self._state, peer, question)
            changed = self._exchange.take(peer.name, answer.get("view"))
        except StateError:
            raise
        except Exception as error:
            self._lost(peer.name, words_of(error))
            return
        self.hear(peer.name, answer.get("time"))
        if changed:
            self._changed()

    def _lost(self, peer: str, why: str) -> None:
        if self._said.get(peer) != why:
            self._log.event("no sync", peer=peer, why=why)
        self._said[peer] = why
        if not self.online(peer):
            self._state.note_contact(peer, why, heard=False)


def clock_words(theirs: Any, here: float) -> str:
    """Return how a peer's clock differs from that of this node, or nothing."""
    if not is_number(theirs) or abs(theirs - here) <= CLOCKS:
        return ""
    # To the minute: else the words, and with them the log, would change with each call.
    minutes = round(abs(theirs - here) / 60)
    return (f"its clock is about {minutes} min {'ahead of' if theirs > here else 'behind'} that of "
            "this node; studies begin and end by the clock")
