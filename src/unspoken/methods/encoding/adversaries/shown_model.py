"""After the model is shown: the miner keeps the encoded one and reads values off the decoded one.

Every node is a pair of code and value. Between the pairs the guess grows evenly with the rank of
the code, which uses order only. Where all thresholds are whole or half numbers the values are whole
and guesses are rounded. With a full tree there is a pair beside nearly every value.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from unspoken.arrays import Floats
from unspoken.disclosure.adversary import ColumnView
from unspoken.methods.encoding.adversaries.line_through_anchors import between_anchors
from unspoken.methods.encoding.adversaries.release_adversary import ReleaseAdversary

LEVEL = "model shown"


class ShownModel(ReleaseAdversary):
    """Reads records off a decoded model whose encoded twin it kept."""

    name: ClassVar[str] = "shown-model"
    levels: ClassVar[tuple[str, ...]] = ("model",)
    gets: ClassVar[str] = ("keeps the model it mined, sees the decoded one, and reads a value off "
                           "every node")

    def read(self, seen: ColumnView, codes: Floats, values: Floats) -> Floats:
        """Return the value of every released code, from thresholds in codes and in values."""
        guesses = between_anchors(seen.rank, rank_of(seen, codes), values)
        whole = np.array_equal(2 * values, np.rint(2 * values))
        return np.rint(guesses) if whole else guesses


def rank_of(seen: ColumnView, thresholds: Floats) -> Floats:
    """Return where thresholds stand among the distinct values; between two codes half-way."""
    last = seen.codes.size - 1
    right = np.searchsorted(seen.codes, thresholds)
    high, low = np.minimum(right, last), np.clip(right - 1, 0, last)
    on = seen.codes[high] == thresholds
    return np.asarray(np.where(on, seen.rank[high], (seen.rank[low] + seen.rank[high]) / 2))
