"""Programs of the benches of clusters and outliers, importable by the processes that run them."""

from __future__ import annotations

import resource
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from unspoken.joint import Party, declares, less_than, share


def blobs(records: int, columns: int, k: int, seed: int = 0) -> np.ndarray[Any, Any]:
    """Return overlapping clouds, standardised."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(0, 2, (k, columns))
    rows = centres[rng.integers(k, size=records)] + rng.normal(0, 1, (records, columns))
    return np.asarray((rows - rows.mean(axis=0)) / rows.std(axis=0))


class Timed:
    """A program that says how long it ran once all connections stood, and its peak of memory."""

    def __init__(self, inner: Any) -> None:
        self.inner, self.disclosures = inner, inner.disclosures

    async def __call__(self, party: Party, data: Any) -> tuple[Any, float, float, float]:
        start, busy = time.perf_counter(), time.process_time()
        found = await self.inner(party, data)
        seconds, used = time.perf_counter() - start, time.process_time() - busy
        return found, seconds, used, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@declares("done")
async def comparisons(party: Party, batches: Sequence[tuple[int, int]]) -> tuple[float, float]:
    """Compare batches of (how many, bound) and nothing else; return wall and processor seconds."""
    seconds, used = 0.0, 0.0
    for count, bound in batches:
        x = await share(party, np.zeros(count, np.int64) if party.index == 0 else None, "p0",
                        (count,), 0, bound)
        y = await share(party, np.ones(count, np.int64) if party.index == 1 else None, "p1",
                        (count,), 0, bound)
        start, busy = time.perf_counter(), time.process_time()
        await less_than(party, x, y)
        seconds += time.perf_counter() - start
        used += time.process_time() - busy
    return seconds, used
