"""Properties of a column on which learners differ, whatever order-preserving codes do.

A strictly increasing encoding keeps the order of values and nothing else. These are the places
where a learner looks at more than the order; each is a condition of the guarantee.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass

import numpy as np

from unspoken.arrays import Floats

SKLEARN_GAP = np.float32(1e-7)
"""scikit-learn takes values as equal that are no further apart, added in float32."""
LIGHTGBM_ZERO = 1e-35
FLOAT32_HALF = float(np.finfo(np.float32).max) / 2 - 1e30


@dataclass(frozen=True)
class ThresholdFacts:
    """Whether order is all that a learner can see in the columns of a table."""

    float32_exact: bool = True
    """No two values that differ become one as float32."""
    gaps_above_1e7: bool = True
    """No two float32 values lie within 1e-7: scikit-learn's splitter takes those for equal."""
    float32_midpoints: bool = True
    """A float32 lies half-way between neighbours (XGBoost's exact method needs one)."""
    lightgbm_values: bool = True
    """No value within 1e-35 of zero but zero, and no two neighbouring doubles."""
    zero_kept: bool = True
    """Codes have the sign of their values, and zero is zero."""
    float32_doubles: bool = True
    """Twice every value is still finite as float32 (XGBoost's outermost cuts)."""

    def to_json(self) -> dict[str, bool]:
        """Return the facts as plain data."""
        return asdict(self)


def threshold_facts(values: Floats, zero_kept: bool) -> ThresholdFacts:
    """Return the facts of one column from its distinct finite float64 values."""
    if values.size == 0:
        return ThresholdFacts()
    narrow = values.astype(np.float32)
    distinct = np.unique(narrow)
    low, high = distinct[:-1], distinct[1:]
    with np.errstate(over="ignore"):
        middle = (low + high) * np.float32(0.5)
    small = (np.abs(values) <= LIGHTGBM_ZERO) & (values != 0)
    close = values[1:] <= np.nextafter(values[:-1], np.inf)
    return ThresholdFacts(
        float32_exact=distinct.size == values.size,
        gaps_above_1e7=bool(np.all(high > low + SKLEARN_GAP)),
        float32_midpoints=bool(np.all((low < middle) & (middle < high))),
        lightgbm_values=not (small.any() or close.any()),
        zero_kept=zero_kept or bool(values[0] > 0),
        float32_doubles=bool(np.all(np.abs(values) < FLOAT32_HALF)),
    )


def all_of(facts: Iterable[ThresholdFacts]) -> ThresholdFacts:
    """Return what holds for every column of a table."""
    documents = [fact.to_json() for fact in facts]
    names = ThresholdFacts().to_json()
    return ThresholdFacts(**{name: all(fact[name] for fact in documents) for name in names})
