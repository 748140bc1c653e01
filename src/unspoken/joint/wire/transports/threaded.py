"""A transport in a thread of its own, so that it beats while the program computes.

A program that reads a file or multiplies matrices for half a minute blocks its event loop; with
its links on the same loop its peers would take it for dead. A stopped or killed process stops
this thread too, so nothing is hidden by it.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any, TypeVar

from unspoken.joint.joint_errors import PartyError
from unspoken.joint.wire.frames import Message
from unspoken.joint.wire.ledger import Ledger
from unspoken.joint.wire.transports.base import Transport

T = TypeVar("T")
SOON = 10.0
"""How long the thread of the links may take for what it does at once; it never waits itself."""


class ThreadedTransport:
    """The same seam as the transport inside, callable from another event loop."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="links", daemon=True)
        self._inside: Transport | None = None

    async def open(self, make: Callable[[], Awaitable[Transport]]) -> None:
        """Start the thread and open the transport in it."""

        async def inside() -> None:
            self._inside = await make()

        self._thread.start()
        try:
            await self._there(inside())
        except BaseException:
            self._stop()
            raise

    @property
    def inside(self) -> Transport:
        """Return the transport that runs in the thread."""
        if self._inside is None:
            raise RuntimeError("the transport is not open")
        return self._inside

    @property
    def name(self) -> str:
        """Return this party's name."""
        return self.inside.name

    @property
    def peers(self) -> tuple[str, ...]:
        """Return the others' names."""
        return self.inside.peers

    @property
    def ledger(self) -> Ledger:
        """Return what went over the links."""
        return self.inside.ledger

    @property
    def session(self) -> bytes:
        """Return the run's number."""
        return self.inside.session

    @property
    def step(self) -> str:
        """Return the step that errors name."""
        return self.inside.step

    @step.setter
    def step(self, step: str) -> None:
        self.inside.step = step

    def send(self, peer: str, message: Message) -> Coroutine[Any, Any, None]:
        """Send a message; returns when it is on its way."""
        return self._there(self.inside.send(peer, message))

    async def receive(self, peer: str) -> Message:
        """Return the next message of a peer."""
        return await self._there(self.inside.receive(peer))

    def swap(self, peers: tuple[str, ...],
             message: Message) -> Coroutine[Any, Any, list[Message]]:
        """Send one message to some peers, and return the next of each; one visit over there."""
        return self._there(self.inside.swap(peers, message))

    async def receive_or_end(self, peer: str) -> Message | None:
        """Return the next message of a peer, or None when it has finished."""
        return await self._there(self.inside.receive_or_end(peer))

    async def visit(self, job: Callable[[Transport], Coroutine[Any, Any, T]]) -> T:
        """Run a job in the thread of the links."""
        return await self._there(job(self.inside))

    async def broken(self) -> PartyError | None:
        """Wait until the run has failed; return why."""
        return await self._there(self.inside.broken())

    async def finish(self, results: Mapping[str, bytes] | None = None) -> PartyError | None:
        """End together with every other party; return why the run failed after all, if it did."""
        return await self._there(self.inside.finish(results))

    def fail(self, error: PartyError) -> None:
        """End the run and inform every peer."""

        async def inside() -> None:
            self.inside.fail(error)

        with contextlib.suppress(TimeoutError):
            asyncio.run_coroutine_threadsafe(inside(), self._loop).result(SOON)

    async def close(self) -> None:
        """Close the links and end the thread."""
        if self._thread.is_alive():
            await self._there(self.inside.close())
            self._stop()

    async def _there(self, job: Coroutine[Any, Any, T]) -> T:
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(job, self._loop))

    def _stop(self) -> None:
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(SOON)
        if not self._thread.is_alive():
            self._loop.close()
