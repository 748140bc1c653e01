"""Trilateration: a record's distances to enough known records say where it lies.

Distances are what a rotation keeps, so they are those of the originals. Differences of squared
distances are linear in the unknown record; n + 1 known records that do not lie in one plane give
every other one, whatever the motion was (translation and reflection too). It needs one record
more than `KnownPairs` without a translation, and never has to find the map.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from unspoken.arrays import Floats
from unspoken.errors import InputError
from unspoken.methods.rotation.adversaries.known_pairs import pairs_of
from unspoken.methods.rotation.adversaries.rotation_adversary import (
    RotatedView,
    RowAdversary,
    RowGuesses,
    RowKnowledge,
)
from unspoken.numerics.orthogonal import trilaterate


class Trilateration(RowAdversary):
    """Locates every record by its distances to known ones."""

    name: ClassVar[str] = "trilateration"
    needs: ClassVar[frozenset[str]] = frozenset({"records"})
    gets: ClassVar[str] = "measures each record's distances to records known in full"

    def _attack(self, view: RotatedView, knowledge: RowKnowledge,
                rng: np.random.Generator) -> RowGuesses:
        if not view.orthogonal:
            return self.failed(view, knowledge, "a projection does not keep distances")
        pairs, frame = pairs_of(view, knowledge), knowledge.frame(view)
        if pairs is None or frame is None:
            return self.failed(view, knowledge, "columns were standardised, and neither their "
                               "means and spreads nor a sample are known")
        plain, rotated = pairs
        if plain.shape[0] <= knowledge.width:
            return self.failed(view, knowledge, f"{knowledge.width + 1} known records are needed, "
                               f"{plain.shape[0]} were found in the release")
        try:
            placed = trilaterate(plain, _distances(view.records, rotated))
        except InputError:
            return self.failed(view, knowledge, "the known records lie in one plane")
        return RowGuesses(self.name, placed * frame[1] + frame[0], knowledge.blind())


def _distances(records: Floats, known: Floats) -> Floats:
    """Return the distance of every record to every known one, one column each."""
    return np.column_stack([np.linalg.norm(records - one, axis=1) for one in known])
