"""Making columns fit for learners that see more than the order of values.

A strictly increasing code keeps order and nothing else, and three habits of learners look at more:
they see float32, scikit-learn's splitter takes values within 1e-7 for equal, and above 200,000 rows
histogram learners place their bins by a sample, between whose values a rare one may fall on either
side. So a column is rounded, as little as it takes, before it is encoded: values that are one as
float32 become that one, values too close become the lower of them, and above 200,000 rows rare
values join a neighbour until enough rows share each. The promise is then about the rounded column,
the release names it, and the key rounds the original in the same way.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.methods.encoding.threshold_facts import SKLEARN_GAP

SAMPLED_ROWS = 200_000
"""HistGradientBoosting and LightGBM place bins by a sample of this many rows."""
SURE = 30.0
"""A level is missing from the sample with a chance of at most exp(-SURE)."""
KEPT = 0.5
"""Columns that spacing would cut down to fewer than this share of their values are left alone."""


@dataclass(frozen=True)
class Levels:
    """The values that stay, the class counts of each, and the smallest value that joins each."""

    values: Floats
    table: Ints
    floor: Floats

    @property
    def rounded(self) -> bool:
        """Return True if some values were joined."""
        return self.floor.size > 0


def rows_needed(rows: float) -> int:
    """Return how many rows must share a value so that a sample of 200,000 surely has it."""
    if rows <= SAMPLED_ROWS:
        return 1
    return math.ceil(SURE / -math.log1p(-SAMPLED_ROWS / rows)) if math.isfinite(rows) else 2**62


def condition(values: Floats, table: Ints, least: int) -> Levels:
    """Space out the values of a column, and join rare ones until each has `least` rows."""
    starts = _spaced(values)
    kept = values[starts]
    counts = np.add.reduceat(table, starts, axis=0) if starts.size else table
    groups = _shared(kept, counts.sum(axis=1), least)
    if groups.size < kept.size:
        chosen = _representatives(kept, counts.sum(axis=1), groups)
        floor = kept[groups]
        return Levels(kept[chosen], np.add.reduceat(counts, groups, axis=0), floor)
    if kept.size == values.size:
        return Levels(values, table, np.zeros(0))
    return Levels(kept, counts, kept)


def _spaced(values: Floats) -> Ints:
    """Return the places of values that scikit-learn tells apart, each from the one before."""
    narrow = values.astype(np.float32)
    everything = np.arange(values.size)
    if not np.any(narrow[1:] <= narrow[:-1] + SKLEARN_GAP):
        return everything
    kept, last = [0], narrow[0]
    for place, value in enumerate(narrow[1:], 1):
        if value > last + SKLEARN_GAP:
            kept.append(place)
            last = value
    return np.array(kept) if len(kept) >= KEPT * values.size else everything


def _shared(values: Floats, counts: Ints, least: int) -> Ints:
    """Return where levels begin; negative values never join zero unless they are too few."""
    if least <= 1 or values.size == 0 or counts.min() >= least:
        return np.arange(values.size)
    starts, total = [0], 0
    for place, count in enumerate(counts.tolist()):
        crosses = place and values[place - 1] < 0 <= values[place]
        if place and (total >= least or crosses):
            starts.append(place)
            total = 0
        total += count
    return _with_the_last(np.array(starts), counts, least)


def _with_the_last(starts: Ints, counts: Ints, least: int) -> Ints:
    """Join levels that stayed too small to the one before, the first to the one after."""
    sizes = np.add.reduceat(counts, starts)
    small = np.flatnonzero(sizes < least)
    drop = {int(place) if place else 1 for place in small} if starts.size > 1 else set()
    return np.array([start for place, start in enumerate(starts.tolist()) if place not in drop])


def _representatives(values: Floats, counts: Ints, groups: Ints) -> Ints:
    """Return the most frequent value of each level, zero where it is in it."""
    weight = np.where(values == 0.0, np.iinfo(np.int64).max, counts)
    ends = np.r_[groups[1:], values.size]
    return np.array([start + int(np.argmax(weight[start:end]))
                     for start, end in zip(groups.tolist(), ends.tolist(), strict=True)])
