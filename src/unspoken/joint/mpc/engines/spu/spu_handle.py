"""A party's side of SPU: starts the child, hands it shares, takes shares back.

Each call is one operation on whole arrays. Additive shares among the holders are what CHEETAH
keeps; for ABY3 every party also sends its share to the one before it (8 bytes a value), with a
fresh share of zero on it.
  discloses: nothing beyond shapes. Safe against: one of two (CHEETAH), any one of three (ABY3).
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import os
import socket
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from unspoken.arrays import Words
from unspoken.joint.joint_errors import (
    EngineError,
    JointError,
    PartyError,
    PeerAbortedError,
    RefusedError,
)
from unspoken.joint.mpc.engines.spu.spu_process import Child, ChildError, keep_port
from unspoken.joint.mpc.engines.spu.spu_tunnel import HOST, Tunnel
from unspoken.joint.mpc.ops.sharing import with_zero
from unspoken.joint.mpc.party import Party
from unspoken.joint.wire.frames import Purpose

VARIABLE = "UNSPOKEN_SPU_PYTHON"
BLOCK = 1 << 20
NAMES = {2: "CHEETAH", 3: "ABY3"}
START = 120.0
"""How long a child may take to start and to meet the others: it is big, and a disk may be slow."""
GRACE = 3.0
"""How long the links have to say that a peer was lost before a child's end is its own fault."""


def spu_python() -> str | None:
    """Return the Python that has SPU: the one that is named, or this one."""
    named = os.environ.get(VARIABLE)
    if named:
        return named
    return sys.executable if importlib.util.find_spec("spu") is not None else None


def need_python() -> str:
    """Return the Python that has SPU, or say how to get one."""
    python = spu_python()
    if python is None:
        raise RefusedError(
            "Mode 'spu' needs SecretFlow's SPU on this machine. It is not installed. Install "
            "'unspoken[spu]' (Python 3.11, numpy below 2), or make another environment with it and "
            f"name its Python in {VARIABLE}; or use mode 'dealer' or 'three-party'.")
    return python


class SpuHandle:
    """SPU under one party's shares: its child process, and calls to it."""

    def __init__(self, party: Party) -> None:
        if len(party.holders) not in NAMES:
            raise RefusedError("SPU computes among two (CHEETAH) or three (ABY3) holders. Got "
                               f"{len(party.holders)}.")
        self._party = party
        self._rank = party.holders.index(party.name)
        self.protocol = NAMES[len(party.holders)]
        self._child: Child | None = None
        self._port: socket.socket | None = None
        self._tunnel: Tunnel | None = None
        self._watching: asyncio.Task[None] | None = None
        self._patience = 0.0
        self._zeros = 0

    async def open(self, patience: float = 3600.0) -> None:
        """Start the child and let it meet the others; no operation may take longer than that."""
        python, self._patience = need_python(), patience
        self._port = keep_port()
        port = int(self._port.getsockname()[1])

        async def tunnel(transport: Any) -> tuple[Tunnel, dict[str, int]]:
            opened = Tunnel(transport, port)
            return opened, await opened.open(self._peers)

        self._tunnel, ports = await self._party.seam.visit(tunnel)
        # Everybody's tunnel stands before anybody's child dials.
        await self._party.swap(self._peers, "engine.ready", np.zeros(0, np.uint8), Purpose.CONTROL)
        self._child = await Child.start(python)
        parties = [[name, f"{HOST}:{ports.get(name, port)}"] for name in self._party.holders]
        await self._call({"op": "start", "protocol": self.protocol, "rank": self._rank,
                          "parties": parties, "patience_ms": int(1000 * patience)}, [], START)
        self._watching = asyncio.create_task(self._watch(self._child))
        self._party.ledger.engine = (f"SecretFlow SPU, {self.protocol}: semi-honest parties, no "
                                     "audit of its code known (not vetted)")

    @property
    def _peers(self) -> list[str]:
        return [name for name in self._party.holders if name != self._party.name]

    async def _watch(self, child: Child) -> None:
        """End the run when the child ends unasked.

        The party may be waiting for somebody whose own child waits for this one: nobody would ask
        this child anything, and nobody would notice.
        """
        await asyncio.wait({child.ended})
        if await self._peer_to_blame() is None:
            self._party.seam.fail(PeerAbortedError(self._party.name, self._party.seam.step,
                                                   "lost the process that runs SPU"))

    async def close(self) -> None:
        """End the child, whatever state it is in."""
        self._unwatch()
        if self._child is not None:
            await self._child.close()
        if self._port is not None:
            self._port.close()
        if self._tunnel is not None:
            tunnel, self._tunnel = self._tunnel, None

            async def shut(transport: Any) -> None:
                await tunnel.close()

            with contextlib.suppress(RuntimeError):
                await self._party.seam.visit(shut)

    def _unwatch(self) -> None:
        if self._watching is not None:
            self._watching.cancel()

    async def finish(self) -> None:
        """End together with the others' children."""
        self._unwatch()
        await self._call({"op": "stop"}, [])
        await self._party.swap(self._peers, "engine.ends", np.zeros(0, np.uint8), Purpose.CONTROL)
        await self.close()

    def in_own_words(self, error: PartyError) -> JointError:
        """Return what a party that ended the run because of its own child says here."""
        return EngineError(_alone("")) if self._is_own(error) else error

    def _is_own(self, error: PartyError) -> bool:
        # What others say of this party is never an abort of its own.
        return isinstance(error, PeerAbortedError) and error.party == self._party.name

    async def multiply(self, one: Words, other: Words) -> Words:
        """Return shares of the products."""
        return await self._by_blocks("multiply", [one, other], "number")

    async def matmul(self, one: Words, other: Words) -> Words:
        """Return shares of the matrix product."""
        shape = one.shape[0], other.shape[1]
        if 0 in (*shape, one.shape[1]):
            return np.zeros(shape, np.uint64)
        product = await self._run("matmul", [one, other], ["number"] * 2)
        return product.reshape(shape)

    async def below_zero(self, values: Words) -> Words:
        """Return shares (exclusive or) of the bits that say where a value is negative."""
        return await self._by_blocks("below", [values], "number") & np.uint64(1)

    async def is_zero(self, values: Words) -> Words:
        """Return shares (exclusive or) of the bits that say where a value is zero."""
        return await self._by_blocks("zero", [values], "number") & np.uint64(1)

    async def both(self, one: Words, other: Words) -> Words:
        """Return shares of one and other, which are bits as words 0 and 1."""
        return await self._by_blocks("and", [one, other], "bit") & np.uint64(1)

    async def numbers(self, bits: Words) -> Words:
        """Return shares of bits as additive shares of 0 and 1."""
        return await self._by_blocks("numbers", [bits, np.zeros_like(bits)], "bit")

    async def shift(self, values: Words, by: int) -> Words:
        """Return shares of values divided by 2^by, rounded down."""
        return await self._by_blocks("shift", [values, np.zeros_like(values)], "number", by)

    async def bits(self, values: Words) -> Words:
        """Return words whose exclusive or over the holders are the values."""
        return await self._by_blocks("bits", [values], "number")

    async def _by_blocks(self, op: str, arrays: Sequence[Words], first: str,
                         by: int = 0) -> Words:
        kinds = [first, "number"] if op == "numbers" else [first] * len(arrays)
        flat = [array.ravel() for array in arrays]
        parts = [await self._run(op, [a[i:i + BLOCK] for a in flat], kinds, by)
                 for i in range(0, flat[0].size, BLOCK)]
        return np.concatenate([np.zeros(0, np.uint64), *parts]).reshape(arrays[0].shape)

    async def _run(self, op: str, arrays: Sequence[Words], kinds: Sequence[str],
                   by: int = 0) -> Words:
        """Run one operation on one block."""
        raw = [await self._stored(array, kind) for array, kind in zip(arrays, kinds, strict=True)]
        header = {"op": op, "shapes": [list(a.shape) for a in arrays], "bits": by}
        return np.frombuffer(await self._call(header, raw), "<u8").astype(np.uint64)

    async def _stored(self, words: Words, kind: str) -> bytes:
        """Return a share as SPU keeps it."""
        if self.protocol == "CHEETAH":
            return words.astype("<u8").tobytes()
        own, following = await self._replicated(words, kind)
        narrow = "|u1" if kind == "bit" else "<u8"
        return np.stack([own, following], axis=-1).astype(narrow).tobytes()

    async def _replicated(self, words: Words, kind: str) -> tuple[Words, Words]:
        """Return this party's share with fresh zeros on it, and that of the next party."""
        party = self._party
        before = party.holders[(self._rank - 1) % 3]
        following = party.holders[(self._rank + 1) % 3]
        self._zeros += 1
        own = with_zero(party, words, f"engine {self._zeros}", xors=kind == "bit")
        if kind == "bit":
            own = own & np.uint64(1)
        sent = own.astype(np.uint8) if kind == "bit" else own
        _, got = await asyncio.gather(
            party.send(before, "engine.share", sent, Purpose.SHARE),
            party.receive(following, "engine.share", sent.dtype.str, sent.shape, Purpose.SHARE))
        return own, got.astype(np.uint64)

    async def _call(self, header: dict[str, Any], arrays: Sequence[bytes],
                    seconds: float | None = None) -> bytes:
        """Send a request to the child; the first failure, of child or peer, ends the wait."""
        if self._child is None:
            raise EngineError("SPU was not started.")
        limit = seconds or self._patience + GRACE
        asking = asyncio.ensure_future(self._child.ask(header, arrays))
        failing = asyncio.ensure_future(self._party.seam.broken())
        try:
            await asyncio.wait({asking, failing}, timeout=limit,
                               return_when=asyncio.FIRST_COMPLETED)
            if asking.done():
                return asking.result()
            if not failing.done():
                raise EngineError(f"SPU did not finish '{header['op']}' within {limit:g} s.")
            raise failing.result() or JointError("The run has failed.")
        except (OSError, EOFError, asyncio.IncompleteReadError, ChildError) as error:
            raise await self._peer_to_blame() or EngineError(_alone(str(error))) from None
        finally:
            for task in (asking, failing):
                task.cancel()
            await asyncio.gather(asking, failing, return_exceptions=True)

    async def _peer_to_blame(self) -> PartyError | None:
        """The child ended; most often because a peer did, which the links will say soon.

        Whoever saw a peer's child leave first waits longer, so that the first one speaks first.
        """
        followed = self._tunnel is not None and self._tunnel.left
        failing = asyncio.ensure_future(self._party.seam.broken())
        await asyncio.wait({failing}, timeout=3 * GRACE if followed else GRACE)
        error = failing.result() if failing.done() else None
        failing.cancel()
        return None if error is None or self._is_own(error) else error


def _alone(message: str) -> str:
    return ("SPU ended without an answer although all its peers are connected, so it failed on "
            f"this machine. Its message: {message or 'none'}.")
