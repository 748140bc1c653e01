"""A known family of distributions with its parameters (bu2007 section 3.3: Zipf, Gaussian).

As quantile matching, with the quantiles of the family in place of a sample's. How well it does
depends on how well the family describes the column; attributes rarely follow one.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from unspoken.arrays import Floats
from unspoken.disclosure.adversary import Adversary, View
from unspoken.disclosure.knowledge import Knowledge
from unspoken.errors import InputError


class FamilyMatching(Adversary):
    """Guesses the quantile of the known family at each code."""

    name: ClassVar[str] = "family"
    needs: ClassVar[frozenset[str]] = frozenset({"family"})
    gets: ClassVar[str] = "lines the codes up with a distribution of known form and parameters"

    def guess(self, view: View, column: str, knowledge: Knowledge,
              rng: np.random.Generator) -> Floats:
        """Return the same guesses in every trial."""
        if knowledge.family is None:
            raise InputError("Distribution matching needs a known family. The knowledge "
                             f"'{knowledge.label}' has none.")
        return knowledge.family.quantile(view[column].share)[None, :]
