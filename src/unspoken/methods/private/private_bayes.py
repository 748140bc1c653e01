"""Naive Bayes with a stated epsilon: one noisy table of every feature by class.

The shares of a class are taken from all tables together: each of them counts every row.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from unspoken.arrays import Floats
from unspoken.errors import InputError
from unspoken.methods.private.declared_columns import Cells, Coded, check_size, table_of_counts
from unspoken.methods.private.loss_split import Loss
from unspoken.models.naive_bayes import Likelihood, NaiveBayes

_SMALLEST = 0.5
"""What a count is at least: an empty cell rules nothing out."""


class BayesPlan:
    """One table for each feature; all share the loss equally."""

    kind = "model"

    def __init__(self, loss: Loss, cells: Sequence[Cells], rows: int, target: str | None) -> None:
        classes = next((one for one in cells if one.name == target), None)
        if classes is None or classes.edges or classes.known < 2:
            raise InputError("Private naive Bayes needs a categorical target with declared "
                             "classes. Name it on reading, and its classes in 'values'.")
        self.cells = (*(one for one in cells if one is not classes), classes)
        if len(self.cells) < 2:
            raise InputError("Private naive Bayes needs at least one column besides the target.")
        for one in self.cells[:-1]:
            check_size((one, classes))
        self._classes, self._rows = classes, rows
        self._each = loss.share(1 / (len(self.cells) - 1))

    def expected(self) -> dict[str, float]:
        """Return the errors that can be stated before anything is measured."""
        error, people = self._each.error(), max(self._rows / self._classes.known, 1)
        return {"deviation of a count": error,
                "deviation of the share of a value within a class of average size": error / people,
                "deviation of the share of a class":
                    error * math.sqrt(max(one.size for one in self.cells[:-1])
                                      / (len(self.cells) - 1)) / max(self._rows, 1)}

    def measure(self, coded: Coded) -> NaiveBayes:
        """Count with noise, and put the classifier together."""
        target = coded[self._classes.name]
        tables = {one.name: self._each.counts(table_of_counts(
            [coded[one.name], target], [one.size, self._classes.size]))[:, :self._classes.known]
            for one in self.cells[:-1]}
        sums = np.mean([one.sum(axis=0) for one in tables.values()], axis=0)
        prior = np.maximum(sums, _SMALLEST)
        return NaiveBayes(self._classes.values, np.asarray(prior / prior.sum()), tuple(
            _likelihood(one, tables[one.name][:one.known]) for one in self.cells[:-1]), self._rows)


def _likelihood(cell: Cells, counts: Floats) -> Likelihood:
    """Return the shares of a column's cells by class; a missing value says nothing."""
    kept = np.maximum(counts.T, _SMALLEST)
    edges = np.array(cell.edges) if cell.edges else np.arange(cell.known + 1) - 0.5
    return Likelihood(cell.name, np.asarray(edges, np.float64),
                      np.asarray(kept / kept.sum(axis=1, keepdims=True)), cell.values)
