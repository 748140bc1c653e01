"""SPU in a dry run: what our code sends is counted, what SPU itself sends is estimated.

SPU is another process and cannot be run dry. Its bytes were measured once for each operation (spu
0.9, batches of 64 to 8192 values, both protocols) and follow a straight line in the number of
values; its rounds are those of its protocols' published circuits. CHEETAH makes oblivious transfers
and encryptions in large batches, so that a small study may need twice, or half, of what is said.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from unspoken.joint.mpc.engines.spu.spu_handle import SpuHandle
from unspoken.joint.mpc.party import Party
from unspoken.joint.wire.frames import HEADER_BYTES, Purpose
from unspoken.joint.wire.hollow_arrays import hollow

# Bytes that one party sends for an operation and for each value of its result, and rounds.
ESTIMATES: dict[str, dict[str, tuple[int, float, int]]] = {
    "ABY3": {"multiply": (750, 8, 1), "matmul": (760, 8, 1), "and": (750, 1, 1),
             "numbers": (1000, 10.7, 2), "below": (4500, 36.2, 8), "zero": (4500, 21, 8),
             "shift": (9000, 235, 16), "bits": (4500, 112, 8)},
    "CHEETAH": {"multiply": (1000, 171, 1), "matmul": (600_000, 30, 2), "and": (1200, 0.35, 1),
                "numbers": (900, 4.3, 2), "below": (12_000, 45, 8), "zero": (7000, 25, 8),
                "shift": (30_000, 390, 14), "bits": (20_000, 215, 8)}}
# What CHEETAH sends before the first operation of a kind: keys, and the first batch of transfers.
FIRST = {"multiply": 700_000, "matmul": 10_000_000}
TRANSFERS = 1_100_000
GREETING = 2600
ESTIMATED = "bytes and rounds inside SPU are estimated, everything else is counted"


class SpuForecast(SpuHandle):
    """A party's side of SPU without SPU."""

    def __init__(self, party: Party) -> None:
        super().__init__(party)
        self._used: set[str] = set()

    async def open(self, patience: float = 3600.0) -> None:
        """Meet the others, as before the start of a child; then SPU's own greetings."""
        await self._party.swap(self._peers, "engine.ready", np.zeros(0, np.uint8), Purpose.CONTROL)
        await self._party.swap(self._peers, "engine", hollow(GREETING, np.uint8), Purpose.MASKED)

    async def finish(self) -> None:
        """End together with the others."""
        await self._party.swap(self._peers, "engine.ends", np.zeros(0, np.uint8), Purpose.CONTROL)

    async def close(self) -> None:
        """There is nothing to end."""

    async def _call(self, header: dict[str, Any], arrays: Sequence[bytes],
                    seconds: float | None = None) -> bytes:
        """Send as much as an operation is estimated to take, and return zeros."""
        op, shapes = str(header["op"]), header["shapes"]
        size = shapes[0][0] * shapes[1][1] if op == "matmul" else math.prod(shapes[0])
        fixed, each, rounds = ESTIMATES[self.protocol][op]
        whole = (fixed + each * size + self._first(op)) / (rounds * len(self._peers))
        piece = hollow(max(0, round(whole) - HEADER_BYTES), np.uint8)
        for _ in range(rounds):
            await self._party.swap(self._peers, "engine", piece, Purpose.MASKED)
        return bytes(8 * size)

    def _first(self, op: str) -> int:
        """Return what the first operation of its kind takes more."""
        kind = op if op in FIRST else "transfers"
        if self.protocol != "CHEETAH" or kind in self._used:
            return 0
        self._used.add(kind)
        return FIRST.get(op, TRANSFERS)
