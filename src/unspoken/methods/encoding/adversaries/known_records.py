"""Known records: some records are known in full and found in the release.

Each known record gives an exact pair of value and code in every column. Between the pairs the
guess grows evenly with the rank of the code among the distinct codes, which uses order only;
a polyline over the codes themselves is bent by heavy-tailed widths and gets less.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from unspoken.arrays import Floats
from unspoken.disclosure.adversary import Adversary, ColumnView, View
from unspoken.disclosure.knowledge import Knowledge
from unspoken.errors import InputError
from unspoken.methods.encoding.adversaries.line_through_anchors import between_anchors


class KnownRecords(Adversary):
    """Interpolates between the values of known records by rank."""

    name: ClassVar[str] = "records"
    needs: ClassVar[frozenset[str]] = frozenset({"records"})
    gets: ClassVar[str] = "finds records known in full and reads the others off between them"

    def guess(self, view: View, column: str, knowledge: Knowledge,
              rng: np.random.Generator) -> Floats:
        """Return interpolated guesses, and the known values where the code itself is known."""
        records = knowledge.records
        if records is None:
            raise InputError("This attack needs known records. The knowledge "
                             f"'{knowledge.label}' has none.")
        pairs = zip(records.codes, records.values, strict=True)
        return np.array([_one_trial(view[column], codes, values) for codes, values in pairs])


def _one_trial(seen: ColumnView, codes: Floats, values: Floats) -> Floats:
    where = np.clip(np.searchsorted(seen.codes, codes), 0, seen.codes.size - 1)
    guesses = between_anchors(seen.rank, seen.rank[where], values)
    guesses[where] = values
    return guesses
