"""The one port of a node, and its three doors: for pairing, for nodes, and for running studies.

Every connection begins with an opening of fixed length; what is not one is dropped. Behind the
door for nodes stand only those whose certificate was pinned in a pairing; behind that for pairing
whoever holds an open invitation, once. At most 200 connections are waiting to say who they are.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from unspoken.errors import UnspokenError
from unspoken.joint.node.node_link import MOST_BYTES
from unspoken.joint.node.node_log import NodeLog, words_of
from unspoken.joint.session.join import listening_at
from unspoken.joint.wire.transports.handed_connections import (
    OPENING_BYTES,
    PAIR,
    RUN,
    read_opening,
)
from unspoken.joint.wire.transports.links import LastWords, Link

SECONDS = 10.0
MOST_STRANGERS = 200


@dataclass(frozen=True)
class Doors:
    """What is behind each door."""

    context: Callable[[int], ssl.SSLContext]
    pair: Callable[[Link], Awaitable[None]]
    node: Callable[[Link], Awaitable[None]]
    run: Callable[[bytes, socket.socket], bool]


class Porter:
    """Accepts connections at all addresses and leads each to the door that it asks for."""

    def __init__(self, doors: Doors, log: NodeLog) -> None:
        self._doors = doors
        self._log = log
        self._tasks: set[asyncio.Task[None]] = set()
        self._dropped = 0

    def open(self, addresses: tuple[str, ...]) -> None:
        """Listen at every address."""
        for address in addresses:
            listening = listening_at(address)
            listening.setblocking(False)
            self._start(self._accept(listening))
            self._log.event("listening", address=address)

    async def close(self) -> None:
        """Accept nothing more."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _start(self, job: Awaitable[None]) -> None:
        task = asyncio.ensure_future(job)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _accept(self, listening: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        with listening:
            while True:
                taken, where = await loop.sock_accept(listening)
                self.welcome(taken, str(where[0]))

    def welcome(self, taken: socket.socket, where: str) -> None:
        """Lead a connection to its door, however it came here."""
        if len(self._tasks) > MOST_STRANGERS:
            self._drop(taken, where)
        else:
            self._start(self._lead_in(taken, where))

    def _drop(self, taken: socket.socket, where: str) -> None:
        """End a connection for which there is no room; a flood of them does not flood the log."""
        taken.close()
        self._dropped += 1
        if self._dropped & (self._dropped - 1) == 0:
            self._log.refused("somebody", f"more than {MOST_STRANGERS} connections at once",
                              address=where, count=self._dropped)

    async def _lead_in(self, taken: socket.socket, where: str) -> None:
        """Read the opening and hand the connection to its door."""
        taken.setblocking(False)
        try:
            async with asyncio.timeout(SECONDS):
                door, run = read_opening(await _exactly(taken, OPENING_BYTES))
            context = None if door == RUN else self._doors.context(door)
        except (UnspokenError, ValueError) as error:
            self._log.refused("somebody", str(error), address=where)
            taken.close()
            return
        except BaseException as error:
            taken.close()
            if not isinstance(error, OSError | EOFError | TimeoutError):
                raise
            return
        if context is not None:
            await self._behind(door, taken, where, context)
        elif not self._doors.run(run, taken):
            self._log.event("no such run", address=where)
            taken.close()

    async def _behind(self, door: int, taken: socket.socket, where: str,
                      context: ssl.SSLContext) -> None:
        """Begin TLS and let the door answer; from here on the loop owns the socket."""
        loop = asyncio.get_running_loop()
        met: asyncio.Future[Link] = loop.create_future()

        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            met.set_result(Link(reader, writer))

        try:
            await loop.connect_accepted_socket(
                lambda: asyncio.StreamReaderProtocol(LastWords(limit=MOST_BYTES, loop=loop),
                                                     connected, loop=loop),
                taken, ssl=context, ssl_handshake_timeout=SECONDS)
        except OSError as error:
            why = getattr(error, "reason", None) or type(error).__name__
            self._log.refused("somebody", f"TLS failed: {why}", address=where)
            return
        await self._answered(door, await met, where)

    async def _answered(self, door: int, link: Link, where: str) -> None:
        try:
            async with asyncio.timeout(3 * SECONDS):
                await (self._doors.pair if door == PAIR else self._doors.node)(link)
        except UnspokenError as error:
            self._log.refused("somebody", str(error), address=where)
        except (OSError, EOFError, TimeoutError):
            self._log.event("cut off", address=where)
        except Exception as error:
            self._log.refused("somebody", words_of(error), address=where)
        finally:
            link.writer.close()


async def _exactly(taken: socket.socket, size: int) -> bytes:
    loop, data = asyncio.get_running_loop(), b""
    while len(data) < size:
        piece = await loop.sock_recv(taken, size - len(data))
        if not piece:
            raise EOFError
        data += piece
    return data
