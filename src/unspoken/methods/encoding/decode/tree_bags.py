"""The rows that one tree was grown on: what a file says of weights, and what it leaves out."""

from __future__ import annotations

from dataclasses import dataclass

from unspoken.arrays import Floats, Ints


@dataclass(frozen=True)
class Bag:
    """The rows that a tree was grown on, and how much each counted."""

    rows: Ints
    weight: Floats

    def of_shares(self, shares: Floats, numbers: Ints) -> Bag:
        """Return the rows of classes that have a share of the root; the others weigh nothing.

        A learner leaves out rows whose class has the weight zero, and a file does not name it.
        """
        counted = (shares != 0)[numbers[self.rows]]
        return self if counted.all() else Bag(self.rows[counted], self.weight[counted])
