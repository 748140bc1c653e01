"""Finding a person in an encoded release from a handful of plain facts.

The adversary first reads the release as well as a sample of similar data allows: numbers by
alignment, categories by frequencies and pairs. Then every record is weighed by how well it fits
what is known of the person (a number may be off by a little, a category may be wrong), and a
record is claimed if it outweighs all others together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats
from unspoken.methods.encoding.adversaries.release_adversary import ReleaseAdversary, Rows

Weights = npt.NDArray[np.float32]
CLAIM = 0.8
"""Share of all weight that a record must have to be claimed."""
WRONG = 0.02
"""Probability that a fact does not fit the record of its own person."""


@dataclass(frozen=True)
class ReadColumn:
    """One column as the adversary reads it: the entry of every record, and what it takes it for.

    `reads` holds for every entry the guessed value, or the number of the guessed category (-1
    for none); `reach` is how far a known number may be off, None for categories.
    """

    rows: Rows
    reads: Floats
    reach: float | None

    def entropy(self) -> float:
        """Return how well the column distinguishes records, at the precision of facts."""
        width = 1.0 if self.reach is None else 2 * max(self.reach, 1e-12)
        _, place = np.unique(np.floor(self.reads / width), return_inverse=True)
        share = np.bincount(place.reshape(-1)[self.rows[self.rows >= 0]]) / max(self.rows.size, 1)
        share = share[share > 0]
        return float(-(share * np.log(share)).sum())

    def weights(self, fact: float) -> Weights:
        """Return the logarithm of how well every entry fits a fact, that of a missing one last."""
        out = np.full(self.reads.size + 1, np.log(WRONG), np.float32)
        off = np.abs(self.reads - fact)
        if self.reach is None:
            out[:-1] = np.where(off < 0.5, np.log(1 - WRONG), np.log(WRONG))
            return out
        # Single precision from here on: weights that differ by less decide nothing.
        off = (off / max(self.reach, 1e-12)).astype(np.float32)
        near = np.exp(np.float32(-0.5) * off * off)
        out[:-1] = np.log(np.float32(1 - WRONG) * near + np.float32(WRONG * 1e-2))
        return out


class RecordSinglingOut(ReleaseAdversary):
    """Claims the record that fits a few facts better than all others together."""

    name: ClassVar[str] = "singling-out"
    levels: ClassVar[tuple[str, ...]] = ("facts",)
    gets: ClassVar[str] = ("looks for the only record that fits a few plain facts about a person, "
                           "reading the release with a sample of similar data")

    def claim(self, columns: Mapping[str, ReadColumn], facts: Mapping[str, float],
              without: int | None = None) -> int:
        """Return the record that is claimed, or -1; `without` is a record that is not there."""
        total = self.fits(columns, facts)
        if without is not None:
            total[without] = -np.inf
        best = int(total.argmax())
        weight = 1.0 / float(np.exp(total - total[best]).sum())
        return best if weight >= CLAIM and total[best] > len(facts) * np.log(0.5) else -1

    def fits(self, columns: Mapping[str, ReadColumn], facts: Mapping[str, float]) -> Weights:
        """Return how well every record fits all facts, as a logarithm."""
        total = np.zeros(next(iter(columns.values())).rows.size, np.float32)
        for name, fact in facts.items():
            total += columns[name].weights(fact).take(columns[name].rows)
        return total


class RowOrder(ReleaseAdversary):
    """Takes the first record for the first person, and so on."""

    name: ClassVar[str] = "row-order"
    levels: ClassVar[tuple[str, ...]] = ("row",)
    gets: ClassVar[str] = "takes the records in the order of the original table"


class MissingPattern(ReleaseAdversary):
    """Looks for the only record with certain values missing."""

    name: ClassVar[str] = "missing-pattern"
    levels: ClassVar[tuple[str, ...]] = ("missing",)
    gets: ClassVar[str] = "knows which values of a person are missing and looks for that pattern"
