"""Programs of the joint benches, importable by the processes that run them."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import numpy as np

from sizes import repeats, scaled
from unspoken.joint import (
    Party,
    declares,
    less_than,
    reveal,
    secure_sum,
    share,
    share_sum,
    to_numbers,
)
from unspoken.joint.session.play import in_memory
from unspoken.joint.session.run_roles import roles_for
from unspoken.joint.wire.frames import Purpose
from unspoken.joint.wire.transports.memory import MemoryTransport

# The widest values whose differences the ring of 64 bits has room for.
BOUND = (1 << 61) - 1
STEPS = scaled(125, 5)
DELAY = 0.02
REPEATS = repeats(3)


def values(owner: int, count: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(owner).integers(-BOUND, BOUND, count)


@declares("less")
async def compare(party: Party, count: int) -> tuple[float, float]:
    """Compare the first owner's values with the second's; return wall and processor seconds."""
    own = values(party.index, count) if party.index < 2 else None
    x = await share(party, own if party.index == 0 else None, "p0", (count,), -BOUND, BOUND)
    y = await share(party, own if party.index == 1 else None, "p1", (count,), -BOUND, BOUND)
    start, busy = time.perf_counter(), time.process_time()
    less = await less_than(party, x, y)
    seconds = time.perf_counter() - start, time.process_time() - busy
    found = await reveal(party, less, because="less")
    assert np.array_equal(found, values(0, count) < values(1, count))
    return seconds


@declares("bytes")
async def send(party: Party, plan: tuple[int, int]) -> float:
    """Send so many bytes there and back in pieces of a mebibyte, and do nothing else."""
    there, back = plan
    start = time.perf_counter()
    for sender, total in ((0, there), (1, back)):
        party.begin("send")
        party.opening("bytes", [party.names[1 - sender]], (total,))
        for left in range(total, 0, -(1 << 20)):
            piece = np.zeros(min(left, 1 << 20), np.uint8)
            if party.index == sender:
                await party.send(party.peers[0], "bytes", piece, Purpose.DISCLOSURE)
            else:
                await party.receive(party.peers[0], "bytes", "|u1", piece.shape,
                                    Purpose.DISCLOSURE)
    return time.perf_counter() - start


@declares("total")
async def masked_sums(party: Party, count: int) -> list[float]:
    """Sum a vector over all parties, to the first; return the seconds of each time."""
    own, found = values(party.index, count) >> 4, []
    for _ in range(REPEATS):
        start = time.perf_counter()
        await secure_sum(party, own, because="total", to=["p0"])
        found.append(time.perf_counter() - start)
    return found


@declares("clear")
async def clear_sums(party: Party, count: int) -> list[float]:
    """Send the same vectors in the clear over the same links, and add them."""
    own, found = values(party.index, count) >> 4, []
    for _ in range(REPEATS):
        party.begin("clear")
        party.opening("clear", ["p0"], own.shape)
        start = time.perf_counter()
        if party.index:
            await party.send("p0", "clear", own, Purpose.DISCLOSURE)
        else:
            for peer in party.peers:
                own = own + await party.receive(peer, "clear", "<i8", own.shape,
                                                Purpose.DISCLOSURE)
        found.append(time.perf_counter() - start)
    return found


async def one_by_one(party: Party, data: Any) -> None:
    """Compare so often that every step needs what the last has found."""
    x = await share_sum(party, data, (1000,), 0, 1 << 59)
    for step in range(STEPS):
        less = await to_numbers(party, await less_than(party, x.within(0, 1 << 60), step))
        x = (x + less).within(0, 1 << 60)


async def together(party: Party, data: Any) -> None:
    """The same comparisons, none of which needs another."""
    x = await share_sum(party, np.tile(data, STEPS), (1000 * STEPS,), 0, 1 << 59)
    await to_numbers(party, await less_than(party, x, 7))


def _slowly(end: MemoryTransport, other: MemoryTransport, frame: bytes) -> None:
    """Pass a frame on as a link does on which it takes its time."""
    asyncio.get_running_loop().call_later(DELAY, other.take_frame, end.name, frame)


def delayed(program: Any) -> float:
    """Return the seconds of a program among three over slow links, without the start."""
    kept, MemoryTransport._pass = MemoryTransport._pass, _slowly  # type: ignore[method-assign]
    try:
        roles = roles_for(["p0", "p1", "p2"], "three-party")
        start = time.perf_counter()
        outcomes = asyncio.run(in_memory(program, [np.arange(1000)] * 3, roles))
        seconds = time.perf_counter() - start
    finally:
        MemoryTransport._pass = kept  # type: ignore[method-assign]
    for outcome in outcomes:
        if outcome.error is not None:
            raise outcome.error
    return seconds
