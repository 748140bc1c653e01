"""Reading what was not changed: codes that are equal to their values.

Strict mode keeps zero as zero, and a column may be released as it is by mistake. Reading that
needs no knowledge.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from unspoken.arrays import Floats
from unspoken.disclosure.adversary import Adversary, View
from unspoken.disclosure.knowledge import Knowledge


class UnchangedValues(Adversary):
    """Takes every code for the value itself."""

    name: ClassVar[str] = "unchanged"
    measures: ClassVar[tuple[str, ...]] = ("domain", "records", "exact", "exact records")
    gets: ClassVar[str] = "reads the codes as if they were the values"

    def guess(self, view: View, column: str, knowledge: Knowledge,
              rng: np.random.Generator) -> Floats:
        """Return the codes themselves."""
        return view[column].codes[None, :].astype(np.float64)
