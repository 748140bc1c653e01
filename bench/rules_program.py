"""Programs of the benches of rules, importable by the processes that run them."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from unspoken.joint import Party
from unspoken.joint.mpc.ops.bit_counts import bit_counts
from unspoken.joint.mpc.randomness import fresh_words


class Timed:
    """Another program, and how long it took once all parties had met."""

    def __init__(self, inner: Any) -> None:
        self.inner, self.disclosures = inner, inner.disclosures

    async def __call__(self, party: Party, data: Any) -> tuple[float, Any]:
        start = time.perf_counter()
        found = await self.inner(party, data)
        return time.perf_counter() - start, found


async def bare(party: Party, sizes: tuple[int, int]) -> float:
    """AND and count so many pairs of columns of so many rows on shares, and nothing else."""
    pairs, rows = sizes
    words = -(-rows // 64)
    columns = fresh_words(2 * pairs * words).reshape(-1, words)
    chosen = np.arange(2 * pairs).reshape(-1, 2)
    start = time.perf_counter()
    await bit_counts(party, columns, chosen, rows)
    return time.perf_counter() - start
