"""Counting values by class, with a fast path for whole numbers of a modest range."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats, Ints

DIRECT_RANGE = 1 << 22
"""Whole numbers within this range are counted by addressing, without sorting."""


def tally(
    values: npt.NDArray[Any], labels: npt.NDArray[np.integer] | None, classes: int = 1
) -> tuple[Floats, Ints]:
    """Return the distinct values in increasing order and their counts by class.

    `values` holds no missing value. Without labels there is one class. The two zeros of
    floating-point numbers are one value, without a sign.
    """
    if values.size == 0:
        return np.zeros(0), np.zeros((0, classes), np.int64)
    low, high = values.min().item(), values.max().item()
    if max(abs(low), abs(high)) > 2**53:
        # Whole numbers that float64 does not distinguish are one value from here on.
        return _sorted(values.astype(np.float64), labels, classes)
    # Addressing a range far above the number of values costs more than sorting them.
    if high - low < min(DIRECT_RANGE, max(1 << 12, 8 * values.size)):
        whole = as_whole(values)
        if whole is not None:
            return _direct(whole, int(low), int(high), labels, classes)
    return _sorted(values, labels, classes)


def as_whole(values: npt.NDArray[Any]) -> npt.NDArray[np.integer] | None:
    """Return values as integers if all are whole."""
    if np.issubdtype(values.dtype, np.integer):
        return values
    if not np.issubdtype(values.dtype, np.floating) or np.abs(values[:64]).max() > 2**30:
        return None
    # Most columns of real fractions give themselves away in the first values.
    head = values[:64]
    if np.any(head != np.rint(head)):
        return None
    whole = values.astype(np.int32)
    return whole if np.array_equal(whole, values) else None


def _direct(
    values: npt.NDArray[np.integer],
    low: int,
    high: int,
    labels: npt.NDArray[np.integer] | None,
    classes: int,
) -> tuple[Floats, Ints]:
    cell = np.subtract(values, low, dtype=np.intp)
    if labels is not None:
        cell *= classes
        cell += labels
    counts = np.bincount(cell, minlength=(high - low + 1) * classes).reshape(-1, classes)
    present = np.flatnonzero(counts.any(axis=1))
    return (present + low).astype(np.float64), counts[present]


def _sorted(
    values: npt.NDArray[Any], labels: npt.NDArray[np.integer] | None, classes: int
) -> tuple[Floats, Ints]:
    if labels is None:
        distinct, counts = np.unique(values, return_counts=True)
        return distinct.astype(np.float64) + 0.0, counts.reshape(-1, 1).astype(np.int64)
    distinct, where = np.unique(values, return_inverse=True)
    cell = where.reshape(-1) * classes + labels
    counts = np.bincount(cell, minlength=distinct.size * classes).reshape(-1, classes)
    return distinct.astype(np.float64) + 0.0, counts
