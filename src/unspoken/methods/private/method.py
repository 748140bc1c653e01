"""What the toolkit knows about releases with a stated epsilon."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from unspoken.release.lazy_imports import at
from unspoken.release.method import Method
from unspoken.release.parameters import (
    Names,
    OrNone,
    Parameter,
    PerColumn,
    Real,
    Whole,
)
from unspoken.release.uses import Use

_HERE = "unspoken.methods.private"


@dataclass(frozen=True)
class Limits:
    """The limits of at least one interval."""

    def allowed(self) -> str:
        """Return what is allowed."""
        return "a list of increasing finite numbers"

    def admits(self, value: Any) -> bool:
        """Return True if a value is allowed."""
        if not isinstance(value, list | tuple) or not 2 <= len(value) <= 1000:
            return False
        numbers = all(isinstance(one, int | float) and math.isfinite(one) for one in value)
        return numbers and all(low < high for low, high in pairwise(value))


@dataclass(frozen=True)
class Categories:
    """Different texts."""

    def allowed(self) -> str:
        """Return what is allowed."""
        return "a list of different texts"

    def admits(self, value: Any) -> bool:
        """Return True if a value is allowed."""
        return (isinstance(value, list | tuple) and 1 <= len(value) <= 1000
                and all(isinstance(one, str) for one in value) and len(set(value)) == len(value))


_SPENT = {
    "epsilon": Parameter(Real(0.0, 100.0), "what the release costs", "Use 1."),
    "delta": Parameter(Real(-1e-300, 0.1), "the probability that the bound may fail",
                       "Use 1e-6, or 0 for none."),
    "edges": Parameter(PerColumn(Limits(), none=True, single=False),
                       "the limits of the intervals of numeric columns",
                       "Declare them; the data's void the epsilon."),
    "values": Parameter(PerColumn(Categories(), none=True, single=False),
                        "the categories of the other columns",
                        "Declare them; the data's void the epsilon."),
    "bins": Parameter(Whole(2), "intervals of a numeric column without declared edges", "Use 16."),
    "complete": Parameter(Names(), "columns that are publicly known to miss no value",
                          "Leave it out if any may."),
    "columns": Parameter(Names(), "the columns that are released", "Leave it out for all."),
}

SYNTHETIC = Method(
    name="private-synthetic",
    summary="Draws people who do not exist from noisy marginals of the table.",
    promise="Whatever one row says changes the odds of any release by at most a stated factor.",
    transformer_at=f"{_HERE}.synthetic_rows:PrivateSynthesizer",
    uses=(Use(("public", "miner"), ("prediction", "statistics", "anything"), "anything",
              "roughly", "A budget that is set too high; small groups are not in it."),),
    parameters={**_SPENT,
                "rows": Parameter(OrNone(Whole(1)), "rows to draw", "Leave it out for as many.")},
    guarantees_at=at(f"{_HERE}.guarantee", "Private"),
    adversaries_in=f"{_HERE}.adversaries",
    audit_at=f"{_HERE}.audit:audit_synthetic",
    promise_at=f"{_HERE}.synthetic_promise:broken_synthetic",
    of_people=False,
)
METHODS = (SYNTHETIC,)
