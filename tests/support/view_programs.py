"""Small programs on shares that open nothing, with two inputs whose views must look alike."""

from __future__ import annotations

import numpy as np

from unspoken.joint import equal, less_than, matmul, multiply, reveal, share, to_numbers, truncate
from unspoken.joint.mpc.bit_planes import plane_of
from unspoken.joint.mpc.declared import declares
from unspoken.joint.mpc.ops.own_choice import keep_where
from unspoken.joint.mpc.ops.pair_counts import pair_counts
from unspoken.joint.mpc.ops.whole_log import whole_x_log_x
from unspoken.joint.mpc.ops.zero_test import is_zero
from unspoken.joint.mpc.shared import Shared

N = 1024
ONE = [np.arange(N) % 7, np.arange(N) % 5 + 1]
OTHER = [(np.arange(N) * 77_777) % 1000, (np.arange(N) * 12_345) % 999]


async def _both(party, data, high=1000):
    x = await share(party, data if party.index == 0 else None, "p0", (N,), 0, high)
    y = await share(party, data if party.index == 1 else None, "p1", (N,), 0, high)
    return x, y


async def compare(party, data):
    """Compare, and turn the bits into numbers."""
    x, y = await _both(party, data)
    await to_numbers(party, await less_than(party, x, y))


async def same(party, data):
    """Test for equality."""
    x, y = await _both(party, data)
    await equal(party, x, y)


async def products(party, data):
    """Multiply, by elements and as matrices."""
    x, y = await _both(party, data)
    await multiply(party, x, y)
    await matmul(party, x.reshape(32, 32), y.reshape(32, 32))


async def cut(party, data):
    """Truncate."""
    x, _ = await _both(party, data)
    await truncate(party, x, 4)


async def log(party, data):
    """Compute x ln x with tables and small rings."""
    x, _ = await _both(party, data)
    await whole_x_log_x(party, x)


async def zero(party, data):
    """Look up whether numbers are zero."""
    x, _ = await _both(party, data)
    await is_zero(party, x)


async def pairs(party, data):
    """Count pairs of columns of bits."""
    await pair_counts(party, plane_of((data > 3).astype(np.uint64)).reshape(1, -1),
                      {"p0": 1, "p1": 1}, N)


async def own(party, data):
    """Keep numbers, of which one holder has the whole, where the other's own answers are 1."""
    held = data if party.index == 0 else np.zeros(N)
    x = Shared(party, held.astype(np.uint64), 0, 1000)
    await keep_where(party, [x], data > 3 if party.index == 1 else None, "p1")


async def often(party, data):
    """Draw more often than a stream number of six bits can count."""
    x = await share(party, data[:4] if party.index == 0 else None, "p0", (4,), 0, 1000)
    for _ in range(66):
        await multiply(party, x, x)


@declares("answer")
async def opened_twice(party, data):
    """Open one value twice."""
    x = await share(party, np.arange(N) if party.index == 0 else None, "p0", (N,), 0, N)
    for _ in range(2):
        await reveal(party, x, because="answer")


PROGRAMS = {"compare": compare, "same": same, "products": products, "cut": cut, "log": log,
            "zero": zero, "pairs": pairs, "own": own, "often": often,
            "opened twice": opened_twice}
