"""What a release of randomised baskets promises (vcz2006 section 6.1.3)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from unspoken.methods.baskets.select_a_size import Operator, amplification
from unspoken.release.guarantee import Guarantee, Verdict


@dataclass(frozen=True)
class RandomisedBaskets(Guarantee):
    """Every basket was randomised on its own by a published operator."""

    name: ClassVar[str] = "randomised-baskets"

    def covers(self, miner: Any, columns: Sequence[str] | None = None) -> Verdict:
        """Return True if that miner takes the operator into account."""
        if getattr(miner, "estimates_baskets", False) is True:
            return Verdict(True, "It estimates supports by the published operator. They are "
                           "estimates with intervals, not counts.")
        return Verdict(False, "Baskets are randomised: itemsets counted in them are not those of "
                       "the original. Use mine.itemsets, which knows the operator.")


def promise(operator: Operator, sizes: npt.NDArray[np.int64], public: bool,
            declared: bool) -> RandomisedBaskets:
    """Return the guarantee: the amplification over all baskets that could have been there."""
    largest = int(sizes.max(initial=0))
    compared = sizes if public or not operator.size_free else np.arange(largest + 1)
    gamma = amplification(operator, compared, public) if sizes.size else 1.0
    bounded = math.isfinite(gamma) and declared
    shown = "known to everybody" if public else "hidden"
    epsilon = math.log(gamma) if bounded else None
    return RandomisedBaskets(
        f"Every basket was randomised on its own by a published operator; sizes are {shown}. "
        + (f"The odds of any property of a basket change at most {gamma:.6g}-fold (epsilon "
           f"{epsilon:.6g})." if bounded
           else "Nothing bounds how far the odds of a property of a basket can change."),
        ("every person has one basket; gammas of several baskets of one person multiply, and "
         "randomising one basket again adds its epsilon again",
         "the list of items and the operator are public, and so is "
         + ("the size of every basket" if public else "the size of the largest basket"),
         *(() if declared else (
             "no gamma: the list of items, or the largest size, was taken from the data and "
             "discloses something; declare 'items', and 'largest' where sizes are hidden",)),
         *(() if bounded or not declared else (
             "no gamma: some randomised baskets rule some originals out",))),
        {"gamma": gamma if bounded else None, "epsilon": epsilon, "epsilon_total": epsilon,
         "declared": declared, "public_sizes": public, "largest": largest})
