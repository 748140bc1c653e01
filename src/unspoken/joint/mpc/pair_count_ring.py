"""Counts of pairs of columns modulo 2^20, so small that one floating-point product is exact.

Products of two numbers below 2^20 over 8,192 rows stay below 2^53, so that BLAS multiplies shares
of 0/1 columns without an error, some fifty times faster than whole numbers of 64 bits. Columns
stand in groups (the items of one owner each); wanted are all pairs of different groups.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Words

BITS = 20
MASK = np.uint32((1 << BITS) - 1)
ROWS = 1 << 13
"""So many rows are multiplied at a time."""
Cells = npt.NDArray[np.uint32]


def cell_words(count: int) -> int:
    """Return how many words this many cells fill."""
    return -(-count // 2)


def cells_of(words: Words, rows: int, columns: int) -> Cells:
    """Return random words as uniform cells."""
    flat = words.astype("<u8", copy=False).view("<u4")[:rows * columns]
    return np.asarray(flat.reshape(rows, columns) & MASK)


def cross_size(widths: Sequence[int]) -> int:
    """Return how many pairs of columns are of different groups."""
    return (sum(widths) ** 2 - sum(width * width for width in widths)) // 2


def crosses(one: Cells, other: Cells, widths: Sequence[int]) -> Words:
    """Return the products of every column of `one` with those of later groups of `other`.

    Group by group: for each column of the group, all later columns in order.
    """
    left, right = one.astype(np.float64), other.astype(np.float64)
    parts, start = [np.zeros(0, np.uint64)], 0
    for width in widths[:-1]:
        stop = start + width
        product = left[:, start:stop].T @ right[:, stop:]
        parts.append(product.astype(np.uint64).ravel())
        start = stop
    return np.asarray(np.concatenate(parts) & np.uint64(MASK))


def cross_places(first: npt.NDArray[np.int64], second: npt.NDArray[np.int64],
                 widths: Sequence[int]) -> npt.NDArray[np.int64]:
    """Return where `crosses` has the pairs of columns (first, second), first in the earlier."""
    ends = np.cumsum(widths)
    later = ends[-1] - ends
    begin = np.r_[0, np.cumsum(np.asarray(widths) * later)]
    group = np.searchsorted(ends, first, side="right")
    inside = first - (ends - np.asarray(widths))[group]
    return np.asarray(begin[group] + inside * later[group] + second - ends[group])
