"""Decoding the parts of a model side by side: trees, or parts of the training rows."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from unspoken.methods.encoding.decode.training_rows import Rows

MOST = 8
"""Threads: every one holds a copy of the rows of its tree."""
FEW = 20_000
"""Rows times trees below which starting threads costs more than it saves."""

S = TypeVar("S")
T = TypeVar("T")


def tree_by_tree(decoded: Callable[[int], T], count: int, rows: Rows) -> list[T]:
    """Return what a function makes of each tree; the error of the first that has one is raised."""
    if rows.count * count < FEW:
        return [decoded(number) for number in range(count)]
    # What all trees look at is computed once, before they start.
    _ = (rows.narrow, rows.ranks, rows.permuted, rows.close_columns)
    return side_by_side(decoded, range(count))


def side_by_side(function: Callable[[S], T], parts: Sequence[S]) -> list[T]:
    """Return what a function makes of each part, in their order, on all cores."""
    threads = min(_cores(), MOST, len(parts))
    if threads < 2:
        return [function(part) for part in parts]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(function, parts))


def _cores() -> int:
    """Return how many cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1
