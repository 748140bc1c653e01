"""Published statistics: minimum, maximum, median and the most frequent values (section 3.3).

Each becomes a knowledge point by order and frequency: the minimum belongs to the first code, the
maximum to the last, the median to the code in the middle of the records, the modes to the most
frequent codes, in that order. Modes that would contradict the order of the others are left out.
Between the points the guess grows evenly with the rank.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from unspoken.arrays import Floats
from unspoken.disclosure.adversary import Adversary, ColumnView, View
from unspoken.disclosure.knowledge import Knowledge
from unspoken.methods.encoding.adversaries.line_through_anchors import between_anchors
from unspoken.methods.encoding.adversaries.sorting_attack import bounds_of

Anchor = tuple[float, float]


class PublishedStatistics(Adversary):
    """Turns published statistics into knowledge points and joins them by rank."""

    name: ClassVar[str] = "published"
    needs: ClassVar[frozenset[str]] = frozenset({"bounds", "median", "modes"})
    gets: ClassVar[str] = "reads published minimum, maximum, median and modes into the order"

    def guess(self, view: View, column: str, knowledge: Knowledge,
              rng: np.random.Generator) -> Floats:
        """Return the same guesses in every trial."""
        seen = view[column]
        known = anchors(seen, knowledge)
        at, values = np.array(known, dtype=np.float64).T
        return between_anchors(seen.rank, at, values)[None, :]


def anchors(seen: ColumnView, knowledge: Knowledge) -> list[Anchor]:
    """Return pairs of rank and value, increasing in both."""
    low, high = bounds_of(knowledge)
    known: list[Anchor] = [(0.0, low), (seen.last_rank, high)]
    if knowledge.median is not None:
        ends = np.cumsum(seen.cell_records)
        middle = int(np.argmax(seen.cells == np.searchsorted(ends, ends[-1] / 2)))
        known.append((float(seen.rank[middle]), knowledge.median))
    if knowledge.modes is not None:
        often = np.argsort(-seen.counts, kind="stable")[: knowledge.modes.size]
        for code, mode in zip(often.tolist(), knowledge.modes.tolist(), strict=False):
            _add(known, (float(seen.rank[code]), float(mode)))
    return sorted(known)


def _add(known: list[Anchor], new: Anchor) -> None:
    """Add an anchor unless it contradicts the order of those that are there."""
    if all((new[0] - at) * (new[1] - value) > 0 or new == (at, value) for at, value in known):
        known.append(new)
