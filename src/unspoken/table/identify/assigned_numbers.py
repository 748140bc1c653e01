"""Whole numbers that were given to people, not measured: record, card and account numbers.

What is measured repeats: among independent values about half as many pairs are equal as are one
apart. Numbers that were given out once each have neighbours and no repeats, whatever their order.
Where numbers are so sparse that neither occurs, digits tell: all of one length, spread evenly over
what that length allows, and no round ones. Incomes, weights and amounts are none of these.
"""

from __future__ import annotations

import math

import numpy as np

from unspoken.arrays import Ints
from unspoken.table.identify.column_sample import ColumnSample
from unspoken.table.identify.finding import Finding
from unspoken.table.identify.law import OTHER, PERSONAL

ALMOST = 0.95
"""A column with a larger share of distinct values is almost unique..."""
FEWEST = 50
"""... in tables of at least this many rows."""
EXPECTED = 20.0
"""Repeats that independent values would have, from which on their absence tells."""
RARE = 0.1
"""The share of the expected repeats below which numbers were given out once each."""
REACH = (1, 3, 10, 30)
LONG, VERY_LONG = 7, 10
"""Digits from which on numbers that are spread evenly, and any of one length, are given ones."""
MEDIUM, MANY = 5, 400
"""Shorter numbers must fill all that their length allows, in at least this many rows."""
_LARGEST = 2**62


def assigned_number(sample: ColumnSample) -> Finding | None:
    """Return that a column holds numbers that were given to people, or None."""
    if not _whole(sample) or len(sample.values) < FEWEST or sample.distinct_share <= ALMOST:
        return None
    numbers = [int(value) for value in sample.values]
    if max(map(abs, numbers)) > _LARGEST:
        return _finding(sample, "numbers of about twenty digits are not measured")
    values = np.sort(np.array(numbers, np.int64))
    reason = _once_each(values) or _by_digits(values)
    return None if reason is None else _finding(sample, reason)


def _whole(sample: ColumnSample) -> bool:
    """Return True for whole numbers; as floats only where some are missing, as readers do then."""
    if sample.kind == "whole float":
        return sample.table.engine.count_missing(sample.table.frame, sample.name) > 0
    return sample.kind == "integer"


def _finding(sample: ColumnSample, reason: str) -> Finding:
    distinct = round(sample.distinct_share * len(sample.values))
    return Finding(sample.name, "record number", "identifier", "by content", distinct,
                   len(sample.values), reason, OTHER, PERSONAL)


def _once_each(values: Ints) -> str | None:
    """Return that neighbours are many and repeats few, which independent values never show."""
    apart = np.diff(values)
    step = int(np.gcd.reduce(apart))
    if step == 0:
        return None
    repeats, expected = int((apart == 0).sum()), _expected(values // step)
    if expected < EXPECTED or repeats > RARE * expected:
        return None
    return (f"values next to each other are many, and {repeats:,} repeat where about "
            f"{expected:,.0f} would by chance")


def _expected(values: Ints) -> float:
    """Return how many equal pairs independent values would have, by pairs that are nearly equal."""
    best = 0.0
    for reach in REACH:
        near = np.searchsorted(values, values + reach, side="right") \
            - np.searchsorted(values, values, side="right")
        best = max(best, float(near.sum()) / (2 * reach))
    return best


def _by_digits(values: Ints) -> str | None:
    """Return that sparse numbers look given: of one length, evenly spread, not rounded."""
    size = len(str(abs(int(values[-1]))))
    if values[0] <= 0 or size < MEDIUM or len(str(int(values[0]))) != size or _rounded(values):
        return None
    if size >= VERY_LONG:
        return f"all have {size} digits, and hardly any repeats"
    whole = (10 ** (size - 1), 10 ** size)
    even = _evenly(values, *whole) if size < LONG else \
        _evenly(values, *whole) or _evenly(values, int(values[0]), int(values[-1]))
    if not even or (size < LONG and (values.size < MANY or not np.diff(values).all())):
        return None
    return f"all have {size} digits, spread evenly, and hardly any repeats"


def _rounded(values: Ints) -> bool:
    """Return True if last digits are not as frequent as those of given numbers."""
    often = np.bincount(values % 10, minlength=10)
    return bool(((often - values.size / 10) ** 2).sum() * 10 / values.size > 27.9)


def _evenly(values: Ints, low: int, high: int) -> bool:
    """Return True if sorted values may be evenly spread (Kolmogorov-Smirnov, one in a hundred)."""
    place = (values - low) / max(high - low, 1)
    steps = np.arange(values.size + 1) / values.size
    off = max(float(np.max(steps[1:] - place)), float(np.max(place - steps[:-1])))
    return off <= 1.63 / math.sqrt(values.size)
