"""How large a task is: as it is published, or a part of it, for a smoke test or for growth.

`UNSPOKEN_BENCH_SCALE` is the share of the published size; every process of a task reads it. A task
never gets smaller than what its answer can still be checked with.
"""

from __future__ import annotations

import os

import numpy as np

VARIABLE = "UNSPOKEN_BENCH_SCALE"
SCALE = float(os.environ.get(VARIABLE, "1"))
SMOKE = 0.001
"""At this share and below one run of everything is enough: only the answer counts."""


def scaled(full: int, least: int) -> int:
    """Return a size at the present scale."""
    return min(full, max(least, round(full * SCALE)))


def spread(count: int, least: int) -> np.ndarray:
    """Return evenly spread places of that many rows, at the present scale."""
    return np.linspace(0, count - 1, scaled(count, least)).astype(np.intp)


def repeats(many: int) -> int:
    """Return how often something is measured: once where only the answer counts."""
    return 1 if SCALE <= SMOKE else many


def in_words(count: int) -> str:
    """Return a number of rows as the page shows it: '20 million' or '5,000'."""
    millions, rest = divmod(count, 1_000_000)
    return f"{count:,}" if rest or not millions else f"{millions} million"
