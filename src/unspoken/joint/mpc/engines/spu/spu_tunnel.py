"""The engine's connections, carried over the parties' own links.

Every child believes that its peers listen on this machine. What it dials is a socket of its own
party, which passes the bytes on to the other party, which passes them on to its child. So the
links' pinned identities hold for the engine too, and every byte of it is in the ledger.

On one machine anybody who may open local connections could dial a child's port while a run lasts:
run parties where nobody else logs in.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from functools import partial

import numpy as np

from unspoken.joint.joint_errors import JointError, PeerGarbageError
from unspoken.joint.wire.frames import Kind, Message, Purpose
from unspoken.joint.wire.transports.base import Transport

HOST = "127.0.0.1"
PIECE = 1 << 18
BEHIND = 1 << 24
MOST = 1000
OPEN, OUT, BACK, SHUT = "engine.open", "engine.out", "engine.back", "engine.shut"
Line = tuple[str, bool, int]
"""A connection: the peer, whether this party's child dialled it, and its number."""


class Tunnel:
    """One party's end; lives in the loop of the links."""

    def __init__(self, transport: Transport, port: int) -> None:
        self._transport = transport
        self._port = port
        self._servers: list[asyncio.Server] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._waiting: dict[Line, asyncio.Queue[bytes | None]] = {}
        self._held: dict[str, int] = {}
        self._count = 0
        self._ended: set[Line] = set()
        self.left: set[str] = set()
        """Peers whose child has ended a connection before this party's did."""

    async def open(self, peers: Sequence[str]) -> dict[str, int]:
        """Listen for this party's child in place of every peer; return the ports."""
        self._transport.on_stream = self._arrived
        ports = {}
        for peer in peers:
            server = await asyncio.start_server(partial(self._dialled, peer), HOST, 0)
            self._servers.append(server)
            ports[peer] = int(server.sockets[0].getsockname()[1])
        return ports

    async def close(self) -> None:
        """Give every socket back; what still arrives is dropped."""
        self._transport.on_stream = lambda peer, message: None
        for server in self._servers:
            server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _dialled(self, peer: str, reader: asyncio.StreamReader,
                       writer: asyncio.StreamWriter) -> None:
        """This party's child dialled a peer."""
        self._count += 1
        line = peer, True, self._count
        self._waiting[line] = asyncio.Queue()
        with contextlib.suppress(JointError):
            await self._send(line, OPEN)
            self._start(line, reader, writer)

    def _arrived(self, peer: str, message: Message) -> None:
        """A piece of some connection came from a peer."""
        ours = message.label == BACK or (message.label == SHUT and bool(message.array[:1].any()))
        line = peer, ours, message.step
        if message.label == OPEN:
            self._opened(line)
        elif line in self._waiting:
            shut = message.label == SHUT
            self.left |= {peer} if shut and line not in self._ended else set()
            self._waiting[line].put_nowait(None if shut else message.array.tobytes())
            self._hold(peer, 0 if shut else message.array.nbytes)

    def _opened(self, line: Line) -> None:
        """A peer's child dialled this party's; one that was passed over would wait for ever."""
        if len(self._waiting) >= MOST:
            self._transport.fail(PeerGarbageError(line[0], self._transport.step,
                                                  f"opened more than {MOST} connections to SPU"))
            return
        self._waiting[line] = asyncio.Queue()
        self._keep(asyncio.create_task(self._connect(line)))

    async def _connect(self, line: Line) -> None:
        """A peer's child dialled this party's: pass it on, as soon as the child listens."""
        while True:
            try:
                reader, writer = await asyncio.open_connection(HOST, self._port)
                break
            except OSError:
                await asyncio.sleep(0.02)
        self._start(line, reader, writer)

    def _start(self, line: Line, reader: asyncio.StreamReader,
               writer: asyncio.StreamWriter) -> None:
        self._keep(asyncio.create_task(self._outward(line, reader)))
        self._keep(asyncio.create_task(self._inward(line, writer)))

    def _keep(self, task: asyncio.Task[None]) -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _outward(self, line: Line, reader: asyncio.StreamReader) -> None:
        """Pass on what this party's child says."""
        with contextlib.suppress(OSError, JointError):
            while piece := await reader.read(PIECE):
                await self._send(line, OUT if line[1] else BACK, piece)
            self._ended.add(line)
            await self._send(line, SHUT, bytes([not line[1]]))

    async def _inward(self, line: Line, writer: asyncio.StreamWriter) -> None:
        """Pass on to this party's child what came."""
        with contextlib.suppress(OSError):
            while (piece := await self._waiting[line].get()) is not None:
                self._hold(line[0], -len(piece))
                writer.write(piece)
                await writer.drain()
        self._forget(line)
        writer.close()

    def _forget(self, line: Line) -> None:
        """Nobody takes this connection's bytes any more; they must not hold the others up."""
        self._ended.discard(line)
        waiting = self._waiting.pop(line)
        while not waiting.empty():
            self._hold(line[0], -len(waiting.get_nowait() or b""))

    def _hold(self, peer: str, change: int) -> None:
        before = self._held.get(peer, 0)
        self._held[peer] = after = before + change
        if (before > BEHIND) != (after > BEHIND):
            self._transport.hold(peer, full=after > BEHIND)

    async def _send(self, line: Line, label: str, piece: bytes = b"") -> None:
        message = Message(label, np.frombuffer(piece, np.uint8), Purpose.SHARE, line[2],
                          Kind.STREAM)
        await self._transport.send(line[0], message)
