"""Counting small whole numbers by address while rows pass: many columns in one reading."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from unspoken.arrays import Ints
from unspoken.table.arrow_arrays import to_numbers
from unspoken.table.engines.protocol import Counts
from unspoken.table.long_passes import Step

MOST_CELLS = 1 << 18
"""Values times classes that a column may have to be counted so."""


class _Column:
    """How often every number between the least and the greatest occurs, class by class."""

    def __init__(self, classes: int) -> None:
        self.low, self.missing, self.wide = 0, 0, False
        self.counts = np.zeros((0, classes), np.int64)

    def add(self, column: Any, labels: Ints | None) -> None:
        """Count the next values; a column that reaches too far is given up."""
        if self.wide:
            return
        if column.null_count:
            self.missing += column.null_count
            known = column.is_valid().to_numpy(zero_copy_only=False)
            column, labels = column.drop_null(), None if labels is None else labels[known]
        data = to_numbers(column)
        if data.size and self._reach(int(data.min()), int(data.max())):
            self._count(data, labels)

    def _reach(self, low: int, high: int) -> bool:
        """Make room for numbers; False where that would be too much."""
        rows, classes = self.counts.shape
        if rows:
            low, high = min(low, self.low), max(high, self.low + rows - 1)
        self.wide = (high - low + 1) * classes > MOST_CELLS
        if not self.wide and high - low + 1 > rows:
            wider = np.zeros((high - low + 1, classes), np.int64)
            wider[self.low - low if rows else 0:][:rows] = self.counts
            self.low, self.counts = low, wider
        return not self.wide

    def _count(self, data: Any, labels: Ints | None) -> None:
        cell = np.subtract(data, self.low, dtype=np.int64)
        if labels is not None:
            cell *= self.counts.shape[1]
            cell += labels
        self.counts += np.bincount(cell, minlength=self.counts.size).reshape(self.counts.shape)

    def result(self, classes: tuple[Any, ...]) -> Counts:
        """Return the numbers that occur."""
        present = np.flatnonzero(self.counts.any(axis=1))
        return Counts((present + self.low).astype(np.float64), self.counts[present], classes,
                      self.missing)


def address_counts(batches: Iterable[Any], columns: Sequence[str], by: str | None,
                   classes: tuple[Any, ...], step: Step) -> dict[str, Counts]:
    """Return the counts of those columns whose numbers lie close enough together.

    `classes` are all that the whole numbers of `by` can be, in increasing order.
    """
    counted = {name: _Column(len(classes)) for name in columns}
    for batch in batches:
        labels = None if by is None else np.searchsorted(np.asarray(classes),
                                                         to_numbers(batch.column(by)))
        for name, column in counted.items():
            column.add(batch.column(name), labels)
        step(batch.num_rows * len(columns))
        if all(column.wide for column in counted.values()):
            break
    return {name: column.result(classes) for name, column in counted.items() if not column.wide}
