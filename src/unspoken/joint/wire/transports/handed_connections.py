"""Connections that somebody else accepted: a node has one port for all of its studies.

Whoever dials a node sends an opening of fixed length first, in the clear: a magic, which door it
wants, and the number of a run. The node reads it and passes the connection on to the process of
that run, as a descriptor over a Unix socket. TLS begins after that, inside the process of the run,
and trusts the certificates of its study alone. An eavesdropper learns the number of the run, which
is a hash, beside who talks to whom.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import ssl
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field

from unspoken.joint.wire.transports.links import Accept, LastWords

MAGIC = b"UNSP"
VERSION = 1
PAIR, NODE, RUN = 1, 2, 3
_OPENING = struct.Struct("<4sBB16s")
OPENING_BYTES = _OPENING.size
NO_RUN = bytes(16)


def opening(door: int, run: bytes = NO_RUN) -> bytes:
    """Return what whoever dials a node sends first."""
    return _OPENING.pack(MAGIC, VERSION, door, run)


def read_opening(data: bytes) -> tuple[int, bytes]:
    """Return door and run; ValueError says what is wrong with an opening."""
    magic, version, door, run = _OPENING.unpack(data)
    if magic != MAGIC:
        raise ValueError("sent something that is no opening of unspoken")
    if version != VERSION:
        raise ValueError(f"sent version {version} of the opening; this node has {VERSION}")
    if door not in (PAIR, NODE, RUN):
        raise ValueError("sent a door that does not exist")
    return door, run


@dataclass
class HandedConnections:
    """Where a process that runs one study gets its connections from: its node, over `line`.

    `addresses`: where parties are to be dialled now, if they have moved since the study was made.
    """

    line: socket.socket
    run: bytes
    addresses: Mapping[str, str] = field(default_factory=dict)
    _taking: set[asyncio.Task[None]] = field(default_factory=set)

    def listen(self, accept: Accept, limit: int, context: ssl.SSLContext,
               handshake: float) -> None:
        """Take connections until `close`; a node that is gone ends this process in order."""
        loop = asyncio.get_running_loop()

        def take() -> None:
            try:
                byte, descriptors, _, _ = socket.recv_fds(self.line, 1, 1)
            except BlockingIOError:
                return
            except OSError:
                byte, descriptors = b"", []
            if not byte:
                loop.remove_reader(self.line.fileno())
                os.kill(os.getpid(), signal.SIGTERM)
            for descriptor in descriptors:
                task = loop.create_task(_welcome(socket.socket(fileno=descriptor), accept, limit,
                                                 context, handshake))
                self._taking.add(task)
                task.add_done_callback(self._taking.discard)

        self.line.setblocking(False)
        loop.add_reader(self.line.fileno(), take)

    def close(self) -> None:
        """Take nothing more; the line stays open, because its end is the end of the node."""


async def _welcome(taken: socket.socket, accept: Accept, limit: int, context: ssl.SSLContext,
                   handshake: float) -> None:
    """Begin TLS on a connection; one whose certificate is not of the study ends here."""
    loop = asyncio.get_running_loop()
    taken.setblocking(False)
    with contextlib.suppress(OSError):
        await loop.connect_accepted_socket(
            lambda: asyncio.StreamReaderProtocol(LastWords(limit=limit, loop=loop), accept,
                                                 loop=loop),
            taken, ssl=context, ssl_handshake_timeout=handshake)


def hand_over(line: socket.socket, taken: socket.socket) -> None:
    """Pass a connection to the process at the other end of a line, and forget it here."""
    try:
        socket.send_fds(line, [b"c"], [taken.fileno()])
    finally:
        taken.close()
