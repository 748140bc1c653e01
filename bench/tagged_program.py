"""Programs of the bench of modes with tags, importable by the processes that run them."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any

import numpy as np

from unspoken.joint import (
    Party,
    declares,
    less_than,
    matmul,
    multiply,
    reveal,
    secure_sum,
    share,
    share_sum,
)
from unspoken.joint.tasks.common.public_sizes import ready

HALF = 1 << 60
REPEATS = 2
Work = Callable[[], Awaitable[Any]]


async def timed(party: Party, work: Work) -> tuple[float, float]:
    """Return the best wall seconds, and the processor seconds of the same time."""
    runs = []
    for _ in range(REPEATS):
        await ready(party)
        start, busy = time.perf_counter(), time.process_time()
        await work()
        if party.engine.guarded is not None:
            # What was dealt is proved, and what was opened is checked, before anything leaves.
            await party.engine.guarded.checked()
        runs.append((time.perf_counter() - start, time.process_time() - busy))
    return min(runs)


def drawn(party: Party, count: int, bound: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(party.index).integers(-bound, bound, count)


@declares("total")
async def opened_sums(party: Party, count: int) -> tuple[float, float]:
    """Share two owners' values as one sum, and open it to both."""
    own = drawn(party, count, 1000)

    async def work() -> Any:
        return await reveal(party, await share_sum(party, own, (count,), -1000, 1000),
                            because="total")

    return await timed(party, work)


@declares("total")
async def secure_sums(party: Party, count: int) -> tuple[float, float]:
    """Add three owners' values."""
    own = drawn(party, count, 1000)
    return await timed(party, lambda: secure_sum(party, own, because="total"))


@declares("some")
async def products(party: Party, count: int) -> tuple[float, float]:
    """Multiply the first owner's values by the second's."""
    x, y = await both(party, count, 1000)
    return await timed(party, lambda: multiply(party, x, y))


@declares("some")
async def comparisons(party: Party, count: int) -> tuple[float, float]:
    """Compare the first owner's values with the second's: 62 bits."""
    x, y = await both(party, count, HALF)
    return await timed(party, lambda: less_than(party, x, y))


@declares("some")
async def gram(party: Party, rows: int) -> tuple[float, float]:
    """Multiply a shared matrix of 50 columns by itself."""
    own = drawn(party, 50 * rows, 1000).reshape(rows, 50)
    x = await share_sum(party, own, (rows, 50), -1000, 1000)
    return await timed(party, lambda: matmul(party, x.T, x))


async def both(party: Party, count: int, bound: int) -> tuple[Any, Any]:
    """Return one array of each of two owners on shares."""
    own = drawn(party, count, bound)
    x = await share(party, own if party.index == 0 else None, "p0", (count,), -bound, bound)
    y = await share(party, own if party.index == 1 else None, "p1", (count,), -bound, bound)
    return x, y
