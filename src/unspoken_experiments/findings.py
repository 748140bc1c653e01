"""Published numbers beside ours: what agrees, what is close, what differs.

A printed number agrees with ours if it lies in our 95% interval or is the same when ours is rounded
as it was; a printed bound or range agrees if ours keeps to it. What is off by at most the tolerance
of its section is close. The rest differs. Verdicts are worked out here and nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from math import isinf
from pathlib import Path
from typing import Any

AGREES, CLOSE, DIFFERS, UNPRINTED = "agrees", "close", "differs", "not printed"
VERDICTS = (AGREES, CLOSE, DIFFERS, UNPRINTED)
_NUMBER = r"[\d,]*\.?\d+"


@dataclass(frozen=True)
class Printed:
    """What a text prints: a number from `low` to `high`, with its digits after the point."""

    low: float
    high: float
    digits: int

    @classmethod
    def of(cls, text: str) -> Printed | None:
        """Read "16", "<10", ">65", "18-20" or "~10"; None where nothing was printed."""
        if not text:
            return None
        parts = [(float(part.replace(",", "")), len(part.partition(".")[2]))
                 for part in re.findall(_NUMBER, text)]
        first, last = parts[0][0], parts[-1][0]
        low = float("-inf") if text.startswith("<") else first
        high = float("inf") if text.startswith(">") else last
        return cls(low, high, max(digits for _, digits in parts))

    def holds(self, ours: float) -> bool:
        """Say whether ours is the number when rounded as it was, or keeps to the bound."""
        if isinf(self.low) or isinf(self.high):
            return self.low < ours < self.high
        return self.low <= round(ours, self.digits) <= self.high


@dataclass(frozen=True)
class Finding:
    """One number of a text and ours."""

    what: str
    published: str
    ours: float
    low: float | None = None
    high: float | None = None
    other: str = ""

    def verdict(self, tolerance: float) -> str:
        """Return whether ours agrees, is close, differs, or has nothing to agree with."""
        printed = Printed.of(self.published)
        if printed is None:
            return UNPRINTED
        if self._within(printed) or printed.holds(self.ours):
            return AGREES
        off = max(printed.low - self.ours, self.ours - printed.high)
        return CLOSE if off <= tolerance else DIFFERS

    def _within(self, printed: Printed) -> bool:
        return self.low is not None and self.high is not None \
            and self.low <= printed.high and self.high >= printed.low

    def interval(self, digits: int = 1) -> str:
        """Return our 95% interval; nothing where nothing is drawn at random."""
        return "" if self.low is None else f"{self.low:.{digits}f} to {self.high:.{digits}f}"


@dataclass(frozen=True)
class Section:
    """A table or figure of a text."""

    paper: str
    place: str
    title: str
    findings: tuple[Finding, ...]
    notes: tuple[str, ...] = ()
    unit: str = ""
    tolerance: float = 0.0
    digits: int = 1
    other: str = ""
    figure: Callable[[], Any] | None = field(default=None, compare=False)
    caption: str = ""

    def verdicts(self) -> list[str]:
        """Return the verdict of every finding."""
        return [one.verdict(self.tolerance) for one in self.findings]


@dataclass(frozen=True)
class Setting:
    """How much is run, and where data sets are looked for first."""

    quick: bool = False
    folder: Path | None = None

    def scaled(self, full: int, quick: int) -> int:
        """Return the number of trials or rows."""
        return quick if self.quick else full


@dataclass(frozen=True)
class Missing:
    """A part that could not be run because a data set is not there."""

    paper: str
    what: str
    why: str
