"""Adversaries who look at whole records or at labels, not at the codes of one numeric column."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Ints
from unspoken.disclosure.adversary import Adversary

Rows = npt.NDArray[np.int32]
"""The number of the label (or bin) of every record; -1 where it is missing."""


class ReleaseAdversary(Adversary):
    """Base of adversaries who attack labels or records of an encoded release.

    `levels` names the levels of knowledge at which it is tried, by their first words.
    """

    levels: ClassVar[tuple[str, ...]] = ()


@dataclass(frozen=True)
class Labelled:
    """Columns of labels, or of bins of ordered codes, as an adversary sees them record by record.

    `rows` holds a number per record and column, `sizes` how many labels each column has; `ordered`
    says where the number itself is known, because it is a bin between quantiles.
    """

    names: tuple[str, ...]
    rows: tuple[Rows, ...]
    sizes: tuple[int, ...]
    ordered: tuple[bool, ...]
    _held: dict[tuple[int, ...], Ints] = field(default_factory=dict, repr=False, compare=False)

    def counts(self, column: int) -> Ints:
        """Return how often every label of a column occurs."""
        if (column,) not in self._held:
            rows = self.rows[column]
            self._held[column,] = np.bincount(rows[rows >= 0], minlength=self.sizes[column])
        return self._held[column,]

    def pairs(self, one: int, other: int) -> Ints:
        """Return how often labels of two columns occur together."""
        if (one, other) not in self._held:
            left, right, width = self.rows[one], self.rows[other], self.sizes[other]
            both = (left >= 0) & (right >= 0)
            flat = left[both].astype(np.int64) * width + right[both]
            counted = np.bincount(flat, minlength=self.sizes[one] * width)
            self._held[one, other] = counted.reshape(-1, width)
        return self._held[one, other]


class LabelAdversary(ReleaseAdversary):
    """An adversary who guesses which category every released label stands for."""

    def match(self, seen: Labelled, known: Labelled, columns: tuple[int, ...]) -> dict[int, Ints]:
        """Return for each column the category (its number in `known`) of every label, or -1."""
        raise NotImplementedError
