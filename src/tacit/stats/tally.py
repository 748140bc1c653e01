"""Counting values by class, with a fast path for whole numbers of a modest range."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

DIRECT_RANGE = 1 << 22
"""Whole numbers within this range are counted by addressing, without sorting."""


def tally(
    values: npt.NDArray[Any], labels: npt.NDArray[np.integer] | None, classes: int = 1
) -> tuple[Floats, Ints]:
    """Return the distinct values in increasing order and their counts by class.

    `values` holds no missing value. Without labels there is one class.
    """
    if values.size == 0:
        return np.zeros(0), np.zeros((0, classes), np.int64)
    low, high = values.min(), values.max()
    if np.issubdtype(values.dtype, np.integer):
        if int(high) - int(low) < DIRECT_RANGE:
            return _direct(values, int(low), int(high), labels, classes)
    elif np.issubdtype(values.dtype, np.floating):
        whole = as_whole(values, low, high)
        if whole is not None:
            return _direct(whole, int(low), int(high), labels, classes)
    return _sorted(values, labels, classes)


def as_whole(values: npt.NDArray[Any], low: Any, high: Any) -> npt.NDArray[np.int32] | None:
    """Return floats as int32 if all are whole and their range is modest."""
    if not (abs(float(low)) < 2**30 and abs(float(high)) < 2**30 and high - low < DIRECT_RANGE):
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
        return distinct.astype(np.float64), counts.reshape(-1, 1).astype(np.int64)
    distinct, where = np.unique(values, return_inverse=True)
    cell = where.reshape(-1) * classes + labels
    counts = np.bincount(cell, minlength=distinct.size * classes).reshape(-1, classes)
    return distinct.astype(np.float64), counts
