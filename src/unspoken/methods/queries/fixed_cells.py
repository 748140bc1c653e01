"""Cells that were fixed before the first query: the only sums that are answered exactly by default.

The cells are the combinations of values of some public columns. They do not overlap and cannot be
chosen by the user, so that no two answers differ in a few people. A cell is answered for a column
only if at least `smallest` people in it have a value there and at least `smallest` of these have
another than the most frequent one: a sum over people who nearly all have 0 would disclose the few
who have not. A missing value is no value: it adds nothing and differs from nobody's. Sum over mean
is the number of values, and a count that of people: so either everybody in the cell has a value or
at least `smallest` have none. Where a person may have several rows, `smallest` is multiplied by
their greatest number. A refused cell shows that it fails this.
"""

from __future__ import annotations

import numpy as np

from unspoken.arrays import Bools, Ints
from unspoken.methods.queries.grid_columns import GridColumn
from unspoken.methods.queries.guard_settings import Settings
from unspoken.methods.queries.guarded_records import Rows
from unspoken.methods.queries.query import Asked


class FixedCells:
    """The declared partition of the records."""

    def __init__(self, rows: Rows, settings: Settings) -> None:
        self._smallest = settings.smallest
        self._labels: Ints | None = None if settings.cells is None else rows.labels(settings.cells)
        self._closed: dict[tuple[str, int], Bools] = {}

    def hold(self, asked: Asked, column: GridColumn) -> bool:
        """Return True if a query sums a column over whole cells, all of which may be answered."""
        if self._labels is None or asked.hidden is not None or asked.query.column is None:
            return False
        inside = self._labels[asked.members]
        taken = np.bincount(inside, minlength=self._labels.max() + 1)
        whole = (taken == np.bincount(self._labels)) | (taken == 0)
        closed = self.closed_of(asked.query.column, column)
        return bool(inside.size and whole.all() and not closed[taken > 0].any())

    def closed_of(self, name: str, column: GridColumn, rows: int = 1) -> Bools:
        """Return which cells are not answered exactly; a person has at most `rows` rows."""
        if (name, rows) not in self._closed:
            labels = self._labels if self._labels is not None else np.zeros(0, np.int64)
            self._closed[name, rows] = np.array([
                _closed(column, labels == cell, self._smallest * rows)
                for cell in range(labels.max() + 1)])
        return self._closed[name, rows]


def _closed(column: GridColumn, inside: Bools, least: int) -> bool:
    """Return True if a cell would single out few people: by their value, or by having none."""
    without = int(np.count_nonzero(inside & ~column.present))
    return 0 < without < least or _too_alike(column.values[inside & column.present], least)


def _too_alike(values: Ints, least: int) -> bool:
    """Return True if fewer than `least` values differ from the most frequent one."""
    alike = np.unique(values, return_counts=True)[1].max(initial=0)
    return bool(values.size < least or values.size - alike < least)
