"""Means, covariances and number formats of a table that is seen block by block."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from unspoken.arrays import Floats, Ints

MAX_DECIMALS = 6


@dataclass(frozen=True)
class Moments:
    """Of the complete records: how many, column means, covariance (divided by the count).

    `gaps` counts records with a missing value, `decimals` holds the decimals with which every
    value of a column is written exactly, -1 where more than six are needed.
    """

    count: int
    mean: Floats
    covariance: Floats
    gaps: int
    infinite: int
    decimals: Ints

    @property
    def spread(self) -> Floats:
        """Return the standard deviations (divided by the count)."""
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))

    @property
    def size(self) -> float:
        """Return the root mean square length of the records."""
        return float(np.sqrt(np.trace(self.covariance) + self.mean @ self.mean))


@dataclass(frozen=True)
class BlockMoments:
    """What one block of records adds: its counts, means, products of deviations and decimals."""

    counts: Ints
    """Complete records, records with a gap, records with an infinite value."""
    mean: Floats
    scatter: Floats
    decimals: Ints

    @classmethod
    def of(cls, block: Floats) -> BlockMoments:
        """Measure one block."""
        full = block[~np.isnan(block).any(axis=1)]
        infinite = int(np.isinf(full).any(axis=1).sum())
        counts = np.array([full.shape[0], block.shape[0] - full.shape[0], infinite])
        columns = block.shape[1]
        if full.shape[0] == 0 or infinite:
            return cls(counts, np.zeros(columns), np.zeros((columns, columns)),
                       np.zeros(columns, np.int64))
        middle = full.mean(axis=0)
        rest = full - middle
        return cls(counts, middle, rest.T @ rest, _decimals(full))


def moments(blocks: Iterable[Floats], columns: int) -> Moments:
    """Return the moments of records that come block by block."""
    return merged((BlockMoments.of(block) for block in blocks), columns)


def merged(parts: Iterable[BlockMoments], columns: int) -> Moments:
    """Merge the moments of blocks of records (Chan's update, which does not cancel)."""
    count, gaps, infinite = 0, 0, 0
    mean, scatter = np.zeros(columns), np.zeros((columns, columns))
    decimals = np.zeros(columns, np.int64)
    for part in parts:
        rows = int(part.counts[0])
        gaps, infinite = gaps + int(part.counts[1]), infinite + int(part.counts[2])
        if rows == 0 or infinite:
            continue
        step, total = part.mean - mean, count + rows
        scatter += part.scatter + np.outer(step, step) * (count * rows / total)
        mean = mean + step * (rows / total)
        count = total
        decimals = np.where((decimals < 0) | (part.decimals < 0), -1,
                            np.maximum(decimals, part.decimals))
    return Moments(count, mean, scatter / max(count, 1), gaps, infinite, decimals)


def _decimals(block: Floats) -> Ints:
    out = np.zeros(block.shape[1], np.int64)
    for column in range(block.shape[1]):
        while out[column] >= 0 and not _written(block[:, column], int(out[column])):
            out[column] = out[column] + 1 if out[column] < MAX_DECIMALS else -1
    return out


def _written(values: Floats, decimals: int) -> bool:
    # One value settles most columns of fractions at once.
    return bool(np.round(values[0], decimals) == values[0]
                and np.array_equal(np.round(values, decimals), values))


def snapped(values: Floats, decimals: Ints) -> Floats:
    """Return values rounded to the decimals of their columns, which takes rounding noise out."""
    out = values.copy()
    for column, places in enumerate(decimals.tolist()):
        if places >= 0:
            out[:, column] = np.round(values[:, column], places) + 0.0
    return out
