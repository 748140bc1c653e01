"""The child that runs SPU, as its party sees it: a port kept for it, questions, and its end."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from unspoken.joint.mpc.engines.spu.spu_tunnel import HOST

CHILD = Path(__file__).with_name("spu_child.py")
LENGTH = struct.Struct("<I")
FAREWELL = 5.0
"""How long a child that was killed may take to be gone."""


class ChildError(Exception):
    """What the child said when it failed."""


def keep_port() -> socket.socket:
    """Return a socket that keeps a port for a child; close it when the child has ended.

    It is bound and does not listen. Nobody who asks for any free port is given this one, and SPU,
    which names it and allows its reuse as we do, may listen there. A port that was only found free
    can be somebody else's by the time the child has started.
    """
    kept = socket.socket()
    kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    kept.bind((HOST, 0))
    return kept


class Child:
    """One running child."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.ended = asyncio.ensure_future(process.wait())

    @property
    def pid(self) -> int:
        """Return the number of its process."""
        return self._process.pid

    @classmethod
    async def start(cls, python: str) -> Child:
        """Start a child; it waits for its first request."""
        return cls(await asyncio.create_subprocess_exec(
            python, str(CHILD), stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL, env=_environment(), limit=1 << 22))

    async def ask(self, header: dict[str, Any], arrays: Sequence[bytes]) -> bytes:
        """Send a request and return the answer; ChildError if the child could not do it."""
        to, back = self._process.stdin, self._process.stdout
        if to is None or back is None:
            raise EOFError
        text = json.dumps({**header, "sizes": [len(raw) for raw in arrays]}).encode()
        to.write(LENGTH.pack(len(text)) + text)
        for raw in arrays:
            to.write(raw)
            await to.drain()
        length = LENGTH.unpack(await back.readexactly(LENGTH.size))[0]
        answer = json.loads(await back.readexactly(length))
        if "failed" in answer:
            raise ChildError(str(answer["failed"]))
        return await back.readexactly(int(answer["size"]))

    async def close(self) -> None:
        """End the child, whatever state it is in."""
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        # An answer that nobody reads may keep its pipe, and so the waiting, open.
        await asyncio.wait({self.ended}, timeout=FAREWELL)
        self.ended.cancel()


def _environment() -> dict[str, str]:
    """Return what a child needs to know; our own modules must not hide its libraries."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
