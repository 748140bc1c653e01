"""What sorting alone discloses (bu2007 sections 5.4 and 6.2.3, Figure 11)."""

from __future__ import annotations

import numpy as np

from unspoken.arrays import Floats
from unspoken.numerics.label_runs import AttributeFacts


def range_width(values: Floats) -> float:
    """Return the width of the range: max - min + 1 for whole numbers, else max - min."""
    if values.size == 0:
        return 0.0
    whole = bool(np.all(values == np.rint(values)))
    return float(values[-1] - values[0]) + (1.0 if whole else 0.0)


def rank_range(size: int, low: float, high: float) -> tuple[Floats, Floats]:
    """Return the range R_g of each of `size` ranked whole numbers between low and high.

    With i values ranked ahead and j after, a value lies in [low + i, high - j].
    """
    ahead = np.arange(size, dtype=np.float64)
    return low + ahead, high - (size - 1 - ahead)


def recovery_probability(values: Floats, radius: float) -> Floats:
    """Return the probability that each distinct whole number is recovered (section 5.4).

    |R_g n R_rho| / |R_g|, counted in whole numbers, both ends included: the chance of a guess
    drawn at random from R_g. The formula is for whole numbers.
    """
    low, high = rank_range(values.size, float(values[0]), float(values[-1]))
    reach = np.floor(radius)
    common = np.minimum(high, values + reach) - np.maximum(low, values - reach) + 1
    return np.asarray(np.maximum(common, 0.0) / (high - low + 1))


def worst_case_share(facts: AttributeFacts, radius: float,
                     mono_share: float | None = None) -> float:
    """Return the worst case of Figure 11: (1 - mono share) x min(1, 2 round(rho) / gaps).

    The formula counts every value of a monochromatic piece as safe, though such a piece is often
    narrower than the radius: it understates the risk. `mono_share` replaces the attribute's own
    share; it is 0 where codes are not permuted. With the exact share all ten published numbers
    come out; with the rounded one of Figure 8 attribute 9 would be 91, not 90. Discontinuities
    are defined for whole numbers only; for other attributes the answer is NaN.
    """
    if facts.discontinuities is None:
        return float("nan")
    mono = facts.mono_share if mono_share is None else mono_share
    gaps = facts.discontinuities
    share = 1.0 if gaps == 0 else min(1.0, 2 * np.floor(radius + 0.5) / gaps)
    return float((1.0 - mono) * share)
