"""An adversary who knows all but one thing about people, and looks at who resembles them.

Against a table of real people this names the missing value of whoever is in it. Against synthetic
rows it can only learn what holds for people like them.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from unspoken.arrays import Ints
from unspoken.disclosure.adversary import Adversary

NEAREST = 5


class SyntheticNeighbours(Adversary):
    """Takes the commonest value among the released rows nearest to a person."""

    name: ClassVar[str] = "synthetic-neighbours"
    needs: ClassVar[frozenset[str]] = frozenset()
    measures: ClassVar[tuple[str, ...]] = ("records",)
    gets: ClassVar[str] = ("knows everything about people but one column, and takes the commonest "
                           "value among the released rows that resemble them most")

    def guesses(self, people: Ints, released: Ints, secret: int) -> Ints:
        """Return the guessed code of one column for every person; both are (rows, columns)."""
        others = [k for k in range(people.shape[1]) if k != secret]
        distance = np.zeros((people.shape[0], released.shape[0]), np.int16)
        for k in others:
            distance += people[:, k][:, None] != released[:, k][None, :]
        near = np.argsort(distance, axis=1, kind="stable")[:, :NEAREST]
        seen = released[:, secret][near]
        return np.array([np.bincount(row).argmax() for row in seen], np.int64)
