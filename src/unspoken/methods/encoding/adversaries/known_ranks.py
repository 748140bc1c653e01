"""Few known values, read into the order: what curve fitting misses (not in bu2007).

The curves of Definition 5 look at codes, and heavy-tailed output widths bend them away. The order
of the codes is not bent. Between two known values the guess grows evenly with the rank among the
distinct codes, so the widths of pieces do not matter at all. On Covertype 2 known values recover
64% of the distinct values of a strict release within 2% (the best curve: 14%), 4 recover 90% (24%),
and 40% and 63% of a max-mono release for Aspen. Where a release keeps zero in its place, which its
manifest says, zero itself is read off.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from unspoken.arrays import Floats
from unspoken.disclosure.adversary import Adversary, View
from unspoken.disclosure.knowledge import Knowledge
from unspoken.methods.encoding.adversaries.curve_fitting import points_of
from unspoken.methods.encoding.adversaries.line_through_anchors import between_anchors


class RankInterpolation(Adversary):
    """Joins the known points by straight lines over ranks instead of codes."""

    name: ClassVar[str] = "ranks"
    needs: ClassVar[frozenset[str]] = frozenset({"points"})
    gets: ClassVar[str] = "spreads values evenly over the ranks between the known points"

    def guess(self, view: View, column: str, knowledge: Knowledge,
              rng: np.random.Generator) -> Floats:
        """Return interpolated guesses, one row per trial."""
        seen, known = view[column], points_of(knowledge)
        at = seen.rank[np.searchsorted(seen.codes, known.codes)]
        guesses = np.array([between_anchors(seen.rank, ranks, values)
                            for ranks, values in zip(at, known.values, strict=True)])
        if view.mechanism.get("zero_kept"):
            # Not an anchor for the others: zero is often far from its neighbours.
            guesses[:, seen.codes == 0] = 0.0
        return guesses
