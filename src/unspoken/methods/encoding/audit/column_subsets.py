"""Counting for every subset of a few columns at once how many rows have all of its bits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Ints

MAX_COLUMNS = 20
"""Two to this many counters are kept."""


def superset_counts(masks: npt.NDArray[np.uint32], columns: int) -> Ints:
    """Return for every subset of columns the number of rows whose mask contains it.

    One pass over the rows counts the masks; sums over supersets follow on the counters alone.
    """
    counts = np.bincount(masks, minlength=1 << columns).astype(np.int64)
    for bit in range(columns):
        pairs = counts.reshape(-1, 2, 1 << bit)
        pairs[:, 0] += pairs[:, 1]
    return counts


def subsets(columns: int, least: int, most: int) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield (bit mask, members) of the subsets of some sizes, smaller ones first."""
    for size in range(least, min(most, columns) + 1):
        for members in combinations(range(columns), size):
            yield sum(1 << member for member in members), members


def row_masks(hits: Sequence[npt.NDArray[np.bool_]], rows: Sequence[npt.NDArray[np.int32]],
              ) -> npt.NDArray[np.uint32]:
    """Return for every row the columns that are hit there, as bits.

    `hits` says for each column which of its entries are hit, `rows` which entry each row has;
    the last entry of `hits` stands for a missing value (row entry -1).
    """
    out = np.zeros(rows[0].size, np.uint32)
    for bit, (hit, where) in enumerate(zip(hits, rows, strict=True)):
        out |= (hit.astype(np.uint32) << np.uint32(bit)).take(where)
    return out
