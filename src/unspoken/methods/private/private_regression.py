"""Linear regression with a stated epsilon: noise on sums of products of bounded columns.

Every column is clamped to its declared ends and counted in steps from -STEPS to STEPS; a missing
value counts as the middle. Sums of all products of two columns, and of the columns themselves, get
noise; the coefficients follow from them and cost nothing more (Dwork and Smith 2010, Wang 2018).
Noise can make the matrix of products singular: its small eigenvalues are raised to what the noise
itself is worth.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.errors import InputError
from unspoken.methods.private.declared_columns import Cells, Coded
from unspoken.methods.private.loss_split import Loss, Reach
from unspoken.models.linear_model import LinearModel
from unspoken.numerics.noisy_moments import most_in_all, most_in_sum, scaled_slopes, symmetric

STEPS = 1024


class RegressionPlan:
    """Columns with declared ends, the target last."""

    kind = "model"

    def __init__(self, loss: Loss, cells: Sequence[Cells], rows: int, target: str | None) -> None:
        last = [one for one in cells if one.name == target]
        self.cells = (*(one for one in cells if one.name != target), *last)
        if not last or len(self.cells) < 2 or not all(one.edges for one in self.cells):
            raise InputError("Private regression needs a numeric target and numeric columns, each "
                             "with its ends in 'edges'. Name the columns to use in 'columns'.")
        self._loss, self._rows = loss, max(rows, 1)

    @property
    def _reach(self) -> Reach:
        """Return how far one row moves the sums, in steps squared."""
        size, square = len(self.cells), STEPS * STEPS
        return Reach(most_in_sum(size, square), (most_in_all(size) * square) ** 2)

    @property
    def _error(self) -> float:
        return self._loss.spread(self._reach) / STEPS**2

    def expected(self) -> dict[str, float]:
        """Return the errors that can be stated before anything is measured."""
        # The variance of an even spread over [-1, 1] is 1/3; coefficients below 1 there.
        each = 3 * self._error * math.sqrt(2) / self._rows
        widths = [(one.edges[-1] - one.edges[0]) / 2 for one in self.cells]
        return {"deviation of a scaled sum": self._error, **{
            f"deviation of the coefficient of '{one.name}', for columns spread evenly":
                each * widths[-1] / width
            for one, width in zip(self.cells[:-1], widths[:-1], strict=True)}}

    def noisy_sums(self, coded: Coded) -> Floats:
        """Return the sums of columns and of products with noise: all that is measured."""
        units = np.column_stack([_units(one, coded.numbers(one.name)) for one in self.cells])
        upper = np.triu_indices(units.shape[1])
        sums = [*(units.sum(axis=0) * STEPS).tolist(), *(units.T @ units)[upper].tolist()]
        return np.array(self._loss.numbers(sums, self._reach), np.float64) / STEPS**2

    def measure(self, coded: Coded) -> LinearModel:
        """Add up with noise, and solve."""
        sums, size = self.noisy_sums(coded), len(self.cells)
        products = symmetric(sums[size:], size)
        return self._solved(sums[:size] / self._rows, products / self._rows)

    def _solved(self, means: Floats, products: Floats) -> LinearModel:
        scaled = scaled_slopes(means, products, self._error / self._rows)
        low, high = (np.array([one.edges[end] for one in self.cells]) for end in (0, -1))
        half, middle = (high - low) / 2, (high + low) / 2
        coefficients = scaled * half[-1] / half[:-1]
        centre = middle + means * half
        return LinearModel(self.cells[-1].name, tuple(one.name for one in self.cells[:-1]),
                           float(centre[-1] - coefficients @ centre[:-1]), coefficients,
                           self._rows, np.zeros(0))


def _units(cell: Cells, numbers: Floats) -> Ints:
    """Return numbers in steps from the middle of their ends, clamped; 0 where there is none."""
    low, high = cell.edges[0], cell.edges[-1]
    scaled = (np.clip(numbers, low, high) - (low + high) / 2) / ((high - low) / 2)
    # Ends that are large and close together lie beyond 1 after rounding.
    known = np.where(np.isnan(scaled), 0.0, np.clip(scaled, -1.0, 1.0))
    return np.asarray(np.rint(known * STEPS), np.int64)
