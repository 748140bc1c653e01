"""Comparisons with MPyC by three processes: -M3 COUNT, seconds on the last line."""

from __future__ import annotations

import sys
import time

import numpy as np
from mpyc.runtime import mpc

BOUND = (1 << 61) - 1


async def main():
    count = int(sys.argv[-1])
    given = [np.random.default_rng(owner).integers(-BOUND, BOUND, count) for owner in range(2)]
    secret = mpc.SecInt(64)
    await mpc.start()
    x, y = (mpc.input(secret.array(one.astype(object)), owner) for owner, one in enumerate(given))
    await mpc.gather(x, y)
    start = time.perf_counter()
    less = x < y
    await mpc.gather(less)
    seconds = time.perf_counter() - start
    found = await mpc.output(less)
    assert np.array_equal(np.array(found).astype(bool), given[0] < given[1])
    await mpc.shutdown()
    if mpc.pid == 0:
        print(seconds)


mpc.run(main())
